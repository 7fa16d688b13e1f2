/* push.cuh - waits for words that other members of a group raise, with a limit; the member that
 * exceeds it signals all others. */
#ifndef TRS_RELAX_CUDA_PUSH_CUH
#define TRS_RELAX_CUDA_PUSH_CUH

#include "relax/cuda/push.h"
#include "device/kernel.cuh"

namespace trs {

/* After a wait has ended without success.  The member that passed the limit ends the waits of all
 * others. */
__device__ __noinline__ inline void end_waits(trs_relax_signs *const *signs, int me, int members) {
  if (load_relaxed<true>(&signs[me]->fault.row) != me) return;
  for (int m = 0; m < members; m++) {
    if (m == me) continue;
    store_relaxed<true>(&signs[m]->fault.row, int64_t(me));
    store_relaxed<true>(&signs[m]->fault.stalled, 1);
  }
}

/* Waits until *word, in own memory, is at least step. */
__device__ inline void wait_until(trs_relax_signs *const *signs, int me, int members,
                                  const uint64_t *word, uint64_t step) {
  wait w(&signs[me]->fault);
  while (load_relaxed<true>(word) < step)
    if (!w.goes_on(me)) return end_waits(signs, me, members);
}

}  // namespace trs

#endif
