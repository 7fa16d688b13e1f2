/* refusal.h - an object whose last update failed: it solves nothing until an update succeeds.  Its
 * values are then in part old, in part new, or only the old ones, and no solution would say so. */
#ifndef TRS_BASE_REFUSAL_H
#define TRS_BASE_REFUSAL_H

#include "base/status.h"

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

/* Fails as that call did.  name: of the object, for the message. */
static inline trs_status trs_refusal_check(const trs_refusal *refusal, const char *name) {
  if (!refusal->call) return TRS_SUCCESS;
  return trs_fail(refusal->why.status, refusal->why.row,
                  "%s of this %s failed, and until it succeeds the %s solves nothing; it said: %s",
                  refusal->call, name, name, refusal->why.message);
}

#endif
