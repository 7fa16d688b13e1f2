/* wait.h - how a thread waits for a word that another thread changes.  It spins for some
 * microseconds, then yields its processor, then sleeps for growing intervals.  The thread that it
 * waits for may need this very processor: another one of the team, or, where a host runs several
 * virtual processors on one, the one beside it. */
#ifndef TRS_BASE_WAIT_H
#define TRS_BASE_WAIT_H

#include <stdbool.h>

#include "trireme.h"

/* State of one wait; all zero at its start. */
typedef struct trs_patience {
  unsigned turns;
  double since, waited; /* the time when spinning ended; the seconds since then */
  double alone;         /* of these, those in which nobody else wanted the processor */
} trs_patience;

TRS_API bool trs_wait_yield(trs_patience *wait, double seconds);
TRS_API void trs_wait_nap(const trs_patience *wait);

/* Steps of a wait that only spin. */
enum { TRS_WAIT_SPINS = 200 };

/* The first part of a wait: spins, then yields.  False if nobody has taken the processor for so
 * many seconds, or if the wait has lasted for milliseconds: the caller should sleep. */
static inline bool trs_wait_briefly(trs_patience *wait, double seconds) {
  if (++wait->turns > TRS_WAIT_SPINS) return trs_wait_yield(wait, seconds);
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
  return true;
}

/* One step of a wait. */
static inline void trs_wait_turn(trs_patience *wait) {
  static const double YIELDS = 40e-6;
  if (!trs_wait_briefly(wait, YIELDS)) trs_wait_nap(wait);
}

#endif
