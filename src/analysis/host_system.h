/* host_system.h - a system in host memory, by rows or by columns as the caller needs it. */
#ifndef TRS_ANALYSIS_HOST_SYSTEM_H
#define TRS_ANALYSIS_HOST_SYSTEM_H

#include "analysis/system.h"

typedef struct trs_host_system {
  trs_system S;     /* arrays of the matrix, or those below */
  trs_matrix *copy; /* from device memory, or NULL */
  int64_t *ptr;     /* of the other storage order, or NULL */
  int32_t *idx;
  void *val;
} trs_host_system;

/* The system S of matrix A.  values: S.val is valid too, except deferred values; from device memory
 * they are read after the work of the stream.  The caller destroys h, also after a failure; a
 * zeroed h may be destroyed. */
trs_status trs_host_system_create(trs_host_system *h, const trs_system *S, const trs_matrix *A,
                                  bool rows, bool values, trs_stream stream);
void trs_host_system_destroy(trs_host_system *h);

#endif
