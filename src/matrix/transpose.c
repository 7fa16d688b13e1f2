/* transpose.c - the other format of a matrix by a counting sort.  O(n + nnz). */
#include "matrix/matrix.h"
#include "matrix/values.h"

trs_status trs_transpose_arrays(const trs_matrix *A, int64_t **new_ptr, int32_t **new_idx,
                                void **new_val) {
  const int64_t nother = A->format == TRS_CSR ? A->ncols : A->nrows;
  TRS_TRY(TRS_ALLOC_ALL(TRS_ZEROS(new_ptr, nother + 2), TRS_ROOM(new_idx, A->nnz),
                        TRS_ROOM_OF(new_val, A->nnz, trs_scalar_size(A->scalar))));
  int64_t *next = *new_ptr + 1; /* becomes ptr, moved on by one vector */
  for (int64_t p = 0; p < A->nnz; p++) next[A->idx[p] + 1]++;
  for (int64_t j = 0; j < nother; j++) next[j + 1] += next[j];
  trs_values_spread(next, *new_idx, *new_val, A->nvectors, NULL, NULL, A->ptr, A->idx, A->val,
                    A->scalar);
  return TRS_SUCCESS;
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

/* Of a square A in the other format, whose vectors are known to be in order. */
static trs_sides sides_of_other(const trs_matrix *A, const int64_t *ptr, const int32_t *idx) {
  const bool rows = A->format == TRS_CSR;
  trs_sides s = TRS_NO_SIDES;
  s.before = rows ? A->nupper : A->nlower;
  s.after = rows ? A->nlower : A->nupper;
  s.diagonal = A->ndiagonal;
  if (A->missing_diagonal >= 0) s.missing = A->missing_diagonal;
  for (int64_t j = A->ncols - 1; j >= 0; j--) {
    const int64_t count = ptr[j + 1] - ptr[j];
    if (count > s.longest) s.longest = count;
    if (count && idx[ptr[j]] < j) s.first_before = j;
    if (count && idx[ptr[j + 1] - 1] > j) s.first_after = j;
  }
  return s;
}

static trs_status other_format(trs_matrix **B, const trs_matrix *A) {
  int64_t *ptr;
  int32_t *idx;
  void *val;
  TRS_TRY(trs_transpose_arrays(A, &ptr, &idx, &val));
  trs_format format = A->format == TRS_CSR ? TRS_CSC : TRS_CSR;
  if (A->nrows != A->ncols)
    return trs_matrix_adopt(B, format, A->scalar, A->nrows, A->ncols, ptr, idx, val);
  const trs_sides sides = sides_of_other(A, ptr, idx);
  return trs_matrix_adopt_ordered(B, format, A->scalar, A->nrows, ptr, idx, val, &sides);
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
