/* rows.cu - one launch per colour, for blocks that slices.cu does not take: a warp takes as many
 * block rows as fit its lanes, multiplies with the off-diagonal blocks, and solves by the
 * diagonal's LU.
 *
 * All sums have a fixed order.  O(blocks) work; every block is read once per right-hand side. */
#include "relax/cuda/row_sum.cuh"

namespace {

using namespace trs;

constexpr int THREADS = 256, WARPS = THREADS / int(WARP);

template <int STORE>
__global__ void __launch_bounds__(THREADS)
    relax_rows(const __grid_constant__ trs_relax_args a, int64_t begin, int64_t end) {
  using T = stored<STORE>;
  using sum = typename T::sum;
  const int b = a.block, rows = int(WARP) / b;
  const int64_t first = begin + (int64_t(blockIdx.x) * WARPS + threadIdx.x / WARP) * rows;
  if (first >= end) return;
  auto *x = static_cast<typename T::x *>(a.x) + blockIdx.y * a.x_stride;
  auto *r = static_cast<const sum *>(a.r) + blockIdx.y * a.r_stride;
  const place<0> at(b, first, end);
  const lanes<0> &l = at.l;
  sum y = -sum_row<STORE>(a, l, at.p, at.works, x);
  y += r[at.p * b + l.i];
  const sum *d = static_cast<const sum *>(a.diagonal) + at.p * b * b;
  const sum z = solve_diagonal(l, d, a.pivot + at.p * b, y);
  if (at.works) relax(x + at.p * a.pitch + l.i, z, a.omega);
}

}  // namespace

extern "C" trs_status trs_relax_rows_run(const trs_relax_args *a, const void *, int64_t begin,
                                         int64_t end, trs_stream stream) {
  const int warp = int(warp_of_device());
  const int64_t each = int64_t(THREADS / warp) * (warp / a->block);
  const dim3 grid(unsigned((end - begin + each - 1) / each), unsigned(a->nrhs));
  const cudaError_t error = by_store(a->store, [&](auto store) {
    relax_rows<decltype(store)::value>
        <<<grid, THREADS, 0, static_cast<cudaStream_t>(stream)>>>(*a, begin, end);
    return cudaGetLastError();
  });
  return trs_device_check(error, "launching a relaxation kernel");
}
