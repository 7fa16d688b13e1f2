/* wide.cu - wide regions: rows in level order, a warp a slice, every multiprocessor.
 *
 * x_i = Dinv (b_i - sum of a_ij x_j): a lane polls the x it needs until their values are there
 * (slice.cuh), so the cost of a dependency is one store and one load through the second-level
 * cache.  A warp whose turn is far off looks at one word only, some levels up: polling everything
 * from the start would fill the cache's queues and delay whom all wait for.
 * Blocks of threads take tickets in schedule order: one waits only for blocks that run already.
 * Where nothing waits there are no tickets.
 * No atomic sums: the same bits every time. */
#include "solve/cuda/slice.cuh"

namespace {

using namespace trs;

enum { WARPS = TRS_CHUNK_SLICES, THREADS = 32 * WARPS, BATCH = 4 };

template <class S>
struct one_rhs {
  S *x;
  const S *b;
  int64_t x_row, b_row;
};

struct place {
  int lane, warp;
};

template <class S, class V>
struct view {
  const trs_slices &s;
  S *work, *other; /* this solve's x by position, and the half being cleared for the next */
  S *parts, *other_parts;
  one_rhs<S> rhs;
  trs_fault *fault;

  __device__ void finish(int32_t position, int32_t row, S value) const {
    value = full(value);
    publish(work + position, value);
    if (other) other[position] = empty_value<S>();
    rhs.x[row * rhs.x_row] = value;
  }
};

/* Who can be waited for. */
enum class waits { none, rows, heavy };

template <waits WAITS, class S, class V>
__device__ S add_batch(const view<S, V> &v, const batch<S, V, BATCH> &now, S sum, wait &w,
                       int32_t row) {
  return WAITS == waits::none ? now.add_settled(sum, v.work) : now.add(sum, v.work, w, row);
}

/* The lane's share of its row's sum: batches from the offset-th, `stride` entries apart.  Most rows
 * have one batch: little is to be done when its x are there. */
template <waits WAITS, class S, class V>
__device__ S lane_sum(const view<S, V> &v, const trs_slice &h, int lane, int offset, int stride,
                      int32_t row) {
  const int apart = trs_slice_stride(&h), width = lane < apart ? h.width : 0;
  const int32_t *idx = v.s.idx + h.entries + lane;
  const V *val = static_cast<const V *>(v.s.val) + h.entries + lane;
  wait w(v.fault);
  batch<S, V, BATCH> now, next;
  now.load(idx, val, offset, stride, width, apart);
  if (WAITS != waits::none && h.watch >= 0)
    while (empty(peek(v.work + h.watch)) && w.goes_on(row)) {
    }
  S sum = S{};
  int k = offset + BATCH * stride;
  for (; k < h.width; k += BATCH * stride) {
    next.load(idx, val, k, stride, width, apart);
    sum = add_batch<WAITS>(v, now, sum, w, row);
    now = next;
  }
  sum = add_batch<WAITS>(v, now, sum, w, row);
  __syncwarp();
  return sum;
}

template <waits WAITS, class S, class V>
__device__ void solve_slice(const view<S, V> &v, const trs_slice &h, int lane) {
  int r = lane >> h.log_lanes;
  bool there = r < h.rows;
  int32_t position = h.first + (there ? r : 0), row = __ldg(v.s.row + position);
  S b = v.rhs.b[row * v.rhs.b_row];
  const S *inverse = static_cast<const S *>(v.s.inverse) + h.inverse;
  if (!there) r = 0;
  coefficients<S, BATCH> c;
  c.load(inverse, h, r);
  S residual = b - sum_lanes(lane_sum<WAITS>(v, h, lane, 0, 1, row), h.log_lanes);
  S x = c.apply(residual, inverse, h, r);
  if (there && (lane & ((1 << h.log_lanes) - 1)) == 0) v.finish(position, row, x);
}

/* A part's sums, or the parts of a row, are carried like x. */
template <class S, class V>
__device__ S sum_parts(const view<S, V> &v, const trs_slice &h, place at, int32_t row) {
  wait w(v.fault);
  S sum = S{};
  for (int k = at.warp; k < h.parts; k += WARPS) {
    const S *part = v.parts + int64_t(h.part + k) * TRS_SLICE_LANES + at.lane;
    S value = peek(part);
    while (empty(value) && w.goes_on(row)) value = peek(part);
    sum = sum + value;
  }
  __syncwarp();
  return sum;
}

template <class S>
__device__ S sum_warps(const S *partial, int lane) {
  S sum = partial[lane];
  for (int w = 1; w < WARPS; w++) sum = sum + partial[w * 32 + lane];
  return sum;
}

template <class S, class V>
__device__ void leave_part(const view<S, V> &v, const trs_slice &h, place at, const S *partial) {
  if (at.warp > 0) return;
  int64_t where = int64_t(h.part) * TRS_SLICE_LANES + at.lane;
  publish(v.parts + where, full(sum_warps(partial, at.lane)));
  if (v.other_parts) v.other_parts[where] = empty_value<S>();
}

/* Every WARPS-th diagonal of a heavy block's inverse, each warp's own. */
template <class S>
struct diagonals {
  enum { OWN = TRS_MOST_BLOCK / WARPS };
  S c[OWN];

  __device__ void load(const S *inverse, const trs_slice &h, int r, int warp) {
#pragma unroll
    for (int k = 0; k < OWN; k++) {
      int32_t at = r < h.rows ? trs_inverse_at(&h, r, warp + k * WARPS) : -1;
      c[k] = at >= 0 ? inverse[at] : empty_value<S>();
    }
  }
  __device__ S apply(S residual, const trs_slice &h, int warp) const {
    S x = S{};
#pragma unroll
    for (int k = 0; k < OWN; k++) {
      S other = shuffle_up(residual, ((warp + k * WARPS) << h.log_lanes) & 31);
      if (!empty(c[k])) x = multiply_add(c[k], other, x);
    }
    return x;
  }
};

/* One slice by all warps of the block: each sums every WARPS-th entry, then each multiplies with
 * every WARPS-th diagonal of the inverse. */
template <class S, class V>
__device__ void solve_heavy(const view<S, V> &v, const trs_slice &h, place at, S *partial) {
  const int r = at.lane >> h.log_lanes;
  diagonals<S> own;
  if (h.parts >= 0) own.load(static_cast<const S *>(v.s.inverse) + h.inverse, h, r, at.warp);
  bool there = r < h.rows;
  int32_t position = h.first + (there ? r : 0), row = __ldg(v.s.row + position);
  S b = v.rhs.b[row * v.rhs.b_row], known = sum_parts(v, h, at, row);
  partial[threadIdx.x] = known + lane_sum<waits::heavy>(v, h, at.lane, at.warp, WARPS, row);
  __syncthreads();
  if (h.parts < 0) return leave_part(v, h, at, partial);
  S residual = b - sum_lanes(sum_warps(partial, at.lane), h.log_lanes);
  __syncthreads();
  partial[threadIdx.x] = own.apply(residual, h, at.warp);
  __syncthreads();
  if (at.warp == 0 && there && (at.lane & ((1 << h.log_lanes) - 1)) == 0)
    v.finish(position, row, sum_warps(partial, at.lane));
}

/* The slices of the ticket-th block of threads.  Without heavy ones among them any WARPS in a row
 * will do, which saves a look. */
template <bool HEAVY>
__device__ void find_slices(const trs_slices &s, const trs_region &region, int32_t ticket,
                            int32_t *slice, int32_t *end) {
  if (HEAVY) {
    *slice = s.chunk[region.chunk + ticket];
    *end = s.chunk[region.chunk + ticket + 1];
  } else {
    *slice = region.slice + ticket * WARPS;
    *end = min(*slice + WARPS, region.slice_end);
  }
}

/* Blocks of threads on a multiprocessor.  Where rows wait, few: whoever waits in vain slows down
 * the caches for the others, and registers are worth more (docs/experiments.md). */
template <class S>
constexpr int resident(waits w) {
  return sizeof(S) == 16 || w != waits::none ? 2 : 4;
}

/* WAITS: none in a settled region, heavy where there are heavy slices. */
template <class S, class V, waits WAITS>
__global__ void __launch_bounds__(THREADS, resident<S>(WAITS))
    wide(const __grid_constant__ trs_engine_args a, const __grid_constant__ trs_region region,
         uint32_t *tickets, int32_t last) {
  __shared__ int32_t taken;
  __shared__ S partial[WAITS == waits::heavy ? THREADS : 1];
  int32_t ticket = int32_t(blockIdx.x);
  if (WAITS != waits::none) {
    if (threadIdx.x == 0) taken = int32_t(atomicInc(tickets, gridDim.x - 1));
    __syncthreads();
    ticket = taken;
  }
  const int32_t column = a.columns > 1 ? ticket % a.columns : 0;
  if (a.columns > 1) ticket /= a.columns;
  place at = {int(threadIdx.x) % 32, int(threadIdx.x) / 32};
  int32_t slice, end;
  find_slices<WAITS == waits::heavy>(a.slices, region, ticket, &slice, &end);
  const trs_slice h = a.slices.slice[min(slice + at.warp, end - 1)];
  await_kernel_before();
  uint32_t parity = a.halves == 2 ? a.counters->parity : 0;
  S *work = static_cast<S *>(a.work), *parts = static_cast<S *>(a.parts);
  int64_t nparts = int64_t(a.slices.nparts) * TRS_SLICE_LANES;
  const int64_t place_of_work = parity + column;
  view<S, V> v = {a.slices,
                  work + place_of_work * a.slices.n,
                  a.halves == 2 ? work + (parity ^ 1) * a.slices.n : nullptr,
                  parts + place_of_work * nparts,
                  a.halves == 2 ? parts + (parity ^ 1) * nparts : nullptr,
                  {static_cast<S *>(a.x) + column * a.x_col,
                   static_cast<const S *>(a.b) + column * a.b_col, a.x_row, a.b_row},
                  a.fault};
  if (WAITS == waits::heavy && h.heavy)
    solve_heavy(v, h, at, partial);
  else if (slice + at.warp < end)
    solve_slice<WAITS>(v, h, at.lane);
  if (!last) return;
  __syncthreads();
  if (threadIdx.x == 0 && atomicInc(&a.counters->finished, gridDim.x - 1) == gridDim.x - 1)
    a.counters->parity = parity ^ 1;
}

}  // namespace

extern "C" trs_status trs_engine_wide(const trs_engine_args *a, trs_scalar scalar,
                                      const trs_region *region, int32_t number, int32_t last,
                                      trs_stream stream) {
  int32_t slices = region->slice_end - region->slice;
  int32_t blocks = region->heavy ? region->chunk_end - region->chunk : (slices + WARPS - 1) / WARPS;
  uint32_t *ticket = a->counters->ticket + number;
  auto s = static_cast<cudaStream_t>(stream);
  cudaError_t error = by_values(scalar, a->float_values, [&](auto element, auto value) {
    using S = decltype(element);
    using V = decltype(value);
    auto kernel = region->heavy     ? wide<S, V, waits::heavy>
                  : region->settled ? wide<S, V, waits::none>
                                    : wide<S, V, waits::rows>;
    return launch_behind(a->overlaps, kernel, unsigned(blocks) * unsigned(a->columns), THREADS, 0,
                         s, *a, *region, ticket, last);
  });
  return trs_device_check(error, "launching the wide kernel");
}
