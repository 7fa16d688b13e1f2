/* syncfree_csc_rhs.cu - L17 Algorithm 4: one warp per component, many right-hand sides.
 *
 * left_sum holds the right-hand sides of a component contiguously.  Products are made from the
 * caller's x where its rows are contiguous, as the paper has them.  Otherwise a solved component's
 * row of left_sum holds its x for them.  The sums of many right-hand sides do not fit a scratchpad,
 * so all go through global memory.
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

enum { WARPS = 4 }; /* per block */

/* Blocks on a multiprocessor: 48 warps with 40 registers per thread.  Complex numbers take more. */
template <class S>
constexpr int resident = element<S>::is_complex ? 1 : 12;

/* Waits until component i has met its in-degree.  Run by every lane, as in syncfree_csc.cu. */
__device__ void await_component(const trs_syncfree &s, int64_t i) {
  const int in_degree = __ldg(s.in_degree + i);
  wait patience(s.fault);
  while (load_relaxed(&s.met[i]) != in_degree && patience.goes_on(i)) {
  }
  (void)load_acquire(&s.met[i]);
}

/* Stores row i of x for the caller.  Returns a row of it whose numbers are contiguous: the
 * caller's, or, where that is not, the left sums, which are no longer needed. */
template <class S>
__device__ const S *solve_component(const trs_syncfree &s, const trs_gpu_columns &rhs, int64_t i,
                                    S inverse) {
  const S *b = static_cast<const S *>(rhs.b) + i * rhs.b_row;
  S *x = static_cast<S *>(rhs.x) + i * rhs.x_row;
  S *left_sum = static_cast<S *>(s.left_sum) + i * rhs.width;
  const bool contiguous = rhs.x_col == 1;
  for (int64_t r = lane_of_thread(); r < rhs.width; r += WARP) {
    const S xi = (b[r * rhs.b_col] - load_sum(left_sum + r)) * inverse;
    x[r * rhs.x_col] = xi;
    if (!contiguous) left_sum[r] = xi;
  }
  __syncwarp();
  return contiguous ? x : left_sum;
}

template <class S>
__device__ void add_by_rhs(const trs_syncfree &s, const column &c, const S *xi, int64_t width) {
  for (int64_t q = 0; q < c.count; q++) {
    const int64_t row = __ldg(s.idx + c.at(q));
    const S a = read_constant(static_cast<const S *>(s.val) + c.at(q));
    S *left_sum = static_cast<S *>(s.left_sum) + row * width;
    for (int64_t r = lane_of_thread(); r < width; r += WARP) add_to(left_sum + r, a * xi[r]);
    __syncwarp(); /* all lanes have added before one counts */
    if (lane_of_thread() == 0) {
      fence_device();
      atomicAdd(&s.met[row], 1);
    }
  }
}

template <class S>
__device__ void add_by_nnz(const trs_syncfree &s, const column &c, const S *xi, int64_t width) {
  for (int64_t q = lane_of_thread(); q < c.count; q += WARP) {
    const int64_t row = __ldg(s.idx + c.at(q));
    const S a = read_constant(static_cast<const S *>(s.val) + c.at(q));
    S *left_sum = static_cast<S *>(s.left_sum) + row * width;
    for (int64_t r = 0; r < width; r++) add_to(left_sum + r, a * xi[r]);
    fence_device();
    atomicAdd(&s.met[row], 1);
  }
}

__device__ bool lanes_take_rhs(const trs_syncfree_strategy &strategy, int64_t entries,
                               int64_t width) {
  if (strategy.lanes != TRS_SYNCFREE_ADAPTIVE) return strategy.lanes == TRS_SYNCFREE_RHS;
  return (entries <= width || width > strategy.p) && entries < strategy.q;
}

template <class S>
__global__ void __launch_bounds__(WARPS *WARP, resident<S>)
    sweep(trs_syncfree s, trs_gpu_columns rhs, trs_syncfree_strategy strategy) {
  const int64_t k = take_ticket_of_warp(s.ticket);
  if (k >= s.n) return;
  const int64_t i = in_sweep(s, k);
  const column c = column_of(s, i);
  const S inverse = inverse_diagonal<S>(s, i);
  const bool by_rhs = lanes_take_rhs(strategy, c.count, rhs.width);
  await_component(s, i);
  const S *xi = solve_component(s, rhs, i, inverse);
  if (by_rhs)
    add_by_rhs(s, c, xi, rhs.width);
  else
    add_by_nnz(s, c, xi, rhs.width);
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
