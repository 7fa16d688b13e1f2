/* ready.cuh - sums over the lanes of a row whose x carries its own readiness.  Device code of the
 * engine and of pull. */
#ifndef TRS_SOLVE_CUDA_READY_CUH
#define TRS_SOLVE_CUDA_READY_CUH

#include "device/lanes.cuh"
#include "device/ready.cuh"

namespace trs {

/* The sum over the 2^log_lanes lanes of a row, in each of them. */
template <class S>
__device__ inline S sum_lanes(S sum, int log_lanes) {
  for (int step = 1 << log_lanes >> 1; step > 0; step >>= 1) sum = sum + shuffle_xor(sum, step);
  return sum;
}

}  // namespace trs

#endif
