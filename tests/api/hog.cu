/* hog.cu - a kernel that does nothing, on as many multiprocessors as it is given, for a while; and
 * memory that is not the library's. */
#include "api/hog.h"

#include <cuda_runtime.h>

__global__ void spin(unsigned long long nanoseconds) {
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  while (now - start < nanoseconds);
}

extern "C" int hog_start(int blocks, int threads, unsigned long long nanoseconds, void *stream) {
  spin<<<blocks, threads, 0, static_cast<cudaStream_t>(stream)>>>(nanoseconds);
  return cudaGetLastError();
}

extern "C" void *hog_take(unsigned long long bytes) {
  void *memory = nullptr;
  return cudaMalloc(&memory, bytes) == cudaSuccess ? memory : nullptr;
}

extern "C" void hog_give(void *memory) { cudaFree(memory); }
