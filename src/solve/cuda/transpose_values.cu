/* transpose_values.cu - new values of a transposed matrix, and conjugation. */
#include "solve/cuda/transpose.h"
#include "device/kernel.cuh"

namespace {

enum { BLOCK = 256 };

int blocks_for(int64_t count) {
  int64_t blocks = (count + BLOCK - 1) / BLOCK;
  return static_cast<int>(blocks < 1 ? 1 : blocks > 65536 ? 65536 : blocks);
}

template <class S>
__global__ void gather_values(int64_t nnz, const int64_t *entry, const S *val, S *new_val) {
  for (int64_t p = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; p < nnz;
       p += int64_t(gridDim.x) * blockDim.x)
    new_val[p] = val[entry[p]];
}

template <class R>
__global__ void conjugate(int64_t count, trs::complex_of<R> *val) {
  for (int64_t p = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; p < count;
       p += int64_t(gridDim.x) * blockDim.x)
    val[p].im = -val[p].im;
}

}  // namespace

extern "C" trs_status trs_gpu_transpose_values(void *to, const void *val, const int64_t *entry,
                                               int64_t nnz, trs_scalar scalar, trs_stream stream) {
  if (nnz == 0) return TRS_SUCCESS;
  return trs_device_check(
      trs::by_scalar(
          scalar,
          [&](auto s) {
            using S = decltype(s);
            gather_values<<<blocks_for(nnz), BLOCK, 0, static_cast<cudaStream_t>(stream)>>>(
                nnz, entry, static_cast<const S *>(val), static_cast<S *>(to));
            return cudaGetLastError();
          }),
      "transposing");
}

extern "C" trs_status trs_gpu_conjugate(void *val, int64_t count, trs_scalar scalar,
                                        trs_stream stream) {
  auto s = static_cast<cudaStream_t>(stream);
  if (scalar == TRS_SCOMPLEX)
    conjugate<<<blocks_for(count), BLOCK, 0, s>>>(count,
                                                  static_cast<trs::complex_of<float> *>(val));
  else
    conjugate<<<blocks_for(count), BLOCK, 0, s>>>(count,
                                                  static_cast<trs::complex_of<double> *>(val));
  return trs_device_check(cudaGetLastError(), "conjugating");
}
