/* push.cu - one system on several GPUs: every member runs the warp-per-slice kernel
 * (solve/cuda/engine/warp_slice.cuh) on its own slices.
 *
 * A solved x is stored in the member's own memory, then once into the memory of each member that
 * needs it; a warp polls only its own member's memory.  A word encodes its own readiness
 * (device/ready.cuh), so that a step between two GPUs costs one store over the link.
 *
 * A member processes the levels of the whole system in runs, one launch per run.  A run of several
 * levels is persistent: as many blocks of threads as fit take chunks by ticket.  A run of a single
 * large level has blocks for all its slices: earlier runs have solved its inputs, certainly those
 * of its own member and nearly always those of others.  The unfinished chunk of the lowest level is
 * always held by a running block of some member, so no circular wait is possible.
 *
 * Several right-hand sides are solved together, consecutively per chunk: its entries come from
 * memory once and then from the cache, and while one right-hand side waits others proceed.  Behind
 * the last run's chunks come tickets that clear the third of the previous solve: work for blocks
 * that would otherwise be idle. */
#include "solve/multigpu/push.h"

#include "solve/cuda/engine/warp_slice.cuh"

namespace {

using namespace trs;
using namespace trs::warp_slice;

template <class S, class V>
struct view {
  using scalar = S;
  using stored = V;
  static constexpr bool system = true;
  const trs_slices &s;
  const trs_push_args &a;
  int32_t column, place; /* index in this launch, and in all of work */
  S *work;
  S *parts, *other_parts;
  one_rhs<S> rhs;
  trs_fault *fault;
  bool silent;

  __device__ uint32_t look(int32_t position) const { return silent ? 0 : __ldg(a.mask + position); }

  __device__ void finish(int32_t position, int32_t of, S value, uint32_t needed) const {
    value = encode(value);
    if (!silent) publish(work + position, value);
    for (; needed; needed &= needed - 1)
      publish<true>(static_cast<S *>(a.peer[__ffs(int(needed)) - 1]) + place * s.n + position,
                    value);
    if (!trs_row_has_x(of)) return;
    const int64_t row = trs_row_number(of);
    if (a.spread_at == 0) {
      rhs.x[row * rhs.x_row] = value;
      return;
    }
    for (int m = 0; m < a.members; m++)
      reinterpret_cast<S *>(static_cast<char *>(a.peer[m]) +
                            a.spread_at)[column * a.x_col + row * rhs.x_row] = value;
  }
};

__device__ unsigned long long *finished_of(const trs_push_args &a, int member) {
  return reinterpret_cast<unsigned long long *>(static_cast<char *>(a.peer[member]) +
                                                a.finished_at);
}

/* Opens a solve at whose start other members may be behind: announces to all that this member has
 * finished the previous solve, and waits until all have cleared the third that this solve writes.
 */
__global__ void __launch_bounds__(TRS_MOST_MEMBERS) open(const __grid_constant__ trs_push_args a) {
  const unsigned long long solve = a.counters->solve + 1;
  const int m = int(threadIdx.x);
  if (m >= a.members) return;
  fence_system();
  store_relaxed<true>(finished_of(a, m) + a.member, solve - 1);
  const unsigned long long *finished = finished_of(a, a.member) + m;
  wait w(a.fault);
  while (load_relaxed<true>(finished) + 2 < solve && w.goes_on(-1)) {
  }
  fence_system();
}

/* Blocks of threads per column. */
__host__ __device__ inline int32_t once_turns(const trs_push_run &run) {
  return (run.slice_end - run.slice + int(WARPS) - 1) / int(WARPS);
}

/* Data of the previous solve to clear, for its number of columns: x by groups of rows, and parts.
 */
struct leftovers {
  int32_t groups; /* nclear x columns */
  int64_t parts;  /* values */

  __device__ leftovers(const trs_push_args &a, int32_t columns)
      : groups(a.nclear * columns), parts(int64_t(a.slices.nparts) * TRS_SLICE_LANES * columns) {}
  __device__ int32_t group_turns() const {
    return (groups + TRS_PUSH_CLEARS - 1) / TRS_PUSH_CLEARS;
  }
  __device__ int32_t turns() const {
    constexpr int EACH = TRS_PUSH_CLEARS * TRS_PUSH_ROWS;
    return group_turns() + int32_t((parts + EACH - 1) / EACH);
  }

  template <class S>
  __device__ void empty_rows(const trs_push_args &a, S *old, int32_t turn, warp_lane at) const {
    const int32_t which = turn * TRS_PUSH_CLEARS + at.warp;
    if (which >= groups) return;
    S *column = old + which / a.nclear * a.slices.n;
    int64_t first = int64_t(__ldg(a.clear + which % a.nclear)) * TRS_PUSH_ROWS;
    for (int k = at.lane; k < TRS_PUSH_ROWS && first + k < a.slices.n; k += 32)
      column[first + k] = pending_value<S>();
  }
  template <class S>
  __device__ void empty_parts(S *old, int32_t turn, warp_lane at) const {
    const int64_t first = (int64_t(turn) * TRS_PUSH_CLEARS + at.warp) * TRS_PUSH_ROWS;
    for (int k = at.lane; k < TRS_PUSH_ROWS && first + k < parts; k += 32)
      old[first + k] = pending_value<S>();
  }
};

/* Tickets that clear follow the last run's chunks. */
template <class S>
__device__ void empty_turn(const trs_push_args &a, unsigned long long solve, const leftovers &left,
                           int32_t turn, warp_lane at) {
  const int64_t old = int64_t((solve + TRS_PUSH_THIRDS - 1) % TRS_PUSH_THIRDS) * a.most;
  const int64_t nparts = int64_t(a.slices.nparts) * TRS_SLICE_LANES;
  if (turn < left.group_turns())
    left.empty_rows(a, static_cast<S *>(a.peer[a.member]) + old * a.slices.n, turn, at);
  else
    left.empty_parts(static_cast<S *>(a.parts) + old * nparts, turn - left.group_turns(), at);
}

template <class S, class V>
__device__ view<S, V> view_of(const trs_push_args &a, const trs_push_run &run,
                              unsigned long long solve, int32_t column) {
  const int32_t place = int32_t(solve % TRS_PUSH_THIRDS) * a.most + column;
  const int64_t nparts = int64_t(a.slices.nparts) * TRS_SLICE_LANES;
  return {a.slices,
          a,
          column,
          place,
          static_cast<S *>(a.peer[a.member]) + place * a.slices.n,
          static_cast<S *>(a.parts) + place * nparts,
          nullptr,
          {static_cast<S *>(a.x) + column * a.x_col, static_cast<const S *>(a.b) + column * a.b_col,
           a.x_row, a.b_row},
          a.fault,
          run.silent != 0};
}

/* The last block of threads of the last run completes the solve. */
__device__ void close(const trs_push_args &a, const trs_push_run &run, unsigned long long solve) {
  if (!run.last) return;
  __syncthreads();
  if (threadIdx.x > 0) return;
  if (atomicInc(&a.counters->finished, gridDim.x - 1) < gridDim.x - 1) return;
  a.counters->solve = solve;
  a.counters->columns = a.columns;
}

template <bool HEAVY, class S, class V>
__device__ void solve_chunk(const view<S, V> &v, int32_t chunk, warp_lane at, S *partial) {
  const int32_t slice = v.s.chunk[chunk], end = v.s.chunk[chunk + 1];
  const trs_slice h = v.s.slice[min(slice + at.warp, end - 1)];
  if (HEAVY && h.heavy)
    solve_heavy(v, h, at, partial);
  else if (slice + at.warp < end)
    solve_slice<waits::rows>(v, h, at.lane, static_cast<ring<S, V> *>(nullptr));
}

/* Rows depend on each other: chunks by ticket, with the next one fetched in advance. */
template <class S, class V, bool HEAVY>
__global__ void __launch_bounds__(THREADS, resident<S>(waits::rows))
    push_waiting(const __grid_constant__ trs_push_args a,
                 const __grid_constant__ trs_push_run run) {
  static_assert(int(TRS_PUSH_CLEARS) == int(WARPS), "a warp a group");
  __shared__ int32_t taken;
  __shared__ S partial[HEAVY ? THREADS : 1];
  await_kernel_before();
  const unsigned long long solve = a.counters->solve + 1;
  const leftovers left(a, run.last ? a.counters->columns : 0);
  const int32_t chunks = (run.chunk_end - run.chunk) * a.columns, turns = chunks + left.turns();
  const uint32_t wrap = uint32_t(turns) + gridDim.x - 1;
  const warp_lane at = {int(threadIdx.x) % 32, int(threadIdx.x) / 32};
  int32_t next = 0;
  if (threadIdx.x == 0) next = int32_t(atomicInc(&a.counters->ticket, wrap));
  for (;;) {
    if (threadIdx.x == 0) taken = next;
    __syncthreads();
    const int32_t turn = taken;
    if (turn >= turns) break;
    if (threadIdx.x == 0) next = int32_t(atomicInc(&a.counters->ticket, wrap));
    if (turn < chunks)
      solve_chunk<HEAVY>(view_of<S, V>(a, run, solve, turn % a.columns),
                         run.chunk + turn / a.columns, at, partial);
    else
      empty_turn<S>(a, solve, left, turn - chunks, at);
    __syncthreads();
  }
  close(a, run, solve);
}

/* Rows depend on no other row, or on rows that other members have sent recently: one chunk per
 * block of threads, any WARPS slices in a row. */
template <class S, class V, waits WAITS>
__global__ void __launch_bounds__(THREADS, resident<S>(WAITS))
    push_once(const __grid_constant__ trs_push_args a, const __grid_constant__ trs_push_run run) {
  extern __shared__ __align__(16) unsigned char shared[];
  const warp_lane at = {int(threadIdx.x) % 32, int(threadIdx.x) / 32};
  const int32_t column = a.columns > 1 ? int32_t(blockIdx.x) % a.columns : 0;
  const int32_t turn = a.columns > 1 ? int32_t(blockIdx.x) / a.columns : int32_t(blockIdx.x);
  const int32_t slice = run.slice + turn * int(WARPS) + at.warp;
  const bool there = slice < run.slice_end;
  trs_slice h = {};
  if (there) h = a.slices.slice[slice];
  await_kernel_before();
  const unsigned long long solve = a.counters->solve + 1;
  if (there) {
    solve_slice<WAITS>(view_of<S, V>(a, run, solve, column), h, at.lane,
                       reinterpret_cast<ring<S, V> *>(shared));
  } else if (run.last) {
    const leftovers left(a, a.counters->columns);
    const int32_t begin = once_turns(run) * a.columns;
    if (int32_t(blockIdx.x) >= begin && int32_t(blockIdx.x) < begin + left.turns())
      empty_turn<S>(a, solve, left, int32_t(blockIdx.x) - begin, at);
  }
  close(a, run, solve);
}

/* f(kernel, its dynamic shared memory) */
template <class F>
cudaError_t with_kernel(const trs_push_args *a, const trs_push_run *run, trs_scalar scalar, F f) {
  return by_values(scalar, a->float_values, [&](auto element, auto value) {
    using S = decltype(element);
    using V = decltype(value);
    switch (run->waits) {
      case TRS_PUSH_WAITS_NOT:
        return f(push_once<S, V, waits::bare>, 0);
      case TRS_PUSH_WAITS_EARLY:
        return f(push_once<S, V, waits::none>, sizeof(ring<S, V>));
      case TRS_PUSH_WAITS_ROWS:
        return f(push_waiting<S, V, false>, 0);
      default:
        return f(push_waiting<S, V, true>, 0);
    }
  });
}

/* At most; the number of columns to clear may be the largest of any solve. */
int64_t turns_of(const trs_push_args *a, const trs_push_run *run) {
  constexpr int64_t GROUPS = TRS_PUSH_CLEARS, PARTS = GROUPS * TRS_PUSH_ROWS / TRS_SLICE_LANES;
  const bool once = run->waits < TRS_PUSH_WAITS_ROWS;
  const int64_t own = (once ? once_turns(*run) : run->chunk_end - run->chunk) * a->columns;
  if (!run->last) return own;
  return own + (int64_t(a->nclear) * a->most + GROUPS - 1) / GROUPS +
         (int64_t(a->slices.nparts) * a->most + PARTS - 1) / PARTS;
}

}  // namespace

extern "C" trs_status trs_push_resident(const trs_push_args *a, const trs_push_run *run,
                                        trs_scalar scalar, int *blocks) {
  int each = 0, device = 0, count = 0;
  cudaError_t error = with_kernel(a, run, scalar, [&](auto kernel, size_t bytes) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, THREADS, bytes);
  });
  if (!error) error = cudaGetDevice(&device);
  if (!error) error = cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
  *blocks = each * count;
  return trs_device_check(error, "looking at the push kernel");
}

extern "C" trs_status trs_push_open(const trs_push_args *a, trs_stream stream) {
  cudaError_t error =
      launch_behind(false, open, 1, TRS_MOST_MEMBERS, 0, static_cast<cudaStream_t>(stream), *a);
  return trs_device_check(error, "launching the start of a push");
}

extern "C" trs_status trs_push_launch(const trs_push_args *a, const trs_push_run *run,
                                      trs_scalar scalar, trs_stream stream) {
  const int64_t turns = turns_of(a, run), most = run->blocks > 0 ? run->blocks : turns;
  const auto blocks = unsigned(turns < 1 ? 1 : turns < most ? turns : most);
  auto s = static_cast<cudaStream_t>(stream);
  cudaError_t error = with_kernel(a, run, scalar, [&](auto kernel, size_t bytes) {
    return launch_behind(a->overlaps, kernel, blocks, THREADS, bytes, s, *a, *run);
  });
  return trs_device_check(error, "launching the push kernel");
}
