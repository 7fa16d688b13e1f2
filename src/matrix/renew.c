/* renew.c - new values, and values that the caller may have changed in place. */
#include <stdlib.h>
#include <string.h>

#include "matrix/device.h"
#include "matrix/values.h"

/* The values that are read again: the caller's, or the parent's.  NULL: the matrix has its own
 * values. */
static const void *origin(const trs_matrix *A) { return A->parent ? A->parent->val : A->lent; }

static void collect(const trs_matrix *A, const void *from, int64_t first, int64_t count, void *to) {
  if (A->source_ptr)
    trs_values_sum(to, from, A->source_ptr + first, A->source, count, A->scalar);
  else
    trs_values_gather(to, from, A->source + first, count, A->scalar);
}

/* Writes only values that have changed, by one thread at a time: other threads may solve with A, or
 * collect from it after they have renewed it themselves. */
void trs_matrix_renew(const trs_matrix *A) {
  enum { PIECE = 256 };
  double complex sums[PIECE];
  size_t size = trs_scalar_size(A->scalar);
  if (A->parent) trs_matrix_renew(A->parent);
  const void *from = origin(A);
  if (!from || A->on_device) return;
  trs_single *user = &((trs_matrix *)A)->renewing;
  trs_single_wait(user);
  for (int64_t p = 0; p < A->nnz; p += PIECE) {
    int64_t count = A->nnz - p < PIECE ? A->nnz - p : PIECE;
    char *val = (char *)A->val + (size_t)p * size;
    collect(A, from, p, count, sums);
    if (memcmp(val, sums, (size_t)count * size)) memcpy(val, sums, (size_t)count * size);
  }
  (void)trs_single_give(user, TRS_SUCCESS);
}

trs_status trs_matrix_renew_on(const trs_matrix *A, trs_stream stream) {
  if (!A->on_device) {
    trs_matrix_renew(A);
    return TRS_SUCCESS;
  }
  if (A->parent) TRS_TRY(trs_matrix_renew_on(A->parent, stream));
  const void *from = origin(A);
  return from ? trs_matrix_collect_on(A, from, stream) : TRS_SUCCESS;
}

trs_status trs_matrix_set_values(trs_matrix *A, const void *val) {
  if (!A || (!val && A->nnz))
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is NULL", A ? "val" : "A");
  if (trs_matrix_is_deferred(A))
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "the values of this matrix are deferred: trs_update requests them");
  TRS_TRY(trs_matrix_fill(A));
  A->divides = false;
  if (A->late.free) A->late.free(A->late.user);
  A->late = (trs_late){0}; /* what it keeps has the values before */
  if (A->on_device && A->nnz && !trs_device_address(val))
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "val is not device memory, but the matrix is");
  if (A->lent) A->lent = val;
  if (A->on_device && A->source) return TRS_SUCCESS; /* values are collected when they are read */
  if (A->source)
    collect(A, val, 0, A->nnz, A->val);
  else if (A->hold_val == TRS_LENT)
    A->val = (void *)val;
  else if (A->nnz)
    memmove(A->val, val, (size_t)A->nnz * trs_scalar_size(A->scalar));
  if (A->takes_values && val != A->val) free((void *)val); /* plans may still read from A->val */
  return TRS_SUCCESS;
}
