/* cancel.h - the caller's flag, which ends a call early, and the deferral of pthread cancellation
 * to the end of a library call: a thread cancelled inside the library would keep its locks and
 * leave its files behind. */
#ifndef TRS_BASE_CANCEL_H
#define TRS_BASE_CANCEL_H

#include <pthread.h>
#include <stdbool.h>

#include "base/status.h"

/* Returns the state for trs_cancel_restore.  Pairs may nest. */
static inline int trs_cancel_defer(void) {
  int before;
  (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
  return before;
}

static inline void trs_cancel_restore(int before) { (void)pthread_setcancelstate(before, &before); }

/* ---- The flag of trs_set_cancel_flag ---- */

/* Fails with TRS_ERROR_CANCELLED if the calling thread's flag is set.  Every allocation and every
 * call that takes an object asks; so does a loop that may run for long without either. */
TRS_API trs_status trs_cancelled(void);

/* The calling thread's flag, for the threads that work for it, and whether one is set.  Those
 * threads end early and leave it to the calling thread to fail. */
const int *trs_cancel_flag(void);
static inline bool trs_cancel_asked(const int *flag) {
  return flag && __atomic_load_n(flag, __ATOMIC_RELAXED);
}

#endif
