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
 * The first look at an x is a plain load, since rows of a slice share most of their x, and their
 * lines stay in the first-level cache.  A pending one is then polled in the second-level cache.
 *
 * Compared with many_rhs.cu the kernel has no barriers and no partial sums in shared memory, so a
 * level takes less time.  It reads entries once per strip, so many_rhs.cu is faster for few
 * right-hand sides.  Groups of eight lanes need rows of about as many entries at most.
 *
 * A second kernel solves a level that has a launch of its own.  It never waits.  It has plain
 * loads, whose lines the first-level cache keeps for the next rows; it loads twice as many x at
 * once; and it loads the next row's entries and b during the sum of a row.
 *
 * Readiness, order and tickets are those of warp_slice.cu.  The order of a row's sum is always the
 * same. */
#include "solve/cuda/pack.cuh"
#include "solve/cuda/engine/slice.cuh"

namespace {

using namespace trs;

enum {
  THREADS = 256,
  RESIDENT = 4, /* blocks of threads per multiprocessor: 64 registers per thread */
  /* Levels of fewer than NARROW_LEVEL tasks get NARROW_RESIDENT blocks of threads per
   * multiprocessor: more of them would only poll. */
  NARROW_LEVEL = 132,
  NARROW_RESIDENT = 3,
  PLENTY = 1056 /* blocks of threads that fill the device twice */
};

struct row_groups_args {
  trs_engine_args engine;
  const int32_t *idx; /* of the entries: places in work */
  char *work;         /* the x that rows wait for: by position, or of the system's rows */
  int32_t stride;     /* bytes from one of them to the next */
  int32_t packs;      /* of all right-hand sides */
  bool b_packs,
      x_packs;         /* rows of b, of x, are whole packs in memory too; else values move singly */
  int32_t first_slice; /* of the range */
  int32_t strips;
  int32_t parts; /* blocks of threads that share a slice of the mean number of rows */
  uint32_t *ticket;
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
  int32_t of;  /* trs_slices.row; -1: the group has no row */
  int32_t idx; /* -1: no entry, and val is 0 */
  V val;
};

template <class S, class V, int LOG_GROUP, bool WAITS>
struct row_group {
  static constexpr int GROUP = 1 << LOG_GROUP;
  /* Entries whose x are loaded together; a divisor of GROUP.  Polls keep their addresses. */
  static constexpr int AT_ONCE = WAITS || LOG_GROUP < 5 ? 4 : 8;
  static constexpr int STAGES = WAITS ? 1 : 2; /* rows of a group whose b are in shared memory */
  const row_groups_args &a;
  const trs_slice &h;
  row_memory<S> *memory; /* STAGES */
  int32_t own;           /* the lane's pack */
  char *work;            /* the lane's pack of the first x */

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
    share.idx = there ? __ldg(a.idx + at) : -1;
    share.val = there ? static_cast<const V *>(a.engine.slices.val)[at] : V{};
  }

  /* Begins to copy the coefficients of row r of the inverse. */
  __device__ void fetch_inverse(row_memory<S> &into, int r) const {
    constexpr int WORD = sizeof(S) < 8 ? sizeof(S) : 8;
    const int d = lane();
    if (d >= TRS_EXACT_BLOCK) return;
    const int32_t at = d < h.block ? trs_inverse_at(&h, r, d) : -1;
    S *to = &into.inverse[threadIdx.x];
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
  __device__ void fetch_b(row_memory<S> &into, int32_t of) const {
    const S *b = static_cast<const S *>(a.engine.b) + trs_row_number(of) * a.engine.b_row;
    if (!has_pack()) return;
    if (a.b_packs) {
      __pipeline_memcpy_async(&into.b[threadIdx.x], reinterpret_cast<const pack<S> *>(b) + own,
                              sizeof(pack<S>), trs_row_has_b(of) ? 0 : sizeof(pack<S>));
      return;
    }
    for (int k = 0; k < pack<S>::SIZE; k++)
      __pipeline_memcpy_async(&into.b[threadIdx.x].of[k], b + own * pack<S>::SIZE + k, sizeof(S),
                              trs_row_has_b(of) ? 0 : sizeof(S));
  }
  /* Loads the first entries of row r, and begins its copies.  of: of the row, or -1. */
  __device__ row_share<V> begin(row_memory<S> &into, int r, int32_t of) const {
    row_share<V> share = {of, -1, V{}};
    if (of != -1) {
      load_entry(share, r, 0);
      fetch_inverse(into, r);
      fetch_b(into, of);
    }
    __pipeline_commit();
    return share;
  }

  __device__ static bool lacks(const pack<S> *x) {
    bool missing = false;
#pragma unroll
    for (int u = 0; u < AT_ONCE; u++) missing |= is_pending(x[u]);
    return missing;
  }
  /* The x of entries k to k + AT_ONCE of the group's lanes, zero where no entry is. */
  __device__ void load_x(pack<S> (&x)[AT_ONCE], const row_share<V> &share, int k, wait &w) const {
    int32_t place[AT_ONCE];
#pragma unroll
    for (int u = 0; u < AT_ONCE; u++) {
      place[u] = shared_by(share.idx, k + u);
      x[u] = pack<S>{};
      if (WAITS)
        glance_if(place[u] >= 0 && has_pack(), x_of(place[u]), x[u]);
      else if (place[u] >= 0 && has_pack())
        x[u] = *x_of(place[u]);
    }
    while (WAITS && lacks(x) && w.goes_on(trs_row_number(share.of))) {
#pragma unroll
      for (int u = 0; u < AT_ONCE; u++) peek_if(is_pending(x[u]), x_of(place[u]), x[u]);
    }
  }

  /* The sum of row r.  share has the first entries. */
  __device__ pack<S> products(row_share<V> share, int r) const {
    pack<S> sum{}, x[AT_ONCE];
    wait w(a.engine.fault);
    for (int t = 0, count = GROUP; count == GROUP; t += GROUP) {
      if (t > 0) load_entry(share, r, t);
      count = __popc(__ballot_sync(mask(), share.idx >= 0));
      for (int k = 0; k < count; k += AT_ONCE) {
        load_x(x, share, k, w);
#pragma unroll
        for (int u = 0; u < AT_ONCE; u++)
          sum = multiply_add(widen<S>(shared_by(share.val, k + u)), x[u], sum);
      }
    }
    return sum;
  }

  /* x of the group's row from the residuals of its block of rows.  All threads call it. */
  __device__ pack<S> apply_inverse(row_memory<S> &now, const pack<S> &residual) const {
    const S *inverse = &now.inverse[threadIdx.x & ~unsigned(GROUP - 1)];
    pack<S> x = multiply_add(inverse[0], residual, pack<S>{});
    if (h.block == 1) return x;
    now.b[threadIdx.x] = residual;
    __syncthreads();
#pragma unroll
    for (int d = 1; d < TRS_EXACT_BLOCK; d++)
      if (!is_pending(inverse[d]))
        x = multiply_add(inverse[d], now.b[int(threadIdx.x) - d * GROUP], x);
    __syncthreads(); /* the next rows' b may come */
    return x;
  }

  /* No row waits for rows of the last level. */
  __device__ void store(const pack<S> &x, int32_t of, int r) const {
    if (!has_pack()) return;
    const pack<S> value = encode(x);
    if (a.engine.in_place) return publish(x_of(of), value);
    if (h.level + 1 < a.engine.slices.nlevels) publish(x_of(h.first + r), value);
    if (!trs_row_has_x(of)) return;
    S *to = static_cast<S *>(a.engine.x) + trs_row_number(of) * a.engine.x_row;
    if (a.x_packs) {
      __stcs(reinterpret_cast<float4 *>(to) + own, *reinterpret_cast<const float4 *>(&value));
      return;
    }
    for (int k = 0; k < pack<S>::SIZE; k++) to[own * pack<S>::SIZE + k] = value.of[k];
  }

  /* x of the group's row r from its sum.  of: of the row, or -1 if the group has none. */
  __device__ void finish(row_memory<S> &now, const pack<S> &sum, int32_t of, int r) const {
    __syncwarp();
    const pack<S> x = apply_inverse(now, now.b[threadIdx.x] - sum);
    if (of != -1) store(x, of, r);
  }

  __device__ int32_t row_at(int r) const { return __ldg(a.engine.slices.row + h.first + r); }
  /* Rows of the slice that the block of threads solves at once: whole blocks of rows. */
  __device__ int rows_at_once() const {
    constexpr int ROWS = THREADS >> LOG_GROUP;
    static_assert(TRS_EXACT_BLOCK == 4, "blocks of rows but those of 3 divide ROWS");
    return h.block == 3 ? ROWS - ROWS % 3 : ROWS;
  }

  /* Part `part` of the slice. */
  __device__ void solve_part(int part) const {
    const int at_once = rows_at_once(), group = int(threadIdx.x) >> LOG_GROUP;
    for (int first = part * at_once; first < h.rows; first += a.parts * at_once) {
      const int r = first + group;
      row_share<V> share = {-1, -1, V{}};
      pack<S> sum{};
      __syncwarp(); /* the coefficients of the rows before have been read */
      if (group < at_once && r < h.rows) {
        share = begin(memory[0], r, row_at(r));
        sum = products(share, r);
      }
      __pipeline_wait_prior(0);
      finish(memory[0], sum, share.of, r);
    }
  }

  /* The same without waits.  A row's entries and b come during the sum of the row before.  The
   * numbers of the group's rows are loaded together, each by a lane. */
  __device__ void solve_settled_part(int part) const {
    const int at_once = rows_at_once(), group = int(threadIdx.x) >> LOG_GROUP;
    const int first = part * at_once, step = a.parts * at_once;
    const int mine = first + group + lane() * step;
    const int32_t rows = group < at_once && mine < h.rows ? row_at(mine) : -1;
    row_share<V> next = begin(memory[0], first + group, shared_by(rows, 0));
    for (int k = 0; first + k * step < h.rows; k++) {
      const row_share<V> share = next;
      const int r = first + group + k * step;
      next = begin(memory[(k + 1) % STAGES], r + step, shared_by(rows, (k + 1) % GROUP));
      const pack<S> sum = products(share, r);
      __pipeline_wait_prior(1);
      finish(memory[k % STAGES], sum, share.of, r);
      __syncwarp(); /* the coefficients have been read */
    }
  }
};

template <class S, class V, int LOG_GROUP, bool WAITS>
__global__ void __launch_bounds__(THREADS, RESIDENT)
    solve_row_groups(const __grid_constant__ row_groups_args a) {
  using group = row_group<S, V, LOG_GROUP, WAITS>;
  __shared__ row_memory<S> memory[group::STAGES];
  __shared__ trs_slice h;
  __shared__ int32_t task;
  if (threadIdx.x == 0) {
    task = int32_t(WAITS ? atomicInc(a.ticket, gridDim.x - 1) : blockIdx.x);
    h = a.engine.slices.slice[a.first_slice + task / a.strips / a.parts];
  }
  __syncthreads();
  const int32_t strip = task % a.strips, part = task / a.strips % a.parts;
  const int32_t own = (strip << LOG_GROUP) + (int(threadIdx.x) & ((1 << LOG_GROUP) - 1));
  const group g = {a, h, memory, own, a.work + int64_t(own) * int64_t(sizeof(pack<S>))};
  if constexpr (WAITS)
    g.solve_part(part);
  else
    g.solve_settled_part(part);
}

template <class S, class V, int LOG_GROUP, bool WAITS>
cudaError_t launch(row_groups_args a, const trs_launch_range *range, int64_t shared_bytes,
                   cudaStream_t stream) {
  constexpr int ROWS = THREADS >> LOG_GROUP;
  const int64_t slices = range->slice_end - range->slice;
  a.strips = (a.packs + (1 << LOG_GROUP) - 1) >> LOG_GROUP;
  const bool in_parts = WAITS || slices * a.strips < PLENTY;
  a.parts = in_parts ? int32_t((range->rows + slices * ROWS - 1) / (slices * ROWS)) : 1;
  const int64_t tasks = slices * a.strips * a.parts;
  auto kernel = solve_row_groups<S, V, LOG_GROUP, WAITS>;
  int unused = 0; /* bytes of shared memory that limit the resident blocks */
  if (WAITS && tasks < int64_t(NARROW_LEVEL) * (range->level_end - range->level)) {
    unused = int(shared_bytes / NARROW_RESIDENT - 2048) - int(sizeof(row_memory<S>));
    unused = unused > 0 ? unused : 0;
    cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, unused);
    if (error != cudaSuccess) return error;
  }
  kernel<<<unsigned(tasks), THREADS, size_t(unused), stream>>>(a);
  return cudaGetLastError();
}

template <class S, class V>
cudaError_t launch_any(const row_groups_args &a, const trs_launch_range *range, int64_t shared,
                       cudaStream_t stream) {
  const bool waits = range->level_end - range->level > 1;
  if (a.packs <= 8)
    return waits ? launch<S, V, 3, true>(a, range, shared, stream)
                 : launch<S, V, 3, false>(a, range, shared, stream);
  if (a.packs <= 16)
    return waits ? launch<S, V, 4, true>(a, range, shared, stream)
                 : launch<S, V, 4, false>(a, range, shared, stream);
  return waits ? launch<S, V, 5, true>(a, range, shared, stream)
               : launch<S, V, 5, false>(a, range, shared, stream);
}

__global__ void map_idx(int32_t *system_idx, const trs_slices slices) {
  const int64_t at = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= slices.entries) return;
  const int32_t idx = slices.idx[at];
  system_idx[at] = idx >= 0 ? slices.row[idx] : -1;
}

}  // namespace

extern "C" trs_status trs_engine_row_groups(const trs_engine_args *a, trs_scalar scalar,
                                            const trs_launch_range *range, int32_t width,
                                            int64_t shared_bytes, trs_stream stream) {
  auto to = static_cast<cudaStream_t>(stream);
  cudaError_t error = by_values(scalar, a->float_values, [&](auto element, auto value) {
    using S = decltype(element);
    using V = decltype(value);
    const row_groups_args args = {*a,
                                  a->in_place ? a->system_idx : a->slices.idx,
                                  static_cast<char *>(a->in_place ? a->x : a->many_rhs_work),
                                  int32_t(a->many_rhs * sizeof(S)),
                                  width / pack<S>::SIZE,
                                  trs_engine_whole_packs(a->b, a->b_row, a->b_col, width, scalar),
                                  trs_engine_whole_packs(a->x, a->x_row, a->x_col, width, scalar),
                                  range->slice,
                                  1,
                                  1,
                                  a->counters->ticket};
    return launch_any<S, V>(args, range, shared_bytes, to);
  });
  return trs_device_check(error, "launching the row-groups kernel");
}

extern "C" trs_status trs_engine_map_idx(int32_t *system_idx, const trs_slices *slices,
                                         trs_stream stream) {
  if (slices->entries == 0) return TRS_SUCCESS;
  const int64_t blocks = (slices->entries + THREADS - 1) / THREADS;
  map_idx<<<unsigned(blocks), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(system_idx, *slices);
  return trs_device_check(cudaGetLastError(), "launching the kernel that maps entries to rows");
}
