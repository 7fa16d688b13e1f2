/* spread.cu - one sweep over the supernodes that are distributed over a grid's GPUs, one launch per
 * GPU.
 *
 * A block of threads takes a task by ticket: a row of blocks.  Its warps share the products, each
 * in its own sums; then the block adds the sums that other GPUs have sent for this row.  Every sum
 * has a fixed order, so that all grids that share a supernode compute the same bits of its x.  x
 * goes to the GPUs below in its tree by stores into their memory.  A value carries its own
 * readiness, so a step between two GPUs costs one store over the link, without a fence.
 *
 * What does not depend on x is read before the wait for x: the numbers of a warp's unit into
 * registers, those of its next unit into L2, the triangle into shared memory.
 *
 * The task that L23's Algorithm 5 (section 3.4) has, in one kernel instead of WAIT and SOLVE. Cost:
 * the blocks of this rank once per right-hand side, and a wait per supernode on the longest path.
 */
#include "solve/grid3d/spread.cuh"

namespace {

using namespace trs::spread;
using trs::encode;
using trs::is_pending;
using trs::multiply_add;
using trs::read_constant;
using trs::zero;

template <class S>
__device__ inline S await(const work &w, const S *p) {
  trs::wait wait(w.a.fault);
  S value = trs::peek<true>(p);
  while (is_pending(value) && goes_on(w, wait)) value = trs::peek<true>(p);
  return value;
}

/* ---- Products ---- */

/* A warp's units, multiplied at once.  From `count` on they are copies of the first, of which
 * nothing is wanted. */
template <class S, int R>
struct batch {
  trs_spread_unit unit[ABREAST<S, R>];
  int count;
};

template <class S, int R>
__device__ inline batch<S, R> batch_at(const work &w, int32_t first) {
  batch<S, R> b;
  const int left = w.t.units - first;
  b.count = left < ABREAST<S, R> ? left : ABREAST<S, R>;
#pragma unroll
  for (int n = 0; n < ABREAST<S, R>; n++)
    b.unit[n] = w.a.unit[w.t.unit + first + (n < b.count ? n : 0)];
  return b;
}

/* x of the terms, by a warp: all that its lanes read are waited for together.  hurry: the task has
 * no other x to wait for.  Others sleep between their looks, since those slow down the stores of x
 * that all are waiting for. */
template <class S, int R, bool UPPER>
__device__ inline void receive_terms(const work &w, const batch<S, R> &b, bool hurry, S *x) {
  constexpr int ALL = ABREAST<S, R> * TERMS * R, EACH = (ALL + LANES - 1) / LANES, NAP = 200;
  const S *from = reinterpret_cast<const S *>(w.a.base[w.a.member] + w.a.x) + w.first;
  const S *at[EACH];
  S value[EACH];
#pragma unroll
  for (int e = 0; e < EACH; e++) {
    const int i = w.lane + e * LANES, n = i / (TERMS * R), k = i / R % TERMS, j = i % R;
    const trs_spread_unit &u = b.unit[n < ABREAST<S, R> ? n : 0];
    const bool wanted = n < b.count && k < u.terms && j < w.count;
    const int row = !wanted ? 0 : UPPER ? read_constant(w.a.list + u.list + k) : u.from + k;
    at[e] = from + int64_t(u.first + row) * w.a.nrhs + j;
    value[e] = wanted ? trs::pending_value<S>() : zero<S>();
  }
  trs::wait wait(w.a.fault);
  for (bool waits = true; waits;) {
    waits = false;
#pragma unroll
    for (int e = 0; e < EACH; e++) trs::peek_if<true>(is_pending(value[e]), at[e], value[e]);
#pragma unroll
    for (int e = 0; e < EACH; e++) waits |= is_pending(value[e]);
    if (waits && !hurry) __nanosleep(NAP);
    waits = waits && goes_on(w, wait);
  }
  __syncwarp(); /* the batch before is multiplied */
#pragma unroll
  for (int e = 0; e < EACH; e++)
    if (w.lane + e * LANES < ALL) x[w.lane + e * LANES] = value[e];
  __syncwarp();
}

/* A batch, by a warp.  next: the warp's next batch. */
template <class S, int R, bool UPPER>
__device__ inline void multiply(const work &w, const batch<S, R> &b, const batch<S, R> &next,
                                bool hurry, S *x, S *sums) {
  S a[ABREAST<S, R>][TERMS];
  int row[ABREAST<S, R>];
#pragma unroll
  for (int n = 0; n < ABREAST<S, R>; n++) {
    const unit_line<S, UPPER> line(w, b.unit[n]);
#pragma unroll
    for (int k = 0; k < TERMS; k++)
      a[n][k] =
          line.mine && k < b.unit[n].terms ? read_constant(line.at + k * line.step) : zero<S>();
    row[n] = line.mine && n < b.count ? line.row(w, b.unit[n]) : -1;
  }
#pragma unroll
  for (int n = 0; n < ABREAST<S, R>; n++) prefetch_unit<S, UPPER>(w, next.unit[n]);
  receive_terms<S, R, UPPER>(w, b, hurry, x);
#pragma unroll
  for (int n = 0; n < ABREAST<S, R>; n++) {
    constexpr int CHAINS = R == 1 ? 2 : 1; /* a sum of products waits for the one before */
    S sum[CHAINS * R];
#pragma unroll
    for (int j = 0; j < CHAINS * R; j++) sum[j] = zero<S>();
#pragma unroll
    for (int k = 0; k < TERMS; k++) {
      if (k >= b.unit[n].terms) break;
#pragma unroll
      for (int j = 0; j < R; j++) {
        S &to = sum[k % CHAINS * R + j];
        to = multiply_add(a[n][k], x[(n * TERMS + k) * R + j], to);
      }
    }
#pragma unroll
    for (int j = 0; j < R && row[n] >= 0; j++)
      sums[row[n] * R + j] =
          sums[row[n] * R + j] + (CHAINS == 1 ? sum[j] : sum[j] + sum[(CHAINS - 1) * R + j]);
    __syncwarp(); /* other lanes may have these rows in the next unit */
  }
}

template <class S, int R, bool UPPER>
__device__ inline void multiply_units(const work &w, const room<S, R> &m) {
  constexpr int EACH = ABREAST<S, R>, ALL = EACH * WARPS<R>;
  S *x = m.x + w.warp * m.TERMS_ABREAST, *sums = m.part + w.warp * w.a.widest * R;
  for (int i = w.lane; i < w.t.width * R; i += LANES) sums[i] = zero<S>();
  __syncwarp();
  if (w.warp * EACH >= w.t.units) return;
  const int32_t last = w.a.unit[w.t.unit + w.t.units - 1].K;
  batch<S, R> now = batch_at<S, R>(w, w.warp * EACH);
  for (int32_t u = w.warp * EACH; u < w.t.units; u += ALL) {
    const batch<S, R> next = batch_at<S, R>(w, u + ALL < w.t.units ? u + ALL : u);
    multiply<S, R, UPPER>(w, now, next, now.unit[now.count - 1].K == last, x, sums);
    now = next;
  }
}

/* ---- Tasks ---- */

/* Number i of this task's right-hand side, before any products of this sweep. */
template <class S, int R, bool UPPER>
__device__ inline S begin_sum(const work &w, int i) {
  const int row = i / R, j = i % R;
  S sum = zero<S>();
  if (j >= w.count) return sum;
  if (w.t.takes)
    sum = static_cast<const S *>(w.a.b)[int64_t(w.t.first + row) * w.a.nrhs + w.first + j];
  if (!UPPER && w.t.row >= 0)
    sum = sum + static_cast<const S *>(w.a.rows)[int64_t(w.t.row + row) * w.a.nrhs + w.first + j];
  return sum;
}

template <class S>
__device__ inline S *sum_at(const work &w, int32_t member, int32_t child, int row, int j) {
  return reinterpret_cast<S *>(w.a.base[member] + w.a.sums) +
         (child * w.a.columns + w.t.first + row) * w.a.nrhs + w.first + j;
}

/* The row's sum.  Sums of other GPUs are looked for before the products, so that those which are
 * there cost no time afterwards; they are added in their place. */
template <class S, int R, bool UPPER>
__device__ inline void add_up(const work &w, const room<S, R> &m) {
  constexpr int EACH = (TRS_SPREAD_WIDEST * R + THREADS<R> - 1) / THREADS<R>;
  const int count = w.t.width * R, wide = w.a.widest * R, thread = static_cast<int>(threadIdx.x);
  S child[EACH];
  fetch_triangle<S, R>(w, m);
#pragma unroll
  for (int e = 0; e < EACH; e++) {
    const int i = thread + e * THREADS<R>;
    const bool comes = i < count && w.t.children > 0 && i % R < w.count;
    child[e] = comes ? trs::peek<true>(sum_at<S>(w, w.a.member, 0, i / R, i % R)) : zero<S>();
    if (i < count) m.y[i] = begin_sum<S, R, UPPER>(w, i);
  }
  multiply_units<S, R, UPPER>(w, m);
  __syncthreads();
#pragma unroll
  for (int e = 0; e < EACH; e++) {
    const int i = thread + e * THREADS<R>;
    if (i >= count) break;
    S sum = m.y[i] + sum_parts<S, R>(m, wide, i);
    for (int32_t c = 0; c < w.t.children && i % R < w.count; c++) {
      const S *at = sum_at<S>(w, w.a.member, c, i / R, i % R);
      sum = sum + (c == 0 && !is_pending(child[e]) ? child[e] : await(w, at));
    }
    m.y[i] = sum;
  }
}

/* Number i of x(K): to other GPUs first, then to this GPU's own tasks. */
template <class S, int R, bool UPPER>
__device__ inline void hand_on(const work &w, int i, S x, bool own) {
  const int row = i / R, j = i % R;
  if (j >= w.count) return;
  x = encode(x);
  for (int32_t r = 0; r < w.t.receivers; r++) trs::publish<true>(x_at<S>(w, w.to[r], row, j), x);
  if (own) trs::publish<true>(x_at<S>(w, w.a.base[w.a.member], row, j), x);
  if (UPPER && w.t.row >= 0)
    static_cast<S *>(w.a.rows)[int64_t(w.t.row + row) * w.a.nrhs + w.first + j] = x;
}

template <class S, int R, bool UPPER>
__device__ inline void do_task(const work &w, const room<S, R> &m) {
  const trs_spread_kind kind = static_cast<trs_spread_kind>(w.t.kind);
  if (kind != TRS_SPREAD_RECEIVE) add_up<S, R, UPPER>(w, m);
  if (kind == TRS_SPREAD_SOLVE) solve_triangle<S, R, UPPER>(w, m);
  for (int i = static_cast<int>(threadIdx.x); i < w.t.width * R; i += THREADS<R>) {
    const int row = i / R, j = i % R;
    if (j >= w.count) continue;
    if (kind == TRS_SPREAD_SUM)
      trs::publish<true>(sum_at<S>(w, w.t.parent, w.t.child, row, j), encode(m.y[i]));
    else if (kind == TRS_SPREAD_SOLVE)
      hand_on<S, R, UPPER>(w, i, m.y[i], true);
    else
      hand_on<S, R, UPPER>(w, i, await(w, x_at<S>(w, w.a.base[w.a.member], row, j)), false);
  }
}

template <class S, int R, bool UPPER>
__global__ void __launch_bounds__(THREADS<R>) sweep(const __grid_constant__ trs_spread_args a) {
  __shared__ slot taken;
  const room<S, R> m(a);
  taken.stalled = false;
  while (take_task<R>(a, taken)) do_task<S, R, UPPER>(work_of<R>(a, taken), m);
}

template <class S, int R, bool UPPER>
cudaError_t launch(trs_spread_args a, cudaStream_t stream) {
  unsigned blocks;
  size_t shared;
  auto *kernel = sweep<S, R, UPPER>;
  const cudaError_t error = size_launch<S, R>(a, kernel, 0, &blocks, &shared);
  if (error) return error;
  kernel<<<blocks, unsigned(THREADS<R>), shared, stream>>>(a);
  return cudaGetLastError();
}

template <class S, int R>
cudaError_t launch_side(const trs_spread_args &a, cudaStream_t stream) {
  return a.upper ? launch<S, R, true>(a, stream) : launch<S, R, false>(a, stream);
}

/* ---- Rows that grids share ---- */

constexpr int MOVERS = 256;

template <class S>
__global__ void __launch_bounds__(MOVERS) move_rows(const trs_spread_rows m) {
  S *x = static_cast<S *>(m.x), *packed = static_cast<S *>(m.packed);
  const int64_t step = int64_t(gridDim.x) * MOVERS;
  for (int64_t i = int64_t(blockIdx.x) * MOVERS + threadIdx.x; i < m.rows * m.nrhs; i += step) {
    S &there = x[m.row[i / m.nrhs] * m.nrhs + i % m.nrhs];
    if (m.add)
      there = there + packed[i];
    else
      packed[i] = there;
  }
}

}  // namespace

extern "C" trs_status trs_spread_launch(const trs_spread_args *args, trs_stream stream) {
  auto on = static_cast<cudaStream_t>(stream);
  if (args->ntasks == 0) return TRS_SUCCESS;
  const cudaError_t error = trs::by_scalar(args->scalar, [&](auto s) {
    using S = decltype(s);
    return args->tile == 1 ? launch_side<S, 1>(*args, on)
                           : launch_side<S, TRS_SPREAD_TILE>(*args, on);
  });
  return trs_device_check(error, "launching the sweep of a grid of several GPUs");
}

extern "C" trs_status trs_spread_move(const trs_spread_rows *rows, trs_stream stream) {
  constexpr int64_t MOST_BLOCKS = 1024;
  const int64_t need = (rows->rows * rows->nrhs + MOVERS - 1) / MOVERS;
  if (need == 0) return TRS_SUCCESS;
  const auto blocks = unsigned(need < MOST_BLOCKS ? need : MOST_BLOCKS);
  cudaError_t error = trs::by_scalar(rows->scalar, [&](auto s) {
    move_rows<decltype(s)>
        <<<blocks, unsigned(MOVERS), 0, static_cast<cudaStream_t>(stream)>>>(*rows);
    return cudaGetLastError();
  });
  return trs_device_check(error, "packing rows for other grids");
}
