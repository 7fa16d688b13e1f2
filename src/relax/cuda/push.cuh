/* push.cuh - waits for words that other members of a group raise, with a limit; the member that
 * exceeds it signals all others. */
#ifndef TRS_RELAX_CUDA_PUSH_CUH
#define TRS_RELAX_CUDA_PUSH_CUH

#include "relax/cuda/push.h"
#include "device/kernel.cuh"

namespace trs {

/* start is 0 before the wait begins.  Returns 0 once this wait, or one of any member, has exceeded
 * the limit. */
__device__ __noinline__ inline unsigned long long look_at_time(trs_relax_signs *const *signs,
                                                               int me, int members,
                                                               unsigned long long start) {
  trs_relax_signs *mine = signs[me];
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  if (load_relaxed<true>(&mine->told)) return 0;
  if (start == 0) return now;
  if (now - start < mine->limit) return start;
  for (int m = 0; m < members; m++) store_relaxed<true>(&signs[m]->told, uint64_t(me + 1));
  return 0;
}

/* Waits until *word, in own memory, is at least step. */
__device__ inline void wait_until(trs_relax_signs *const *signs, int me, int members,
                                  const uint64_t *word, uint64_t step) {
  unsigned long long start = 0;
  for (unsigned polls = 1; load_relaxed<true>(word) < step; polls++)
    if (polls % 1024 == 0 && (start = look_at_time(signs, me, members, start)) == 0) break;
}

}  // namespace trs

#endif
