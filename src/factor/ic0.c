/* ic0.c - incomplete Cholesky without fill (Meijerink and van der Vorst 1977): L L^H agrees with
 * the Hermitian matrix on its pattern.  Row by row,
 *     L_ik = (a_ik - sum_{j < k} L_ij conj(L_kj)) / L_kk,  L_ii = sqrt(a_ii - sum |L_ij|^2),
 * each sum over the entries common to both rows. O(n + nnz + sum over entries (i, k) below the
 * diagonal of the lesser of the entries in row k of L and, times a logarithm, in row i). */
#include <math.h>
#include <string.h>

#include "factor/kinds.h"

enum { ROUNDING = 100 }; /* units of roundoff by which mirrored entries may differ */

/* The position and reason of a failed elimination. */
typedef struct ic0_failure {
  int64_t row, column;
  bool not_finite;
} ic0_failure;

/* The mirror of each row, from the transposed matrix. */
typedef struct ic0_mirror {
  int64_t *ptr;
  int32_t *idx;
  void *val;
} ic0_mirror;

#define TRS_TEMPLATE "factor/ic0_tmpl.c"
#include "base/instantiate.h"

static bool (*const mirrored_of[])(const trs_matrix *, const ic0_mirror *,
                                   ic0_failure *) = TRS_TABLE(mirrored);
static bool (*const eliminate_of[])(trs_matrix *, int64_t *, ic0_failure *) = TRS_TABLE(eliminate);
static void (*const conjugate_of[])(void *, int64_t) = TRS_TABLE(conjugate);

trs_status trs_factor_check_symmetric(const trs_factor_input *input, const char *kind) {
  ic0_mirror mirror;
  ic0_failure at;
  const trs_matrix *B = input->B;
  TRS_TRY(trs_transpose_arrays(B, &mirror.ptr, &mirror.idx, &mirror.val));
  bool same = mirrored_of[B->scalar](B, &mirror, &at);
  TRS_FREE_ALL(mirror.ptr, mirror.idx, mirror.val);
  if (same) return TRS_SUCCESS;
  int64_t row = trs_factor_row(input, at.row);
  return trs_fail(TRS_ERROR_STRUCTURE, row,
                  "%s: the matrix is not %s: the entries at row %lld, column %lld (0-based) and "
                  "at its mirror differ; use ILU(0)",
                  kind, trs_scalar_is_complex(B->scalar) ? "hermitian" : "symmetric",
                  (long long)row, (long long)trs_factor_row(input, at.column));
}

/* Fails unless each row of the lower triangle ends in its diagonal. */
static trs_status check_diagonal(const trs_matrix *L, const trs_factor_input *input) {
  for (int64_t i = 0; i < L->nrows; i++)
    if (L->ptr[i + 1] == L->ptr[i] || L->idx[L->ptr[i + 1] - 1] != i)
      return trs_fail_no_diagonal(input, "IC(0)", i);
  return TRS_SUCCESS;
}

static trs_status eliminate(trs_matrix *L, const trs_factor_input *input) {
  int64_t *position;
  ic0_failure at;
  TRS_TRY(TRS_ALLOC(&position, L->nrows));
  bool done = eliminate_of[L->scalar](L, position, &at);
  trs_free(position);
  if (done) return TRS_SUCCESS;
  return trs_fail_pivot(input, "IC(0)", at.row, at.not_finite,
                        "not positive: the matrix is not positive definite, or its incomplete "
                        "factor is not; use ILU(0) or a larger diagonal");
}

/* U = L^H: the rows of U are the conjugated columns of L. */
static trs_status conjugate_transpose(trs_matrix **U, const trs_matrix *L) {
  int64_t *ptr;
  int32_t *idx;
  void *val;
  TRS_TRY(trs_transpose_arrays(L, &ptr, &idx, &val));
  conjugate_of[L->scalar](val, L->nnz);
  return trs_matrix_adopt(U, TRS_CSR, L->scalar, L->nrows, L->nrows, ptr, idx, val);
}

trs_status trs_factor_ic0(trs_factors *parts, const trs_factor_input *input) {
  parts->diag_L = parts->diag_U = TRS_NONUNIT;
  TRS_TRY(trs_factor_check_symmetric(input, "IC(0)"));
  TRS_TRY(trs_matrix_triangle(&parts->L, input->B, TRS_LOWER, 0));
  TRS_TRY(check_diagonal(parts->L, input));
  TRS_TRY(eliminate(parts->L, input));
  return conjugate_transpose(&parts->U, parts->L);
}
