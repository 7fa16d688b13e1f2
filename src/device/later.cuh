/* later.cuh - data asked for ahead of its use: copies from global to shared memory that a thread
 * starts now and awaits later, in the groups in which it started them; fetches into the cache. */
#ifndef TRS_DEVICE_LATER_CUH
#define TRS_DEVICE_LATER_CUH

#include "device/kernel.cuh"

namespace trs {

__device__ inline void fetch_ahead(const void *p) { prefetch(p); }

/* 4, 8 or 16 bytes, aligned to their size. */
template <int BYTES>
__device__ inline void copy_later(void *shared, const void *from) {
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(BYTES)
               : "memory");
}
/* Ends a group of copies. */
__device__ inline void end_group_of_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
/* Waits until all groups but the last MOST of this thread are complete.  Other threads see them
 * after a barrier. */
template <int MOST>
__device__ inline void await_groups_of_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(MOST) : "memory");
}

/* A number that stays in a register: a parameter of a kernel would be loaded again and again from
 * constant memory where registers are short, which takes as long as a load from shared memory. */
__device__ inline int in_register(int number) {
  int here;
  asm volatile("mov.b32 %0, %1;" : "=r"(here) : "r"(number));
  return here;
}

}  // namespace trs

#endif
