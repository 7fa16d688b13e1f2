/* wait.h - how a thread waits for a word that another thread changes.  It spins for some
 * microseconds, then yields its core, then sleeps for growing intervals.  A team therefore also
 * progresses if it is larger than the machine or if other programs use the cores. */
#ifndef TRS_BASE_WAIT_H
#define TRS_BASE_WAIT_H

#include <stdbool.h>

#include "trireme.h"

/* State of one wait; all zero at its start. */
typedef struct trs_patience {
  unsigned turns;
  double since, waited; /* the time when spinning ended; the seconds since then */
} trs_patience;

TRS_API bool trs_wait_yield(trs_patience *wait);
TRS_API void trs_wait_nap(const trs_patience *wait);

/* The first part of a wait: spins, then yields.  False if the wait has lasted long enough that the
 * caller should sleep. */
static inline bool trs_wait_briefly(trs_patience *wait) {
  enum { SPINS = 200 };
  if (++wait->turns > SPINS) return trs_wait_yield(wait);
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
  return true;
}

/* One step of a wait. */
static inline void trs_wait_turn(trs_patience *wait) {
  if (!trs_wait_briefly(wait)) trs_wait_nap(wait);
}

#endif
