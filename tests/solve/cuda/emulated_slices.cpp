/* emulated_slices.cpp - the warp-per-slice kernel on emulated warps. */
#include <cuda_runtime.h>

#include "solve/cuda/engine/warp_slice.cu"
