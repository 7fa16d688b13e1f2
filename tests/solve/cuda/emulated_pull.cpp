/* emulated_pull.cpp - pull.cu on emulated warps. */
#include <cuda_runtime.h>

#include "solve/cuda/pull.cu"
