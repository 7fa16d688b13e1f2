/* triangle.c - L and U as triangles of the matrix, each with the diagonal: systems to solve, not a
 * factorisation; and the patterns of both for incomplete factors.  O(n + nnz). */
#include "factor/kinds.h"

trs_status trs_factor_triangle(trs_factors *parts, const trs_factor_input *input) {
  parts->diag_L = parts->diag_U = TRS_NONUNIT;
  TRS_TRY(trs_matrix_triangle(&parts->L, input->B, TRS_LOWER, 0));
  return trs_matrix_triangle(&parts->U, input->B, TRS_UPPER, 0);
}

static trs_status take(trs_matrix **T, const trs_matrix *A, int64_t *ptr, int32_t *idx,
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
    sides.longest = count > sides.longest ? count : sides.longest;
  }
  for (int64_t i = 0; i < n && first == INT64_MAX; i++)
    if (ptr[i + 1] - ptr[i] > diagonal) first = i;
  sides.diagonal = diagonal ? n : 0;
  if (n && !diagonal) sides.missing = 0;
  (lower ? &sides.before : &sides.after)[0] = ptr[n] - sides.diagonal;
  (lower ? &sides.first_before : &sides.first_after)[0] = first;
  return trs_matrix_adopt_ordered(T, TRS_CSR, A->scalar, n, ptr, idx, val, &sides);
}

trs_status trs_factor_take_patterns(trs_factors *parts, const trs_matrix *B, int64_t *const ptr[2],
                                    int32_t *const idx[2]) {
  const trs_status status = take(&parts->L, B, ptr[0], idx[0], true);
  if (!status) return take(&parts->U, B, ptr[1], idx[1], false);
  TRS_FREE_ALL(ptr[1], idx[1]);
  return status;
}

typedef struct triangles {
  int64_t *ptr[2]; /* of L and of U */
  int32_t *idx[2];
} triangles;

/* Each row up to the diagonal, without it where its entries are one, and from the diagonal on. */
static void split(const triangles *t, const trs_matrix *B, bool unit) {
  int64_t at[2] = {0, 0};
  t->ptr[0][0] = t->ptr[1][0] = 0;
  for (int64_t i = 0; i < B->nrows; i++) {
    int64_t p = B->ptr[i];
    while (B->idx[p] < i) t->idx[0][at[0]++] = B->idx[p++];
    if (!unit) t->idx[0][at[0]++] = (int32_t)i;
    while (p < B->ptr[i + 1]) t->idx[1][at[1]++] = B->idx[p++];
    t->ptr[0][i + 1] = at[0];
    t->ptr[1][i + 1] = at[1];
  }
}

trs_status trs_factor_patterns(trs_factors *parts, const trs_factor_input *input) {
  const trs_matrix *B = input->B;
  const bool unit = parts->diag_L == TRS_UNIT;
  triangles t = {0};
  if (parts->levels) return trs_factor_fill(parts, B);
  if (B->missing_diagonal >= 0) return trs_fail_no_diagonal(parts, input);
  trs_status status = TRS_ALLOC(&t.idx[0], B->nlower + (unit ? 0 : B->nrows));
  if (!status) status = TRS_ALLOC(&t.idx[1], B->nupper + B->nrows);
  for (int k = 0; k < 2 && !status; k++) status = TRS_ALLOC(&t.ptr[k], B->nrows + 1);
  if (status) {
    TRS_FREE_ALL(t.ptr[0], t.idx[0], t.ptr[1], t.idx[1]);
    return status;
  }
  split(&t, B, unit);
  return trs_factor_take_patterns(parts, B, t.ptr, t.idx);
}
