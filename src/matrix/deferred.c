/* deferred.c - matrices that hold only the pattern; values are requested by vectors. */
#include "matrix/deferred.h"

static int64_t count_entries(const trs_matrix *A, int64_t count, const int32_t *vector) {
  int64_t entries = 0;
  for (int64_t k = 0; k < count; k++) entries += A->ptr[vector[k] + 1] - A->ptr[vector[k]];
  return entries;
}

static void note_part(const trs_matrix *A, int64_t bytes) {
  _Atomic int64_t *most = &((trs_matrix *)A)->largest_part;
  int64_t before = atomic_load(most);
  while (bytes > before && !atomic_compare_exchange_weak(most, &before, bytes)) continue;
}

trs_status trs_matrix_ask(const trs_matrix *A, int64_t count, const int32_t *vector, void **val) {
  *val = NULL;
  TRS_TRY(A->deferred.give(A->deferred.user, A, count, vector, val));
  note_part(A, count_entries(A, count, vector) * (int64_t)trs_scalar_size(A->scalar));
  return TRS_SUCCESS;
}

trs_status trs_callback_give(void *user, const trs_matrix *A, int64_t count, const int32_t *vector,
                             void **val) {
  const trs_callback *callback = user;
  TRS_TRY(trs_alloc(val, count_entries(A, count, vector), trs_scalar_size(A->scalar)));
  trs_status status = callback->give(callback->user, *val, count, vector);
  if (status == TRS_SUCCESS) return TRS_SUCCESS;
  trs_free(*val);
  *val = NULL;
  if ((unsigned)status > TRS_STATUS_LAST) status = TRS_ERROR_ARGUMENT;
  return trs_fail(status, -1, "the function that gives the matrix's values failed: %s",
                  trs_status_name(status));
}
