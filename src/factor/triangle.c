/* triangle.c - L and U as triangles of the matrix, each with the diagonal: systems to solve, not a
 * factorisation.  O(n + nnz). */
#include "factor/kinds.h"

trs_status trs_factor_triangle(trs_factors *parts, const trs_factor_input *input) {
  parts->diag_L = parts->diag_U = TRS_NONUNIT;
  TRS_TRY(trs_matrix_triangle(&parts->L, input->B, TRS_LOWER, 0));
  return trs_matrix_triangle(&parts->U, input->B, TRS_UPPER, 0);
}
