/* rows.cuh - one launch per colour: a warp takes a block row, or as many as fit its lanes, six of
 * 5 x 5, multiplies with the off-diagonal blocks, and solves by the diagonal's LU.
 *
 * Six rows per warp are the library's kernel for blocks that slices.cu does not take (rows.cu). The
 * other kinds, and asynchronous copies, are W21's (papers/W21/rows.cu).
 *
 * All sums have a fixed order.  O(blocks) work; every block is read once per right-hand side. */
#ifndef TRS_RELAX_CUDA_ROWS_CUH
#define TRS_RELAX_CUDA_ROWS_CUH

#include "relax/cuda/row_sum.cuh"

namespace trs {
namespace relax_rows {

constexpr int THREADS = 256, WARPS = THREADS / int(WARP);
constexpr int NONE = TRS_RELAX_COPY_NOTHING, DIAGONAL = TRS_RELAX_COPY_DIAGONAL;

__host__ __device__ inline int rows_of_warp(bool six, int b) { return six ? int(WARP) / b : 1; }
/* The same of a block of threads, for host code. */
inline int64_t rows_of_block(bool six, int b) {
  const int warp = int(warp_of_device());
  return int64_t(THREADS / warp) * (six ? warp / b : 1);
}
/* Elements of shared memory that a warp needs. */
__host__ __device__ inline int room_of_warp(int copies, int rows, int b) {
  return copies == DIAGONAL ? rows * b * b : 0;
}

/* The arrays of a kernel's right-hand side. */
template <int STORE>
struct columns {
  using T = stored<STORE>;
  typename T::x *x;
  const typename T::sum *r;
  __device__ explicit columns(const trs_relax_args &a)
      : x(static_cast<typename T::x *>(a.x) + blockIdx.y * a.x_stride),
        r(static_cast<const typename T::sum *>(a.r) + blockIdx.y * a.r_stride) {}
};

template <class S>
__device__ inline S *shared_room(int elements) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  return reinterpret_cast<S *>(shared_bytes) + int(threadIdx.x / WARP) * elements;
}

/* D's LU of the rows of a warp, on its way to shared memory during the product. */
template <class S, int COPIES>
class diagonals {
 public:
  __device__ diagonals(const trs_relax_args &a, int64_t first, int count, int rows)
      : from_(static_cast<const S *>(a.diagonal)), first_(first), elements_(a.block * a.block) {
    if constexpr (COPIES == DIAGONAL) {
      room_ = shared_room<S>(room_of_warp(COPIES, rows, a.block));
      begin_copy(room_, from_ + first * elements_, count * elements_);
    }
  }
  /* After the product. */
  __device__ const S *await(int64_t p) const {
    if constexpr (COPIES != DIAGONAL) return from_ + p * elements_;
    await_copies<0>();
    return room_ + (p - first_) * elements_;
  }

 private:
  const S *from_;
  int64_t first_;
  int elements_;
  S *room_ = nullptr;
};

template <int STORE, int B, bool SIX, int COPIES>
__global__ void __launch_bounds__(THREADS)
    relax_by_warps(const __grid_constant__ trs_relax_args a, int64_t begin, int64_t end) {
  using sum = typename stored<STORE>::sum;
  const int b = B ? B : a.block, rows = rows_of_warp(SIX, b);
  const int64_t first = begin + (int64_t(blockIdx.x) * WARPS + threadIdx.x / WARP) * rows;
  if (first >= end) return;
  const columns<STORE> c(a);
  const diagonals<sum, COPIES> d(a, first, int(min(int64_t(rows), end - first)), rows);
  const place<B, SIX> at(b, first, end);
  const lanes<B> &l = at.l;
  sum y = -sum_row<STORE, B, SIX>(a, l, at.p, at.works, c.x);
  const sum *own = d.await(at.p);
  y += c.r[at.p * b + l.i];
  const sum z = solve_diagonal(l, own, a.pivot + at.p * b, y);
  if (at.stores) relax(c.x + at.p * a.pitch + l.i, z, a.omega);
}

/* Rows begin to end - 1 of every right-hand side, `each` per block of threads; reads of x are kept
 * in L2 as far as possible. */
struct launcher {
  const trs_relax_args &a;
  const trs_relax_rows_how &how;
  int64_t begin, end;
  cudaStream_t stream;

  template <class K>
  cudaError_t operator()(K kernel, int64_t each, size_t shared = 0, int threads = THREADS) const {
    const dim3 grid(static_cast<unsigned>((end - begin + each - 1) / each), unsigned(a.nrhs));
#if TRS_GPU_AMD
    return launch_behind(false, kernel, grid, unsigned(threads), shared, stream, a, begin, end);
#else
    cudaLaunchAttribute keep = {};
    keep.id = cudaLaunchAttributeAccessPolicyWindow;
    keep.val.accessPolicyWindow.base_ptr = a.x;
    keep.val.accessPolicyWindow.num_bytes = size_t(how.window);
    keep.val.accessPolicyWindow.hitRatio = float(how.window_share);
    keep.val.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    keep.val.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = unsigned(threads);
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    config.attrs = &keep;
    config.numAttrs = how.window ? 1 : 0;
    if (shared > 48 << 10) {
      cudaError_t error =
          cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared));
      if (error != cudaSuccess) return error;
    }
    return cudaLaunchKernelEx(&config, kernel, a, begin, end);
#endif
  }
};

}  // namespace relax_rows
}  // namespace trs

#endif
