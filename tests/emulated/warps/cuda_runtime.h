/* cuda_runtime.h - tests/emulated/cuda_runtime.h for kernels whose waits are those of src/device: a
 * warp has TRS_EMULATED_WIDTH lanes, which run in step.  That is, a lane that looks at memory again
 * and again keeps the other lanes of its warp from running until its loop ends, or until it comes
 * to a point where the lanes of the warp wait for each other: the worst that AMD's GPUs do.  C++.
 */
#ifndef TRS_TEST_EMULATED_WARPS_H
#define TRS_TEST_EMULATED_WARPS_H

#define TRS_EMULATED_GPU
#include "../cuda_runtime.h"

/* Blocks of threads run one after the other, so one copy of each array is enough. */
#undef __shared__
#define __shared__ static

using std::max;
using std::min;

enum { cudaErrorLaunch = 1 };
inline cudaError_t cudaGetLastError() { return cudaSuccess; }

template <class T>
T bits_of(const void *from) {
  T to;
  memcpy(&to, from, sizeof to);
  return to;
}
inline unsigned __float_as_uint(float v) { return bits_of<unsigned>(&v); }
inline float __uint_as_float(unsigned v) { return bits_of<float>(&v); }
inline double __longlong_as_double(long long v) { return bits_of<double>(&v); }
inline int __double2hiint(double v) { return int(bits_of<uint64_t>(&v) >> 32); }

inline unsigned atomicInc(unsigned *to, unsigned most) {
  const unsigned before = *to;
  *to = before >= most ? 0 : before + 1;
  return before;
}
inline int atomicExch(int *to, int value) {
  const int before = *to;
  *to = value;
  return before;
}

namespace trs {

/* ---- In the place of the same functions of device/gpu.cuh. ---- */

template <bool SYSTEM = false, class W>
W load_relaxed(const W *p) {
  static_assert(sizeof(W) == 4 || sizeof(W) == 8, "one machine word");
  return *p;
}
template <bool SYSTEM = false, class W>
void store_relaxed(W *p, W value) {
  *p = value;
}
template <bool SYSTEM = false, class W>
void load_relaxed_if(bool wanted, const W *p, W &value) {
  if (wanted) value = *p;
}
inline void fence_block() {}
inline void fence_device() {}
inline void fence_system() {}

/* Each look at the clock takes a millisecond. */
inline unsigned long long nanoseconds() {
  static unsigned long long now;
  return now += 1000000;
}
inline void prefetch(const void *) {}
inline void prefetch_near(const void *) {}
inline unsigned char *dynamic_shared() { return block_shared; }
inline void let_next_kernel_start() {}
inline void await_kernel_before() {}
inline void rest_between_looks() { emulated_block::running().loop(); }

template <class... P, class... A>
cudaError_t launch_behind(bool, void (*kernel)(P...), dim3 blocks, unsigned threads,
                          size_t shared_bytes, cudaStream_t, const A &...arguments) {
  if (shared_bytes > SHARED_BYTES) abort();
  launch_emulated(blocks, threads, [&] { kernel(P(arguments)...); });
  return cudaSuccess;
}

}  // namespace trs

#endif
