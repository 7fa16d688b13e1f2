/* create.c - matrices from the caller's arrays: checked once, converted to the library's widths and
 * base, owned or borrowed.  O(n + nnz). */
#include <stdlib.h>
#include <string.h>

#include "matrix/create.h"

#include "base/structs.h"
#include "matrix/deferred.h"
#include "matrix/device.h"
#include "matrix/indexing.h"
#include "matrix/values.h"

uint64_t trs_matrix_next_number(void) {
  static _Atomic uint64_t last;
  return ++last;
}

trs_status trs_matrix_check_shape(trs_format format, trs_scalar scalar, int64_t nrows,
                                  int64_t ncols) {
  if (format != TRS_CSR && format != TRS_CSC)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "format %d is neither TRS_CSR nor TRS_CSC", format);
  if (!trs_scalar_valid(scalar))
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "scalar %d is not one of trs_scalar's", scalar);
  if (nrows < 0 || ncols < 0 || nrows > INT32_MAX || ncols > INT32_MAX)
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "a matrix of %lld x %lld: rows and columns must lie in 0 .. 2147483647",
                    (long long)nrows, (long long)ncols);
  return TRS_SUCCESS;
}

static trs_status bad_index(const trs_matrix *A, int indexing, const void *idx, int64_t p) {
  const int64_t base = trs_index_base(indexing), i = trs_matrix_vector_of(A, p);
  const int64_t index = trs_idx_at(indexing, idx, p);
  return trs_fail(TRS_ERROR_STRUCTURE, i, "index %lld in %s %lld is outside %lld .. %lld (%s)%s",
                  (long long)index, trs_vector_word(A), (long long)(i + base), (long long)base,
                  (long long)(trs_matrix_other(A) - 1 + base), base ? "1-based" : "0-based",
                  indexing & TRS_IDX64 && index > UINT32_MAX
                      ? ": a 32-bit array given as 64-bit (TRS_IDX64)?"
                      : "");
}

trs_status trs_matrix_check_indices(const trs_matrix *A, int indexing, const void *idx) {
  const int64_t base = trs_index_base(indexing), other = trs_matrix_other(A);
  for (int64_t p = 0; p < A->nnz; p++) {
    int64_t index = trs_idx_at(indexing, idx, p);
    if (index < base || index - base >= other) return bad_index(A, indexing, idx, p);
  }
  return TRS_SUCCESS;
}

static void release(trs_hold hold, void *array) {
  if (hold == TRS_OWNED) trs_free(array);
  if (hold == TRS_MALLOCED) free(array);
}

void trs_matrix_free_arrays(const trs_matrix *A) {
  release(A->hold_ptr, A->ptr);
  release(A->hold_idx, A->idx);
  release(A->hold_val, A->val);
}

/* Converts ptr to 64 bits and base 0, in a copy unless the caller's array is so already. */
static trs_status take_ptr(trs_matrix *A, int indexing) {
  TRS_TRY(trs_indexing_check_ptr(indexing, A->ptr, A->nvectors));
  if (!(indexing & (TRS_PTR32 | TRS_BASE1))) return TRS_SUCCESS;
  int64_t *own;
  TRS_TRY(TRS_ALLOC(&own, A->nvectors + 1));
  trs_indexing_take_ptr(own, indexing, A->ptr, A->nvectors);
  release(A->hold_ptr, A->ptr);
  A->ptr = own;
  A->hold_ptr = TRS_OWNED;
  return TRS_SUCCESS;
}

static trs_status take_idx(trs_matrix *A, int indexing) {
  if (!(indexing & (TRS_IDX64 | TRS_BASE1))) return TRS_SUCCESS;
  int32_t *own;
  TRS_TRY(TRS_ALLOC(&own, A->nnz));
  int64_t bad = trs_indexing_take_idx(own, indexing, A->idx, A->nnz, trs_matrix_other(A));
  if (bad < A->nnz) {
    trs_free(own);
    return bad_index(A, indexing, A->idx, bad);
  }
  release(A->hold_idx, A->idx);
  A->idx = own;
  A->hold_idx = TRS_OWNED;
  return TRS_SUCCESS;
}

static trs_status take_arrays(trs_matrix *A, int indexing) {
  TRS_TRY(take_ptr(A, indexing));
  A->nnz = A->ptr[A->nvectors];
  if (A->nnz && (!A->idx || !(A->val || trs_matrix_is_deferred(A))))
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is NULL", A->idx ? "val" : "idx");
  return take_idx(A, indexing);
}

/* Replaces a borrowed array by a copy. */
static trs_status duplicate(void **array, trs_hold *hold, int64_t count, size_t size) {
  void *copy;
  if (*hold != TRS_LENT) return TRS_SUCCESS;
  TRS_TRY(trs_alloc(&copy, count, size));
  if (count) memcpy(copy, *array, (size_t)count * size);
  *array = copy;
  *hold = TRS_OWNED;
  return TRS_SUCCESS;
}

static trs_status copy_arrays(trs_matrix *A) {
  TRS_TRY(duplicate((void **)&A->ptr, &A->hold_ptr, A->nvectors + 1, sizeof *A->ptr));
  TRS_TRY(duplicate((void **)&A->idx, &A->hold_idx, A->nnz, sizeof *A->idx));
  if (trs_matrix_is_deferred(A)) return TRS_SUCCESS;
  return duplicate(&A->val, &A->hold_val, A->nnz, trs_scalar_size(A->scalar));
}

/* Drops the record of where entries came from, for matrices whose arrays no caller refreshes. */
static void forget_source(trs_matrix *A) {
  TRS_FREE_ALL(A->source_ptr, A->source);
  A->source_ptr = A->source = NULL;
}

trs_status trs_matrix_check_target(trs_matrix **result, trs_ownership ownership, int indexing) {
  if (!result) return trs_fail(TRS_ERROR_ARGUMENT, -1, "A is NULL");
  *result = NULL;
  TRS_TRY(trs_indexing_check(indexing));
  if (ownership < TRS_COPY || ownership > TRS_TAKE)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "ownership %d is not one of trs_ownership's",
                    ownership);
  return TRS_SUCCESS;
}

/* Frees arrays taken by TRS_TAKE; returns status. */
trs_status trs_matrix_refuse(const trs_matrix *head, trs_status status) {
  trs_matrix_free_arrays(head);
  if (head->deferred.free) head->deferred.free(head->deferred.user);
  return status;
}

/* The head's arrays are the caller's, of any indexing. */
trs_status trs_matrix_make(trs_matrix **result, trs_matrix head, trs_ownership ownership,
                           int indexing) {
  trs_matrix *A;
  trs_status status = trs_matrix_check_target(result, ownership, indexing);
  if (!status) status = trs_matrix_check_shape(head.format, head.scalar, head.nrows, head.ncols);
  if (!status) status = TRS_ALLOC_ZERO(&A, 1);
  if (status) return trs_matrix_refuse(&head, status);
  *A = head;
  atomic_init(&A->references, 1);
  A->number = trs_matrix_next_number();
  A->nvectors = A->format == TRS_CSR ? A->nrows : A->ncols;
  status = take_arrays(A, indexing);
  if (!status && ownership == TRS_COPY) status = copy_arrays(A);
  if (!status) status = trs_matrix_put_in_order(A);
  if (status) {
    trs_matrix_destroy(A);
    return status;
  }
  *result = A;
  return TRS_SUCCESS;
}

static trs_status adopt(trs_matrix **A, trs_format format, trs_scalar scalar, int64_t nrows,
                        int64_t ncols, int64_t *ptr, int32_t *idx, void *val,
                        trs_deferred deferred) {
  return trs_matrix_make(A,
                         (trs_matrix){.format = format,
                                      .scalar = scalar,
                                      .nrows = nrows,
                                      .ncols = ncols,
                                      .ptr = ptr,
                                      .idx = idx,
                                      .val = val,
                                      .hold_ptr = TRS_OWNED,
                                      .hold_idx = TRS_OWNED,
                                      .hold_val = val ? TRS_OWNED : TRS_LENT,
                                      .deferred = deferred},
                         TRS_BORROW, TRS_NATIVE);
}

trs_status trs_matrix_adopt(trs_matrix **A, trs_format format, trs_scalar scalar, int64_t nrows,
                            int64_t ncols, int64_t *ptr, int32_t *idx, void *val) {
  TRS_TRY(adopt(A, format, scalar, nrows, ncols, ptr, idx, val, (trs_deferred){0}));
  forget_source(*A);
  return TRS_SUCCESS;
}

trs_status trs_matrix_adopt_ordered(trs_matrix **result, trs_format format, trs_scalar scalar,
                                    int64_t n, int64_t *ptr, int32_t *idx, void *val,
                                    const trs_sides *sides) {
  trs_matrix *A;
  *result = NULL;
  const trs_status status = TRS_ALLOC_ZERO(&A, 1);
  if (status) {
    TRS_FREE_ALL(ptr, idx, val);
    return status;
  }
  *A = (trs_matrix){.number = trs_matrix_next_number(),
                    .format = format,
                    .scalar = scalar,
                    .nrows = n,
                    .ncols = n,
                    .nnz = ptr ? ptr[n] : 0,
                    .nvectors = n,
                    .ptr = ptr,
                    .idx = idx,
                    .val = val,
                    .hold_ptr = TRS_OWNED,
                    .hold_idx = TRS_OWNED,
                    .hold_val = TRS_OWNED};
  atomic_init(&A->references, 1);
  trs_matrix_take_sides(A, sides);
  *result = A;
  return TRS_SUCCESS;
}

trs_status trs_matrix_adopt_pattern(trs_matrix **A, trs_format format, trs_scalar scalar,
                                    int64_t nrows, int64_t ncols, int64_t *ptr, int32_t *idx,
                                    trs_deferred deferred) {
  return adopt(A, format, scalar, nrows, ncols, ptr, idx, NULL, deferred);
}

trs_status trs_matrix_fill(const trs_matrix *A) {
  trs_matrix *own = (trs_matrix *)A;
  if (!A->late.write || atomic_load(&A->is_written)) return TRS_SUCCESS;
  trs_single_wait(&own->renewing);
  const bool done = atomic_load(&A->is_written);
  const trs_status status = done ? TRS_SUCCESS : A->late.write(own, A->late.user);
  if (!status) atomic_store(&own->is_written, true);
  return trs_single_give(&own->renewing, status);
}

trs_status trs_matrix_need_host(const trs_matrix *A, const char *what) {
  if (A->on_device)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "%s reads the matrix on the host, but this one is in device memory", what);
  if (trs_matrix_is_deferred(A))
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "%s needs all values of the matrix, but these are deferred: read all of it "
                    "(trs_matrix_read)",
                    what);
  TRS_TRY(trs_matrix_fill(A));
  trs_matrix_renew(A);
  return TRS_SUCCESS;
}

trs_matrix *trs_matrix_retain(const trs_matrix *A) {
  trs_matrix *shared = (trs_matrix *)A;
  atomic_fetch_add(&shared->references, 1);
  return shared;
}

void trs_matrix_destroy(trs_matrix *A) {
  if (!A || atomic_fetch_sub(&A->references, 1) > 1) return;
  if (A->on_device) {
    trs_matrix_free_on_device(A);
  } else {
    trs_matrix_free_arrays(A);
    TRS_FREE_ALL(A->source_ptr, A->source);
  }
  if (A->deferred.free) A->deferred.free(A->deferred.user);
  if (A->late.free) A->late.free(A->late.user);
  trs_matrix_destroy(A->parent);
  trs_matrix_destroy(A->turned);
  trs_device_close(A->device);
  trs_free(A);
}

trs_status trs_matrix_get_info(const trs_matrix *A, trs_matrix_info *info) {
  if (!A || !info) return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is NULL", A ? "info" : "A");
  TRS_TRY(trs_matrix_fill(A));
  const trs_matrix_info own = {
      .format = A->format,
      .scalar = A->scalar,
      .nrows = A->nrows,
      .ncols = A->ncols,
      .nnz = A->nnz,
      .nlower = A->nlower,
      .nupper = A->nupper,
      .ndiagonal = A->ndiagonal,
      .missing_diagonal = A->missing_diagonal,
      .longest_row = A->longest,
      .block_size = A->block ? A->block : 1,
      .largest_part = trs_matrix_is_deferred(A) ? A->largest_part : -1,
      .bytes = (A->nvectors + 1) * (int64_t)sizeof *A->ptr +
               A->nnz * (int64_t)(sizeof *A->idx + trs_scalar_size(A->scalar))};
  return TRS_STRUCT_GIVE(trs_matrix_info, info, &own);
}
