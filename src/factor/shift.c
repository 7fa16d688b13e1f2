/* shift.c - an incomplete Cholesky factorisation that breaks down starts again with
 * A + alpha diag(A) (Manteuffel 1980), and alpha doubles until all pivots are positive.  For a
 * positive diagonal some alpha makes A an H-matrix, whose pivots are.  O(tries) factorisations. */
#include "factor/kinds.h"
#include "matrix/values.h"

/* The place of row i's diagonal entry, or the end of the row. */
static int64_t diagonal_of(const trs_matrix *B, int64_t i) {
  const int64_t end = B->ptr[i + 1], p = trs_factor_seek(B->idx, B->ptr[i], end, (int32_t)i);
  return p < end && B->idx[p] == i ? p : end;
}

trs_status trs_fail_shift_start(const trs_factors *parts, const int32_t *perm, int64_t i) {
  const int64_t row = perm ? perm[i] : i;
  return trs_fail(TRS_ERROR_ZERO_PIVOT, row,
                  "%s: the diagonal entry of row %lld (0-based) is not positive, which no shift "
                  "changes: use ILU(0)",
                  trs_factor_name(parts->kind, parts->levels), (long long)row);
}

trs_status trs_fail_shift(const trs_factors *parts, int64_t row, double first) {
  return trs_fail(TRS_ERROR_ZERO_PIVOT, row,
                  "%s: the pivot of row %lld (0-based) is not positive with any of %d shifts from "
                  "%g to %g: begin with a larger shift, or use ILU(0)",
                  trs_factor_name(parts->kind, parts->levels), (long long)row, TRS_SHIFT_TRIES,
                  first, parts->shift);
}

/* A share of a diagonal entry that is not positive makes it no better.  Of block kinds B has A's
 * own rows. */
static trs_status check_diagonal(const trs_factors *parts, const trs_factor_input *input) {
  const trs_matrix *B = input->B;
  const int32_t *perm = parts->kind == TRS_FACTOR_BIC0 ? NULL : input->perm;
  for (int64_t i = 0; i < B->nrows; i++) {
    const int64_t p = diagonal_of(B, i);
    if (p < B->ptr[i + 1] && creal(trs_value_get(B->val, p, B->scalar)) > 0) continue;
    return trs_fail_shift_start(parts, perm, i);
  }
  return TRS_SUCCESS;
}

static void set_diagonal(trs_matrix *S, const trs_matrix *B, double factor) {
  for (int64_t i = 0; i < B->nrows; i++) {
    const int64_t p = diagonal_of(B, i);
    trs_value_set(S->val, p, B->scalar, factor * trs_value_get(B->val, p, B->scalar));
  }
}

void trs_factor_forget(trs_factors *parts) {
  trs_matrix_destroy(parts->L);
  trs_matrix_destroy(parts->U);
  parts->L = parts->U = NULL;
}

trs_status trs_factor_shift(trs_factors *parts, const trs_factor_input *input, double first,
                            trs_status (*run)(trs_factors *, const trs_factor_input *)) {
  trs_factor_input shifted = *input;
  trs_matrix *S;
  trs_failure failure;
  trs_status status = TRS_ERROR_ZERO_PIVOT;
  TRS_TRY(check_diagonal(parts, input));
  TRS_TRY(trs_matrix_convert(&S, input->B, TRS_CSR, input->B->scalar));
  shifted.B = S;
  for (int k = 0; status == TRS_ERROR_ZERO_PIVOT && k < TRS_SHIFT_TRIES; k++) {
    if (parts->kind == TRS_FACTOR_BIC0) trs_factor_forget(parts);
    parts->shift = k ? 2 * parts->shift : first;
    set_diagonal(S, input->B, 1 + parts->shift);
    status = run(parts, &shifted);
  }
  trs_matrix_destroy(S);
  if (status != TRS_ERROR_ZERO_PIVOT) return status;
  trs_failure_get(&failure);
  return trs_fail_shift(parts, failure.row, first);
}
