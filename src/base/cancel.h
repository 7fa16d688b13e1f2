/* cancel.h - a thread that is cancelled inside the library would keep its locks and leave its
 * files; requests wait until the call is over. */
#ifndef TRS_BASE_CANCEL_H
#define TRS_BASE_CANCEL_H

#include <pthread.h>

/* Returns what trs_cancel_restore needs.  Pairs may lie inside each other. */
static inline int trs_cancel_defer(void) {
  int before;
  (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
  return before;
}

static inline void trs_cancel_restore(int before) { (void)pthread_setcancelstate(before, &before); }

#endif
