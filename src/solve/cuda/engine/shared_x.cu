/* shared_x.cu - the single-block and the cluster kernel: runs of levels with few rows, with the
 * last x in shared memory.
 *
 * The single-block kernel is one block of threads.  The cluster kernel is TRS_CLUSTER_BLOCKS of
 * them, each with a copy of the last x.  A dependency costs a store, a barrier in shared memory and
 * a load: several times less than through the second-level cache within a block, and about half as
 * much within a cluster.
 *
 * Warps take slices cyclically.  While the levels before its slice are solved, a warp loads all
 * that the slice needs into registers: the entries, the place of each x in shared memory, the
 * right-hand side, and x older than the ring.  It also requests its next slice.  Little work is
 * then left between two levels.  No warp polls memory, which would slow the warp that all others
 * wait for.
 *
 * The ring holds the x of the last ring_size positions.  A warp solves a slice after the level
 * before is complete and before the next level begins.  So the ring holds every x that is at most
 * kept() positions back, which is the ring less the rows of two levels.  A warp reads older x from
 * device memory ahead of its slice's turn.  It waits only for slices before its own, and it takes
 * its slices in order, so it never waits for itself.
 *
 * One block: the barrier of a level counts slices; the last slice adds what is missing to
 * TRS_SINGLE_BLOCK_SLICES.
 * Cluster: a warp stores x in the ring of every block (st.async).  The barrier of a level, one per
 * block, counts the bytes that arrive.  The last warp of each block tells its barriers how many
 * bytes to expect.  Every SYNC-th barrier also counts one arrival from each block, which it gets
 * when that block has completed the level SLACK levels up.  So no block stores for a level whose
 * barrier another block still uses for an earlier level.
 *
 * No atomic sums: the same bits every time. */
#include <atomic>

#include "solve/cuda/engine/barrier.cuh"
#include "solve/cuda/engine/slice.cuh"

namespace {

using namespace trs;

enum {
  WARPS = 16,
  THREADS = 32 * WARPS,
  WIDTH = TRS_SHARED_X_WIDTH,
  LANES = TRS_SLICE_LANES,
  SYNC = 8, /* levels from one arrival of the other blocks to the next */
  SLACK = 8 /* levels that a block completes later than it arrives */
};

/* Warps of a block that solve slices. */
template <int BLOCKS>
constexpr int SOLVERS = BLOCKS == 1 ? WARPS : WARPS - 1;

/* Barriers, used cyclically by levels.  More than the levels that a warp can be ahead of the
 * slowest, or it would take an old phase for its own; and than the levels up to a block's last
 * arrival. */
template <int BLOCKS>
constexpr int BARRIERS = BLOCKS == 1 ? 2 * WARPS : 2 * WARPS *BLOCKS;
static_assert(BARRIERS<TRS_CLUSTER_BLOCKS> > WARPS * TRS_CLUSTER_BLOCKS + SYNC + SLACK &&
                  BARRIERS<TRS_CLUSTER_BLOCKS> % SYNC == 0,
              "a warp is at most as many slices ahead as there are warps");

template <class S>
__host__ __device__ constexpr int ring_size() {
  return sizeof(S) == 16 ? 4096 : 8192;
}
/* Positions further back than this are read from device memory. */
template <class S>
__host__ __device__ constexpr int kept() {
  return ring_size<S>() - 2 * TRS_SHARED_X_ROWS(sizeof(S));
}

template <class S, int BLOCKS>
struct memory {
  S ring[ring_size<S>() + 1]; /* and a zero */
  alignas(16) uint64_t level[BARRIERS<BLOCKS>];
};

template <class S_, class V_, int BLOCKS_>
struct shared_x_view {
  using S = S_;
  using V = V_;
  static constexpr int BLOCKS = BLOCKS_, WORKERS = SOLVERS<BLOCKS> * BLOCKS;
  const trs_engine_args &a;
  const trs_launch_range &range;
  memory<S, BLOCKS> &m;
  spaced<S> work, other;
  S *x;
  const S *b;
  int lane, warp; /* warp: its number in the block */
  int block;      /* number of the block in the cluster */

  /* Consecutive slices go to different blocks. */
  __device__ int worker() const { return warp * BLOCKS + block; }
  __device__ uint64_t *barrier(int32_t level) const { return m.level + level % BARRIERS<BLOCKS>; }
  __device__ void await_level(int32_t level, wait &w, long long row) const {
    barrier_wait(barrier(level), level / BARRIERS<BLOCKS>, w, row);
  }
  __device__ S *place(int32_t position) const {
    return m.ring + uint32_t(position) % uint32_t(ring_size<S>());
  }
};

/* ---- A slice that is loaded into a warp's registers. ---- */

__device__ inline trs_slice load_slice(const trs_slice *from) {
  union {
    int4 words[3];
    trs_slice slice;
  } u;
  static_assert(sizeof u.words == sizeof u.slice, "a slice is three vectors");
#pragma unroll
  for (int k = 0; k < 3; k++) u.words[k] = __ldg(reinterpret_cast<const int4 *>(from) + k);
  return u.slice;
}

__device__ inline void shared_load(uint32_t at, double &v) {
  asm volatile("ld.shared.f64 %0, [%1];" : "=d"(v) : "r"(at));
}
__device__ inline void shared_load(uint32_t at, float &v) {
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(at));
}
template <class R>
__device__ inline void shared_load(uint32_t at, complex_of<R> &v) {
  shared_load(at, v.re);
  shared_load(at + uint32_t(sizeof v.re), v.im);
}

/* Loaded in three steps: the description of the slice, the entries and row, the right-hand side
 * and old x. */
template <class W>
struct coming {
  using S = typename W::S;
  using V = typename W::V;
  trs_slice h;
  int32_t r, of, arrivals; /* the lane's row in the slice; its trs_slices.row; arrivals at the
                              barrier of the level */
  int32_t idx[WIDTH];
  V val[WIDTH];
  coefficients<S, TRS_EXACT_BLOCK> inverse;
  S b, old[WIDTH];

  __device__ const S *inverses(const W &v) const {
    return static_cast<const S *>(v.a.slices.inverse) + h.inverse;
  }
  __device__ bool leads(int lane) const {
    return (lane >> h.log_lanes) < h.rows && (lane & ((1 << h.log_lanes) - 1)) == 0;
  }
  /* True if the ring no longer holds the x of that position. */
  __device__ bool is_old(int32_t at) const { return at >= 0 && at <= h.first - kept<S>(); }

  __device__ void fetch_entries(const W &v, int32_t number) {
    const trs_slices &all = v.a.slices;
    const int32_t distance = trs_slice_stride(&h), width = v.lane < distance ? h.width : 0;
    r = v.lane < distance ? v.lane >> h.log_lanes : 0;
    of = __ldg(all.row + h.first + r);
    const int32_t *idx_at = all.idx + h.entries + v.lane;
    const V *val_at = static_cast<const V *>(all.val) + h.entries + v.lane;
#pragma unroll
    for (int u = 0; u < WIDTH; u++) {
      idx[u] = u < width ? __ldg(idx_at + u * distance) : -1;
      val[u] = u < width ? val_at[u * distance] : V{};
    }
    inverse.load(inverses(v), h, r);
    int32_t first = __ldg(v.a.level_slice + h.level), end = __ldg(v.a.level_slice + h.level + 1);
    bool is_last = v.range.slice + number == end - 1;
    arrivals = is_last ? TRS_SINGLE_BLOCK_SLICES - (end - first) + 1 : 1;
  }

  __device__ void fetch_values(const W &v) {
    b = leads(v.lane) && trs_row_has_b(of) ? v.b[trs_row_number(of) * v.a.b_row] : S{};
#pragma unroll
    for (int u = 0; u < WIDTH; u++) {
      old[u] = is_old(idx[u]) ? pending_value<S>() : S{};
      peek_if(is_old(idx[u]), v.work + idx[u], old[u]);
    }
  }

  /* b less the products with old x.  idx becomes the address in shared memory of x in the ring, or
   * of the zero behind it. */
  __device__ S start(const W &v, wait &w) {
    const uint32_t ring = shared_address(v.m.ring);
    S known = b;
#pragma unroll
    for (int u = 0; u < WIDTH; u++) {
      const int32_t at = idx[u];
      uint32_t place = uint32_t(at) % uint32_t(ring_size<S>());
      if (is_old(at)) {
        while (is_pending(old[u]) && w.goes_on(trs_row_number(of))) old[u] = peek(v.work + at);
        known = known - widen<S>(val[u]) * old[u];
      }
      if (at < 0 || is_old(at)) {
        place = ring_size<S>();
        val[u] = V{};
      }
      idx[u] = int32_t(ring + place * uint32_t(sizeof(S)));
    }
    __syncwarp();
    return known;
  }

  /* The products with x in the ring.  Pairs shorten the chain of additions. */
  __device__ S sum() const {
    S x[WIDTH];
#pragma unroll
    for (int u = 0; u < WIDTH; u++) shared_load(uint32_t(idx[u]), x[u]);
    S even = multiply_add(widen<S>(val[1]), x[1], widen<S>(val[0]) * x[0]);
    S odd = multiply_add(widen<S>(val[3]), x[3], widen<S>(val[2]) * x[2]);
    return even + odd;
  }

  /* The products of entries beyond those in registers.  They are rare, since the cost model limits
   * the mean width of a level. */
  __device__ S sum_others(const W &v, wait &w) const {
    S sum = S{};
    const int32_t distance = trs_slice_stride(&h);
    for (int k = WIDTH; k < h.width && v.lane < distance; k++) {
      int64_t entry = h.entries + int64_t(k) * distance + v.lane;
      int32_t at = v.a.slices.idx[entry];
      if (at < 0) continue;
      S x = is_old(at) ? peek(v.work + at) : v.m.ring[at % ring_size<S>()];
      while (is_pending(x) && w.goes_on(trs_row_number(of))) x = peek(v.work + at);
      sum = multiply_add(widen<S>(static_cast<const V *>(v.a.slices.val)[entry]), x, sum);
    }
    __syncwarp();
    return sum;
  }
};

/* Stores x in the ring and counts it at the barrier of the level. */
template <class W>
__device__ void tell_block(const W &v, const coming<W> &c, int32_t level, bool writes,
                           typename W::S x) {
  if (writes) *v.place(c.h.first + c.r) = x;
  barrier_arrive(v.barrier(level), v.lane, c.arrivals);
}
/* The same in every block of the cluster. */
template <class W>
__device__ void tell_cluster(const W &v, const coming<W> &c, int32_t level, bool writes,
                             typename W::S x) {
  const uint32_t place = shared_address(v.place(c.h.first + c.r)),
                 barrier = shared_address(v.barrier(level));
#pragma unroll
  for (int k = 0; k < W::BLOCKS && writes; k++)
    store_async(address_in(place, k), x, address_in(barrier, k));
}

/* Solves a slice after the level before it. */
template <class W>
__device__ void solve_slice(const W &v, coming<W> &c) {
  using S = typename W::S;
  wait w(v.a.fault);
  S known = c.start(v, w);
  const int32_t level = c.h.level - v.range.level, position = c.h.first + c.r;
  const bool writes = c.leads(v.lane);
  if (level > 0) v.await_level(level - 1, w, trs_row_number(c.of));
  S sum = c.sum();
  if (c.h.width > WIDTH) sum = sum + c.sum_others(v, w);
  S x = c.inverse.apply(sum_lanes(known - sum, c.h.log_lanes), c.inverses(v), c.h, c.r);
  x = encode(x);
  if constexpr (W::BLOCKS == 1)
    tell_block(v, c, level, writes, x);
  else
    tell_cluster(v, c, level, writes, x);
  if (!writes) return;
  publish(v.work + position, x);
  if (v.other.first) v.other[position] = pending_value<S>();
  if (trs_row_has_x(c.of)) v.x[trs_row_number(c.of) * v.a.x_row] = x;
}

/* Solves `now` and loads the warp's next slice: entries before the wait for the level, values
 * after it.  Then `now` holds the description of the slice behind that. */
template <class W>
__device__ void take_step(const W &v, coming<W> &now, coming<W> &next, int32_t number,
                          int32_t last) {
  const trs_slice far =
      load_slice(v.a.slices.slice + v.range.slice + min(number + 2 * W::WORKERS, last));
  const bool more = number + W::WORKERS <= last;
  if (more) next.fetch_entries(v, number + W::WORKERS);
  solve_slice(v, now);
  now.h = far;
  if (more) next.fetch_values(v);
}

/* Two slices in registers alternate: a copy between them would wait for the loads. */
template <class W>
__device__ void solve_range(const W &v) {
  const trs_slice *slice = v.a.slices.slice + v.range.slice;
  const int32_t last = v.range.slice_end - v.range.slice - 1;
  const int32_t first = v.worker();
  if (first > last) return;
  coming<W> even, odd;
  even.h = load_slice(slice + first);
  odd.h = load_slice(slice + min(first + W::WORKERS, last));
  even.fetch_entries(v, first);
  even.fetch_values(v);
  for (int32_t number = first; number <= last; number += 2 * W::WORKERS) {
    take_step(v, even, odd, number, last);
    if (number + W::WORKERS <= last) take_step(v, odd, even, number + W::WORKERS, last);
  }
}

/* The number of rows of a level. */
template <class W>
__device__ int32_t level_rows(const W &v, int32_t level) {
  const int32_t slice = v.a.level_slice[level], end = v.a.level_slice[level + 1];
  const auto first = [&](int32_t s) {
    return s < v.a.slices.nslices ? v.a.slices.slice[s].first : int32_t(v.a.slices.n);
  };
  return first(end) - first(slice);
}

/* By one warp of each block of a cluster: tells the barriers of all levels what to expect.  It ends
 * when all that other blocks store here has arrived: memory of a block that has ended must not be
 * written. */
template <class W>
__device__ void expect_levels(const W &v) {
  const int32_t levels = v.range.level_end - v.range.level;
  int32_t rows = 0;
  wait w(v.a.fault);
  for (int32_t level = 0; level < levels; level++) {
    if (level % LANES == 0) rows = level_rows(v, v.range.level + min(level + v.lane, levels - 1));
    const int32_t bytes = __shfl_sync(~0u, rows, level % LANES) * int32_t(sizeof(typename W::S));
    if (level >= SLACK) v.await_level(level - SLACK, w, 0);
    __syncwarp();
    if (v.lane == v.block)
      barrier_expect(v.barrier(level), uint32_t(bytes));
    else if (v.lane < W::BLOCKS && level % SYNC == 0)
      barrier_arrive_at(v.barrier(level), v.lane);
  }
  for (int32_t level = max(0, levels - SLACK); level < levels; level++) v.await_level(level, w, 0);
}

/* The x of earlier ranges. */
template <class W>
__device__ void fill_ring(const W &v) {
  using S = typename W::S;
  int32_t first = v.a.slices.slice[v.range.slice].first;
  for (int32_t k = max(0, first - ring_size<S>()) + int32_t(threadIdx.x); k < first; k += THREADS)
    v.m.ring[k % ring_size<S>()] = peek(v.work + k);
  if (threadIdx.x == 0) v.m.ring[ring_size<S>()] = S{};
}

template <int BLOCKS>
__device__ void init_barriers(uint64_t *level) {
  const int k = int(threadIdx.x), others = k % SYNC == 0 ? BLOCKS - 1 : 0;
  if (k < BARRIERS<BLOCKS>)
    barrier_init(level + k, BLOCKS == 1 ? TRS_SINGLE_BLOCK_SLICES * ARRIVING : 1 + others);
}

template <class S, class V, int BLOCKS>
__global__ void __launch_bounds__(THREADS, 1)
    shared_x(const __grid_constant__ trs_engine_args a,
             const __grid_constant__ trs_launch_range range, int32_t last) {
  extern __shared__ __align__(16) unsigned char shared[];
  auto &m = *reinterpret_cast<memory<S, BLOCKS> *>(shared);
  init_barriers<BLOCKS>(m.level);
  await_kernel_before();
  uint32_t parity = a.buffers == 2 ? a.counters->parity : 0;
  S *work = static_cast<S *>(a.work);
  const int64_t size = a.slices.n << a.work_shift;
  const int64_t column = blockIdx.x / BLOCKS; /* one cluster per right-hand side */
  const shared_x_view<S, V, BLOCKS> v = {
      a,
      range,
      m,
      {work + (parity + column) * size, a.work_shift},
      {a.buffers == 2 ? work + (parity ^ 1) * size : nullptr, a.work_shift},
      static_cast<S *>(a.x) + column * a.x_col,
      static_cast<const S *>(a.b) + column * a.b_col,
      int(threadIdx.x) % 32,
      int(threadIdx.x) / 32,
      int(blockIdx.x) % BLOCKS};
  fill_ring(v);
  sync_cluster<BLOCKS>();
  if (v.warp < SOLVERS<BLOCKS>)
    solve_range(v);
  else
    expect_levels(v);
  if (BLOCKS == 1 && !last) return;
  __syncwarp();
  sync_cluster<BLOCKS>();
  if (last && threadIdx.x == 0 && v.block == 0) a.counters->parity = parity ^ 1;
}

/* ---- Launches. ---- */

/* The clusters of a kernel that each device runs at once: the driver takes microseconds to say. */
class cluster_counts {
 public:
  /* Of the current device; 0 at first.  NULL for a device past the last one. */
  std::atomic<int> *here() {
    int device = 0;
    return cudaGetDevice(&device) || device >= MOST ? nullptr : count_ + device;
  }

 private:
  enum { MOST = 64 };
  std::atomic<int> count_[MOST] = {};
};

template <class S, class V, int BLOCKS>
struct launcher {
  static constexpr int BYTES = int(sizeof(memory<S, BLOCKS>));
  cudaLaunchAttribute attribute[2] = {};
  cudaLaunchConfig_t config = {};

  launcher(int32_t columns, bool overlaps, cudaStream_t stream) {
    attribute[0].id = cudaLaunchAttributeClusterDimension;
    attribute[0].val.clusterDim = {BLOCKS, 1, 1};
    attribute[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute[1].val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = unsigned(columns) * BLOCKS;
    config.blockDim = THREADS;
    config.dynamicSmemBytes = BYTES;
    config.stream = stream;
    config.attrs = BLOCKS > 1 ? attribute : attribute + 1;
    config.numAttrs = unsigned(BLOCKS > 1) + unsigned(overlaps);
  }
  cudaError_t launch(const trs_engine_args *a, const trs_launch_range *range, int32_t last) {
    return cudaLaunchKernelEx(&config, shared_x<S, V, BLOCKS>, *a, *range, last);
  }
  /* For each plan, since a reset of the device forgets it. */
  static cudaError_t prepare() {
    return cudaFuncSetAttribute(shared_x<S, V, BLOCKS>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                BYTES);
  }
  /* Clusters that the device runs at once. */
  static int clusters() {
    static cluster_counts found;
    std::atomic<int> *known = found.here();
    const launcher one(1, false, nullptr);
    cudaError_t error = prepare();
    int count = known ? known->load() : 0;
    if (!error && count == 0)
      error = cudaOccupancyMaxActiveClusters(&count, shared_x<S, V, BLOCKS>, &one.config);
    if (error) {
      cudaGetLastError(); /* clears the error: without clusters the other kernels solve all */
      return 0;
    }
    if (known) *known = count;
    return count;
  }
};

}  // namespace

extern "C" trs_status trs_engine_prepare_shared_x(trs_scalar scalar, int32_t float_values,
                                                  int32_t overlaps, int32_t *clusters) {
  cudaError_t error = by_values(scalar, float_values, [&](auto element, auto value) {
    using S = decltype(element);
    using V = decltype(value);
    *clusters = overlaps ? launcher<S, V, TRS_CLUSTER_BLOCKS>::clusters() : 0;
    return launcher<S, V, 1>::prepare();
  });
  return trs_device_check(error, "preparing the single-block kernel");
}

extern "C" trs_status trs_engine_shared_x(const trs_engine_args *a, trs_scalar scalar,
                                          const trs_launch_range *range, int32_t last,
                                          trs_stream stream) {
  auto to = static_cast<cudaStream_t>(stream);
  cudaError_t error = by_values(scalar, a->float_values, [&](auto element, auto value) {
    using S = decltype(element);
    using V = decltype(value);
    if (range->kind == TRS_LAUNCH_CLUSTER)
      return launcher<S, V, TRS_CLUSTER_BLOCKS>(a->columns, a->overlaps, to).launch(a, range, last);
    return launcher<S, V, 1>(a->columns, a->overlaps, to).launch(a, range, last);
  });
  return trs_device_check(error, "launching a kernel with x in shared memory");
}
