/* cancel.h - defers pthread cancellation to the end of a library call.  A thread cancelled inside
 * the library would keep its locks and leave its files behind. */
#ifndef TRS_BASE_CANCEL_H
#define TRS_BASE_CANCEL_H

#include <pthread.h>

/* Returns the state for trs_cancel_restore.  Pairs may nest. */
static inline int trs_cancel_defer(void) {
  int before;
  (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
  return before;
}

static inline void trs_cancel_restore(int before) { (void)pthread_setcancelstate(before, &before); }

#endif
