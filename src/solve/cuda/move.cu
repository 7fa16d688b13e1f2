/* move.cu - a thread an element: neighbouring threads move the right-hand sides of one row, so the
 * workspace is touched in order and the strided array a row at a time. */
#include "solve/cuda/move.h"

#include "solve/cuda/kernel.cuh"

namespace {

constexpr int BLOCK = 256;
constexpr int64_t MOST_BLOCKS = 65536;

template <class R>
__device__ R scaled(double scale, R value) {
  return static_cast<R>(scale) * value;
}
template <class R>
__device__ trs::complex_of<R> scaled(double scale, trs::complex_of<R> value) {
  return {static_cast<R>(scale) * value.re, static_cast<R>(scale) * value.im};
}

/* Each row has 2^shift threads, of which width work. */
template <class S>
__global__ void gather(S *work, const S *b, trs_move m, int shift) {
  int64_t count = m.n << shift, mask = (int64_t(1) << shift) - 1;
  for (int64_t k = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; k < count;
       k += int64_t(gridDim.x) * blockDim.x) {
    int64_t i = k >> shift, r = k & mask;
    if (r >= m.width) continue;
    int64_t from = m.perm ? m.perm[i] : i;
    S value = b[from * m.row + r * m.col];
    work[i * m.width + r] = m.scale ? scaled(m.scale[from], value) : value;
  }
}

template <class S>
__global__ void scatter(S *x, const S *work, trs_move m, int shift) {
  int64_t count = m.n << shift, mask = (int64_t(1) << shift) - 1;
  for (int64_t k = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; k < count;
       k += int64_t(gridDim.x) * blockDim.x) {
    int64_t i = k >> shift, r = k & mask;
    if (r >= m.width) continue;
    int64_t to = m.perm ? m.perm[i] : i;
    S value = work[i * m.width + r];
    x[to * m.row + r * m.col] = m.scale ? scaled(m.scale[to], value) : value;
  }
}

int shift_for(int64_t width) {
  int shift = 0;
  while ((int64_t(1) << shift) < width) shift++;
  return shift;
}

int blocks_for(int64_t threads) {
  int64_t blocks = (threads + BLOCK - 1) / BLOCK;
  return static_cast<int>(blocks < 1 ? 1 : blocks > MOST_BLOCKS ? MOST_BLOCKS : blocks);
}

}  // namespace

extern "C" trs_status trs_launch_gather(void *work, const void *b, const trs_move *move,
                                        trs_scalar scalar, trs_stream stream) {
  int shift = shift_for(move->width), blocks = blocks_for(move->n << shift);
  auto s = static_cast<cudaStream_t>(stream);
  return trs_device_check(trs::by_scalar(scalar,
                                         [&](auto zero) {
                                           using S = decltype(zero);
                                           gather<<<blocks, BLOCK, 0, s>>>(
                                               static_cast<S *>(work), static_cast<const S *>(b),
                                               *move, shift);
                                           return cudaGetLastError();
                                         }),
                          "bringing right-hand sides to the sweeps");
}

extern "C" trs_status trs_launch_scatter(void *x, const void *work, const trs_move *move,
                                         trs_scalar scalar, trs_stream stream) {
  int shift = shift_for(move->width), blocks = blocks_for(move->n << shift);
  auto s = static_cast<cudaStream_t>(stream);
  return trs_device_check(trs::by_scalar(scalar,
                                         [&](auto zero) {
                                           using S = decltype(zero);
                                           scatter<<<blocks, BLOCK, 0, s>>>(
                                               static_cast<S *>(x), static_cast<const S *>(work),
                                               *move, shift);
                                           return cudaGetLastError();
                                         }),
                          "taking solutions from the sweeps");
}
