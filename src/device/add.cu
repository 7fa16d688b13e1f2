/* add.cu - sums of arrays: the contribution of another rank's GPU is added to this one's. */
#include "device/gpu.cuh"
#include "device/shared.h"

namespace {

template <class R>
__global__ void add(int64_t count, const R *from, R *to) {
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step)
    to[i] += from[i];
}

template <class R>
void launch(int64_t count, const void *from, void *to, cudaStream_t stream) {
  constexpr int64_t THREADS = 256, MOST_BLOCKS = 1024;
  const int64_t blocks = (count + THREADS - 1) / THREADS;
  add<R><<<unsigned(blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS), unsigned(THREADS), 0, stream>>>(
      count, static_cast<const R *>(from), static_cast<R *>(to));
}

}  // namespace

extern "C" trs_status trs_device_add(bool doubles, int64_t count, const void *from, void *to,
                                     trs_stream stream) {
  if (count == 0) return TRS_SUCCESS;
  if (doubles)
    launch<double>(count, from, to, static_cast<cudaStream_t>(stream));
  else
    launch<float>(count, from, to, static_cast<cudaStream_t>(stream));
  return trs_device_check(cudaGetLastError(), "adding what another rank has sent");
}
