/* many_rhs.cu - the many-rhs kernel: many right-hand sides together through all levels.
 *
 * A block of threads solves a slice for all right-hand sides, strip by strip.  A strip is up to
 * ACROSS packs, or twice that.  A pack is 16 bytes of neighbouring right-hand sides, the size of
 * one load: two doubles, four floats.  Each lane of the slice (warp_slice.cu) is ACROSS threads
 * here, so a strip reads an entry once, and the x that it multiplies is one line of the cache.
 * Threads that are left over share the entries of a lane, in groups.  In large levels a thread has
 * two packs (EACH): both use the entry's index, value and addresses, and the instruction rate
 * limits such levels.
 *
 * Strips follow each other in one block, so a slice pays once for its ticket, its description and
 * its entries from memory.  Levels then overlap strip by strip, as in a pipeline: the rows of a
 * level wait for the first strip of the level before, not for its last.
 *
 * b arrives in shared memory during the sums, and x leaves from there, so both are accessed along
 * rows or along right-hand sides, whichever is contiguous.
 *
 * Readiness, order and tickets are those of warp_slice.cu.  Each slice of a heavy block sums all
 * entries of its rows, for its share of the strips.  The order of a row's sum is always the same.
 */
#include "solve/cuda/pack.cuh"
#include "solve/cuda/engine/slice.cuh"

namespace {

using namespace trs;

enum {
  ACROSS = 8,          /* packs per strip, at most: a line of the cache */
  HEAVY_ACROSS = 2,    /* packs per strip of a heavy block, at least: a sector */
  HEAVY_LENGTH = 16,   /* entries per lane and thread of a heavy block up to which its strips stay
                          wide */
  HEAVY_THREADS = 512, /* threads of a block if most slices are heavy or levels have few slices */
  MIXED_THREADS = 256, /* threads of a block if some are heavy, or all are SHORT; otherwise 32
                          lanes x ACROSS */
  SHORT = 512,         /* entries per slice: fewer are short */
  PLENTY = 264,        /* strips per level: more fill the device several times */
  THREADS = 512,       /* per block, at most */
  RESIDENT = 2,        /* blocks of THREADS per multiprocessor: 64 registers per thread */
  RESIDENT_TWO = 3,    /* blocks of 32 lanes x ACROSS threads with two packs each: 80 registers per
                          thread */
  SHARERS = 32,        /* slices of a heavy block that share its strips, at most: a warp */
  ENOUGH = 120         /* blocks of threads per level up to which more of them pay */
};

/* Entries of a thread that are loaded together. */
template <class S>
constexpr int BATCH = sizeof(S) == 16 ? 3 : 4;

/* Each thread prefetches one line of an array, up to its end. */
template <class T>
__device__ inline void prefetch_line(const T *array, int32_t count) {
  const int32_t at = int32_t(threadIdx.x) * int32_t(128 / sizeof(T));
  if (at < count) asm volatile("prefetch.global.L1 [%0];" ::"l"(array + at));
}

/* ---- The task of a block of threads. ---- */

struct task {
  trs_slice h;        /* a heavy block's slices joined to one */
  int32_t log_across; /* threads across a strip */
  int32_t strips;
  int32_t first, sharers; /* this block has strips first, first + sharers, ... */
};

__device__ inline trs_slice joined(trs_slice h) {
  if (h.parts <= 0) return h;
  h.entries -= int64_t(h.parts) * TRS_PART_WIDTH * trs_slice_stride(&h);
  h.width += h.parts * TRS_PART_WIDTH;
  return h;
}

/* If a heavy block has many entries, narrower strips leave more threads for each lane. */
__device__ inline int32_t log_across(const trs_slice &h, int32_t most) {
  int32_t across = most;
  while (h.heavy && (1 << across) > HEAVY_ACROSS &&
         (int64_t(h.width) * TRS_SLICE_LANES << across) > int64_t(HEAVY_LENGTH) * blockDim.x)
    across--;
  return across;
}

/* By the first warp: share `first` of `sharers` of a slice.  The last slice of a heavy block knows
 * the number of its parts.  The last SHARERS slices share its strips; earlier parts have no work.
 * shares: threads that all right-hand sides would take across. */
__device__ inline void find_task(const trs_slices &s, int32_t slice, int32_t first, int32_t sharers,
                                 int32_t shares, int32_t most, task *to) {
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
  int32_t strips = before < 0 ? 0 : (shares + (1 << across) - 1) >> across;
  *to = {h, across, strips, max(before, 0) * sharers + first, own * sharers};
}

/* ---- A thread's view of the task.  It recomputes what shared memory and the launch's arguments
 * hold, since registers are scarce. ---- */

struct many_rhs_args {
  trs_engine_args engine;
  int32_t width;            /* right-hand sides */
  int32_t most;             /* log_across of slices that are not heavy */
  int32_t first_slice;      /* of the range */
  int32_t sharers;          /* blocks of threads that share the strips of a slice */
  int32_t b_packs, x_packs; /* rows of b and of x are whole packs in memory */
  uint32_t *ticket;
};

/* The right-hand sides from `first` on. */
struct strip {
  int32_t first;
  int32_t buffer; /* of its b, later its x */
};

/* A block's shared memory, besides its task: two buffers of b and x, and the residuals, each with
 * 32 rows of packs, the buffers padded against bank conflicts; one partial sum per thread; the
 * inverse. */
template <class S, int EACH>
struct layout {
  static constexpr int ROWS = TRS_SLICE_LANES;

  __host__ __device__ static int buffer(int32_t most) { return ROWS * ((EACH << most) + 1); }
  __host__ __device__ static int residual(int32_t most) { return 2 * buffer(most); }
  __host__ __device__ static int partial(int32_t most) {
    return residual(most) + (ROWS * EACH << most);
  }
  __host__ __device__ static int inverse(int32_t most, int threads) {
    return partial(most) + EACH * threads;
  }
  static size_t bytes(int32_t most, int threads, bool heavy) {
    const int size = heavy ? TRS_MOST_BLOCK * (TRS_MOST_BLOCK + 1) / 2 : TRS_LIGHT_BLOCK * ROWS;
    return inverse(most, threads) * sizeof(pack<S>) + size_t(size) * sizeof(S);
  }
};

/* A thread's packs of a strip. */
template <class S, int EACH>
struct packs {
  pack<S> of[EACH];
};

template <class S_, class V_, bool WAITS_, int EACH_>
struct many_rhs_view {
  using S = S_;
  using V = V_;
  static constexpr bool WAITS = WAITS_;
  static constexpr int EACH = EACH_, LOG_EACH = EACH == 2 ? 1 : 0;
  /* Registers suffice for loops over b and x that suit the layout. */
  static constexpr bool BY_LAYOUT = EACH > 1 || !WAITS;
  using places = layout<S, EACH>;
  const many_rhs_args &a;
  const task &t;
  pack<S> *shared;

  __device__ const trs_slice &h() const { return t.h; }
  __device__ const trs_slices &slices() const { return a.engine.slices; }
  __device__ int vector() const { return int(threadIdx.x) & ((1 << t.log_across) - 1); }
  __device__ int lane() const { return int(threadIdx.x) >> t.log_across & (TRS_SLICE_LANES - 1); }
  __device__ int group() const { return int(threadIdx.x) >> (t.log_across + 5); }
  __device__ int groups() const { return int(blockDim.x) >> (t.log_across + 5); }
  __device__ int row() const { return lane() >> t.h.log_lanes; }
  __device__ int32_t row_number() const {
    return trs_row_number(__ldg(slices().row + t.h.first + row()));
  }

  __device__ int log_packs() const { return t.log_across + LOG_EACH; }
  __device__ int log_width() const { return log_packs() + pack<S>::LOG_SIZE; }
  __device__ strip at(int32_t number, int32_t buffer) const {
    return {number << log_width(), buffer};
  }
  /* The number in the strip of the thread's p-th pack; and whether that pack has right-hand sides.
   */
  __device__ int number(int p) const { return vector() + (p << t.log_across); }
  __device__ bool there(strip now, int p = 0) const {
    return now.first + number(p) * pack<S>::SIZE < a.width;
  }
  __device__ pack<S> *row_packs(strip now, int r) const {
    return shared + now.buffer * places::buffer(a.most) + r * ((1 << log_packs()) + 1);
  }
  __device__ pack<S> *residuals(int r) const {
    return shared + places::residual(a.most) + (r << log_packs());
  }
  /* The p-th partial sum of the thread `ahead` places after this one. */
  __device__ pack<S> *partial(int p, int ahead = 0) const {
    return shared + places::partial(a.most) + p * int(blockDim.x) + int(threadIdx.x) + ahead;
  }
  __device__ S *inverse() const {
    return reinterpret_cast<S *>(shared + places::inverse(a.most, int(blockDim.x)));
  }
  /* x of a position, for the thread's first pack. */
  __device__ pack<S> *work(strip now, int64_t position) const {
    return static_cast<pack<S> *>(a.engine.many_rhs_work) +
           (position * a.engine.many_rhs + now.first) / pack<S>::SIZE + vector();
  }
};

/* ---- b and x. ---- */

/* Calls f(row of the slice, right-hand side of the strip, its trs_slices.row) for a thread's share.
 * Neighbouring threads take neighbours in memory. */
template <class W, class F>
__device__ void for_share(const W &v, int64_t row_stride, int64_t column_stride, F f) {
  const int log_width = v.log_width();
  const bool by_rows = column_stride < row_stride;
  for (int k = int(threadIdx.x); k < TRS_SLICE_LANES << log_width; k += int(blockDim.x)) {
    int r = by_rows ? k >> log_width : k % TRS_SLICE_LANES;
    int c = by_rows ? k & ((1 << log_width) - 1) : k / TRS_SLICE_LANES;
    if (r < v.h().rows) f(r, c, __ldg(v.slices().row + v.h().first + r));
  }
}
/* The same by packs, for rows that are whole packs in memory. */
template <class W, class F>
__device__ void for_packs(const W &v, strip now, F f) {
  const int c = int(threadIdx.x) & ((1 << v.log_packs()) - 1);
  if (now.first + c * pack<typename W::S>::SIZE >= v.a.width) return;
  for (int r = int(threadIdx.x) >> v.log_packs(); r < v.h().rows;
       r += int(blockDim.x) >> v.log_packs())
    f(r, c, __ldg(v.slices().row + v.h().first + r));
}

/* The same for column-major right-hand sides: f(row, column, of, offset).  A thread keeps to one
 * row. */
template <class W, class F>
__device__ void for_columns(const W &v, strip now, int64_t row_stride, int64_t column_stride, F f) {
  const int r = int(threadIdx.x) % TRS_SLICE_LANES, step = int(blockDim.x) / TRS_SLICE_LANES;
  if (r >= v.h().rows) return;
  const int end = min(1 << v.log_width(), v.a.width - now.first);
  int c = int(threadIdx.x) / TRS_SLICE_LANES;
  const int32_t of = __ldg(v.slices().row + v.h().first + r);
  int64_t offset = trs_row_number(of) * row_stride + c * column_stride;
  for (; c < end; c += step, offset += step * column_stride) f(r, c, of, offset);
}

/* Begins to copy a piece of b; zeros, if the row has none. */
template <class T, class S>
__device__ void copy_b(T *to, const S *b, int32_t of) {
  __pipeline_memcpy_async(to, b, sizeof(T), trs_row_has_b(of) ? 0 : sizeof(T));
}

template <class W>
__device__ void fetch_b(const W &v, strip next) {
  using S = typename W::S;
  const S *b = static_cast<const S *>(v.a.engine.b) + next.first * v.a.engine.b_col;
  if (W::BY_LAYOUT && v.a.b_packs)
    for_packs(v, next, [&](int r, int c, int32_t of) {
      copy_b(v.row_packs(next, r) + c,
             b + trs_row_number(of) * v.a.engine.b_row + c * pack<S>::SIZE, of);
    });
  else if (W::BY_LAYOUT && v.a.engine.b_col > v.a.engine.b_row)
    for_columns(v, next, v.a.engine.b_row, v.a.engine.b_col,
                [&](int r, int c, int32_t of, int64_t offset) {
                  copy_b(v.row_packs(next, r)->of + c, b + offset, of);
                });
  else
    for_share(v, v.a.engine.b_row, v.a.engine.b_col, [&](int r, int c, int32_t of) {
      S *to = v.row_packs(next, r)->of + c;
      if (next.first + c < v.a.width)
        copy_b(to, b + trs_row_number(of) * v.a.engine.b_row + c * v.a.engine.b_col, of);
      else
        *to = S{};
    });
  __pipeline_commit();
}

template <class W>
__device__ void write_x(const W &v, strip now) {
  using S = typename W::S;
  S *x = static_cast<S *>(v.a.engine.x) + now.first * v.a.engine.x_col;
  if (W::BY_LAYOUT && v.a.x_packs)
    for_packs(v, now, [&](int r, int c, int32_t of) {
      if (trs_row_has_x(of))
        *reinterpret_cast<pack<S> *>(x + trs_row_number(of) * v.a.engine.x_row +
                                     c * pack<S>::SIZE) = v.row_packs(now, r)[c];
    });
  else if (W::BY_LAYOUT && v.a.engine.x_col > v.a.engine.x_row)
    for_columns(v, now, v.a.engine.x_row, v.a.engine.x_col,
                [&](int r, int c, int32_t of, int64_t offset) {
                  if (trs_row_has_x(of)) x[offset] = v.row_packs(now, r)->of[c];
                });
  else
    for_share(v, v.a.engine.x_row, v.a.engine.x_col, [&](int r, int c, int32_t of) {
      if (now.first + c < v.a.width && trs_row_has_x(of))
        x[trs_row_number(of) * v.a.engine.x_row + c * v.a.engine.x_col] =
            v.row_packs(now, r)->of[c];
    });
}

/* ---- Sums. ---- */

template <class W>
using entries_of = batch<typename W::S, typename W::V, BATCH<typename W::S>>;

template <class S, int EACH>
__device__ bool any_pending(const packs<S, EACH> (&value)[BATCH<S>]) {
  bool any = false;
#pragma unroll
  for (int u = 0; u < BATCH<S>; u++)
#pragma unroll
    for (int p = 0; p < EACH; p++) any |= is_pending(value[u].of[p]);
  return any;
}

/* Adds a batch of entries, and waits for each x if W::WAITS.  second: the thread's second pack has
 * right-hand sides. */
template <class W>
__device__ void add_batch(const W &v, const entries_of<W> &entries, bool second,
                          const pack<typename W::S> *x, packs<typename W::S, W::EACH> &sum,
                          wait &w) {
  using S = typename W::S;
  constexpr bool WAITS = W::WAITS;
  const int32_t row_bytes = v.a.engine.many_rhs * int32_t(sizeof(S)); /* bytes */
  packs<S, W::EACH> value[BATCH<S>];
  bool missing = false;
#pragma unroll
  for (int u = 0; u < BATCH<S>; u++)
#pragma unroll
    for (int p = 0; p < W::EACH; p++) {
      const bool wanted = entries.idx[u] >= 0 && (p == 0 || second);
      value[u].of[p] = pack<S>{};
      if (!WAITS && wanted)
        value[u].of[p] = ahead(x, entries.idx[u], row_bytes)[p << v.t.log_across];
      /* A first poll without a wait pays only if the thread has registers to spare. */
      if (WAITS && W::EACH > 1)
        peek_if(wanted, ahead(x, entries.idx[u], row_bytes) + (p << v.t.log_across),
                value[u].of[p]);
      else if (WAITS && wanted)
        value[u].of[p] = pending_pack<S>();
      missing |= WAITS && W::EACH == 1 && wanted;
    }
  if (WAITS && W::EACH > 1) missing = any_pending<S, W::EACH>(value);
  while (missing) {
#pragma unroll
    for (int u = 0; u < BATCH<S>; u++)
#pragma unroll
      for (int p = 0; p < W::EACH; p++)
        peek_if(is_pending(value[u].of[p]),
                ahead(x, entries.idx[u], row_bytes) + (p << v.t.log_across), value[u].of[p]);
    missing = any_pending<S, W::EACH>(value);
    if (missing && !w.goes_on(v.row_number())) break;
  }
#pragma unroll
  for (int u = 0; u < BATCH<S>; u++)
#pragma unroll
    for (int p = 0; p < W::EACH; p++)
      sum.of[p] = multiply_add(widen<S>(entries.val[u]), value[u].of[p], sum.of[p]);
}

/* The thread's share of its lane's sum.  With waits, addresses are computed anew for each batch,
 * since registers are scarce. */
template <class W>
__device__ packs<typename W::S, W::EACH> lane_sum(const W &v, strip now) {
  using S = typename W::S;
  using V = typename W::V;
  const trs_slice &h = v.h();
  wait w(v.a.engine.fault);
  packs<S, W::EACH> sum{};
  const bool second = W::EACH > 1 && v.there(now, 1);
  if constexpr (W::WAITS) {
    for (int k = v.group(); k < h.width; k += BATCH<S> * v.groups()) {
      const int64_t entry = h.entries + v.lane();
      entries_of<W> entries;
      entries.load(v.slices().idx + entry, static_cast<const V *>(v.slices().val) + entry, k,
                   v.groups(), h.width, trs_slice_stride(&h));
      add_batch(v, entries, second, v.work(now, 0), sum, w);
    }
  } else {
    const int groups = v.groups(), stride = trs_slice_stride(&h), step = groups * stride;
    const int64_t entry = h.entries + v.lane() + v.group() * stride;
    const int32_t *idx = v.slices().idx + entry;
    const V *val = static_cast<const V *>(v.slices().val) + entry;
    const pack<S> *x = v.work(now, 0);
    for (int left = h.width - v.group(); left > 0; left -= BATCH<S> * groups) {
      entries_of<W> entries;
      entries.load_next(idx, val, left, groups, step);
      add_batch(v, entries, second, x, sum, w);
      idx += BATCH<S> * step;
      val += BATCH<S> * step;
    }
  }
  return sum;
}

/* Lanes of one row within a warp, as a power of two. */
template <class W>
__device__ int log_near(const W &v) {
  return min(int(v.h().log_lanes), 5 - v.t.log_across);
}
/* Threads of one row and pack in different warps. */
template <class W>
__device__ int shares(const W &v) {
  return v.groups() << (v.h().log_lanes - log_near(v));
}

/* The sum over the lanes of a row within a warp.  If other warps have lanes of the row too, all
 * leave theirs in v.partial(). */
template <class W>
__device__ packs<typename W::S, W::EACH> sum_near(const W &v, strip now) {
  packs<typename W::S, W::EACH> sum{};
  if (v.lane() < trs_slice_stride(&v.h()) && v.there(now)) sum = lane_sum(v, now);
  __syncwarp();
#pragma unroll
  for (int p = 0; p < W::EACH; p++) {
    for (int k = 0; k < log_near(v); k++)
      sum.of[p] = sum.of[p] + shuffle_xor(sum.of[p], 1 << (v.t.log_across + k));
    if (shares(v) > 1) *v.partial(p) = sum.of[p];
  }
  return sum;
}

/* The sum of a row from those of its first thread and of the other warps. */
template <class W>
__device__ pack<typename W::S> sum_far(const W &v, pack<typename W::S> sum, int p) {
  const int near = log_near(v), log_warps = v.h().log_lanes - near, count = shares(v);
  for (int k = 1; k < count; k++) {
    int group = k >> log_warps, lane = (k & ((1 << log_warps) - 1)) << near;
    sum = sum + *v.partial(p, (group * TRS_SLICE_LANES + lane) << v.t.log_across);
  }
  return sum;
}

/* ---- Rows. ---- */

/* x of row r from the residuals of its block. */
template <class W>
__device__ packs<typename W::S, W::EACH> apply_inverse(const W &v, int r) {
  using S = typename W::S;
  const trs_slice &h = v.h();
  packs<S, W::EACH> x{};
#pragma unroll 4
  for (int k = max(0, r + 1 - h.block); k <= r; k++) {
    const int32_t at = trs_inverse_at(&h, r, r - k);
    const S coefficient = v.inverse()[max(at, 0)];
    const bool there = at >= 0 && !trs::is_pending(coefficient);
#pragma unroll
    for (int p = 0; p < W::EACH; p++) {
      const pack<S> residual = v.residuals(k)[v.number(p)];
      x.of[p] = multiply_add(there ? coefficient : S{}, there ? residual : pack<S>{}, x.of[p]);
    }
  }
  return x;
}

/* The strip's x from the sums, stored in place of b.  No row waits for rows of the last level. */
template <class W>
__device__ void finish_rows(const W &v, strip now, const packs<typename W::S, W::EACH> &near) {
  using S = typename W::S;
  const trs_slice &h = v.h();
  const int r = v.row();
  const bool leads =
      v.group() == 0 && (v.lane() & ((1 << h.log_lanes) - 1)) == 0 && r < h.rows && v.there(now);
  pack<S> *place = v.row_packs(now, r);
  packs<S, W::EACH> x{};
  if (leads) {
#pragma unroll
    for (int p = 0; p < W::EACH; p++) x.of[p] = place[v.number(p)] - sum_far(v, near.of[p], p);
  }
  if (h.block > 1) {
    if (leads) {
#pragma unroll
      for (int p = 0; p < W::EACH; p++) v.residuals(r)[v.number(p)] = x.of[p];
    }
    __syncthreads();
    if (leads) x = apply_inverse(v, r);
  } else if (leads) {
    const S inverse = v.inverse()[r];
#pragma unroll
    for (int p = 0; p < W::EACH; p++)
      x.of[p] = each<S>([&](int k) { return inverse * x.of[p].of[k]; });
  }
  if (!leads) return;
#pragma unroll
  for (int p = 0; p < W::EACH; p++) {
    x.of[p] = encode(x.of[p]);
    if (h.level + 1 < v.slices().nlevels && (p == 0 || v.there(now, p)))
      publish(v.work(now, h.first + r) + (p << v.t.log_across), x.of[p]);
    place[v.number(p)] = x.of[p];
  }
}

/* Starts all loads together: the entries (of a heavy slice only the first), the inverse, and b of
 * the first strip. */
template <class W>
__device__ void begin(const W &v, strip first) {
  using S = typename W::S;
  const trs_slice &h = v.h();
  const int entries = h.width * trs_slice_stride(&h);
  prefetch_line(v.slices().idx + h.entries, entries);
  prefetch_line(static_cast<const typename W::V *>(v.slices().val) + h.entries, entries);
  const S *inverse = static_cast<const S *>(v.slices().inverse) + h.inverse;
  for (int k = int(threadIdx.x); k < trs_slice_inverses(&h); k += int(blockDim.x))
    __pipeline_memcpy_async(v.inverse() + k, inverse + k, sizeof(S));
  fetch_b(v, first);
}

/* The early poll (warp_slice.cu): a few threads poll one row for all.  Only before the first
 * strip; the row is solved before the others. */
template <class W>
__device__ void poll_early(const W &v, strip first) {
  using S = typename W::S;
  wait w(v.a.engine.fault);
  pack<S> seen = pending_pack<S>();
  if (v.lane() == 0 && v.group() == 0 && v.there(first)) {
    do peek_if(true, v.work(first, v.h().early_poll), seen);
    while (is_pending(seen) && w.goes_on(v.row_number()));
  }
  __syncthreads();
}

/* The first barrier: b and partial sums are there, and the x of the strip before has left.  The
 * second: x is there, and no thread reads sums or residuals any more. */
template <class W>
__device__ void solve_strips(const W &v) {
  const task &t = v.t;
  strip now = v.at(t.first, 0);
  begin(v, now);
  if (W::WAITS && v.h().early_poll >= 0) poll_early(v, now);
  for (int32_t k = t.first; k < t.strips; k += t.sharers) {
    const auto sum = sum_near(v, now);
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

template <class S, class V, bool WAITS, int EACH>
__global__ void __launch_bounds__(EACH == 1 ? THREADS : 32 * ACROSS,
                                  EACH == 1 ? RESIDENT : RESIDENT_TWO)
    solve_many_rhs(const __grid_constant__ many_rhs_args a) {
  extern __shared__ __align__(16) unsigned char shared[];
  __shared__ task t;
  if (threadIdx.x < TRS_SLICE_LANES) {
    uint32_t ticket = blockIdx.x;
    if (WAITS && threadIdx.x == 0) ticket = atomicInc(a.ticket, gridDim.x - 1);
    if (WAITS) ticket = __shfl_sync(~0u, ticket, 0);
    const int32_t own = pack<S>::SIZE * EACH, threads = (a.width + own - 1) / own;
    find_task(a.engine.slices, a.first_slice + int32_t(ticket) / a.sharers,
              int32_t(ticket) % a.sharers, a.sharers, threads, a.most, &t);
  }
  __syncthreads();
  if (t.first >= t.strips) return;
  solve_strips(many_rhs_view<S, V, WAITS, EACH>{a, t, reinterpret_cast<pack<S> *>(shared)});
}

/* A level without entries, b and x by columns: a warp has a slice, and a lane a row, since no x is
 * shared between rows.  A lane stores whole packs of its row for the levels behind. */
enum { BARE_THREADS = 256, BARE_PACKS = 4 /* per lane at once */ };

template <class S>
__global__ void __launch_bounds__(BARE_THREADS)
    solve_bare_columns(const __grid_constant__ many_rhs_args a, int32_t slice_end) {
  constexpr int SIZE = pack<S>::SIZE, COLUMNS = BARE_PACKS * SIZE;
  const int lane = int(threadIdx.x) % 32;
  const int32_t slice =
      a.first_slice + int32_t(blockIdx.x) * (BARE_THREADS / 32) + int32_t(threadIdx.x) / 32;
  if (slice >= slice_end) return;
  const trs_slice h = a.engine.slices.slice[slice];
  const int r = lane >> h.log_lanes;
  const bool leads = r < h.rows && (lane & ((1 << h.log_lanes) - 1)) == 0;
  const int own = r < h.rows ? r : 0;
  const int32_t of = __ldg(a.engine.slices.row + h.first + own);
  const int64_t row = trs_row_number(of);
  const bool has_b = trs_row_has_b(of), has_x = trs_row_has_x(of);
  const S *inverse = static_cast<const S *>(a.engine.slices.inverse) + h.inverse;
  const S *b = static_cast<const S *>(a.engine.b) + row * a.engine.b_row;
  S *x = static_cast<S *>(a.engine.x) + row * a.engine.x_row;
  auto *work = reinterpret_cast<pack<S> *>(static_cast<S *>(a.engine.many_rhs_work) +
                                           int64_t(h.first + own) * a.engine.many_rhs);
  const bool needed = h.level + 1 < a.engine.slices.nlevels;
  coefficients<S, 1> c;
  c.load(inverse, h, own);
  for (int first = 0; first < a.width; first += COLUMNS) {
    S value[COLUMNS];
#pragma unroll
    for (int k = 0; k < COLUMNS; k++)
      value[k] = has_b && first + k < a.width ? b[(first + k) * a.engine.b_col] : S{};
#pragma unroll
    for (int k = 0; k < COLUMNS; k++) {
      value[k] = encode(c.apply(value[k], inverse, h, own));
      if (leads && has_x && first + k < a.width) x[(first + k) * a.engine.x_col] = value[k];
    }
#pragma unroll
    for (int p = 0; p < BARE_PACKS; p++)
      if (leads && needed && first + p * SIZE < a.width)
        publish(work + first / SIZE + p, each<S>([&](int k) { return value[p * SIZE + k]; }));
  }
}

template <class S>
cudaError_t launch_bare_columns(const many_rhs_args &a, const trs_launch_range *range,
                                cudaStream_t stream) {
  constexpr int WARPS = BARE_THREADS / 32;
  const int32_t slices = range->slice_end - range->slice;
  solve_bare_columns<S>
      <<<unsigned((slices + WARPS - 1) / WARPS), BARE_THREADS, 0, stream>>>(a, range->slice_end);
  return cudaGetLastError();
}

/* Threads per block.  Heavy slices are alone in their chunks; others are up to eight per chunk.
 * Short heavy slices get fewer threads if a level has more of them than the device takes at once.
 */
int32_t block_threads(const trs_launch_range *range, int32_t most, int32_t strips) {
  if (!range->heavy) return TRS_SLICE_LANES << most;
  int64_t slices = range->slice_end - range->slice, chunks = range->chunk_end - range->chunk;
  int64_t levels = range->level_end - range->level;
  if (range->entries < slices * SHORT && slices * strips > levels * PLENTY) return MIXED_THREADS;
  return slices < chunks * (TRS_CHUNK_SLICES / 2) ? HEAVY_THREADS : MIXED_THREADS;
}

/* Blocks of threads per slice.  One, which pays once for ticket, entries and inverse, if the
 * slices of a level fill the device; else more, up to one per strip. */
int32_t sharers_of(const trs_launch_range *range, int32_t strips) {
  int32_t levels = range->level_end - range->level, slices = range->slice_end - range->slice;
  int32_t wanted = int32_t(int64_t(ENOUGH) * levels / slices) + 1;
  return wanted < strips ? wanted : strips;
}

bool waits(const trs_launch_range *range) { return range->level_end - range->level > 1; }

template <class S, class V, int EACH>
cudaError_t launch(many_rhs_args &args, const trs_launch_range *range, int32_t strips,
                   cudaStream_t stream) {
  const int32_t slices = range->slice_end - range->slice;
  const int32_t threads = block_threads(range, args.most, strips);
  auto kernel = waits(range) ? solve_many_rhs<S, V, true, EACH> : solve_many_rhs<S, V, false, EACH>;
  kernel<<<unsigned(slices) * unsigned(args.sharers), threads,
           layout<S, EACH>::bytes(args.most, threads, range->heavy), stream>>>(args);
  return cudaGetLastError();
}

}  // namespace

extern "C" trs_status trs_engine_many_rhs(const trs_engine_args *a, trs_scalar scalar,
                                          const trs_launch_range *range, int32_t width,
                                          trs_stream stream) {
  auto to = static_cast<cudaStream_t>(stream);
  cudaError_t error = by_values(scalar, a->float_values, [&](auto element, auto value) {
    using S = decltype(element);
    using V = decltype(value);
    many_rhs_args args = {*a, width, 0, range->slice, 1, 0, 0, a->counters->ticket};
    args.b_packs = trs_engine_whole_packs(a->b, a->b_row, a->b_col, width, scalar);
    args.x_packs = trs_engine_whole_packs(a->x, a->x_row, a->x_col, width, scalar);
    while (pack<S>::SIZE << args.most < width && 1 << args.most < ACROSS) args.most++;
    const int32_t strip = pack<S>::SIZE << args.most, strips = (width + strip - 1) / strip;
    args.sharers = sharers_of(range, strips);
    const bool rows = args.b_packs && args.x_packs;
    const bool columns = a->b_col > a->b_row && a->x_col > a->x_row;
    if (range->entries == 0 && !range->heavy && !waits(range) && columns)
      return launch_bare_columns<S>(args, range, to);
    if (!range->heavy && args.sharers == 1 && width > strip && (rows || !waits(range)))
      return launch<S, V, 2>(args, range, strips, to);
    return launch<S, V, 1>(args, range, strips, to);
  });
  return trs_device_check(error, "launching the kernel for many right-hand sides");
}
