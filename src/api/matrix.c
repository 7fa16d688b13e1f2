/* matrix.c - matrices in host memory, and their arrays. */
#include "matrix/create.h"
#include "matrix/deferred.h"

trs_status trs_matrix_create(trs_matrix **A, trs_format format, trs_scalar scalar, int64_t nrows,
                             int64_t ncols, int indexing, const void *ptr, const void *idx,
                             const void *val, trs_ownership ownership) {
  trs_hold hold = ownership == TRS_TAKE ? TRS_MALLOCED : TRS_LENT;
  return trs_matrix_make(A,
                         (trs_matrix){.format = format,
                                      .scalar = scalar,
                                      .nrows = nrows,
                                      .ncols = ncols,
                                      .ptr = (int64_t *)ptr,
                                      .idx = (int32_t *)idx,
                                      .val = (void *)val,
                                      .hold_ptr = hold,
                                      .hold_idx = hold,
                                      .hold_val = hold,
                                      .takes_values = ownership == TRS_TAKE},
                         ownership, indexing);
}

trs_status trs_matrix_create_deferred(trs_matrix **A, trs_format format, trs_scalar scalar,
                                      int64_t nrows, int64_t ncols, int indexing, const void *ptr,
                                      const void *idx, trs_ownership ownership,
                                      trs_values_callback give, void *user) {
  trs_hold hold = ownership == TRS_TAKE ? TRS_MALLOCED : TRS_LENT;
  trs_callback *callback = NULL;
  trs_matrix head = {.format = format,
                     .scalar = scalar,
                     .nrows = nrows,
                     .ncols = ncols,
                     .ptr = (int64_t *)ptr,
                     .idx = (int32_t *)idx,
                     .hold_ptr = hold,
                     .hold_idx = hold};
  trs_status status = trs_matrix_check_target(A, ownership, indexing);
  if (!status && !give) status = trs_fail(TRS_ERROR_ARGUMENT, -1, "give is NULL");
  if (!status) status = TRS_ALLOC(&callback, 1);
  if (status) return trs_matrix_refuse(&head, status);
  *callback = (trs_callback){give, user};
  head.deferred = (trs_deferred){trs_callback_give, trs_free, callback};
  return trs_matrix_make(A, head, ownership, indexing);
}

trs_status trs_matrix_get_arrays(const trs_matrix *A, const int64_t **ptr, const int32_t **idx,
                                 const void **val) {
  const trs_status status = A ? trs_matrix_fill(A) : trs_fail(TRS_ERROR_ARGUMENT, -1, "A is NULL");
  if (ptr) *ptr = status ? NULL : A->ptr;
  if (idx) *idx = status ? NULL : A->idx;
  if (val) *val = NULL;
  TRS_TRY(status);
  if (!val) return TRS_SUCCESS;
  TRS_TRY(trs_matrix_renew_on(A, NULL));
  *val = A->val;
  return TRS_SUCCESS;
}
