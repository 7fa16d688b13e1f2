/* half.cuh - half precision of a GPU's vendor: __half2float and its kin. */
#ifndef TRS_DEVICE_HALF_CUH
#define TRS_DEVICE_HALF_CUH

#include "device/gpu.cuh"

#if TRS_GPU_AMD
#include <hip/hip_fp16.h>
#else
#include <cuda_fp16.h>
#endif

#endif
