/* tile.cu - many right-hand sides at once through all levels: a block of threads a slice and
 * ACROSS right-hand sides, threads over the slice's rows and, fastest, over the right-hand sides,
 * so that an entry is read once for all of them and the x it multiplies lie side by side.  Where
 * rows and right-hand sides do not fill the block, threads share a row's entries. Readiness, order
 * and tickets are those of wide.cu; a heavy block's last slice does its parts too.
 */
#include "solve/cuda/slice.cuh"

namespace {

using namespace trs;

enum { THREADS = 512, BATCH = 4, ACROSS = 16, COEFFICIENTS = 4 };

/* One slice, right-hand sides first .. first + width - 1 of the tile. */
template <class S, class V>
struct tile_view {
  const trs_engine_args &a;
  const trs_slice &h;
  S *work;             /* n x tile, by position, from the first right-hand side on */
  int32_t tile, width; /* its leading dimension; right-hand sides here */
  int64_t column;      /* the first one's, of x and b */
  int32_t across;      /* threads over right-hand sides: a power of two, at least width */

  __device__ int rows() const { return TRS_SLICE_LANES >> h.log_lanes; }
};

/* What a thread will need in the end, asked for at the beginning: of row r, right-hand side c. */
template <class S, class V>
struct ending {
  int64_t row;
  S b;
  coefficients<S, COEFFICIENTS> inverse;
  int r, c;
  bool there;

  __device__ void load(const tile_view<S, V> &v) {
    r = int(threadIdx.x) / v.across;
    c = int(threadIdx.x) % v.across;
    there = r < v.h.rows && c < v.width;
    if (!there) return;
    row = v.a.slices.row[v.h.first + r];
    b = static_cast<const S *>(v.a.b)[row * v.a.b_row + (v.column + c) * v.a.b_col];
    inverse.load(place(v), min(int(v.h.block), r + 1), v.rows());
  }
  __device__ const S *place(const tile_view<S, V> &v) const {
    return static_cast<const S *>(v.a.slices.inverse) + v.h.inverse + r;
  }
};

/* Entries e, e + step, ... of row r, for right-hand side c. */
template <bool SETTLED, class S, class V>
__device__ S row_sum(const tile_view<S, V> &v, int r, int c, int e, int step, wait &w) {
  const int log_lanes = v.h.log_lanes, lanes = 1 << log_lanes, count = v.h.width << log_lanes;
  const int32_t *idx = v.a.slices.idx + v.h.entries + (r << log_lanes);
  const V *val = static_cast<const V *>(v.a.slices.val) + v.h.entries + (r << log_lanes);
  long long row = v.h.first + r;
  S sum = S{};
  for (; e < count; e += BATCH * step) {
    int32_t at[BATCH];
    S a[BATCH], value[BATCH];
    bool missing = false;
#pragma unroll
    for (int u = 0; u < BATCH; u++) {
      int k = e + u * step;
      int64_t offset = int64_t(k >> log_lanes) * TRS_SLICE_LANES + (k & (lanes - 1));
      at[u] = k < count ? __ldg(idx + offset) : -1;
      a[u] = k < count ? widen<S>(val[offset]) : S{};
      value[u] = at[u] >= 0 ? empty_value<S>() : S{};
      missing |= at[u] >= 0;
    }
    if (SETTLED) {
#pragma unroll
      for (int u = 0; u < BATCH; u++)
        if (at[u] >= 0) value[u] = v.work[int64_t(at[u]) * v.tile + c];
    }
    while (!SETTLED && missing) {
#pragma unroll
      for (int u = 0; u < BATCH; u++)
        peek_if(empty(value[u]), v.work + int64_t(at[u]) * v.tile + c, value[u]);
      missing = false;
#pragma unroll
      for (int u = 0; u < BATCH; u++) missing |= empty(value[u]);
      if (missing && !w.goes_on(row)) break;
    }
#pragma unroll
    for (int u = 0; u < BATCH; u++)
      if (at[u] >= 0) sum = multiply_add(a[u], value[u], sum);
  }
  return sum;
}

/* partial[group][row][rhs]: every thread's sum; gives back the number of groups. */
template <bool SETTLED, class S, class V>
__device__ int sum_rows(const tile_view<S, V> &v, S *partial) {
  const int across = v.across, c = threadIdx.x % across, rest = threadIdx.x / across;
  const int groups = THREADS / (across * v.rows()), r = rest % v.rows(), group = rest / v.rows();
  wait w(v.a.fault);
  if (r < v.h.rows && c < v.width) {
    if (!SETTLED && v.h.watch >= 0)
      while (empty(peek(v.work + int64_t(v.h.watch) * v.tile + c)) && w.goes_on(v.h.first)) {
      }
    partial[threadIdx.x] = row_sum<SETTLED>(v, r, c, group, groups, w);
  }
  return groups;
}

template <class S, class V>
__device__ void finish_rows(const tile_view<S, V> &v, const ending<S, V> &end, int groups,
                            S *partial) {
  const int k = threadIdx.x, all = v.rows() * v.across;
  S residual = S{};
  if (end.there) {
    S sum = partial[k];
    for (int g = 1; g < groups; g++) sum = sum + partial[g * all + k];
    residual = end.b - sum;
    partial[k] = residual;
  }
  __syncthreads();
  if (!end.there) return;
  S x = end.inverse.c[0] * residual;
  const S *inverse = end.place(v);
  for (int d = 1; d < v.h.block && d <= end.r; d++) {
    S coefficient = d < COEFFICIENTS ? end.inverse.at(d) : inverse[d * v.rows()];
    if (!empty(coefficient)) x = multiply_add(coefficient, partial[k - d * v.across], x);
  }
  x = full(x);
  publish(v.work + int64_t(v.h.first + end.r) * v.tile + end.c, x);
  static_cast<S *>(v.a.x)[end.row * v.a.x_row + (v.column + end.c) * v.a.x_col] = x;
}

/* A heavy block's rows as one slice again. */
__device__ inline trs_slice joined(trs_slice h) {
  if (h.parts <= 0) return h;
  h.entries -= int64_t(h.parts) * TRS_PART_WIDTH * TRS_SLICE_LANES;
  h.width += h.parts * TRS_PART_WIDTH;
  return h;
}

template <class S, class V, bool SETTLED>
__global__ void __launch_bounds__(THREADS, sizeof(S) == 16 ? 1 : 2)
    solve_tile(const __grid_constant__ trs_engine_args a, int32_t first_slice, int64_t column,
               int32_t width, int32_t across, uint32_t *tickets) {
  __shared__ int32_t ticket;
  __shared__ S partial[THREADS];
  if (threadIdx.x == 0) ticket = int32_t(atomicInc(tickets, gridDim.x - 1));
  __syncthreads();
  const int32_t tiles = (width + across - 1) / across, first = ticket % tiles * across;
  const trs_slice h = joined(a.slices.slice[first_slice + ticket / tiles]);
  if (h.parts < 0) return;
  tile_view<S, V> v = {a,
                       h,
                       static_cast<S *>(a.tile_work) + first,
                       a.tile,
                       min(width - first, across),
                       column + first,
                       across};
  ending<S, V> end;
  end.load(v);
  int groups = sum_rows<SETTLED>(v, partial);
  __syncthreads();
  finish_rows(v, end, groups, partial);
}

}  // namespace

extern "C" trs_status trs_engine_tile(const trs_engine_args *a, trs_scalar scalar,
                                      const trs_region *region, int32_t number, int64_t column,
                                      int32_t width, trs_stream stream) {
  auto s = static_cast<cudaStream_t>(stream);
  int32_t across = 1, slices = region->slice_end - region->slice;
  while (across < width && across < ACROSS) across *= 2;
  int32_t tiles = (width + across - 1) / across;
  cudaError_t error = by_values(scalar, a->float_values, [&](auto element, auto value) {
    using S = decltype(element);
    using V = decltype(value);
    if (number == 0) {
      size_t bytes = size_t(a->slices.n) * size_t(a->tile) * sizeof(S);
      cudaError_t set = cudaMemsetAsync(a->tile_work, 0xff, bytes, s);
      if (set) return set;
    }
    auto kernel = region->settled ? solve_tile<S, V, true> : solve_tile<S, V, false>;
    kernel<<<slices * tiles, THREADS, 0, s>>>(*a, region->slice, column, width, across,
                                              a->counters->ticket + number);
    return cudaGetLastError();
  });
  return trs_device_check(error, "launching the kernel for many right-hand sides");
}
