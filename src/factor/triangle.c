/* triangle.c - L and U as triangles of the matrix, each with the diagonal: systems to solve, not a
 * factorisation; and the patterns of both for incomplete factors.  O(n + nnz). */
#include "factor/kinds.h"

trs_status trs_factor_triangle(trs_factors *parts, const trs_factor_input *input) {
  parts->diag_L = parts->diag_U = TRS_NONUNIT;
  TRS_TRY(trs_matrix_triangle(&parts->L, input->B, TRS_LOWER, 0));
  return trs_matrix_triangle(&parts->U, input->B, TRS_UPPER, 0);
}

/* The pattern of each row up to the diagonal, without it where its entries are one, or from the
 * diagonal on. */
static trs_status extract(trs_matrix **T, const trs_matrix *B, const int64_t *diagonal, bool lower,
                          bool unit) {
  int64_t *ptr = NULL, at = 0;
  int32_t *idx = NULL;
  void *val = NULL;
  const int64_t n = B->nrows, nnz = (lower ? B->nlower : B->nupper) + (unit ? 0 : n);
  trs_status status = TRS_ALLOC(&ptr, n + 1);
  if (!status) status = TRS_ALLOC(&idx, nnz);
  if (!status) status = trs_alloc(&val, nnz, trs_scalar_size(B->scalar));
  if (status) {
    TRS_FREE_ALL(ptr, idx);
    return status;
  }
  trs_sides sides = TRS_NO_SIDES;
  for (int64_t i = 0; i < n; i++) {
    const int64_t begin = lower ? B->ptr[i] : diagonal[i];
    const int64_t end = lower ? diagonal[i] + !unit : B->ptr[i + 1];
    ptr[i] = at;
    for (int64_t p = begin; p < end; p++) idx[at++] = B->idx[p];
    if (end - begin > sides.longest) sides.longest = end - begin;
  }
  ptr[n] = at;
  if (unit && n) sides.missing = 0;
  sides.diagonal = unit ? 0 : n;
  (lower ? &sides.before : &sides.after)[0] = nnz - sides.diagonal;
  if (lower) sides.first_before = B->first_lower < 0 ? INT64_MAX : B->first_lower;
  if (!lower) sides.first_after = B->first_upper < 0 ? INT64_MAX : B->first_upper;
  return trs_matrix_adopt_ordered(T, TRS_CSR, B->scalar, n, ptr, idx, val, &sides);
}

trs_status trs_factor_patterns(trs_factors *parts, const trs_factor_input *input,
                               const char *kind) {
  const trs_matrix *B = input->B;
  int64_t *diagonal;
  if (B->missing_diagonal >= 0) return trs_fail_no_diagonal(input, kind, B->missing_diagonal);
  TRS_TRY(TRS_ALLOC(&diagonal, B->nrows));
  for (int64_t i = 0; i < B->nrows; i++) {
    int64_t p = B->ptr[i];
    while (B->idx[p] < i) p++;
    diagonal[i] = p;
  }
  trs_status status = extract(&parts->L, B, diagonal, true, parts->diag_L == TRS_UNIT);
  if (!status) status = extract(&parts->U, B, diagonal, false, false);
  trs_free(diagonal);
  return status;
}
