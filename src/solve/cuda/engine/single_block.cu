/* single_block.cu - the single-block kernel: runs of levels with few rows, in one block of
 * threads, with the last x in its shared memory.
 *
 * A dependency costs a store, a barrier in shared memory and a load: several times less than
 * through the second-level cache.  Warps take slices cyclically.  While the levels before its
 * slice are solved, a warp loads all that the slice needs into registers: the entries, the place
 * of each x in shared memory, the right-hand side, and x older than the ring.  It also requests
 * its next slice.  Little work is then left between two levels.  No warp polls memory, which would
 * slow the warp that all others wait for.
 *
 * The ring holds the x of the last ring_size positions.  A warp solves a slice after the level
 * before is complete and before the next level begins.  So the ring holds every x that is at most
 * kept() positions back, which is the ring less the rows of two levels.  A warp reads older x from
 * device memory ahead of its slice's turn, while WARPS slices and its own last one are unsolved.
 * Those are younger than kept(), so the warp waits for earlier slices only, never for itself.
 *
 * The barrier of a level counts slices; the last slice adds what is missing to
 * TRS_SINGLE_BLOCK_SLICES.  No atomic sums: the same bits every time. */
#include "solve/cuda/engine/slice.cuh"

namespace {

using namespace trs;

enum {
  WARPS = 16,
  THREADS = 32 * WARPS,
  WIDTH = TRS_SINGLE_BLOCK_WIDTH,
  LANES = TRS_SLICE_LANES,
  LEVELS = 32 /* barriers, used cyclically by levels: more than the levels that a warp can be ahead
                 of the slowest, or it would take an old phase for its own */
};
static_assert(WARPS < LEVELS, "a warp is at most WARPS slices ahead");

template <class S>
__host__ __device__ constexpr int ring_size() {
  return sizeof(S) == 16 ? 4096 : 8192;
}
/* Positions further back than this are read from device memory. */
template <class S>
__host__ __device__ constexpr int kept() {
  return ring_size<S>() - 2 * TRS_SINGLE_BLOCK_ROWS(sizeof(S));
}
static_assert(kept<float>() > 2 * WARPS * LANES && kept<complex_of<double>>() > 2 * WARPS * LANES,
              "no warp waits for itself");

template <class S>
struct memory {
  S ring[ring_size<S>() + 1]; /* and a zero */
  uint64_t level[LEVELS];
};

/* ---- Barriers in shared memory. ---- */

__device__ inline uint32_t shared_address(const void *p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ inline void barrier_init(uint64_t *barrier, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(count)
               : "memory");
}
/* Lanes that arrive for a warp: one, since __syncwarp orders the others before it.  racecheck does
 * not see that, so in a build for it (TRIREME_RACECHECK) all arrive. */
#ifdef TRS_RACECHECK
constexpr int ARRIVING = 32;
#else
constexpr int ARRIVING = 1;
#endif

/* `count` arrivals for the warp, after the writes of its lanes.  Before sm_90 only a single
 * arrival can complete a phase. */
__device__ inline void barrier_arrive(uint64_t *barrier, int lane, int32_t count = 1) {
  __syncwarp();
  if (lane >= ARRIVING) return;
#if __CUDA_ARCH__ >= 900
  asm volatile("{ .reg .b64 state; mbarrier.arrive.shared::cta.b64 state, [%0], %1; }" ::"r"(
                   shared_address(barrier)),
               "r"(count)
               : "memory");
#else
  if (count > 1)
    asm volatile(
        "{ .reg .b64 state; mbarrier.arrive.noComplete.shared::cta.b64 state, [%0], %1; }" ::"r"(
            shared_address(barrier)),
        "r"(count - 1)
        : "memory");
  asm volatile("{ .reg .b64 state; mbarrier.arrive.shared::cta.b64 state, [%0]; }" ::"r"(
                   shared_address(barrier))
               : "memory");
#endif
}
__device__ inline bool barrier_passed(uint64_t *barrier, uint32_t parity) {
  uint32_t passed;
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; "
      "}"
      : "=r"(passed)
      : "r"(shared_address(barrier)), "r"(parity)
      : "memory");
#else
  asm volatile(
      "{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, "
      "p; }"
      : "=r"(passed)
      : "r"(shared_address(barrier)), "r"(parity)
      : "memory");
#endif
  return passed != 0;
}
/* Waits for the end of phase number `phase` (0, 1, ...) of the barrier. */
__device__ inline void barrier_wait(uint64_t *barrier, int32_t phase, wait &w, long long row) {
  while (!barrier_passed(barrier, uint32_t(phase) & 1) && w.goes_on(row)) {
  }
}

template <class S, class V>
struct single_block_view {
  const trs_engine_args &a;
  const trs_launch_range &range;
  memory<S> &m;
  S *work, *other, *x;
  const S *b;
  int lane, warp;
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
template <class S, class V>
struct coming {
  trs_slice h;
  int32_t r, row, arrivals; /* the lane's row in the slice; the row of the system; arrivals at the
                               barrier of the level */
  int32_t idx[WIDTH];
  V val[WIDTH];
  coefficients<S, TRS_EXACT_BLOCK> inverse;
  S b, old[WIDTH];

  __device__ const S *inverses(const single_block_view<S, V> &v) const {
    return static_cast<const S *>(v.a.slices.inverse) + h.inverse;
  }
  __device__ bool leads(int lane) const {
    return (lane >> h.log_lanes) < h.rows && (lane & ((1 << h.log_lanes) - 1)) == 0;
  }
  /* True if the ring no longer holds the x of that position. */
  __device__ bool is_old(int32_t at) const { return at >= 0 && at <= h.first - kept<S>(); }

  __device__ void fetch_entries(const single_block_view<S, V> &v, int32_t number) {
    const trs_slices &all = v.a.slices;
    const int32_t apart = trs_slice_stride(&h), width = v.lane < apart ? h.width : 0;
    r = v.lane < apart ? v.lane >> h.log_lanes : 0;
    row = __ldg(all.row + h.first + r);
    const int32_t *idx_at = all.idx + h.entries + v.lane;
    const V *val_at = static_cast<const V *>(all.val) + h.entries + v.lane;
#pragma unroll
    for (int u = 0; u < WIDTH; u++) {
      idx[u] = u < width ? __ldg(idx_at + u * apart) : -1;
      val[u] = u < width ? val_at[u * apart] : V{};
    }
    inverse.load(inverses(v), h, r);
    int32_t first = __ldg(v.a.level_slice + h.level), end = __ldg(v.a.level_slice + h.level + 1);
    bool is_last = v.range.slice + number == end - 1;
    arrivals = is_last ? TRS_SINGLE_BLOCK_SLICES - (end - first) + 1 : 1;
  }

  __device__ void fetch_values(const single_block_view<S, V> &v) {
    b = leads(v.lane) ? v.b[row * v.a.b_row] : S{};
#pragma unroll
    for (int u = 0; u < WIDTH; u++) {
      old[u] = is_old(idx[u]) ? pending_value<S>() : S{};
      peek_if(is_old(idx[u]), v.work + idx[u], old[u]);
    }
  }

  /* b less the products with old x.  idx becomes the address in shared memory of x in the ring, or
   * of the zero behind it. */
  __device__ S start(const single_block_view<S, V> &v, wait &w) {
    const uint32_t ring = shared_address(v.m.ring);
    S known = b;
#pragma unroll
    for (int u = 0; u < WIDTH; u++) {
      const int32_t at = idx[u];
      uint32_t place = uint32_t(at) % uint32_t(ring_size<S>());
      if (is_old(at)) {
        while (is_pending(old[u]) && w.goes_on(row)) old[u] = peek(v.work + at);
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
  __device__ S sum_others(const single_block_view<S, V> &v, wait &w) const {
    S sum = S{};
    const int32_t apart = trs_slice_stride(&h);
    for (int k = WIDTH; k < h.width && v.lane < apart; k++) {
      int64_t entry = h.entries + int64_t(k) * apart + v.lane;
      int32_t at = v.a.slices.idx[entry];
      if (at < 0) continue;
      S x = is_old(at) ? peek(v.work + at) : v.m.ring[at % ring_size<S>()];
      while (is_pending(x) && w.goes_on(row)) x = peek(v.work + at);
      sum = multiply_add(widen<S>(static_cast<const V *>(v.a.slices.val)[entry]), x, sum);
    }
    __syncwarp();
    return sum;
  }
};

/* Solves a slice after the level before it. */
template <class S, class V>
__device__ void solve_slice(const single_block_view<S, V> &v, coming<S, V> &c) {
  wait w(v.a.fault);
  S known = c.start(v, w);
  const int32_t level = c.h.level - v.range.level, before = level - 1;
  const int32_t position = c.h.first + c.r;
  const bool writes = c.leads(v.lane);
  if (level > 0) barrier_wait(&v.m.level[before % LEVELS], before / LEVELS, w, c.row);
  S sum = c.sum();
  if (c.h.width > WIDTH) sum = sum + c.sum_others(v, w);
  S x = c.inverse.apply(sum_lanes(known - sum, c.h.log_lanes), c.inverses(v), c.h, c.r);
  x = encode(x);
  if (writes) v.m.ring[uint32_t(position) % uint32_t(ring_size<S>())] = x;
  barrier_arrive(&v.m.level[level % LEVELS], v.lane, c.arrivals);
  if (!writes) return;
  publish(v.work + position, x);
  if (v.other) v.other[position] = pending_value<S>();
  v.x[c.row * v.a.x_row] = x;
}

/* Solves `now` and loads the warp's next slice: entries before the wait for the level, values
 * after it.  Then `now` holds the description of the slice behind that. */
template <class S, class V>
__device__ void take_step(const single_block_view<S, V> &v, coming<S, V> &now, coming<S, V> &next,
                          int32_t number, int32_t last) {
  const trs_slice far =
      load_slice(v.a.slices.slice + v.range.slice + min(number + 2 * WARPS, last));
  const bool more = number + WARPS <= last;
  if (more) next.fetch_entries(v, number + WARPS);
  solve_slice(v, now);
  now.h = far;
  if (more) next.fetch_values(v);
}

/* Two slices in registers alternate: a copy between them would wait for the loads. */
template <class S, class V>
__device__ void solve_range(const single_block_view<S, V> &v) {
  const trs_slice *slice = v.a.slices.slice + v.range.slice;
  const int32_t last = v.range.slice_end - v.range.slice - 1;
  if (v.warp > last) return;
  coming<S, V> even, odd;
  even.h = load_slice(slice + v.warp);
  odd.h = load_slice(slice + min(v.warp + WARPS, last));
  even.fetch_entries(v, v.warp);
  even.fetch_values(v);
  for (int32_t number = v.warp; number <= last; number += 2 * WARPS) {
    take_step(v, even, odd, number, last);
    if (number + WARPS <= last) take_step(v, odd, even, number + WARPS, last);
  }
}

/* The x of earlier ranges. */
template <class S, class V>
__device__ void fill_ring(const single_block_view<S, V> &v) {
  int32_t first = v.a.slices.slice[v.range.slice].first;
  for (int32_t k = max(0, first - ring_size<S>()) + int32_t(threadIdx.x); k < first; k += THREADS)
    v.m.ring[k % ring_size<S>()] = peek(v.work + k);
  if (threadIdx.x == 0) v.m.ring[ring_size<S>()] = S{};
}

template <class S, class V>
__global__ void __launch_bounds__(THREADS, 1)
    single_block(const __grid_constant__ trs_engine_args a,
                 const __grid_constant__ trs_launch_range range, int32_t last) {
  extern __shared__ __align__(16) unsigned char shared[];
  auto &m = *reinterpret_cast<memory<S> *>(shared);
  if (threadIdx.x < LEVELS) barrier_init(&m.level[threadIdx.x], TRS_SINGLE_BLOCK_SLICES * ARRIVING);
  await_kernel_before();
  uint32_t parity = a.buffers == 2 ? a.counters->parity : 0;
  S *work = static_cast<S *>(a.work);
  const int64_t column = blockIdx.x; /* one block per right-hand side */
  single_block_view<S, V> v = {a,
                               range,
                               m,
                               work + (parity + column) * a.slices.n,
                               a.buffers == 2 ? work + (parity ^ 1) * a.slices.n : nullptr,
                               static_cast<S *>(a.x) + column * a.x_col,
                               static_cast<const S *>(a.b) + column * a.b_col,
                               int(threadIdx.x) % 32,
                               int(threadIdx.x) / 32};
  fill_ring(v);
  __syncthreads();
  solve_range(v);
  if (!last) return;
  __syncthreads();
  if (threadIdx.x == 0) a.counters->parity = parity ^ 1;
}

}  // namespace

extern "C" trs_status trs_engine_single_block(const trs_engine_args *a, trs_scalar scalar,
                                              const trs_launch_range *range, int32_t last,
                                              trs_stream stream) {
  auto s = static_cast<cudaStream_t>(stream);
  cudaError_t error = by_values(scalar, a->float_values, [&](auto element, auto value) {
    using S = decltype(element);
    using V = decltype(value);
    const int bytes = int(sizeof(memory<S>));
    cudaError_t set = cudaFuncSetAttribute(single_block<S, V>,
                                           cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (set) return set;
    return launch_behind(a->overlaps, single_block<S, V>, unsigned(a->columns), THREADS,
                         size_t(bytes), s, *a, *range, last);
  });
  return trs_device_check(error, "launching the single-block kernel");
}
