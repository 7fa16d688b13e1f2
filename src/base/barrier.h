/* barrier.h - the members of a team wait for each other. */
#ifndef TRS_BASE_BARRIER_H
#define TRS_BASE_BARRIER_H

#include <stdatomic.h>

#include "base/wait.h"

/* All zero at first.  The words are written by different members at different times. */
typedef struct trs_barrier {
  _Alignas(64) atomic_int arrived;
  _Alignas(64) atomic_uint round;
} trs_barrier;

/* Returns once `size` members have called it. */
static inline void trs_barrier_wait(trs_barrier *b, int size) {
  const unsigned round = atomic_load_explicit(&b->round, memory_order_relaxed);
  if (atomic_fetch_add_explicit(&b->arrived, 1, memory_order_acq_rel) + 1 == size) {
    atomic_store_explicit(&b->arrived, 0, memory_order_relaxed);
    atomic_store_explicit(&b->round, round + 1, memory_order_release);
    return;
  }
  trs_patience wait = {0};
  while (atomic_load_explicit(&b->round, memory_order_acquire) == round) trs_wait_turn(&wait);
}

#endif
