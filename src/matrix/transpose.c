/* transpose.c - the other format of a matrix by a counting sort.  O(n + nnz). */
#include "base/transpose.h"
#include "matrix/matrix.h"
#include "matrix/values.h"

trs_status trs_transpose_arrays(const trs_matrix *A, int64_t **new_ptr, int32_t **new_idx,
                                void **new_val) {
  const int64_t nother = A->format == TRS_CSR ? A->ncols : A->nrows;
  int64_t *source;
  TRS_TRY(trs_alloc(new_val, A->nnz, trs_scalar_size(A->scalar)));
  const trs_status status =
      trs_transpose_pattern(new_ptr, new_idx, &source, nother, A->nvectors, A->ptr, A->idx);
  if (!status) {
    trs_values_gather(*new_val, A->val, source, A->nnz, A->scalar);
  } else {
    trs_free(*new_val);
    *new_val = NULL;
  }
  trs_free(source);
  return status;
}

static trs_status same_format(trs_matrix **B, const trs_matrix *A, trs_scalar scalar) {
  int64_t *ptr = NULL;
  int32_t *idx = NULL;
  void *val = NULL;
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&ptr, A->nvectors + 1), TRS_ROOM(&idx, A->nnz),
                        TRS_ROOM_OF(&val, A->nnz, trs_scalar_size(scalar))));
  for (int64_t i = 0; i <= A->nvectors; i++) ptr[i] = A->ptr[i];
  for (int64_t p = 0; p < A->nnz; p++) idx[p] = A->idx[p];
  trs_values_convert(val, scalar, A->val, A->scalar, A->nnz);
  return trs_matrix_adopt(B, A->format, scalar, A->nrows, A->ncols, ptr, idx, val);
}

static trs_status other_format(trs_matrix **B, const trs_matrix *A) {
  int64_t *ptr;
  int32_t *idx;
  void *val;
  TRS_TRY(trs_transpose_arrays(A, &ptr, &idx, &val));
  trs_format format = A->format == TRS_CSR ? TRS_CSC : TRS_CSR;
  return trs_matrix_adopt(B, format, A->scalar, A->nrows, A->ncols, ptr, idx, val);
}

static trs_status convert(trs_matrix **B, const trs_matrix *A, trs_format format,
                          trs_scalar scalar) {
  if (A->format == format) return same_format(B, A, scalar);
  trs_matrix *turned;
  TRS_TRY(other_format(&turned, A));
  if (scalar == A->scalar) {
    *B = turned;
    return TRS_SUCCESS;
  }
  trs_status status = same_format(B, turned, scalar);
  trs_matrix_destroy(turned);
  return status;
}

trs_status trs_matrix_convert(trs_matrix **B, const trs_matrix *A, trs_format format,
                              trs_scalar scalar) {
  if (B) *B = NULL;
  if (!A || !B) return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is NULL", A ? "B" : "A");
  if (!trs_scalar_valid(scalar))
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "scalar %d is not one of trs_scalar's", scalar);
  if (format != TRS_CSR && format != TRS_CSC)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "format %d is not TRS_CSR or TRS_CSC", format);
  if (trs_scalar_is_complex(A->scalar) && !trs_scalar_is_complex(scalar))
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "a complex matrix cannot become real: ask for a complex type");
  TRS_TRY(trs_matrix_need_host(A, "trs_matrix_convert"));
  TRS_TRY(convert(B, A, format, scalar));
  (*B)->block = A->block;
  return TRS_SUCCESS;
}
