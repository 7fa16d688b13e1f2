/* triangle.c - L and U as triangles of the matrix, each with the diagonal: systems to solve, not a
 * factorisation; and the patterns of both for incomplete factors.  O(n + nnz). */
#include "factor/kinds.h"

trs_status trs_factor_triangle(trs_factors *parts, const trs_factor_input *input) {
  parts->diag_L = parts->diag_U = TRS_NONUNIT;
  TRS_TRY(trs_matrix_triangle(&parts->L, input->B, TRS_LOWER, 0));
  return trs_matrix_triangle(&parts->U, input->B, TRS_UPPER, 0);
}

trs_status trs_factor_take_pattern(trs_matrix **T, const trs_matrix *A, int64_t *ptr, int32_t *idx,
                                   bool lower) {
  const int64_t n = A->nrows;
  trs_sides sides = TRS_NO_SIDES;
  const bool diagonal = n && ptr[1] > 0 && idx[0] == 0; /* of one row, as of all */
  void *val;
  const trs_status status = trs_alloc(&val, ptr[n], trs_scalar_size(A->scalar));
  if (status) {
    TRS_FREE_ALL(ptr, idx);
    return status;
  }
  int64_t first = INT64_MAX;
  for (int64_t i = 0; i < n; i++) {
    const int64_t count = ptr[i + 1] - ptr[i];
    if (count > sides.longest) sides.longest = count;
    if (count > diagonal && first == INT64_MAX) first = i;
  }
  sides.diagonal = diagonal ? n : 0;
  if (n && !diagonal) sides.missing = 0;
  (lower ? &sides.before : &sides.after)[0] = ptr[n] - sides.diagonal;
  (lower ? &sides.first_before : &sides.first_after)[0] = first;
  return trs_matrix_adopt_ordered(T, TRS_CSR, A->scalar, n, ptr, idx, val, &sides);
}

/* The pattern of each row up to the diagonal, without it where its entries are one, or from the
 * diagonal on. */
static trs_status extract(trs_matrix **T, const trs_matrix *B, const int64_t *diagonal, bool lower,
                          bool unit) {
  int64_t *ptr = NULL, at = 0;
  int32_t *idx = NULL;
  const int64_t n = B->nrows, nnz = (lower ? B->nlower : B->nupper) + (unit ? 0 : n);
  trs_status status = TRS_ALLOC(&ptr, n + 1);
  if (!status) status = TRS_ALLOC(&idx, nnz);
  if (status) {
    TRS_FREE_ALL(ptr, idx);
    return status;
  }
  for (int64_t i = 0; i < n; i++) {
    const int64_t begin = lower ? B->ptr[i] : diagonal[i];
    const int64_t end = lower ? diagonal[i] + !unit : B->ptr[i + 1];
    ptr[i] = at;
    for (int64_t p = begin; p < end; p++) idx[at++] = B->idx[p];
  }
  ptr[n] = at;
  return trs_factor_take_pattern(T, B, ptr, idx, lower);
}

trs_status trs_factor_patterns(trs_factors *parts, const trs_factor_input *input) {
  const trs_matrix *B = input->B;
  int64_t *diagonal;
  if (parts->levels) return trs_factor_fill(parts, B);
  if (B->missing_diagonal >= 0) return trs_fail_no_diagonal(parts, input);
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
