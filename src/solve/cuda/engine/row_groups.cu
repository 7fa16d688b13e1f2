/* row_groups.cu - the row-groups kernel: many right-hand sides, one group of lanes per row.
 *
 * Each lane of a group has one pack (pack.cuh) of right-hand sides.  A group reads an x that its
 * row multiplies as one piece of memory, and no sum passes between lanes.  The lanes load the
 * entries of the row together, one each, and share them by shuffles: an entry takes one register
 * per lane.  A block of threads solves a slice, or a part of a slice, for a strip of right-hand
 * sides.
 *
 * Compared with many_rhs.cu the kernel has no barriers and no partial sums in shared memory, so a
 * level takes less time.  It reads entries once per strip and row group, so many_rhs.cu is faster
 * in large levels and for few right-hand sides.
 *
 * Readiness, order and tickets are those of warp_slice.cu.  The order of a row's sum is always the
 * same. */
#include "solve/cuda/engine/pack.cuh"
#include "solve/cuda/engine/slice.cuh"

namespace {

using namespace trs;

enum {
  THREADS = 256,
  RESIDENT = 4, /* blocks of threads per multiprocessor: 64 registers per thread */
  AT_ONCE = 4   /* entries whose x are loaded together */
};

struct row_groups_args {
  trs_engine_args engine;
  int32_t packs;       /* of all right-hand sides */
  int32_t first_slice; /* of the range */
  int32_t strips;
  int32_t parts;     /* blocks of threads that share a slice */
  uint32_t *tickets; /* NULL if no row of the range waits for another */
};

/* A lane's share of a row: one of its entries; and what all lanes of the group know. */
template <class V>
struct row_share {
  int32_t row; /* of the system */
  int32_t idx;
  V val;
};

template <class S, class V, int LOG_GROUP>
struct row_group {
  static constexpr int GROUP = 1 << LOG_GROUP;
  const row_groups_args &a;
  const trs_slice &h;
  int32_t own; /* the lane's pack */

  __device__ bool has_pack() const { return own < a.packs; }
  __device__ int lane() const { return int(threadIdx.x) & (GROUP - 1); }
  __device__ unsigned mask() const {
    if constexpr (GROUP == 32) return ~0u;
    return ((1u << (GROUP & 31)) - 1) << (threadIdx.x & 31 & ~(GROUP - 1));
  }
  /* x of a position. */
  __device__ pack<S> *work(int64_t position) const {
    return static_cast<pack<S> *>(a.engine.many_rhs_work) +
           position * (a.engine.many_rhs / pack<S>::SIZE) + own;
  }

  /* The lane's entry of row r, from entry t on. */
  __device__ void load_entry(row_share<V> &share, int r, int t) const {
    const int log = h.log_lanes, k = t + lane();
    const int64_t at =
        h.entries + (r << log) + int64_t(k >> log) * trs_slice_stride(&h) + (k & ((1 << log) - 1));
    const bool there = k < h.width << log;
    share.idx = there ? __ldg(a.engine.slices.idx + at) : -1;
    share.val = there ? static_cast<const V *>(a.engine.slices.val)[at] : V{};
  }

  __device__ V value_of(const row_share<V> &share, int from) const {
    if constexpr (element<V>::is_complex)
      return {__shfl_sync(mask(), share.val.re, from, GROUP),
              __shfl_sync(mask(), share.val.im, from, GROUP)};
    else
      return __shfl_sync(mask(), share.val, from, GROUP);
  }

  __device__ static bool lacks(const pack<S> *x) {
    bool missing = false;
#pragma unroll
    for (int u = 0; u < AT_ONCE; u++) missing |= is_pending(x[u]);
    return missing;
  }

  /* Adds entries k to k + AT_ONCE of the group's `count`.  Waits for each x. */
  __device__ void add(pack<S> &sum, const row_share<V> &share, int k, int count, wait &w) const {
    int32_t position[AT_ONCE];
    pack<S> x[AT_ONCE];
#pragma unroll
    for (int u = 0; u < AT_ONCE; u++) {
      position[u] = __shfl_sync(mask(), share.idx, (k + u) & (GROUP - 1), GROUP);
      x[u] = pack<S>{};
      peek_if(k + u < count && has_pack(), work(position[u]), x[u]);
    }
    while (lacks(x) && w.goes_on(share.row)) {
#pragma unroll
      for (int u = 0; u < AT_ONCE; u++) peek_if(is_pending(x[u]), work(position[u]), x[u]);
    }
#pragma unroll
    for (int u = 0; u < AT_ONCE; u++) {
      const V val = value_of(share, (k + u) & (GROUP - 1));
      sum = multiply_add(widen<S>(k + u < count ? val : V{}), x[u], sum);
    }
  }

  /* b less the products.  share has the first entries. */
  __device__ pack<S> residual(row_share<V> share, int r) const {
    const S *b = static_cast<const S *>(a.engine.b) + share.row * a.engine.b_row;
    const pack<S> all = has_pack() ? reinterpret_cast<const pack<S> *>(b)[own] : pack<S>{};
    pack<S> sum{};
    wait w(a.engine.fault);
    for (int t = 0, count = GROUP; count == GROUP; t += GROUP) {
      if (t > 0) load_entry(share, r, t);
      count = __popc(__ballot_sync(mask(), share.idx >= 0));
      for (int k = 0; k < count; k += AT_ONCE) add(sum, share, k, count, w);
    }
    return all - sum;
  }

  /* No row waits for rows of the last level. */
  __device__ void store(const pack<S> &x, int32_t row, int r) const {
    if (!has_pack()) return;
    const pack<S> value = encode(x);
    if (h.level + 1 < a.engine.slices.nlevels) publish(work(h.first + r), value);
    S *to = static_cast<S *>(a.engine.x) + row * a.engine.x_row;
    __stcs(reinterpret_cast<float4 *>(to) + own, *reinterpret_cast<const float4 *>(&value));
  }
};

/* x of row r from the residuals of its block of rows.  All threads call it. */
template <class S>
__device__ pack<S> apply_inverse(const trs_slice &h, const S *inverse, int r, bool there, int group,
                                 const pack<S> &own) {
  __shared__ pack<S> residual[THREADS];
  if (h.block == 1) return multiply_add(there ? inverse[r] : S{}, own, pack<S>{});
  residual[threadIdx.x] = own;
  __syncthreads();
  pack<S> x{};
  for (int d = 0; there && d < h.block; d++) {
    const int32_t at = trs_inverse_at(&h, r, d);
    if (at >= 0 && !is_pending(inverse[at]))
      x = multiply_add(inverse[at], residual[int(threadIdx.x) - d * group], x);
  }
  __syncthreads();
  return x;
}

template <class S, class V, int LOG_GROUP>
__global__ void __launch_bounds__(THREADS, RESIDENT)
    solve_row_groups(const __grid_constant__ row_groups_args a) {
  constexpr int GROUP = 1 << LOG_GROUP, ROWS = THREADS >> LOG_GROUP;
  __shared__ trs_slice h;
  __shared__ int32_t task;
  if (threadIdx.x == 0) {
    task = int32_t(a.tickets ? atomicInc(a.tickets, gridDim.x - 1) : blockIdx.x);
    h = a.engine.slices.slice[a.first_slice + task / a.strips / a.parts];
  }
  __syncthreads();
  const int32_t strip = task % a.strips, part = task / a.strips % a.parts;
  const int group = int(threadIdx.x) >> LOG_GROUP;
  const row_group<S, V, LOG_GROUP> g = {a, h,
                                        (strip << LOG_GROUP) + (int(threadIdx.x) & (GROUP - 1))};
  const S *inverse = static_cast<const S *>(a.engine.slices.inverse) + h.inverse;
  const int at_once = ROWS / h.block * h.block; /* rows: whole blocks of rows */
  for (int begin = part * at_once; begin < h.rows; begin += a.parts * at_once) {
    const int r = begin + group;
    const bool there = group < at_once && r < h.rows;
    row_share<V> share{};
    pack<S> x{};
    if (there) {
      share.row = __ldg(a.engine.slices.row + h.first + r);
      g.load_entry(share, r, 0);
      x = g.residual(share, r);
    }
    x = apply_inverse(h, inverse, r, there, GROUP, x);
    if (there) g.store(x, share.row, r);
  }
}

template <class S, class V, int LOG_GROUP>
cudaError_t launch(row_groups_args a, int32_t slices, cudaStream_t stream) {
  a.strips = (a.packs + (1 << LOG_GROUP) - 1) >> LOG_GROUP;
  a.parts = (TRS_SLICE_LANES << LOG_GROUP) / THREADS;
  solve_row_groups<S, V, LOG_GROUP>
      <<<unsigned(slices) * unsigned(a.strips * a.parts), THREADS, 0, stream>>>(a);
  return cudaGetLastError();
}

}  // namespace

extern "C" trs_status trs_engine_row_groups(const trs_engine_args *a, trs_scalar scalar,
                                            const trs_launch_range *range, int32_t number,
                                            int32_t width, trs_stream stream) {
  auto to = static_cast<cudaStream_t>(stream);
  const int32_t slices = range->slice_end - range->slice;
  const bool waits = range->level_end - range->level > 1;
  cudaError_t error = by_values(scalar, a->float_values, [&](auto element, auto value) {
    using S = decltype(element);
    using V = decltype(value);
    const row_groups_args args = {*a,
                                  width / pack<S>::SIZE,
                                  range->slice,
                                  1,
                                  1,
                                  waits ? a->counters->ticket + number : nullptr};
    return args.packs <= 16 ? launch<S, V, 4>(args, slices, to) : launch<S, V, 5>(args, slices, to);
  });
  return trs_device_check(error, "launching the row-groups kernel");
}
