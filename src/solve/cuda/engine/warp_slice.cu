/* warp_slice.cu - the warp-per-slice kernel: rows in level order, one warp per slice, on every
 * multiprocessor.
 *
 * x_i = Dinv (b_i - sum of a_ij x_j).  A lane polls the x that it needs until they are there
 * (ready.cuh), so a dependency costs one store and one load through the second-level cache.
 * Before that, a warp polls one word only, some levels up (early poll): polls of everything from
 * the start would fill the queues of the cache and slow the warp that every other warp depends on.
 *
 * Blocks of threads take tickets in schedule order, so a block waits only for blocks that already
 * run.  Ranges in which no row waits need no tickets.  No atomic sums: the same bits every time.
 *
 * Where levels are wide, a block takes tickets until none are left (slices_in_turns). */
#include "solve/cuda/engine/warp_slice.cuh"

namespace {

using namespace trs;
using namespace trs::warp_slice;

template <class S, class V>
struct view {
  using scalar = S;
  using stored = V;
  static constexpr bool system = false;
  const trs_slices &s;
  spaced<S> work, other; /* this solve's x by position; the buffer to clear for the next solve, or
                            NULL */
  S *parts, *other_parts;
  one_rhs<S> rhs;
  trs_fault *fault;

  struct nothing {};
  __device__ nothing look(int32_t) const { return {}; }
  __device__ void finish(int32_t position, int32_t of, S value, nothing) const {
    value = encode(value);
    publish(work + position, value);
    if (other.first) other[position] = pending_value<S>();
    if (trs_row_has_x(of)) rhs.x[trs_row_number(of) * rhs.x_row] = value;
  }
};

/* The slices of a block of threads.  Without heavy slices these are any WARPS in sequence, which
 * saves the read of chunk. */
template <bool HEAVY>
__device__ void find_slices(const trs_slices &s, const trs_launch_range &range, int32_t ticket,
                            int32_t *slice, int32_t *end) {
  if (HEAVY) {
    *slice = s.chunk[range.chunk + ticket];
    *end = s.chunk[range.chunk + ticket + 1];
  } else {
    *slice = range.slice + ticket * WARPS;
    *end = min(*slice + WARPS, range.slice_end);
  }
}

template <class S, class V>
__device__ view<S, V> view_of(const trs_engine_args &a, uint32_t parity, int32_t column) {
  S *work = static_cast<S *>(a.work), *parts = static_cast<S *>(a.parts);
  const int64_t nparts = int64_t(a.slices.nparts) * WARP, size = a.slices.n << a.work_shift,
                own = parity + column;
  return {a.slices,
          {work + own * size, a.work_shift},
          {a.buffers == 2 ? work + (parity ^ 1) * size : nullptr, a.work_shift},
          parts + own * nparts,
          a.buffers == 2 ? parts + (parity ^ 1) * nparts : nullptr,
          {static_cast<S *>(a.x) + column * a.x_col, static_cast<const S *>(a.b) + column * a.b_col,
           a.x_row, a.b_row},
          a.fault};
}

/* By each block of threads at the end of the last range.  The next solve takes the other buffer. */
__device__ void end_solve(const trs_engine_args &a, uint32_t parity) {
  __syncthreads();
  if (threadIdx.x == 0 && atomicInc(&a.counters->finished, gridDim.x - 1) == gridDim.x - 1)
    a.counters->parity = parity ^ 1;
}

/* Of the inverse of a box: all that fit in the registers of a thread. */
template <class S>
constexpr int HELD_OF_BOX = sizeof(S) == 16 ? int(BATCH) : int(TRS_LIGHT_BLOCK);

/* waits::heavy if the range has heavy slices. */
template <class S, class V, waits WAITS>
__global__ void __launch_bounds__(THREADS, resident<S>(WAITS))
    warp_per_slice(const __grid_constant__ trs_engine_args a,
                   const __grid_constant__ trs_launch_range range, uint32_t *tickets,
                   int32_t last) {
  __shared__ int32_t taken;
  __shared__ S partial[WAITS == waits::heavy ? THREADS : 1];
  int32_t ticket = int32_t(blockIdx.x);
  if (has_tickets<WAITS>) {
    if (threadIdx.x == 0) taken = int32_t(atomicInc(tickets, gridDim.x - 1));
    __syncthreads();
    ticket = taken;
  }
  const int32_t column = a.columns > 1 ? ticket % a.columns : 0;
  if (a.columns > 1) ticket /= a.columns;
  warp_lane at = {int(threadIdx.x) % WARP, int(threadIdx.x) / WARP};
  int32_t slice, end;
  find_slices<WAITS == waits::heavy>(a.slices, range, ticket, &slice, &end);
  const trs_slice h = a.slices.slice[min(slice + at.warp, end - 1)];
  await_kernel_before();
  const uint32_t parity = a.buffers == 2 ? a.counters->parity : 0;
  const view<S, V> v = view_of<S, V>(a, parity, column);
  if (WAITS == waits::heavy && h.heavy)
    solve_heavy(v, h, at, partial);
  else if (slice + at.warp < end && WAITS == waits::boxes)
    solve_waiting<HELD_OF_BOX<S>>(v, h, at.lane, true);
  else if (slice + at.warp < end && has_tickets<WAITS>)
    h.block == 1 && h.log_lanes > 0 ? solve_latest_last(v, h, at.lane)
                                    : solve_waiting<BATCH>(v, h, at.lane, a.chains);
  else if (slice + at.warp < end)
    solve_slice<WAITS>(v, h, at.lane, reinterpret_cast<ring<S, V> *>(dynamic_shared()));
  if (last) end_solve(a, parity);
}

/* warp_per_slice for wide levels: the blocks of threads that run at once take turns, WARPS slices
 * each.  A block draws the ticket of a turn and reads its slices one turn ahead, so that neither is
 * waited for.  It holds three tickets at most and takes them in order, so the block with the first
 * unsolved slice works on it.  Rows seldom wait there: those of a slice leave together. */
template <class S, class V>
__global__ void __launch_bounds__(THREADS, resident<S>(waits::wide))
    slices_in_turns(const __grid_constant__ trs_engine_args a,
                    const __grid_constant__ trs_launch_range range, uint32_t *tickets, int32_t last,
                    int32_t turns) {
  __shared__ int32_t drawn[2];
  const warp_lane at = {int(threadIdx.x) % WARP, int(threadIdx.x) / WARP};
  /* Each block draws one ticket too many. */
  auto draw = [&] { return int32_t(atomicInc(tickets, uint32_t(turns) + gridDim.x - 1)); };
  auto slice_of = [&](int32_t turn) { return range.slice + turn * WARPS + at.warp; };
  auto read = [&](int32_t turn) {
    return a.slices.slice[min(slice_of(turn), range.slice_end - 1)];
  };
  await_kernel_before(); /* which may be the solve before, and then draws from the same counter */
  if (threadIdx.x == 0) {
    drawn[0] = draw();
    drawn[1] = drawn[0] < turns ? draw() : drawn[0];
  }
  __syncthreads();
  int32_t turn = drawn[0], next = drawn[1];
  __syncthreads();
  trs_slice h = read(turn);
  const uint32_t parity = a.buffers == 2 ? a.counters->parity : 0;
  const view<S, V> v = view_of<S, V>(a, parity, 0);
  while (turn < turns) {
    const trs_slice ahead = read(next);
    int32_t behind = next; /* the turn behind the next one */
    if (threadIdx.x == 0 && next < turns) behind = draw();
    if (slice_of(turn) < range.slice_end)
      solve_slice<waits::wide>(v, h, at.lane, static_cast<ring<S, V> *>(nullptr));
    if (threadIdx.x == 0) drawn[0] = behind;
    __syncthreads();
    turn = next;
    next = drawn[0];
    h = ahead;
    __syncthreads();
  }
  if (last) end_solve(a, parity);
}

int64_t turns_of(const trs_launch_range *range) {
  return (range->slice_end - range->slice + WARPS - 1) / WARPS;
}

/* Blocks of threads of slices_in_turns that run at once. */
template <class S>
int32_t taking_turns(const trs_engine_args &a) {
  return a.multiprocessors * resident<S>(waits::wide);
}

/* True if few of the slices that run at once wait for others that do, and each block has some
 * turns: fewer do not make up for blocks that end alone. */
template <class S>
bool is_wide(const trs_engine_args &a, const trs_launch_range *range) {
  enum { LEAST_TURNS = 3 };
  const int64_t blocks = taking_turns<S>(a), levels = range->level_end - range->level;
  return a.columns == 1 && turns_of(range) >= LEAST_TURNS * blocks &&
         4 * turns_of(range) >= levels * blocks;
}

/* A range of one level waits for nothing, since earlier launches have solved all that it needs. */
template <class S>
waits waits_of(const trs_engine_args &a, const trs_launch_range *range) {
  if (range->heavy) return waits::heavy;
  if (range->level_end - range->level > 1)
    return a.boxes ? waits::boxes : is_wide<S>(a, range) ? waits::wide : waits::rows;
  return range->entries == 0 ? waits::bare : waits::none;
}

template <class S, class V>
cudaError_t launch(const trs_engine_args &a, const trs_launch_range &range, uint32_t *tickets,
                   int32_t last, cudaStream_t stream) {
  const waits w = waits_of<S>(a, &range);
  const int32_t turns = int32_t(turns_of(&range));
  if (w == waits::wide)
    return launch_behind(a.overlaps, slices_in_turns<S, V>, unsigned(taking_turns<S>(a)),
                         WARPS * warp_of_device(), 0, stream, a, range, tickets, last, turns);
  const int32_t blocks = range.heavy ? range.chunk_end - range.chunk : turns;
  auto kernel = w == waits::heavy   ? warp_per_slice<S, V, waits::heavy>
                : w == waits::boxes ? warp_per_slice<S, V, waits::boxes>
                : w == waits::rows  ? warp_per_slice<S, V, waits::rows>
                : w == waits::bare  ? warp_per_slice<S, V, waits::bare>
                                    : warp_per_slice<S, V, waits::none>;
  return launch_behind(a.overlaps, kernel, unsigned(blocks) * unsigned(a.columns),
                       WARPS * warp_of_device(), w == waits::none ? ring<S, V>::bytes() : 0, stream,
                       a, range, tickets, last);
}

}  // namespace

extern "C" trs_status trs_engine_warp_slice(const trs_engine_args *a, trs_scalar scalar,
                                            const trs_launch_range *range, int32_t number,
                                            int32_t last, trs_stream stream) {
  uint32_t *ticket = a->counters->ticket + number;
  auto to = static_cast<cudaStream_t>(stream);
  cudaError_t error = by_values(scalar, a->float_values, [&](auto element, auto value) {
    return launch<decltype(element), decltype(value)>(*a, *range, ticket, last, to);
  });
  return trs_device_check(error, "launching the warp-per-slice kernel");
}
