/* single.h - an object that one call uses at a time.  A call that meets another one fails, because
 * two calls in one workspace would give wrong results or wait for each other for ever. */
#ifndef TRS_BASE_SINGLE_H
#define TRS_BASE_SINGLE_H

#include <stdatomic.h>

#include "base/process.h"
#include "base/status.h"

/* 0, or one more than the number of the process (trs_process) whose call uses the object.  Calls of
 * a parent do not run on in a forked child. */
typedef atomic_uint trs_single;

/* name: of the object, for the message. */
static inline trs_status trs_single_take(trs_single *user, const char *name) {
  const unsigned now = trs_process() + 1;
  unsigned before = atomic_load_explicit(user, memory_order_relaxed);
  if (before != now && atomic_compare_exchange_strong_explicit(
                           user, &before, now, memory_order_acquire, memory_order_relaxed))
    return TRS_SUCCESS;
  return trs_fail(
      TRS_ERROR_ARGUMENT, -1,
      "another call uses the %s, which serves one call at a time: give each thread a %s "
      "of its own",
      name, name);
}

/* Returns status. */
static inline trs_status trs_single_give(trs_single *user, trs_status status) {
  atomic_store_explicit(user, 0, memory_order_release);
  return status;
}

#endif
