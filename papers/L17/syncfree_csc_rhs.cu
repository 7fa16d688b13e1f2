/* syncfree_csc_rhs.cu - L17 Algorithm 4: one warp per component, many right-hand sides.
 *
 * left_sum holds the right-hand sides of a component contiguously.  Once a component is solved,
 * its row of left_sum holds its x, from which the products are made, since the caller's x may have
 * any layout.  The sums of many right-hand sides do not fit a scratchpad, so all go through global
 * memory.
 *
 * The products of a column's entries with the right-hand sides are distributed over the lanes in
 * one of two ways: one lane per right-hand side, with contiguous additions, or one lane per entry.
 * The adaptive choice is the first where (entries <= right-hand sides or right-hand sides > p) and
 * entries < q, else the second.  p = 8 and q = 8192 are the paper's values.  The condition is that
 * of the authors' published program, where the values are 16 and 2048.
 *
 * The paper leaves two points open.  If the sums of all right-hand sides do not fit, they are
 * solved here in consecutive tiles, and the choice depends on the width of the tile.  The order of
 * memory is that of syncfree.cuh.  O(nnz nrhs) work, n width sums. */
#include "L17/syncfree.cuh"

namespace {

using namespace trs;
using namespace trs::syncfree;

enum { WARPS = 16 }; /* per block, L17's default */

/* Waits until component i has met its in-degree. */
__device__ void await_component(const trs_syncfree &s, int64_t i) {
  if (lane_of_thread() == 0) {
    const int in_degree = __ldg(s.in_degree + i);
    wait patience(s.fault);
    while (load_relaxed(&s.met[i]) != in_degree && patience.goes_on(i)) {
    }
    fence_device();
  }
  __syncwarp();
}

/* Stores row i of x for the caller, and over its left sums, which are no longer needed. */
template <class S>
__device__ void solve_component(const trs_syncfree &s, const trs_gpu_columns &rhs, int64_t i,
                                S inverse) {
  const S *b = static_cast<const S *>(rhs.b) + i * rhs.b_row;
  S *x = static_cast<S *>(rhs.x) + i * rhs.x_row;
  S *left_sum = static_cast<S *>(s.left_sum) + i * rhs.width;
  for (int64_t r = lane_of_thread(); r < rhs.width; r += WARP) {
    const S xi = (b[r * rhs.b_col] - load_sum(left_sum + r)) * inverse;
    x[r * rhs.x_col] = xi;
    left_sum[r] = xi;
  }
  __syncwarp();
}

template <class S>
__device__ void add_by_rhs(const trs_syncfree &s, const column &c, int64_t from, int64_t to,
                           const S *xi, int64_t width) {
  const S *val = static_cast<const S *>(s.val);
  for (int64_t r = lane_of_thread(); r < width; r += WARP) {
    S *left_sum = static_cast<S *>(s.left_sum) + r;
    const S xir = xi[r];
#pragma unroll 4
    for (int64_t q = from; q < to; q++) {
      const int64_t row = __ldg(s.idx + c.at(q));
      add_to(left_sum + row * width, read_constant(val + c.at(q)) * xir);
    }
  }
}

template <class S>
__device__ void add_by_nnz(const trs_syncfree &s, const column &c, int64_t from, int64_t to,
                           const S *xi, int64_t width) {
  const S *val = static_cast<const S *>(s.val);
  for (int64_t q = from + lane_of_thread(); q < to; q += WARP) {
    const int64_t row = __ldg(s.idx + c.at(q));
    const S a = read_constant(val + c.at(q));
    S *left_sum = static_cast<S *>(s.left_sum) + row * width;
    for (int64_t r = 0; r < width; r++) add_to(left_sum + r, a * xi[r]);
  }
}

__device__ bool lanes_take_rhs(const trs_syncfree_strategy &strategy, int64_t entries,
                               int64_t width) {
  if (strategy.lanes != TRS_SYNCFREE_ADAPTIVE) return strategy.lanes == TRS_SYNCFREE_RHS;
  return (entries <= width || width > strategy.p) && entries < strategy.q;
}

template <class S>
__global__ void __launch_bounds__(WARPS *WARP)
    sweep(trs_syncfree s, trs_gpu_columns rhs, trs_syncfree_strategy strategy) {
  const int64_t k = take_ticket(s.ticket) * WARPS + warp_of_thread();
  if (k >= s.n) return;
  const int64_t i = in_sweep(s, k);
  const column c = column_of(s, i);
  const S inverse = inverse_diagonal<S>(s, i);
  const S *xi = static_cast<const S *>(s.left_sum) + i * rhs.width;
  const bool by_rhs = lanes_take_rhs(strategy, c.count, rhs.width);
  await_component(s, i);
  solve_component(s, rhs, i, inverse);
  for (int64_t from = 0; from < c.count; from += ROUND) {
    const int64_t to = min(from + ROUND, c.count);
    if (by_rhs)
      add_by_rhs(s, c, from, to, xi, rhs.width);
    else
      add_by_nnz(s, c, from, to, xi, rhs.width);
    __syncwarp(); /* several lanes add an entry's sums, one lane counts it */
    fence_device();
    for (int64_t q = from + lane_of_thread(); q < to; q += WARP)
      atomicAdd(&s.met[__ldg(s.idx + c.at(q))], 1);
  }
}

}  // namespace

extern "C" trs_status trs_syncfree_sweep_rhs(const trs_syncfree *s, const trs_gpu_columns *rhs,
                                             const trs_syncfree_strategy *strategy,
                                             trs_stream stream) {
  const auto blocks = static_cast<unsigned>((s->n + WARPS - 1) / WARPS);
  const auto to = static_cast<cudaStream_t>(stream);
  const auto launch = [&](auto scalar) {
    sweep<decltype(scalar)><<<blocks, WARPS * warp_of_device(), 0, to>>>(*s, *rhs, *strategy);
    return cudaGetLastError();
  };
  return trs_device_check(by_scalar(s->scalar, launch), "syncfree-csc-rhs");
}
