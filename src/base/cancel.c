/* cancel.c - the flag by which a thread's calls are cancelled. */
#include "base/cancel.h"

#include "base/thread.h"

trs_status trs_set_cancel_flag(const int *flag) {
  trs_thread *own = flag ? trs_thread_own() : trs_thread_look();
  if (own)
    own->cancel = flag;
  else if (flag)
    return trs_fail(TRS_ERROR_MEMORY, -1, "out of memory");
  return TRS_SUCCESS;
}

const int *trs_cancel_flag(void) {
  const trs_thread *own = trs_thread_look();
  return own ? own->cancel : NULL;
}

trs_status trs_cancelled(void) {
  if (!trs_cancel_asked(trs_cancel_flag())) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_CANCELLED, -1, "the call was cancelled");
}
