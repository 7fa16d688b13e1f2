/* push.cu - one system by several GPUs: the wide kernel's slices (solve/cuda/wide.cuh), of which
 * every member has its own.
 *
 * A solved x is stored at home, and then once into the memory of each member that needs it; all
 * wait for words in their own memory only.  A word carries its readiness (slice.cuh), so that a
 * step between two GPUs costs one store over the link. The kernel stays: as many blocks of threads
 * as fit take chunks by ticket, in the order of the levels of the whole system.  The unfinished
 * chunk of the lowest level is always in the hands of a block that runs, at whichever member, so
 * nobody waits in a circle.  Several right-hand sides are solved beside each other, a chunk's
 * behind one another: its entries come from the cache but once, and while one waits others go on.
 * Behind the chunks come tickets to empty the third of the solve before: work for blocks that have
 * nothing else to do. */
#include "solve/multigpu/push.h"

#include "solve/cuda/wide.cuh"

namespace {

using namespace trs;
using namespace trs::wide_slices;

template <class S, class V>
struct view {
  using scalar = S;
  using stored = V;
  static constexpr bool system = true;
  const trs_slices &s;
  const trs_push_args &a;
  int64_t from,
      spread; /* where this column begins, in values: in the work of all, and from spread_at */
  S *work;
  S *parts, *other_parts;
  one_rhs<S> rhs;
  trs_fault *fault;

  __device__ uint32_t look(int32_t position) const { return __ldg(a.mask + position); }

  __device__ void finish(int32_t position, int32_t row, S value, uint32_t needed) const {
    value = full(value);
    publish(work + position, value);
    for (; needed; needed &= needed - 1)
      publish<true>(static_cast<S *>(a.peer[__ffs(int(needed)) - 1]) + from + position, value);
    if (a.spread_at == 0) {
      rhs.x[row * rhs.x_row] = value;
      return;
    }
    for (int m = 0; m < a.members; m++)
      reinterpret_cast<S *>(static_cast<char *>(a.peer[m]) +
                            a.spread_at)[spread + row * rhs.x_row] = value;
  }
};

__device__ unsigned long long *told(const trs_push_args &a, int member) {
  return reinterpret_cast<unsigned long long *>(static_cast<char *>(a.peer[member]) + a.told_at);
}

/* Until all have emptied the third that this solve writes to: nearly always long ago. */
__device__ void await_others(const trs_push_args &a, unsigned long long solve) {
  if (int(threadIdx.x) < a.members) {
    const unsigned long long *finished = told(a, a.member) + threadIdx.x;
    wait w(a.fault);
    while (load_relaxed<true>(finished) + 2 < solve && w.goes_on(-1)) {
    }
    asm volatile("fence.acq_rel.sys;" ::: "memory");
  }
  __syncthreads();
}

/* The last block of threads tells all members that this one has finished the solve. */
__device__ void announce(const trs_push_args &a, unsigned long long solve) {
  __syncthreads();
  if (threadIdx.x > 0) return;
  __threadfence();
  if (atomicInc(&a.counters->finished, gridDim.x - 1) < gridDim.x - 1) return;
  a.counters->solve = solve;
  a.counters->columns = a.columns;
  __threadfence_system();
  for (int m = 0; m < a.members; m++) store_relaxed<true>(told(a, m) + a.member, solve);
}

/* What the solve before has left, of so many columns: its x by groups of rows, and its parts. */
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
  __device__ void empty_rows(const trs_push_args &a, S *old, int32_t turn, place at) const {
    const int32_t which = turn * TRS_PUSH_CLEARS + at.warp;
    if (which >= groups) return;
    S *column = old + which / a.nclear * a.slices.n;
    int64_t first = int64_t(__ldg(a.clear + which % a.nclear)) * TRS_PUSH_ROWS;
    for (int k = at.lane; k < TRS_PUSH_ROWS && first + k < a.slices.n; k += 32)
      column[first + k] = empty_value<S>();
  }
  template <class S>
  __device__ void empty_parts(S *old, int32_t turn, place at) const {
    const int64_t first = (int64_t(turn) * TRS_PUSH_CLEARS + at.warp) * TRS_PUSH_ROWS;
    for (int k = at.lane; k < TRS_PUSH_ROWS && first + k < parts; k += 32)
      old[first + k] = empty_value<S>();
  }
};

template <bool HEAVY, class S, class V>
__device__ void solve_chunk(const view<S, V> &v, int32_t chunk, place at, S *partial) {
  const int32_t slice = v.s.chunk[chunk], end = v.s.chunk[chunk + 1];
  const trs_slice h = v.s.slice[min(slice + at.warp, end - 1)];
  if (HEAVY && h.heavy)
    solve_heavy(v, h, at, partial);
  else if (slice + at.warp < end)
    solve_slice<waits::rows>(v, h, at.lane, static_cast<ring<S, V> *>(nullptr));
}

template <class S, class V, bool HEAVY>
__global__ void __launch_bounds__(THREADS, resident<S>(waits::rows))
    push(const __grid_constant__ trs_push_args a) {
  static_assert(int(TRS_PUSH_CLEARS) == int(WARPS), "a warp a group");
  __shared__ int32_t taken;
  __shared__ S partial[HEAVY ? THREADS : 1];
  const int32_t chunks = a.slices.nchunks * a.columns;
  const leftovers left(a, a.counters->columns);
  const int32_t turns = chunks + left.turns();
  const uint32_t wrap = uint32_t(turns) + gridDim.x - 1;
  int32_t next = 0;
  if (threadIdx.x == 0) next = int32_t(atomicInc(&a.counters->ticket, wrap));
  const place at = {int(threadIdx.x) % 32, int(threadIdx.x) / 32};
  const unsigned long long solve = a.counters->solve + 1;
  const int64_t now = int64_t(solve % TRS_PUSH_THIRDS);
  const int64_t old = int64_t((solve + TRS_PUSH_THIRDS - 1) % TRS_PUSH_THIRDS);
  const int64_t n = a.slices.n, nparts = int64_t(a.slices.nparts) * TRS_SLICE_LANES;
  S *work = static_cast<S *>(a.peer[a.member]), *parts = static_cast<S *>(a.parts);
  await_others(a, solve);
  for (;;) {
    if (threadIdx.x == 0) taken = next;
    __syncthreads();
    const int32_t turn = taken;
    if (turn >= turns) break;
    if (threadIdx.x == 0) next = int32_t(atomicInc(&a.counters->ticket, wrap));
    if (turn < chunks) {
      const int32_t column = turn % a.columns;
      const int64_t place = now * a.most + column;
      const view<S, V> v = {a.slices,
                            a,
                            place * n,
                            column * a.x_col,
                            work + place * n,
                            parts + place * nparts,
                            nullptr,
                            {static_cast<S *>(a.x) + column * a.x_col,
                             static_cast<const S *>(a.b) + column * a.b_col, a.x_row, a.b_row},
                            a.fault};
      solve_chunk<HEAVY>(v, turn / a.columns, at, partial);
    } else if (turn - chunks < left.group_turns()) {
      left.empty_rows(a, work + old * a.most * n, turn - chunks, at);
    } else {
      left.empty_parts(parts + old * a.most * nparts, turn - chunks - left.group_turns(), at);
    }
    __syncthreads();
  }
  announce(a, solve);
}

/* Calls f with the kernel for these arguments. */
template <class F>
cudaError_t with_kernel(const trs_push_args *a, trs_scalar scalar, F f) {
  return by_values(scalar, a->float_values, [&](auto element, auto value) {
    using S = decltype(element);
    using V = decltype(value);
    return a->heavy ? f(push<S, V, true>) : f(push<S, V, false>);
  });
}

}  // namespace

extern "C" trs_status trs_push_resident(const trs_push_args *a, trs_scalar scalar, int *blocks) {
  int each = 0, device = 0, count = 0;
  cudaError_t error = with_kernel(a, scalar, [&](auto kernel) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, THREADS, 0);
  });
  if (!error) error = cudaGetDevice(&device);
  if (!error) error = cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
  *blocks = each * count;
  return trs_device_check(error, "looking at the push kernel");
}

extern "C" trs_status trs_push_launch(const trs_push_args *a, trs_scalar scalar,
                                      trs_stream stream) {
  auto s = static_cast<cudaStream_t>(stream);
  cudaError_t error = with_kernel(a, scalar, [&](auto kernel) {
    return launch_behind(false, kernel, unsigned(a->blocks), THREADS, 0, s, *a);
  });
  return trs_device_check(error, "launching the push kernel");
}
