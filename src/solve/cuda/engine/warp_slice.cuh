/* warp_slice.cuh - one warp per slice: device code of the warp-per-slice kernel (warp_slice.cu)
 * and of push, by which several GPUs solve together (solve/multigpu/push.cu).
 *
 * A view is the kernel's access to a solve.  Types: scalar, of x; stored, of the entries.
 * Constant: system, true if other GPUs write x.  Members: s, work, parts, other_parts, rhs, fault.
 * Functions: finish(position, of, value, early) stores a solved row, `of` being its trs_slices.row;
 * look(position) loads what finish needs early. */
#ifndef TRS_SOLVE_CUDA_ENGINE_WARP_SLICE_CUH
#define TRS_SOLVE_CUDA_ENGINE_WARP_SLICE_CUH

#include "solve/cuda/engine/slice.cuh"

namespace trs {
namespace warp_slice {

enum { WARPS = TRS_CHUNK_SLICES, THREADS = WARP * WARPS, BATCH = 4 };

template <class S>
struct one_rhs {
  S *x;
  const S *b;
  int64_t x_row, b_row;
};

struct warp_lane {
  int lane, warp;
};

/* b of a row; zero if it has none. */
template <class S>
__device__ S b_of(const one_rhs<S> &rhs, int32_t of) {
  return trs_row_has_b(of) ? rhs.b[trs_row_number(of) * rhs.b_row] : S{};
}

/* What rows wait for.  bare: nothing, since they have no entries.  none: nothing, or what other
 * GPUs sent last.  rows: other rows.  boxes: other rows, in blocks of up to TRS_LIGHT_BLOCK. heavy:
 * other rows, and some slices are heavy.  wide: other rows of wide levels (slices_in_turns). */
enum class waits { bare, none, rows, boxes, heavy, wide };
template <waits WAITS>
constexpr bool has_tickets = WAITS >= waits::rows;

/* All of the lane's share of its row's sum but the last batch, which is in `last`: batches from
 * entry `offset` on, with `stride` between the entries.  Most rows have one batch, so few
 * instructions follow its x. */
template <class W>
__device__ typename W::scalar sum_before(
    const W &v, const trs_slice &h, int lane, int offset, int stride, int32_t row, wait &w,
    batch<typename W::scalar, typename W::stored, BATCH> &last) {
  using S = typename W::scalar;
  using V = typename W::stored;
  const int distance = trs_slice_stride(&h), width = lane < distance ? h.width : 0;
  const int32_t *idx = v.s.idx + h.entries + lane;
  const V *val = static_cast<const V *>(v.s.val) + h.entries + lane;
  batch<S, V, BATCH> next;
  last.load(idx, val, offset, stride, width, distance);
  if (h.early_poll >= 0)
    while (is_pending(peek<W::system>(v.work + h.early_poll)) && w.goes_on(row)) {
    }
  S sum = S{};
  for (int k = offset + BATCH * stride; k < h.width; k += BATCH * stride) {
    next.load(idx, val, k, stride, width, distance);
    sum = last.template add<W::system>(sum, v.work, w, row);
    last = next;
  }
  return sum;
}

/* The lane's share of its row's sum. */
template <class W>
__device__ typename W::scalar lane_sum(const W &v, const trs_slice &h, int lane, int offset,
                                       int stride, int32_t row) {
  wait w(v.fault);
  batch<typename W::scalar, typename W::stored, BATCH> last;
  auto sum = sum_before(v, h, lane, offset, stride, row, w, last);
  sum = last.template add<W::system>(sum, v.work, w, row);
  __syncwarp();
  return sum;
}

/* The same sum with waits for every x. */
template <class W>
__device__ typename W::scalar patient_sum(const W &v, const int32_t *idx,
                                          const typename W::stored *val, int width, int distance,
                                          int32_t row) {
  using S = typename W::scalar;
  wait w(v.fault);
  S sum = S{};
#pragma unroll 1
  for (int k = 0; k < width; k += BATCH) {
    batch<S, typename W::stored, BATCH> now;
    now.load(idx, val, k, 1, width, distance);
    sum = now.template add<W::system>(sum, v.work, w, row);
  }
  return sum;
}

#if TRS_HAVE_COPIES_LATER
/* Entries of a settled range on their way through shared memory.  Each lane has places of its own:
 * more than registers hold, and no lane waits for another. */
template <class S, class V>
struct ring {
  enum { STAGES = sizeof(V) == 16 ? 2 : 3, ROOM = STAGES * BATCH };
  V val[ROOM][THREADS];
  int32_t idx[ROOM][THREADS];

  static constexpr size_t bytes() { return sizeof(ring); } /* of shared memory */

  __device__ void ask(const int32_t *all_idx, const V *all_val, int stage, int k, int width,
                      int distance) {
#pragma unroll
    for (int u = 0; u < BATCH; u++) {
      if (k + u >= width) break;
      const int64_t at = int64_t(k + u) * distance;
      __pipeline_memcpy_async(&idx[stage * BATCH + u][threadIdx.x], all_idx + at, sizeof(int32_t));
      __pipeline_memcpy_async(&val[stage * BATCH + u][threadIdx.x], all_val + at, sizeof(V));
    }
    __pipeline_commit();
  }
  __device__ batch<S, V, BATCH> take(int stage, int k, int width) const {
    batch<S, V, BATCH> b;
#pragma unroll
    for (int u = 0; u < BATCH; u++) {
      const bool there = k + u < width;
      b.idx[u] = there ? idx[stage * BATCH + u][threadIdx.x] : -1;
      b.val[u] = there ? val[stage * BATCH + u][threadIdx.x] : V{};
    }
    return b;
  }
};

/* lane_sum for a settled range. */
template <class W>
__device__ typename W::scalar settled_sum(const W &v, const trs_slice &h, int lane, int32_t row,
                                          ring<typename W::scalar, typename W::stored> &r) {
  using S = typename W::scalar;
  using V = typename W::stored;
  enum { STAGES = ring<S, V>::STAGES };
  const int distance = trs_slice_stride(&h), width = lane < distance ? h.width : 0;
  const int32_t *idx = v.s.idx + h.entries + lane;
  const V *val = static_cast<const V *>(v.s.val) + h.entries + lane;
  for (int k = 0; k < STAGES; k++) r.ask(idx, val, k, k * BATCH, width, distance);
  S sum = S{};
  int stage = 0;
  bool missing = false;
  for (int k = 0; k < width; k += BATCH) {
    __pipeline_wait_prior(STAGES - 1);
    const auto now = r.take(stage, k, width);
    r.ask(idx, val, stage, k + STAGES * BATCH, width, distance);
    sum = now.add_settled(sum, v.work, &missing);
    stage = stage + 1 < STAGES ? stage + 1 : 0;
  }
  __pipeline_wait_prior(0);
  if (W::system && missing) sum = patient_sum(v, idx, val, width, distance, row);
  __syncwarp();
  return sum;
}
#else
template <class S, class V>
struct ring {
  static constexpr size_t bytes() { return 0; }
};

/* lane_sum for a settled range: the entries of the next batch are on their way while this one is
 * added. */
template <class W>
__device__ typename W::scalar settled_sum(const W &v, const trs_slice &h, int lane, int32_t row,
                                          ring<typename W::scalar, typename W::stored> &) {
  using S = typename W::scalar;
  using V = typename W::stored;
  const int distance = trs_slice_stride(&h), width = lane < distance ? h.width : 0;
  const int32_t *idx = v.s.idx + h.entries + lane;
  const V *val = static_cast<const V *>(v.s.val) + h.entries + lane;
  batch<S, V, BATCH> next;
  next.load(idx, val, 0, 1, width, distance);
  S sum = S{};
  bool missing = false;
  for (int k = 0; k < width; k += BATCH) {
    const batch<S, V, BATCH> now = next;
    next.load(idx, val, k + BATCH, 1, width, distance);
    sum = now.add_settled(sum, v.work, &missing);
  }
  if (W::system && missing) sum = patient_sum(v, idx, val, width, distance, row);
  __syncwarp();
  return sum;
}
#endif

template <waits WAITS, class W, class R>
__device__ typename W::scalar row_sum(const W &v, const trs_slice &h, int lane, int32_t row,
                                      R *ring_of_block) {
  if constexpr (WAITS == waits::bare)
    return {};
  else if constexpr (WAITS == waits::none)
    return settled_sum(v, h, lane, row, *ring_of_block);
  else
    return lane_sum(v, h, lane, 0, 1, row);
}

/* ring_of_block: for a settled range. */
template <waits WAITS, class W, class R>
__device__ void solve_slice(const W &v, const trs_slice &h, int lane, R *ring_of_block) {
  using S = typename W::scalar;
  int r = lane >> h.log_lanes;
  bool there = r < h.rows;
  int32_t position = h.first + (there ? r : 0), of = __ldg(v.s.row + position),
          row = trs_row_number(of);
  const auto early = v.look(position);
  S b = b_of(v.rhs, of);
  const S *inverse = static_cast<const S *>(v.s.inverse) + h.inverse;
  if (!there) r = 0;
  /* Fewer registers where no wait hides the load, or where pushing needs them. */
  coefficients<S, WAITS == waits::bare || (W::system && WAITS == waits::none) ? 1 : BATCH> c;
  c.load(inverse, h, r);
  S residual = b - sum_lanes(row_sum<WAITS>(v, h, lane, row, ring_of_block), h.log_lanes);
  S x = c.apply(residual, inverse, h, r);
  if (there && (lane & ((1 << h.log_lanes) - 1)) == 0) v.finish(position, of, x, early);
}

/* The lanes whose rows leave together: those of the block of row r.  All, if blocks of the slice
 * differ in size. */
__device__ inline lane_mask lanes_of_block(const trs_slice &h, int r) {
  const int lanes = h.block << h.log_lanes;
  if (h.block > TRS_EXACT_BLOCK || lanes >= WARP) return ALL_LANES;
  return ((lane_mask(1) << lanes) - 1) << (trs_blocks_before(&h, r) * h.block << h.log_lanes);
}

/* solve_slice for rows that wait.  A block of rows leaves as soon as all its x are there, whatever
 * the other rows of the warp wait for.  settle: not before a poll that brings no other x, since the
 * x of all rows arrive at about the same time, and a block that leaves delays the others.  HELD:
 * coefficients of the inverse that a lane has in registers. */
template <int HELD, class W>
__device__ void solve_waiting(const W &v, const trs_slice &h, int lane, bool settle) {
  using S = typename W::scalar;
  int r = lane >> h.log_lanes;
  const bool there = r < h.rows;
  const int32_t position = h.first + (there ? r : 0), of = __ldg(v.s.row + position),
                row = trs_row_number(of);
  const lane_mask together = lanes_of_block(h, r);
  const auto early = v.look(position);
  const S b = b_of(v.rhs, of);
  const S *inverse = static_cast<const S *>(v.s.inverse) + h.inverse;
  if (!there) r = 0;
  coefficients<S, HELD> c;
  c.load(inverse, h, r);
  const bool leads = there && (lane & ((1 << h.log_lanes) - 1)) == 0;
  wait w(v.fault);
  batch<S, typename W::stored, BATCH> last;
  const S before = sum_before(v, h, lane, 0, 1, row, w, last);
  S value[BATCH];
  last.expect(value);
  __syncwarp();
  bool open = there;
  lane_mask known = 0;
  do {
    last.template request<W::system>(value, v.work);
    const lane_mask now = lanes_where(!last.lacks(value));
    const bool settled = !settle || now == known || now == ALL_LANES;
    const bool leaves = open && settled && (now & together) == together;
    if (any_lane(leaves)) {
      const S residual = b - sum_lanes(before + last.products(value), h.log_lanes);
      const S x = c.apply(residual, inverse, h, r);
      if (leaves && leads) v.finish(position, of, x, early);
      open = open && !leaves;
    }
    known = now;
  } while (w.all_go_on(row) && any_lane(open));
}

/* The highest of the lanes of a row. */
__device__ inline int32_t highest_of_row(int32_t mine, int log_lanes) {
  for (int step = 1 << log_lanes >> 1; step > 0; step /= 2)
    mine = max(mine, shuffle_xor(mine, step));
  return mine;
}

/* solve_waiting for rows of several lanes and blocks of one row.  The x of the latest level most
 * often comes last.  The sum of all others passes between the lanes before, so one multiplication
 * follows it: its lane finishes the row. */
template <class W>
__device__ void solve_latest_last(const W &v, const trs_slice &h, int lane) {
  using S = typename W::scalar;
  const int r = lane >> h.log_lanes;
  const bool there = r < h.rows;
  const int32_t position = h.first + (there ? r : 0), of = __ldg(v.s.row + position),
                row = trs_row_number(of);
  const lane_mask together = lanes_of_block(h, r);
  const auto early = v.look(position);
  const S b = b_of(v.rhs, of);
  const S inverse = static_cast<const S *>(v.s.inverse)[h.inverse + (there ? r : 0)];
  wait w(v.fault);
  batch<S, typename W::stored, BATCH> last;
  const S before = sum_before(v, h, lane, 0, 1, row, w, last);
  const int32_t latest = highest_of_row(last.latest(), h.log_lanes);
  const bool leads = (lane & ((1 << h.log_lanes) - 1)) == 0;
  bool open = there && (latest >= 0 ? last.latest() == latest : leads), summed = false, goes_on;
  S value[BATCH], others[BATCH], sum = S{}, coefficient, x = pending_value<S>();
  auto leave = [&](bool now) {
    if (now) v.finish(position, of, inverse * (b - multiply_add(coefficient, x, sum)), early);
    open = open && !now;
  };
  last.expect(value);
  __syncwarp();
  do {
    bool missing;
    last.template request<W::system>(value, v.work);
    x = last.take_out(latest, value, others, &coefficient, &missing);
    const lane_mask known = lanes_where(!missing);
    const bool now = !summed && (known & together) == together;
    if (any_lane(now)) {
      const S all = sum_lanes(before + last.products(others), h.log_lanes);
      if (now) sum = all;
      summed |= now;
    }
    leave(open && summed && !is_pending(x));
    goes_on = w.all_go_on(row);
  } while (goes_on && any_lane(open && !summed));
  while (goes_on && any_lane(open)) {
    peek_if<W::system>(open, v.work + (open ? latest : 0), x);
    leave(open && !is_pending(x));
    goes_on = w.all_go_on(row);
  }
}

/* The sums of the parts of a heavy block.  They carry their readiness as x does. */
template <class W>
__device__ typename W::scalar sum_parts(const W &v, const trs_slice &h, warp_lane at, int32_t row) {
  using S = typename W::scalar;
  wait w(v.fault);
  S sum = S{};
  for (int k = at.warp; k < h.parts; k += WARPS) {
    const S *part = v.parts + int64_t(h.part + k) * WARP + at.lane;
    S value = peek(part);
    while (is_pending(value) && w.goes_on(row)) value = peek(part);
    sum = sum + value;
  }
  __syncwarp();
  return sum;
}

template <class S>
__device__ S sum_warps(const S *partial, int lane) {
  S sum = partial[lane];
  for (int w = 1; w < WARPS; w++) sum = sum + partial[w * WARP + lane];
  return sum;
}

template <class W>
__device__ void leave_part(const W &v, const trs_slice &h, warp_lane at,
                           const typename W::scalar *partial) {
  using S = typename W::scalar;
  if (at.warp > 0) return;
  int64_t where = int64_t(h.part) * WARP + at.lane;
  publish(v.parts + where, encode(sum_warps(partial, at.lane)));
  if (v.other_parts) v.other_parts[where] = pending_value<S>();
}

/* Every WARPS-th diagonal of a heavy block's inverse, by each warp. */
template <class S>
struct diagonals {
  enum { OWN = TRS_MOST_BLOCK / WARPS };
  S c[OWN];

  __device__ void load(const S *inverse, const trs_slice &h, int r, int warp) {
#pragma unroll
    for (int k = 0; k < OWN; k++) {
      int32_t at = r < h.rows ? trs_inverse_at(&h, r, warp + k * WARPS) : -1;
      c[k] = at >= 0 ? inverse[at] : pending_value<S>();
    }
  }
  __device__ S apply(S residual, const trs_slice &h, int warp) const {
    S x = S{};
#pragma unroll
    for (int k = 0; k < OWN; k++) {
      S other = shuffle_up(residual, ((warp + k * WARPS) << h.log_lanes) & (WARP - 1));
      if (!is_pending(c[k])) x = multiply_add(c[k], other, x);
    }
    return x;
  }
};

/* One slice by all warps of the block.  Each warp sums every WARPS-th entry, then multiplies with
 * every WARPS-th diagonal of the inverse. */
template <class W>
__device__ void solve_heavy(const W &v, const trs_slice &h, warp_lane at,
                            typename W::scalar *partial) {
  using S = typename W::scalar;
  const int r = at.lane >> h.log_lanes;
  diagonals<S> own;
  if (h.parts >= 0) own.load(static_cast<const S *>(v.s.inverse) + h.inverse, h, r, at.warp);
  bool there = r < h.rows;
  int32_t position = h.first + (there ? r : 0), of = __ldg(v.s.row + position),
          row = trs_row_number(of);
  const auto early = v.look(position);
  S b = b_of(v.rhs, of), known = sum_parts(v, h, at, row);
  partial[threadIdx.x] = known + lane_sum(v, h, at.lane, at.warp, WARPS, row);
  __syncthreads();
  if (h.parts < 0) return leave_part(v, h, at, partial);
  S residual = b - sum_lanes(sum_warps(partial, at.lane), h.log_lanes);
  __syncthreads();
  partial[threadIdx.x] = own.apply(residual, h, at.warp);
  __syncthreads();
  if (at.warp == 0 && there && (at.lane & ((1 << h.log_lanes) - 1)) == 0)
    v.finish(position, of, sum_warps(partial, at.lane), early);
}

/* Blocks of threads per multiprocessor.  Few where rows wait: polls in vain slow the caches, and
 * more registers per thread gain more (docs/experiments/gpu.md). */
template <class S>
constexpr int resident(waits w) {
  return w >= waits::rows ? 2 : (w == waits::bare ? 6 : 4) / (sizeof(S) == 16 ? 2 : 1);
}

}  // namespace warp_slice
}  // namespace trs

#endif
