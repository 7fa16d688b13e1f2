/* status.h - how a function fails: one list of codes, one message per thread. */
#ifndef TRS_BASE_STATUS_H
#define TRS_BASE_STATUS_H

#include "trireme.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The last value of trs_status. */
#define TRS_STATUS_LAST TRS_ERROR_BUSY

/* TRS_API in src/ marks the functions that libtrireme_mpi calls. */

/* Records the failure for trs_last_error and returns status.  row is the row at fault, or -1.
 * Bytes of names and file content that are not printable appear as \xNN. */
TRS_API trs_status trs_fail(trs_status status, int64_t row, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A failure on its way from one thread to another: get it in the first, set it in the second. */
typedef struct trs_failure {
  trs_status status;
  int64_t row;
  char message[512];
} trs_failure;

TRS_API void trs_failure_get(trs_failure *failure);
TRS_API trs_status trs_failure_set(const trs_failure *failure);

#ifdef __cplusplus
}
#endif

#define TRS_TRY(call)                            \
  do {                                           \
    trs_status trs_try_status_ = (call);         \
    if (trs_try_status_) return trs_try_status_; \
  } while (0)

#endif
