/* tile.cu - up to 32 right-hand sides at once through all levels: a block of threads a slice,
 * threads over the slice's rows and, fastest, over the right-hand sides, so that an entry is read
 * once for all of them and the x it multiplies lie side by side.  Where rows and right-hand sides
 * do not fill the block, threads share a row's entries.
 * Readiness, order and tickets are those of wide.cu. */
#include "solve/cuda/slice.cuh"

namespace {

using namespace trs;

enum { THREADS = 256, BATCH = 4, MOST_TILE = 32 };

template <class S, class V>
struct tile_view {
  const trs_engine_args &a;
  const trs_slice &h;
  S *work;             /* n x tile, by position */
  int32_t tile, width; /* its leading dimension; right-hand sides in it */
  int64_t column;
  int32_t across; /* threads over right-hand sides: a power of two, at least width */
};

/* Entries e, e + step, ... of row r, for right-hand side c. */
template <class S, class V>
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
    while (missing) {
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

/* partial[group][row][rhs]: every thread's sums. */
template <class S, class V>
__device__ int sum_rows(const tile_view<S, V> &v, S *partial) {
  const int rows = TRS_SLICE_LANES >> v.h.log_lanes, c = threadIdx.x % v.across;
  const int rest = threadIdx.x / v.across, teams = THREADS / v.across;
  const int together = min(rows, teams), groups = teams / together, group = rest / together;
  wait w(v.a.fault);
  if (v.h.watch >= 0 && c < v.width)
    while (empty(peek(v.work + int64_t(v.h.watch) * v.tile + c)) && w.goes_on(v.h.first)) {
    }
  for (int r = rest % together; r < rows; r += together) {
    S sum = S{};
    if (r < v.h.rows && c < v.width) sum = row_sum(v, r, c, group, groups, w);
    partial[(group * rows + r) * v.across + c] = sum;
  }
  return groups;
}

template <class S, class V>
__device__ void finish_rows(const tile_view<S, V> &v, int groups, S *partial) {
  const int rows = TRS_SLICE_LANES >> v.h.log_lanes;
  const S *inverse = static_cast<const S *>(v.a.slices.inverse) + v.h.inverse;
  const S *b = static_cast<const S *>(v.a.b);
  for (int k = threadIdx.x; k < v.h.rows * v.across; k += THREADS) {
    int r = k / v.across, c = k % v.across;
    S sum = partial[k];
    for (int g = 1; g < groups; g++) sum = sum + partial[g * rows * v.across + k];
    int64_t row = v.a.slices.row[v.h.first + r];
    if (c < v.width) partial[k] = b[row * v.a.b_row + (v.column + c) * v.a.b_col] - sum;
  }
  __syncthreads();
  for (int k = threadIdx.x; k < v.h.rows * v.across; k += THREADS) {
    int r = k / v.across, c = k % v.across;
    if (c >= v.width) continue;
    S x = S{};
    for (int d = 0; d < v.h.block && d <= r; d++) {
      S coefficient = inverse[d * rows + r];
      if (!empty(coefficient)) x = multiply_add(coefficient, partial[k - d * v.across], x);
    }
    x = full(x);
    int64_t row = v.a.slices.row[v.h.first + r];
    publish(v.work + int64_t(v.h.first + r) * v.tile + c, x);
    static_cast<S *>(v.a.x)[row * v.a.x_row + (v.column + c) * v.a.x_col] = x;
  }
}

template <class S, class V>
__global__ void __launch_bounds__(THREADS)
    solve_tile(const __grid_constant__ trs_engine_args a, int64_t column, int32_t width,
               int32_t across, uint32_t *ticket) {
  __shared__ int32_t slice;
  __shared__ S partial[TRS_SLICE_LANES * MOST_TILE];
  if (threadIdx.x == 0) slice = int32_t(atomicInc(ticket, gridDim.x - 1));
  __syncthreads();
  trs_slice h = a.slices.slice[slice];
  tile_view<S, V> v = {a, h, static_cast<S *>(a.tile_work), a.tile, width, column, across};
  int groups = sum_rows(v, partial);
  __syncthreads();
  finish_rows(v, groups, partial);
}

}  // namespace

extern "C" trs_status trs_engine_tile(const trs_engine_args *a, trs_scalar scalar, int64_t column,
                                      int32_t width, int32_t number, trs_stream stream) {
  auto s = static_cast<cudaStream_t>(stream);
  int32_t across = 1;
  while (across < width) across *= 2;
  cudaError_t error = by_values(scalar, a->float_values, [&](auto element, auto value) {
    using S = decltype(element);
    using V = decltype(value);
    size_t bytes = size_t(a->slices.n) * size_t(a->tile) * sizeof(S);
    cudaError_t set = cudaMemsetAsync(a->tile_work, 0xff, bytes, s);
    if (set) return set;
    solve_tile<S, V><<<a->slices.nslices, THREADS, 0, s>>>(*a, column, width, across,
                                                           a->counters->ticket + number);
    return cudaGetLastError();
  });
  return trs_device_check(error, "launching the kernel for many right-hand sides");
}
