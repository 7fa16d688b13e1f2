/* bad_waits.cu - kernels with waits that tools/check_isa must refuse, and good ones that it must
 * accept.  Compiled for AMD's GPUs and never run. */
#include "device/kernel.cuh"

using namespace trs;

extern "C" __global__ void good_wait(const unsigned *flag, trs_fault *fault) {
  wait w(fault);
  while (load_relaxed(flag) == 0 && w.goes_on(0)) continue;
}

extern "C" __global__ void good_wait_of_some_lanes(const unsigned *flag, unsigned *to,
                                                   trs_fault *fault) {
  wait w(fault);
  unsigned value[4] = {};
  bool missing;
  do {
    missing = false;
    for (int u = 0; u < 4; u++)
      load_relaxed_if(value[u] == 0, flag + 64 * u + threadIdx.x, value[u]);
    for (int u = 0; u < 4; u++) missing |= value[u] == 0;
  } while (missing && w.goes_on(0));
  to[threadIdx.x] = value[0] + value[1] + value[2] + value[3];
}

/* A cache that is not coherent may answer each of these looks. */
extern "C" __global__ void bad_plain_load(unsigned *flag, trs_fault *fault) {
  wait w(fault);
  while (*flag == 0 && w.goes_on(0)) asm volatile("" ::: "memory");
}
extern "C" __global__ void bad_scope(const unsigned *flag, trs_fault *fault) {
  wait w(fault);
  while (__hip_atomic_load(flag, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WAVEFRONT) == 0 &&
         w.goes_on(0))
    continue;
}

/* The first look is fresh, the others are not. */
extern "C" __global__ void bad_second_look(unsigned *flag, trs_fault *fault) {
  wait w(fault);
  unsigned value = load_relaxed(flag);
  while (value == 0 && w.goes_on(0)) {
    asm volatile("" ::: "memory");
    value = *flag;
  }
}

/* Leaves no slot to the wavefront that it waits for. */
extern "C" __global__ void bad_without_rest(const unsigned *flag) {
  while (load_relaxed(flag) == 0) continue;
}
