/* single.h - an object that one call uses at a time.  Another call waits, or fails where two calls
 * at once are a mistake: in one workspace they would give wrong results or wait for ever. */
#ifndef TRS_BASE_SINGLE_H
#define TRS_BASE_SINGLE_H

#include <stdatomic.h>

#include "base/cancel.h"
#include "base/process.h"
#include "base/status.h"
#include "base/wait.h"

/* 0, or one more than the number of the process (trs_process) whose call uses the object.  Calls of
 * a parent do not run on in a forked child, which a mutex would not know. */
typedef atomic_uint trs_single;

static inline bool trs_single_try(trs_single *user) {
  const unsigned now = trs_process() + 1;
  unsigned before = atomic_load_explicit(user, memory_order_relaxed);
  return before != now && atomic_compare_exchange_strong_explicit(
                              user, &before, now, memory_order_acquire, memory_order_relaxed);
}

static inline void trs_single_wait(trs_single *user) {
  trs_patience wait = {0};
  while (!trs_single_try(user)) trs_wait_turn(&wait);
}

/* Returns status. */
static inline trs_status trs_single_give(trs_single *user, trs_status status) {
  atomic_store_explicit(user, 0, memory_order_release);
  return status;
}

#endif
