/* carried.h - a value and its readiness in one word, as kernels pass x: all bits set is pending. */
#ifndef TRS_TEST_CARRIED_H
#define TRS_TEST_CARRIED_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/wait.h"

typedef _Atomic uint64_t carried;
static const uint64_t EMPTY = UINT64_MAX;

static inline void publish(carried *to, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  atomic_store_explicit(to, bits, memory_order_relaxed);
}

/* False after `most` turns, which is a stall, and after a stall elsewhere. */
static inline bool go_on(trs_patience *wait, int most, atomic_bool *stalled) {
  if (!trs_wait_briefly(wait, 1e-3)) (void)sched_yield();
  if ((int)wait->turns > most) atomic_store(stalled, true);
  return !atomic_load_explicit(stalled, memory_order_relaxed);
}

/* 0 after a stall. */
static inline double await(const carried *from, int most, atomic_bool *stalled) {
  uint64_t bits;
  double value;
  trs_patience wait = {0};
  while ((bits = atomic_load_explicit(from, memory_order_relaxed)) == EMPTY)
    if (!go_on(&wait, most, stalled)) return 0;
  memcpy(&value, &bits, sizeof value);
  return value;
}

#endif
