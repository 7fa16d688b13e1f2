/* narrow.cu - runs of narrow levels: one block of threads, x of the last rows in its shared memory.
 *
 * A dependency costs a store, a barrier in shared memory and a load, a few times less than through
 * the second-level cache.  Some of the warps (producers) run ahead and bring slices into stages of
 * shared memory: values, where in shared memory each x will stand, the right-hand side; what the
 * rows need of x older than the ring they subtract at once.  The others (consumers) take slices in
 * turn: all is in a warp's registers when the level before its slice's is complete, so that little
 * is done between one level and the next.  Nobody spins on memory: warps that did would slow down
 * the one that all wait for.
 *
 * The ring holds the x of the last RING positions.  A producer is at most STAGES slices ahead of
 * the consumers and TRS_NARROW_ROWS are in a level at most, so what is `kept` positions back was
 * published before it looks, and the ring still has everything younger when the consumer does.
 * A level's barrier counts its slices; the last adds what is missing to TRS_NARROW_SLICES.
 * No atomic sums: the same bits every time. */
#include "solve/cuda/slice.cuh"

namespace {

using namespace trs;

enum {
  CONSUMERS = 12,
  PRODUCERS = 12,
  THREADS = 32 * (CONSUMERS + PRODUCERS),
  WIDTH = TRS_NARROW_WIDTH,
  LANES = TRS_SLICE_LANES,
  LEVELS = 32 /* barriers of levels, in turn: more than can be under way, which are STAGES + 1 */
};

template <class S>
__host__ __device__ constexpr int ring_size() {
  return sizeof(S) == 16 ? 4096 : 8192;
}
template <class S>
__host__ __device__ constexpr int stage_count() {
  return sizeof(S) == 16 ? 12 : 24;
}
/* A stage has always the same producer and consumer, or one could take the phase before for its
 * own.
 */
static_assert(stage_count<float>() % PRODUCERS == 0 && stage_count<float>() % CONSUMERS == 0 &&
                  stage_count<complex_of<double>>() % PRODUCERS == 0 &&
                  stage_count<complex_of<double>>() % CONSUMERS == 0 &&
                  stage_count<float>() < LEVELS,
              "stages are dealt evenly");
/* Positions back from which x comes from device memory: a producer knows the levels up to the one
 * before the slice STAGES back to be solved, and the one before that to be published. */
template <class S>
__host__ __device__ constexpr int kept() {
  return (stage_count<S>() + PRODUCERS) * LANES + 2 * TRS_NARROW_ROWS(sizeof(S));
}

template <class S, class V>
struct stage {
  trs_slice h;
  int32_t arrivals; /* that the slice makes at its level's barrier */
  int32_t row[LANES];
  uint32_t place[WIDTH * LANES]; /* shared address of x in the ring, or of a zero */
  S start[LANES];                /* b, less what is known of the sum */
  V val[WIDTH * LANES];
  S inverse[TRS_LIGHT_BLOCK * LANES];
};

template <class S, class V>
struct memory {
  S ring[ring_size<S>() + 1]; /* and a zero */
  stage<S, V> stages[stage_count<S>()];
  uint64_t full[stage_count<S>()], empty[stage_count<S>()], level[LEVELS];
};

/* ---- Barriers in shared memory. ---- */

__device__ inline uint32_t shared_address(const void *p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ inline void barrier_init(uint64_t *barrier, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(count)
               : "memory");
}
/* Arrivals for the warp, after what its lanes wrote.  Before sm_90 only one at a time can complete
 * a phase. */
__device__ inline void barrier_arrive(uint64_t *barrier, int lane, int32_t count = 1) {
  __syncwarp();
  if (lane > 0) return;
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
/* Until the barrier's phase number `phase` (0, 1, ...) is complete. */
__device__ inline void barrier_wait(uint64_t *barrier, int32_t phase, wait &w, long long row) {
  while (!barrier_passed(barrier, uint32_t(phase) & 1) && w.goes_on(row)) {
  }
}

template <class S, class V>
struct narrow_view {
  const trs_engine_args &a;
  const trs_region &region;
  memory<S, V> &m;
  S *work, *other;
  int lane, warp; /* of the consumers, or of the producers */
};

/* ---- Producers ---- */

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

/* What a producer asks for in advance, in two steps: what the slice says, then what that points
 * to. */
template <class S, class V>
struct coming {
  trs_slice h;
  int32_t row, first, end, idx[WIDTH]; /* first and end of its level */
  V val[WIDTH];
  S inverse, b, old[WIDTH];
};

template <class S, class V>
__device__ void fetch_entries(const narrow_view<S, V> &v, coming<S, V> &c) {
  const trs_slices &all = v.a.slices;
  const trs_slice &h = c.h;
  const int r = v.lane >> h.log_lanes;
  c.row = __ldg(all.row + h.first + (r < h.rows ? r : 0));
  c.first = __ldg(v.a.level_slice + h.level);
  c.end = __ldg(v.a.level_slice + h.level + 1);
#pragma unroll
  for (int u = 0; u < WIDTH; u++) {
    int64_t at = h.entries + u * LANES + v.lane;
    c.idx[u] = u < h.width ? __ldg(all.idx + at) : -1;
    c.val[u] = u < h.width ? static_cast<const V *>(all.val)[at] : V{};
  }
  if (v.lane < LANES >> h.log_lanes)
    c.inverse = static_cast<const S *>(all.inverse)[h.inverse + v.lane];
}

template <class S, class V>
__device__ void fetch_values(const narrow_view<S, V> &v, coming<S, V> &c) {
  const trs_slice &h = c.h;
  bool leads = (v.lane >> h.log_lanes) < h.rows && (v.lane & ((1 << h.log_lanes) - 1)) == 0;
  c.b = leads ? static_cast<const S *>(v.a.b)[c.row * v.a.b_row] : S{};
#pragma unroll
  for (int u = 0; u < WIDTH; u++) {
    c.old[u] = S{};
    peek_if(c.idx[u] >= 0 && c.idx[u] <= h.first - kept<S>(), v.work + c.idx[u], c.old[u]);
  }
}

/* The slice of that number, counted from the region's first. */
template <class S, class V>
__device__ void fill_stage(const narrow_view<S, V> &v, const coming<S, V> &c, int32_t number) {
  stage<S, V> &to = v.m.stages[number % stage_count<S>()];
  const trs_slice &h = c.h;
  const uint32_t ring = shared_address(v.m.ring);
  S start = c.b;
#pragma unroll
  for (int u = 0; u < WIDTH; u++) {
    int32_t at = c.idx[u];
    bool known = at < 0 || at <= h.first - kept<S>();
    int32_t place = known ? ring_size<S>() : at % ring_size<S>();
    to.place[u * LANES + v.lane] = ring + uint32_t(place) * uint32_t(sizeof(S));
    to.val[u * LANES + v.lane] = known ? V{} : c.val[u];
    if (known && at >= 0) start = start - widen<S>(c.val[u]) * c.old[u];
  }
  to.start[v.lane] = start;
  to.row[v.lane] = c.row;
  const int stride = LANES >> h.log_lanes;
  if (v.lane < stride) to.inverse[v.lane] = c.inverse;
  const S *inverse = static_cast<const S *>(v.a.slices.inverse) + h.inverse;
  for (int k = stride + v.lane; k < h.block * stride; k += 32) to.inverse[k] = inverse[k];
  if (v.lane > 0) return;
  to.h = h;
  to.arrivals =
      v.region.slice + number == c.end - 1 ? TRS_NARROW_SLICES - (c.end - c.first) + 1 : 1;
}

template <class S, class V>
__device__ void produce(const narrow_view<S, V> &v) {
  const trs_slice *slice = v.a.slices.slice;
  int32_t s = v.region.slice + v.warp, last = v.region.slice_end - 1;
  coming<S, V> now, next;
  trs_slice far = load_slice(slice + min(s + PRODUCERS, last));
  next.h = load_slice(slice + min(s, last));
  fetch_entries(v, next);
  fetch_values(v, next);
  for (; s <= last; s += PRODUCERS) {
    wait w(v.a.fault);
    now = next;
    next.h = far;
    far = load_slice(slice + min(s + 2 * PRODUCERS, last));
    fetch_entries(v, next);
    int32_t number = s - v.region.slice, turn = number / stage_count<S>();
    if (turn > 0) barrier_wait(&v.m.empty[number % stage_count<S>()], turn - 1, w, now.row);
    fill_stage(v, now, number);
    barrier_arrive(&v.m.full[number % stage_count<S>()], v.lane);
    fetch_values(v, next);
  }
}

/* ---- Consumers ---- */

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

/* A slice in registers, ready for when its level begins. */
template <class S, class V>
struct loaded {
  trs_slice h;
  uint32_t place[WIDTH];
  V val[WIDTH];
  S start, inverse;
  int32_t row, position, arrivals;
  bool writes;

  __device__ void load(const stage<S, V> &from, int lane) {
    h = from.h;
    const int r = lane >> h.log_lanes;
#pragma unroll
    for (int u = 0; u < WIDTH; u++) {
      place[u] = from.place[u * LANES + lane];
      val[u] = from.val[u * LANES + lane];
    }
    start = from.start[lane];
    inverse = from.inverse[r];
    row = from.row[lane];
    position = h.first + r;
    arrivals = from.arrivals;
    writes = r < h.rows && (lane & ((1 << h.log_lanes) - 1)) == 0;
  }
  /* In pairs, for a shorter chain. */
  __device__ S sum() const {
    S x[WIDTH];
#pragma unroll
    for (int u = 0; u < WIDTH; u++) shared_load(place[u], x[u]);
    S even = multiply_add(widen<S>(val[1]), x[1], widen<S>(val[0]) * x[0]);
    S odd = multiply_add(widen<S>(val[3]), x[3], widen<S>(val[2]) * x[2]);
    return even + odd;
  }
};

/* Entries that a stage has no room for; the choice of regions makes them rare. */
template <class S, class V>
__device__ S sum_others(const narrow_view<S, V> &v, const trs_slice &h) {
  S sum = S{};
  for (int k = WIDTH; k < h.width; k++) {
    int64_t entry = h.entries + k * LANES + v.lane;
    int32_t at = v.a.slices.idx[entry];
    if (at < 0) continue;
    S x = at > h.first - kept<S>() ? v.m.ring[at % ring_size<S>()] : peek(v.work + at);
    sum = multiply_add(widen<S>(static_cast<const V *>(v.a.slices.val)[entry]), x, sum);
  }
  __syncwarp();
  return sum;
}

template <class S, class V>
__device__ S solve_loaded(const narrow_view<S, V> &v, const stage<S, V> &from,
                          const loaded<S, V> &c) {
  S sum = c.sum();
  if (c.h.width > WIDTH) sum = sum + sum_others(v, c.h);
  S residual = sum_lanes(c.start - sum, c.h.log_lanes), x = c.inverse * residual;
  const int stride = LANES >> c.h.log_lanes, r = v.lane >> c.h.log_lanes;
  for (int d = 1; d < c.h.block; d++) {
    S other = shuffle_up(residual, d << c.h.log_lanes);
    S coefficient = from.inverse[d * stride + r];
    if (!empty(coefficient)) x = multiply_add(coefficient, other, x);
  }
  return full(x);
}

template <class S, class V>
__device__ void consume(const narrow_view<S, V> &v) {
  const int32_t slices = v.region.slice_end - v.region.slice;
  for (int32_t number = v.warp; number < slices; number += CONSUMERS) {
    wait w(v.a.fault);
    const int32_t place = number % stage_count<S>();
    const stage<S, V> &from = v.m.stages[place];
    loaded<S, V> c;
    barrier_wait(&v.m.full[place], number / stage_count<S>(), w, v.region.slice);
    c.load(from, v.lane);
    const int32_t level = c.h.level - v.region.level, before = level - 1;
    S *ring = &v.m.ring[c.position % ring_size<S>()];
    uint64_t *own = &v.m.level[level % LEVELS];
    if (level > 0) barrier_wait(&v.m.level[before % LEVELS], before / LEVELS, w, c.row);
    S x = solve_loaded(v, from, c);
    if (c.writes) *ring = x;
    barrier_arrive(own, v.lane, c.arrivals);
    if (c.writes) {
      publish(v.work + c.position, x);
      if (v.other) v.other[c.position] = empty_value<S>();
      static_cast<S *>(v.a.x)[c.row * v.a.x_row] = x;
    }
    barrier_arrive(&v.m.empty[place], v.lane);
  }
}

/* The x of the regions before. */
template <class S, class V>
__device__ void fill_ring(const narrow_view<S, V> &v) {
  int32_t first = v.a.slices.slice[v.region.slice].first;
  for (int32_t k = max(0, first - ring_size<S>()) + int32_t(threadIdx.x); k < first; k += THREADS)
    v.m.ring[k % ring_size<S>()] = peek(v.work + k);
  if (threadIdx.x == 0) v.m.ring[ring_size<S>()] = S{};
}

template <class S, class V>
__global__ void __launch_bounds__(THREADS, 1)
    narrow(const __grid_constant__ trs_engine_args a, const __grid_constant__ trs_region region,
           int32_t last) {
  extern __shared__ __align__(16) unsigned char shared[];
  auto &m = *reinterpret_cast<memory<S, V> *>(shared);
  uint32_t parity = a.halves == 2 ? a.counters->parity : 0;
  S *work = static_cast<S *>(a.work);
  const int warp = int(threadIdx.x) / 32;
  narrow_view<S, V> v = {a,
                         region,
                         m,
                         work + parity * a.slices.n,
                         a.halves == 2 ? work + (parity ^ 1) * a.slices.n : nullptr,
                         int(threadIdx.x) % 32,
                         warp < CONSUMERS ? warp : warp - CONSUMERS};
  if (threadIdx.x < stage_count<S>()) {
    barrier_init(&m.full[threadIdx.x], 1);
    barrier_init(&m.empty[threadIdx.x], 1);
  }
  if (threadIdx.x < LEVELS) barrier_init(&m.level[threadIdx.x], TRS_NARROW_SLICES);
  fill_ring(v);
  __syncthreads();
  if (warp < CONSUMERS)
    consume(v);
  else
    produce(v);
  if (!last) return;
  __syncthreads();
  if (threadIdx.x == 0) a.counters->parity = parity ^ 1;
}

}  // namespace

extern "C" trs_status trs_engine_narrow(const trs_engine_args *a, trs_scalar scalar,
                                        const trs_region *region, int32_t last, trs_stream stream) {
  auto s = static_cast<cudaStream_t>(stream);
  cudaError_t error = by_values(scalar, a->float_values, [&](auto element, auto value) {
    using S = decltype(element);
    using V = decltype(value);
    const int bytes = int(sizeof(memory<S, V>));
    cudaError_t set =
        cudaFuncSetAttribute(narrow<S, V>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (set) return set;
    narrow<S, V><<<1, THREADS, bytes, s>>>(*a, *region, last);
    return cudaGetLastError();
  });
  return trs_device_check(error, "launching the narrow kernel");
}
