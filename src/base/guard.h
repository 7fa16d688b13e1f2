/* guard.h - what every public call does first and last with the object that it works on:
 *
 *   TRS_ENTER(plan, "plan");
 *   return trs_guard_leave(&plan->guard, solve(plan, ...));
 */
#ifndef TRS_BASE_GUARD_H
#define TRS_BASE_GUARD_H

#include <string.h>

#include "base/single.h"

/* An update that failed: until one succeeds the object solves nothing.  Its values are then in part
 * old, in part new, or only the old ones, and no solution would say so. */
typedef struct trs_refusal {
  const char *call; /* the call that failed; NULL: none did */
  trs_failure why;
} trs_refusal;

/* How the call ended.  Returns status. */
static inline trs_status trs_refusal_note(trs_refusal *refusal, const char *call,
                                          trs_status status) {
  refusal->call = status ? call : NULL;
  if (status) trs_failure_get(&refusal->why);
  return status;
}

/* Fails as that call did, with the first cause alone.  name: of the object, for the message. */
static inline trs_status trs_refusal_check(const trs_refusal *refusal, const char *name) {
  static const char SAID[] = "; it said: ";
  const char *why = refusal->why.message, *said = refusal->call ? strstr(why, SAID) : NULL;
  if (!refusal->call) return TRS_SUCCESS;
  return trs_fail(refusal->why.status, refusal->why.row,
                  "%s of this %s failed, and until it succeeds the %s solves nothing%s%s",
                  refusal->call, name, name, SAID, said ? said + strlen(SAID) : why);
}

typedef struct trs_guard {
  trs_single user;     /* the call that uses the object */
  trs_refusal refusal; /* of the last update */
} trs_guard;

/* name: of the object, for the message. */
static inline trs_status trs_guard_take(trs_guard *guard, const char *name) {
  if (trs_single_try(&guard->user)) return TRS_SUCCESS;
  return trs_fail(
      TRS_ERROR_BUSY, -1,
      "another call uses the %s, which serves one call at a time: give each thread a %s "
      "of its own",
      name, name);
}

/* guard NULL: there is no object.  argument: the parameter that should be it. */
static inline trs_status trs_guard_enter(trs_guard *guard, const char *argument, const char *name) {
  if (!guard) return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is NULL", argument);
  TRS_TRY(trs_cancelled());
  return trs_guard_take(guard, name);
}
#define TRS_ENTER(object, name) \
  TRS_TRY(trs_guard_enter((object) ? &(object)->guard : NULL, #object, (name)))

/* For waits, which a cancellation does not end, since what runs still uses the caller's arrays; and
 * for updates, of which it is a failure like others. */
#define TRS_ENTER_ALWAYS(object, name)                                             \
  do {                                                                             \
    if (!(object)) return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is NULL", #object); \
    TRS_TRY(trs_guard_take(&(object)->guard, (name)));                             \
  } while (0)

/* Returns status. */
static inline trs_status trs_guard_leave(trs_guard *guard, trs_status status) {
  return trs_single_give(&guard->user, status);
}

/* After an update by `call`, which ended so.  Returns status. */
static inline trs_status trs_guard_leave_updated(trs_guard *guard, const char *call,
                                                 trs_status status) {
  return trs_guard_leave(guard, trs_refusal_note(&guard->refusal, call, status));
}

#endif
