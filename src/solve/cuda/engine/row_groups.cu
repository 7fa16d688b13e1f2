/* row_groups.cu - the row-groups kernel: many right-hand sides, one group of lanes per row.
 *
 * Each lane of a group has one pack (pack.cuh) of right-hand sides.  A group reads an x that its
 * row multiplies as one piece of memory, and no sum passes between lanes.  The lanes load the
 * entries of the row together, one each, and share them by shuffles: an entry takes one register
 * per lane.  A block of threads solves a slice, or a part of a slice, for a strip of right-hand
 * sides.
 *
 * b and the coefficients of the inverse come to shared memory while the rows wait for their x.
 * Registers are scarce: a b in a register would be spilled, and the kernel would wait for b before
 * it asks for the first x.
 *
 * Compared with many_rhs.cu the kernel has no barriers and no partial sums in shared memory, so a
 * level takes less time.  It reads entries once per strip and row group, so many_rhs.cu is faster
 * in large levels and for few right-hand sides.
 *
 * Readiness, order and tickets are those of warp_slice.cu.  The order of a row's sum is always the
 * same. */
#include <cuda_pipeline.h>

#include "solve/cuda/engine/pack.cuh"
#include "solve/cuda/engine/slice.cuh"

namespace {

using namespace trs;

enum {
  THREADS = 256,
  RESIDENT = 4, /* blocks of threads per multiprocessor: 64 registers per thread */
  AT_ONCE = 4,  /* entries whose x are loaded together */
  /* Levels of fewer than NARROW_LEVEL tasks get NARROW_RESIDENT blocks of threads per
   * multiprocessor: more of them would only poll. */
  NARROW_LEVEL = 132,
  NARROW_RESIDENT = 3
};

struct row_groups_args {
  trs_engine_args engine;
  char *work;          /* the x that rows wait for: by position, or of the system's rows */
  int32_t stride;      /* bytes from one of them to the next */
  int32_t packs;       /* of all right-hand sides */
  int32_t first_slice; /* of the range */
  int32_t strips;
  int32_t parts;     /* blocks of threads that share a slice of the mean number of rows */
  uint32_t *tickets; /* NULL if no row of the range waits for another */
};

/* What a block of threads holds of its rows in shared memory, one of each per thread. */
template <class S>
struct row_memory {
  pack<S> b[THREADS]; /* the thread's pack; later its residual, in blocks of several rows */
  S inverse[THREADS]; /* of lane d of a group: the coefficient at distance d from the diagonal */
};

/* A lane's share of a row: one of its entries; and what all lanes of the group know. */
template <class V>
struct row_share {
  int32_t row; /* of the system */
  int32_t idx; /* -1: no entry, and val is 0 */
  V val;
};

template <class S, class V, int LOG_GROUP>
struct row_group {
  static constexpr int GROUP = 1 << LOG_GROUP;
  const row_groups_args &a;
  const trs_slice &h;
  row_memory<S> &memory;
  int32_t own; /* the lane's pack */
  char *work;  /* the lane's pack of the first x */

  __device__ bool has_pack() const { return own < a.packs; }
  __device__ int lane() const { return int(threadIdx.x) & (GROUP - 1); }
  __device__ unsigned mask() const {
    if constexpr (GROUP == 32) return ~0u;
    return ((1u << (GROUP & 31)) - 1) << (threadIdx.x & 31 & ~(GROUP - 1));
  }
  /* v of a lane of the group, in each of its lanes. */
  template <class T>
  __device__ T shared_by(T v, int lane) const {
    const unsigned all = mask();
    return by_parts(v, [=](auto part) { return __shfl_sync(all, part, lane, GROUP); });
  }
  __device__ pack<S> *x_of(int32_t place) const {
    return reinterpret_cast<pack<S> *>(work + int64_t(place) * a.stride);
  }

  /* The lane's entry of row r, from entry t on. */
  __device__ void load_entry(row_share<V> &share, int r, int t) const {
    const int log = h.log_lanes, k = t + lane();
    const int64_t at =
        h.entries + (r << log) + int64_t(k >> log) * trs_slice_stride(&h) + (k & ((1 << log) - 1));
    const bool there = k < h.width << log;
    share.idx = there ? __ldg(a.engine.slices.idx + at) : -1;
    share.val = there ? static_cast<const V *>(a.engine.slices.val)[at] : V{};
    if (a.engine.in_place && share.idx >= 0) share.idx = __ldg(a.engine.slices.row + share.idx);
  }

  /* Begins to copy the coefficients of row r of the inverse. */
  __device__ void fetch_inverse(int r) const {
    constexpr int WORD = sizeof(S) < 8 ? sizeof(S) : 8;
    const int d = lane();
    if (d >= TRS_EXACT_BLOCK) return;
    const int32_t at = d < h.block ? trs_inverse_at(&h, r, d) : -1;
    S *to = &memory.inverse[threadIdx.x];
    if (at < 0) {
      *to = pending_value<S>();
      return;
    }
    const S *from = static_cast<const S *>(a.engine.slices.inverse) + h.inverse + at;
#pragma unroll
    for (int k = 0; k < int(sizeof(S)) / WORD; k++)
      __pipeline_memcpy_async(reinterpret_cast<char *>(to) + k * WORD,
                              reinterpret_cast<const char *>(from) + k * WORD, WORD);
  }
  /* Begins to copy the lane's pack of b. */
  __device__ void fetch_b(int32_t row) const {
    const S *b = static_cast<const S *>(a.engine.b) + row * a.engine.b_row;
    if (has_pack())
      __pipeline_memcpy_async(&memory.b[threadIdx.x], reinterpret_cast<const pack<S> *>(b) + own,
                              sizeof(pack<S>));
  }

  __device__ static bool lacks(const pack<S> *x) {
    bool missing = false;
#pragma unroll
    for (int u = 0; u < AT_ONCE; u++) missing |= is_pending(x[u]);
    return missing;
  }

  /* Adds the products of entries k to k + AT_ONCE of the group's lanes.  Waits for each x. */
  __device__ void add(pack<S> &sum, const row_share<V> &share, int k, wait &w) const {
    int32_t place[AT_ONCE];
    pack<S> x[AT_ONCE];
#pragma unroll
    for (int u = 0; u < AT_ONCE; u++) {
      place[u] = shared_by(share.idx, k + u);
      x[u] = pack<S>{};
      peek_if(place[u] >= 0 && has_pack(), x_of(place[u]), x[u]);
    }
    while (lacks(x) && w.goes_on(share.row)) {
#pragma unroll
      for (int u = 0; u < AT_ONCE; u++) peek_if(is_pending(x[u]), x_of(place[u]), x[u]);
    }
#pragma unroll
    for (int u = 0; u < AT_ONCE; u++)
      sum = multiply_add(widen<S>(shared_by(share.val, k + u)), x[u], sum);
  }

  /* The sum of row r.  share has the first entries. */
  __device__ pack<S> products(row_share<V> &share, int r) const {
    pack<S> sum{};
    wait w(a.engine.fault);
    for (int t = 0, count = GROUP; count == GROUP; t += GROUP) {
      if (t > 0) load_entry(share, r, t);
      count = __popc(__ballot_sync(mask(), share.idx >= 0));
      for (int k = 0; k < count; k += AT_ONCE) add(sum, share, k, w);
    }
    return sum;
  }

  /* x of the group's row from the residuals of its block of rows.  All threads call it. */
  __device__ pack<S> apply_inverse(const pack<S> &residual) const {
    const S *inverse = &memory.inverse[threadIdx.x & ~unsigned(GROUP - 1)];
    pack<S> x = multiply_add(inverse[0], residual, pack<S>{});
    if (h.block == 1) return x;
    memory.b[threadIdx.x] = residual;
    __syncthreads();
#pragma unroll
    for (int d = 1; d < TRS_EXACT_BLOCK; d++)
      if (!is_pending(inverse[d]))
        x = multiply_add(inverse[d], memory.b[int(threadIdx.x) - d * GROUP], x);
    __syncthreads(); /* the next rows' b may come */
    return x;
  }

  /* No row waits for rows of the last level. */
  __device__ void store(const pack<S> &x, int32_t row, int r) const {
    if (!has_pack()) return;
    const pack<S> value = encode(x);
    if (a.engine.in_place) return publish(x_of(row), value);
    if (h.level + 1 < a.engine.slices.nlevels) publish(x_of(h.first + r), value);
    S *to = static_cast<S *>(a.engine.x) + row * a.engine.x_row;
    __stcs(reinterpret_cast<float4 *>(to) + own, *reinterpret_cast<const float4 *>(&value));
  }
};

template <class S, class V, int LOG_GROUP>
__global__ void __launch_bounds__(THREADS, RESIDENT)
    solve_row_groups(const __grid_constant__ row_groups_args a) {
  constexpr int GROUP = 1 << LOG_GROUP, ROWS = THREADS >> LOG_GROUP;
  static_assert(TRS_EXACT_BLOCK == 4, "blocks of rows but those of 3 divide ROWS");
  __shared__ row_memory<S> memory;
  __shared__ trs_slice h;
  __shared__ int32_t task;
  if (threadIdx.x == 0) {
    task = int32_t(a.tickets ? atomicInc(a.tickets, gridDim.x - 1) : blockIdx.x);
    h = a.engine.slices.slice[a.first_slice + task / a.strips / a.parts];
  }
  __syncthreads();
  const int32_t strip = task % a.strips, part = task / a.strips % a.parts;
  const int group = int(threadIdx.x) >> LOG_GROUP;
  const int32_t own = (strip << LOG_GROUP) + (int(threadIdx.x) & (GROUP - 1));
  const row_group<S, V, LOG_GROUP> g = {a, h, memory, own,
                                        a.work + int64_t(own) * int64_t(sizeof(pack<S>))};
  const int at_once = h.block == 3 ? ROWS - ROWS % 3 : ROWS; /* rows: whole blocks of rows */
  for (int begin = part * at_once; begin < h.rows; begin += a.parts * at_once) {
    const int r = begin + group;
    const bool there = group < at_once && r < h.rows;
    row_share<V> share{};
    pack<S> sum{};
    __syncwarp(); /* the coefficients of the rows before have been read */
    if (there) {
      share.row = __ldg(a.engine.slices.row + h.first + r);
      g.load_entry(share, r, 0);
      g.fetch_inverse(r);
      g.fetch_b(share.row);
      __pipeline_commit();
      sum = g.products(share, r);
    }
    __pipeline_wait_prior(0);
    __syncwarp();
    const pack<S> x = g.apply_inverse(memory.b[threadIdx.x] - sum);
    if (there) g.store(x, share.row, r);
  }
}

template <class S, class V, int LOG_GROUP>
cudaError_t launch(row_groups_args a, const trs_launch_range *range, int64_t shared_bytes,
                   cudaStream_t stream) {
  constexpr int ROWS = THREADS >> LOG_GROUP;
  const int64_t slices = range->slice_end - range->slice;
  a.strips = (a.packs + (1 << LOG_GROUP) - 1) >> LOG_GROUP;
  a.parts = int32_t((range->rows + slices * ROWS - 1) / (slices * ROWS));
  const int64_t tasks = slices * a.strips * a.parts;
  auto kernel = solve_row_groups<S, V, LOG_GROUP>;
  int unused = 0; /* bytes of shared memory that limit the resident blocks */
  if (tasks < int64_t(NARROW_LEVEL) * (range->level_end - range->level)) {
    unused = int(shared_bytes / NARROW_RESIDENT - 2048) - int(sizeof(row_memory<S>));
    unused = unused > 0 ? unused : 0;
    cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, unused);
    if (error != cudaSuccess) return error;
  }
  kernel<<<unsigned(tasks), THREADS, size_t(unused), stream>>>(a);
  return cudaGetLastError();
}

}  // namespace

extern "C" trs_status trs_engine_row_groups(const trs_engine_args *a, trs_scalar scalar,
                                            const trs_launch_range *range, int32_t number,
                                            int32_t width, int64_t shared_bytes,
                                            trs_stream stream) {
  auto to = static_cast<cudaStream_t>(stream);
  const bool waits = range->level_end - range->level > 1;
  cudaError_t error = by_values(scalar, a->float_values, [&](auto element, auto value) {
    using S = decltype(element);
    using V = decltype(value);
    const row_groups_args args = {*a,
                                  static_cast<char *>(a->in_place ? a->x : a->many_rhs_work),
                                  int32_t(a->many_rhs * sizeof(S)),
                                  width / pack<S>::SIZE,
                                  range->slice,
                                  1,
                                  1,
                                  waits ? a->counters->ticket + number : nullptr};
    return args.packs <= 16 ? launch<S, V, 4>(args, range, shared_bytes, to)
                            : launch<S, V, 5>(args, range, shared_bytes, to);
  });
  return trs_device_check(error, "launching the row-groups kernel");
}
