/* tile.cu - many right-hand sides at once through all levels.
 *
 * A block of threads solves a slice for all of them, in passes over strips of up to ACROSS packs.
 * A pack is 16 bytes of right-hand sides side by side, what one load carries: two doubles, four
 * floats.  Each lane of the slice (wide.cu) is ACROSS threads here, one a pack, so that an entry is
 * read once for a strip and the x it multiplies are one line of the cache; what threads are left
 * over share a lane's entries, in groups.
 * Strips come one after the other, so that what a slice costs once (its ticket, its place, its
 * entries from memory) is paid once; levels then follow each other strip by strip, as in a
 * pipeline: the rows of a level wait for the first strip of the level before, not for its last.
 * b arrives in shared memory while the sums are made, and x leaves from there, so that both are
 * read and written along whichever of rows and right-hand sides lies side by side.
 * Readiness, order and tickets are those of wide.cu; of a heavy block's slices each sums all of the
 * rows, for its share of the strips.  A row's sum is always made in the same order. */
#include <cuda_pipeline.h>

#include "solve/cuda/slice.cuh"

namespace {

using namespace trs;

enum {
  ACROSS = 8,          /* packs of a strip at most: a line of the cache */
  HEAVY_ACROSS = 2,    /* the fewest that a heavy block's strips are narrowed to: a sector */
  HEAVY_LENGTH = 16,   /* entries of a heavy block's lane that one thread takes without that */
  HEAVY_THREADS = 512, /* in a block where most slices are heavy or levels are narrow, */
  MIXED_THREADS = 256, /* where some are heavy; else 32 lanes x ACROSS */
  THREADS = 512,       /* at most */
  RESIDENT = 2,        /* blocks of so many on a multiprocessor: 64 registers a thread */
  SHARERS = 32,        /* slices of a heavy block that share its strips at most: a warp */
  ENOUGH = 120         /* blocks of threads a level that are worth their price */
};

/* Entries of a thread under way. */
template <class S>
constexpr int BATCH = sizeof(S) == 16 ? 3 : 4;

/* ---- Packs ---- */

template <class S>
struct alignas(16) pack {
  static constexpr int SIZE = 16 / sizeof(S), LOG_SIZE = SIZE == 4 ? 2 : SIZE == 2 ? 1 : 0;
  S of[SIZE];
};

/* Each element by itself. */
template <class S, class F>
__device__ inline pack<S> each(F f) {
  pack<S> result;
#pragma unroll
  for (int k = 0; k < pack<S>::SIZE; k++) result.of[k] = f(k);
  return result;
}
template <class S>
__device__ inline pack<S> operator+(const pack<S> &a, const pack<S> &b) {
  return each<S>([&](int k) { return a.of[k] + b.of[k]; });
}
template <class S>
__device__ inline pack<S> operator-(const pack<S> &a, const pack<S> &b) {
  return each<S>([&](int k) { return a.of[k] - b.of[k]; });
}
template <class S>
__device__ inline pack<S> multiply_add(S a, const pack<S> &x, const pack<S> &sum) {
  return each<S>([&](int k) { return trs::multiply_add(a, x.of[k], sum.of[k]); });
}
template <class S>
__device__ inline pack<S> full(const pack<S> &x) {
  return each<S>([&](int k) { return trs::full(x.of[k]); });
}
template <class S>
__device__ inline pack<S> shuffle_xor(const pack<S> &x, int mask) {
  return each<S>([&](int k) { return trs::shuffle_xor(x.of[k], mask); });
}
template <class S>
__device__ inline bool empty(const pack<S> &x) {
  bool any = false;
#pragma unroll
  for (int k = 0; k < pack<S>::SIZE; k++) any |= trs::empty(x.of[k]);
  return any;
}

template <class S>
__device__ inline pack<S> empty_pack() {
  return each<S>([](int) { return empty_value<S>(); });
}

/* One load and one store, of words that each carry their own readiness. */
template <class S>
__device__ inline void peek_if(bool wanted, const pack<S> *p, pack<S> &x) {
  if constexpr (sizeof(typename element<S>::real) == 8) {
    auto *word = reinterpret_cast<unsigned long long *>(&x);
    asm volatile(
        "{ .reg .pred q; setp.ne.u32 q, %3, 0; @q ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2]; }"
        : "+l"(word[0]), "+l"(word[1])
        : "l"(p), "r"(unsigned(wanted))
        : "memory");
  } else {
    auto *word = reinterpret_cast<unsigned *>(&x);
    asm volatile(
        "{ .reg .pred q; setp.ne.u32 q, %5, 0; "
        "@q ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4]; }"
        : "+r"(word[0]), "+r"(word[1]), "+r"(word[2]), "+r"(word[3])
        : "l"(p), "r"(unsigned(wanted))
        : "memory");
  }
}
template <class S>
__device__ inline void publish(pack<S> *p, pack<S> x) {
  if constexpr (sizeof(typename element<S>::real) == 8) {
    auto *word = reinterpret_cast<unsigned long long *>(&x);
    asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(p), "l"(word[0]), "l"(word[1])
                 : "memory");
  } else {
    auto *word = reinterpret_cast<unsigned *>(&x);
    asm volatile("st.relaxed.gpu.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(word[0]),
                 "r"(word[1]), "r"(word[2]), "r"(word[3])
                 : "memory");
  }
}
/* Each thread a line of an array, as far as it reaches. */
template <class T>
__device__ inline void prefetch_line(const T *array, int32_t count) {
  const int32_t at = int32_t(threadIdx.x) * int32_t(128 / sizeof(T));
  if (at < count) asm volatile("prefetch.global.L1 [%0];" ::"l"(array + at));
}

/* ---- A block's task ---- */

struct task {
  trs_slice h;        /* a heavy block's slices as one */
  int32_t log_across; /* of the packs of a strip */
  int32_t strips;
  int32_t turn, sharers; /* strips turn, turn + sharers, ... are this block's */
};

__device__ inline trs_slice joined(trs_slice h) {
  if (h.parts <= 0) return h;
  h.entries -= int64_t(h.parts) * TRS_PART_WIDTH * trs_slice_stride(&h);
  h.width += h.parts * TRS_PART_WIDTH;
  return h;
}

/* Where a heavy block has many entries narrower strips leave more threads for each lane. */
__device__ inline int32_t log_across(const trs_slice &h, int32_t most) {
  int32_t across = most;
  while (h.heavy && (1 << across) > HEAVY_ACROSS &&
         (int64_t(h.width) * TRS_SLICE_LANES << across) > int64_t(HEAVY_LENGTH) * blockDim.x)
    across--;
  return across;
}

/* By the first warp, for share `turn` of `sharers` of a slice.  The last slice of a heavy block
 * knows how many parts stand before it; the last SHARERS of them all share the strips, and what
 * parts are left have nothing to do. */
__device__ inline void find_task(const trs_slices &s, int32_t slice, int32_t turn, int32_t sharers,
                                 int32_t packs, int32_t most, task *to) {
  const int lane = int(threadIdx.x);
  trs_slice h = s.slice[slice];
  int32_t before = 0;
  if (h.parts < 0) {
    int32_t other = min(slice + lane, s.nslices - 1);
    before = __ffs(int(__ballot_sync(~0u, s.slice[other].parts >= 0))) - 1;
    if (before >= 0) h = s.slice[slice + before];
  }
  if (lane > 0) return;
  h = joined(h);
  int32_t across = log_across(h, most), own = min(h.parts, SHARERS - 1) + 1;
  int32_t strips = before < 0 ? 0 : (packs + (1 << across) - 1) >> across;
  *to = {h, across, strips, max(before, 0) * sharers + turn, own * sharers};
}

/* ---- A thread's view of it.  What can be had again from shared memory and the launch's arguments
 * is not kept: registers are short. ---- */

struct tile_args {
  trs_engine_args engine;
  int32_t width;       /* right-hand sides in it */
  int32_t most;        /* log_across where slices are not heavy */
  int32_t first_slice; /* of the region */
  int32_t sharers;     /* blocks of threads that share a slice's strips */
  uint32_t *tickets;
};

/* Right-hand sides from `first` of the tile on. */
struct strip {
  int32_t first;
  int32_t buffer; /* that has its b, then its x */
};

/* A block's shared memory, without its task: two buffers of b and x and the residuals, 32 rows of
 * packs each, the first with room against bank conflicts; a partial sum a thread; the inverse. */
template <class S>
struct layout {
  static constexpr int ROWS = TRS_SLICE_LANES;

  __host__ __device__ static int buffer(int32_t most) { return ROWS * ((1 << most) + 1); }
  __host__ __device__ static int residual(int32_t most) { return 2 * buffer(most); }
  __host__ __device__ static int partial(int32_t most) { return residual(most) + (ROWS << most); }
  __host__ __device__ static int inverse(int32_t most, int threads) {
    return partial(most) + threads;
  }
  static size_t bytes(int32_t most, int threads, bool heavy) {
    const int size = heavy ? TRS_MOST_BLOCK * (TRS_MOST_BLOCK + 1) / 2 : TRS_LIGHT_BLOCK * ROWS;
    return inverse(most, threads) * sizeof(pack<S>) + size_t(size) * sizeof(S);
  }
};

template <class S, class V>
struct tile_view {
  const tile_args &a;
  const task &t;
  pack<S> *shared;

  __device__ const trs_slice &h() const { return t.h; }
  __device__ const trs_slices &slices() const { return a.engine.slices; }
  __device__ int vector() const { return int(threadIdx.x) & ((1 << t.log_across) - 1); }
  __device__ int lane() const { return int(threadIdx.x) >> t.log_across & (TRS_SLICE_LANES - 1); }
  __device__ int group() const { return int(threadIdx.x) >> (t.log_across + 5); }
  __device__ int groups() const { return int(blockDim.x) >> (t.log_across + 5); }
  __device__ int row() const { return lane() >> t.h.log_lanes; }
  __device__ int32_t row_number() const { return __ldg(slices().row + t.h.first + row()); }

  __device__ int log_width() const { return t.log_across + pack<S>::LOG_SIZE; }
  __device__ strip at(int32_t number, int32_t buffer) const {
    return {number << log_width(), buffer};
  }
  __device__ bool there(strip now) const { /* the thread's pack */
    return now.first + vector() * pack<S>::SIZE < a.width;
  }
  __device__ pack<S> *packs(strip now, int r) const {
    return shared + now.buffer * layout<S>::buffer(a.most) + r * ((1 << t.log_across) + 1);
  }
  __device__ pack<S> *residuals(int r) const {
    return shared + layout<S>::residual(a.most) + (r << t.log_across);
  }
  __device__ pack<S> *partial() const { return shared + layout<S>::partial(a.most) + threadIdx.x; }
  __device__ S *inverse() const {
    return reinterpret_cast<S *>(shared + layout<S>::inverse(a.most, int(blockDim.x)));
  }
  /* x of a position, for the thread's pack. */
  __device__ pack<S> *work(strip now, int64_t position) const {
    return static_cast<pack<S> *>(a.engine.tile_work) +
           (position * a.engine.tile + now.first) / pack<S>::SIZE + vector();
  }
};

/* ---- b and x: f(row of the slice, right-hand side of the strip, row of the system) for a thread's
 * share of them, neighbours in memory by neighbouring threads. ---- */

template <class S, class V, class F>
__device__ void for_share(const tile_view<S, V> &v, int64_t row_stride, int64_t column_stride,
                          F f) {
  const int log_width = v.log_width();
  const bool by_rows = column_stride < row_stride;
  for (int k = int(threadIdx.x); k < TRS_SLICE_LANES << log_width; k += int(blockDim.x)) {
    int r = by_rows ? k >> log_width : k % TRS_SLICE_LANES;
    int c = by_rows ? k & ((1 << log_width) - 1) : k / TRS_SLICE_LANES;
    if (r < v.h().rows) f(r, c, int64_t(__ldg(v.slices().row + v.h().first + r)));
  }
}

template <class S, class V>
__device__ void fetch_b(const tile_view<S, V> &v, strip next) {
  const S *b = static_cast<const S *>(v.a.engine.b) + next.first * v.a.engine.b_col;
  for_share(v, v.a.engine.b_row, v.a.engine.b_col, [&](int r, int c, int64_t row) {
    S *to = v.packs(next, r)->of + c;
    if (next.first + c < v.a.width)
      __pipeline_memcpy_async(to, b + row * v.a.engine.b_row + c * v.a.engine.b_col, sizeof(S));
    else
      *to = S{};
  });
  __pipeline_commit();
}

template <class S, class V>
__device__ void write_x(const tile_view<S, V> &v, strip now) {
  S *x = static_cast<S *>(v.a.engine.x) + now.first * v.a.engine.x_col;
  for_share(v, v.a.engine.x_row, v.a.engine.x_col, [&](int r, int c, int64_t row) {
    if (now.first + c < v.a.width)
      x[row * v.a.engine.x_row + c * v.a.engine.x_col] = v.packs(now, r)->of[c];
  });
}

/* ---- Sums ---- */

/* A batch's share of the sum; each x is waited for, if anything is. */
template <bool WAITS, class S, class V>
__device__ pack<S> add_batch(const tile_view<S, V> &v, const batch<S, V, BATCH<S>> &entries,
                             pack<S> sum, const pack<S> *x, wait &w) {
  const int32_t apart = v.a.engine.tile / pack<S>::SIZE;
  pack<S> value[BATCH<S>];
  bool missing = false;
#pragma unroll
  for (int u = 0; u < BATCH<S>; u++) {
    const bool wanted = entries.idx[u] >= 0;
    value[u] = pack<S>{};
    if (!WAITS && wanted) value[u] = x[int64_t(entries.idx[u]) * apart];
    if (WAITS && wanted) value[u] = empty_pack<S>();
    missing |= WAITS && wanted;
  }
  while (missing) {
#pragma unroll
    for (int u = 0; u < BATCH<S>; u++)
      peek_if(empty(value[u]), x + int64_t(entries.idx[u]) * apart, value[u]);
    missing = false;
#pragma unroll
    for (int u = 0; u < BATCH<S>; u++) missing |= empty(value[u]);
    if (missing && !w.goes_on(v.row_number())) break;
  }
#pragma unroll
  for (int u = 0; u < BATCH<S>; u++) sum = multiply_add(widen<S>(entries.val[u]), value[u], sum);
  return sum;
}

/* The thread's share of its lane's sum. */
template <bool WAITS, class S, class V>
__device__ pack<S> lane_sum(const tile_view<S, V> &v, strip now) {
  const trs_slice &h = v.h();
  wait w(v.a.engine.fault);
  pack<S> sum{};
  for (int k = v.group(); k < h.width; k += BATCH<S> * v.groups()) {
    const int64_t entry = h.entries + v.lane();
    batch<S, V, BATCH<S>> entries;
    entries.load(v.slices().idx + entry, static_cast<const V *>(v.slices().val) + entry, k,
                 v.groups(), h.width, trs_slice_stride(&h));
    sum = add_batch<WAITS>(v, entries, sum, v.work(now, 0), w);
  }
  return sum;
}

/* How many lanes of one row a warp has, as a power of two. */
template <class S, class V>
__device__ int log_near(const tile_view<S, V> &v) {
  return min(int(v.h().log_lanes), 5 - v.t.log_across);
}
/* Threads of one row and pack in different warps. */
template <class S, class V>
__device__ int shares(const tile_view<S, V> &v) {
  return v.groups() << (v.h().log_lanes - log_near(v));
}

/* Sums over a row's lanes, as far as a warp reaches; beyond that all are left in v.partial(). */
template <bool WAITS, class S, class V>
__device__ pack<S> sum_near(const tile_view<S, V> &v, strip now) {
  pack<S> sum{};
  if (v.lane() < trs_slice_stride(&v.h()) && v.there(now)) sum = lane_sum<WAITS>(v, now);
  __syncwarp();
  for (int k = 0; k < log_near(v); k++) sum = sum + shuffle_xor(sum, 1 << (v.t.log_across + k));
  if (shares(v) > 1) *v.partial() = sum;
  return sum;
}

/* A row's sum from those of its first thread and of the other warps'. */
template <class S, class V>
__device__ pack<S> sum_far(const tile_view<S, V> &v, pack<S> sum) {
  const int near = log_near(v), log_warps = v.h().log_lanes - near;
  for (int k = 1; k < shares(v); k++) {
    int group = k >> log_warps, lane = (k & ((1 << log_warps) - 1)) << near;
    sum = sum + v.partial()[(group * TRS_SLICE_LANES + lane) << v.t.log_across];
  }
  return sum;
}

/* ---- Rows ---- */

/* x of row r from the residuals of its block. */
template <class S, class V>
__device__ pack<S> apply_inverse(const tile_view<S, V> &v, int r) {
  const trs_slice &h = v.h();
  pack<S> x{};
#pragma unroll 4
  for (int k = max(0, r + 1 - h.block); k <= r; k++) {
    const int32_t at = trs_inverse_at(&h, r, r - k);
    const S coefficient = v.inverse()[max(at, 0)];
    const pack<S> residual = v.residuals(k)[v.vector()];
    const bool there = at >= 0 && !trs::empty(coefficient);
    x = multiply_add(there ? coefficient : S{}, there ? residual : pack<S>{}, x);
  }
  return x;
}

/* The strip's x from the sums; they take the places of b.  Rows of the last level are not waited
 * for. */
template <class S, class V>
__device__ void finish_rows(const tile_view<S, V> &v, strip now, const pack<S> &near) {
  const trs_slice &h = v.h();
  const int r = v.row();
  const bool leads =
      v.group() == 0 && (v.lane() & ((1 << h.log_lanes) - 1)) == 0 && r < h.rows && v.there(now);
  pack<S> *place = v.packs(now, r) + v.vector(), x{};
  if (leads) x = *place - sum_far(v, near);
  if (h.block > 1) {
    if (leads) v.residuals(r)[v.vector()] = x;
    __syncthreads();
    if (leads) x = apply_inverse(v, r);
  } else if (leads) {
    x = each<S>([&](int k) { return v.inverse()[r] * x.of[k]; });
  }
  if (!leads) return;
  x = full(x);
  if (h.level + 1 < v.slices().nlevels) publish(v.work(now, h.first + r), x);
  *place = x;
}

/* The entries (a heavy slice's first), the inverse and the first strip's b: all on their way
 * together. */
template <class S, class V>
__device__ void begin(const tile_view<S, V> &v, strip first) {
  const trs_slice &h = v.h();
  const int entries = h.width * trs_slice_stride(&h);
  prefetch_line(v.slices().idx + h.entries, entries);
  prefetch_line(static_cast<const V *>(v.slices().val) + h.entries, entries);
  const S *inverse = static_cast<const S *>(v.slices().inverse) + h.inverse;
  for (int k = int(threadIdx.x); k < trs_slice_inverses(&h); k += int(blockDim.x))
    __pipeline_memcpy_async(v.inverse() + k, inverse + k, sizeof(S));
  fetch_b(v, first);
}

/* From afar a few threads look at one row for all (wide.cu).  Only before the first strip: by the
 * others' turn it is there. */
template <class S, class V>
__device__ void watch(const tile_view<S, V> &v, strip first) {
  wait w(v.a.engine.fault);
  pack<S> seen = empty_pack<S>();
  if (v.lane() == 0 && v.group() == 0 && v.there(first)) {
    do peek_if(true, v.work(first, v.h().watch), seen);
    while (empty(seen) && w.goes_on(v.row_number()));
  }
  __syncthreads();
}

/* The barriers: b and partial sums are there, and the x of the strip before has left; x is there,
 * and nobody looks at sums or residuals any more. */
template <bool WAITS, class S, class V>
__device__ void solve_strips(const tile_view<S, V> &v) {
  const task &t = v.t;
  strip now = v.at(t.turn, 0);
  begin(v, now);
  if (WAITS && v.h().watch >= 0) watch(v, now);
  for (int32_t k = t.turn; k < t.strips; k += t.sharers) {
    pack<S> sum = sum_near<WAITS>(v, now);
    __pipeline_wait_prior(0);
    __syncthreads();
    finish_rows(v, now, sum);
    strip next = v.at(k + t.sharers, now.buffer ^ 1);
    if (k + t.sharers < t.strips) fetch_b(v, next);
    __syncthreads();
    write_x(v, now);
    now = next;
  }
}

template <class S, class V, bool WAITS>
__global__ void __launch_bounds__(THREADS, RESIDENT)
    solve_tile(const __grid_constant__ tile_args a) {
  extern __shared__ __align__(16) unsigned char shared[];
  __shared__ task t;
  if (threadIdx.x < TRS_SLICE_LANES) {
    uint32_t ticket = blockIdx.x;
    if (WAITS && threadIdx.x == 0) ticket = atomicInc(a.tickets, gridDim.x - 1);
    if (WAITS) ticket = __shfl_sync(~0u, ticket, 0);
    int32_t packs = (a.width + pack<S>::SIZE - 1) / pack<S>::SIZE;
    find_task(a.engine.slices, a.first_slice + int32_t(ticket) / a.sharers,
              int32_t(ticket) % a.sharers, a.sharers, packs, a.most, &t);
  }
  __syncthreads();
  if (t.turn >= t.strips) return;
  solve_strips<WAITS>(tile_view<S, V>{a, t, reinterpret_cast<pack<S> *>(shared)});
}

/* Threads of a block.  Heavy slices are alone in their chunks, others eight together if the level
 * has as many. */
int32_t block_threads(const trs_region *region, int32_t most) {
  if (!region->heavy) return TRS_SLICE_LANES << most;
  int32_t slices = region->slice_end - region->slice, chunks = region->chunk_end - region->chunk;
  return slices < chunks * (TRS_CHUNK_SLICES / 2) ? HEAVY_THREADS : MIXED_THREADS;
}

/* Blocks of threads for a slice: one, which pays for ticket, entries and inverse once, where the
 * slices of a level fill the device; else more, up to one a strip. */
int32_t sharers_of(const trs_region *region, int32_t strips) {
  int32_t levels = region->level_end - region->level, slices = region->slice_end - region->slice;
  int32_t wanted = int32_t(int64_t(ENOUGH) * levels / slices) + 1;
  return wanted < strips ? wanted : strips;
}

}  // namespace

extern "C" trs_status trs_engine_tile(const trs_engine_args *a, trs_scalar scalar,
                                      const trs_region *region, int32_t number, int32_t width,
                                      trs_stream stream) {
  auto s = static_cast<cudaStream_t>(stream);
  cudaError_t error = by_values(scalar, a->float_values, [&](auto element, auto value) {
    using S = decltype(element);
    using V = decltype(value);
    tile_args args = {*a, width, 0, region->slice, 1, a->counters->ticket + number};
    while (pack<S>::SIZE << args.most < width && 1 << args.most < ACROSS) args.most++;
    const int32_t strip = pack<S>::SIZE << args.most;
    args.sharers = sharers_of(region, (width + strip - 1) / strip);
    const int32_t threads = block_threads(region, args.most);
    bool waits = !region->settled && region->level_end - region->level > 1;
    auto kernel = waits ? solve_tile<S, V, true> : solve_tile<S, V, false>;
    kernel<<<unsigned(region->slice_end - region->slice) * unsigned(args.sharers), threads,
             layout<S>::bytes(args.most, threads, region->heavy), s>>>(args);
    return cudaGetLastError();
  });
  return trs_device_check(error, "launching the kernel for many right-hand sides");
}
