/* levelset.cu - the rows of one level: a warp per row, its lanes over the row's entries.
 *
 * Every row that a row of the level depends on was solved by an earlier launch.  The lanes' sums
 * are added in a fixed order: the same bits every time.  O(nnz nrhs) work. */
#include "L17/levelset.h"

#include "solve/cuda/ready.cuh"

namespace {

using namespace trs;

constexpr int LOG_WARP = WARP == 64 ? 6 : 5, WARPS = 8;
constexpr int64_t MOST_ROUNDS = 65535; /* blocks of a grid in its second dimension */

template <class S>
__global__ void __launch_bounds__(WARPS *WARP)
    solve_level(const __grid_constant__ trs_levelset s, int64_t begin, int64_t end) {
  const int64_t k = begin + int64_t(blockIdx.x) * WARPS + threadIdx.x / WARP;
  if (k >= end) return;
  const trs_system &t = s.system;
  const trs_gpu_columns &v = s.columns;
  const int lane = int(threadIdx.x % WARP);
  const int64_t row = s.order[k];
  const S *val = static_cast<const S *>(t.val);
  int64_t first = t.ptr[row], last = t.ptr[row + 1];
  const int64_t diagonal = t.lower ? last - 1 : first;
  const bool stored = t.has_diagonal || (first < last && t.idx[diagonal] == row);
  const S inverse = t.unit ? one<S>() : reciprocal(val[diagonal]);
  first += stored && !t.lower;
  last -= stored && t.lower;
  for (int64_t r = blockIdx.y; r < v.width; r += gridDim.y) {
    S *x = static_cast<S *>(v.x) + r * v.x_col;
    S sum = zero<S>();
    for (int64_t p = first + lane; p < last; p += WARP)
      sum = multiply_add(val[p], x[t.idx[p] * v.x_row], sum);
    sum = sum_lanes(sum, LOG_WARP);
    if (lane > 0) continue;
    const S b = static_cast<const S *>(v.b)[r * v.b_col + row * v.b_row];
    x[row * v.x_row] = (b - sum) * inverse;
  }
}

}  // namespace

extern "C" trs_status trs_levelset_level(const trs_levelset *s, int64_t begin, int64_t end,
                                         trs_stream stream) {
  const auto to = static_cast<cudaStream_t>(stream);
  const dim3 grid(
      static_cast<unsigned>((end - begin + WARPS - 1) / WARPS),
      static_cast<unsigned>(s->columns.width < MOST_ROUNDS ? s->columns.width : MOST_ROUNDS));
  if (begin == end || s->columns.width == 0) return TRS_SUCCESS;
  const auto launch = [&](auto scalar) {
    solve_level<decltype(scalar)><<<grid, WARPS * warp_of_device(), 0, to>>>(*s, begin, end);
    return cudaGetLastError();
  };
  return trs_device_check(by_scalar(s->system.scalar, launch), "levelset");
}
