/* wait.h - how a thread waits for a word that another thread changes: it spins for some
 * microseconds, then gives its core to whoever else wants it, then sleeps, longer and longer.  So a
 * team advances too where it is larger than the machine, or where other programs use the cores. */
#ifndef TRS_BASE_WAIT_H
#define TRS_BASE_WAIT_H

#include <stdbool.h>

#include "trireme.h"

/* One wait: all zero at its start. */
typedef struct trs_patience {
  unsigned turns;
  double since, waited; /* when the spinning ended; seconds since then */
} trs_patience;

TRS_API bool trs_wait_yield(trs_patience *wait);
TRS_API void trs_wait_nap(const trs_patience *wait);

/* The first part of a wait, spinning and then giving the core away: false where it has been long
 * enough that the caller should sleep. */
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

/* One turn of a wait. */
static inline void trs_wait_turn(trs_patience *wait) {
  if (!trs_wait_briefly(wait)) trs_wait_nap(wait);
}

#endif
