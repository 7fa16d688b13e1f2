/* kinds.h - the factorisations behind trs_factor. */
#ifndef TRS_FACTOR_KINDS_H
#define TRS_FACTOR_KINDS_H

#include "factor/factors.h"

/* What each of them gets: B, a square CSR matrix, is A with rows and columns renumbered, so that
 * row i of B is row perm[i] of A, NULL standing for the identity. */
typedef struct trs_factor_input {
  const trs_matrix *B;
  const int32_t *perm;
  double pivot_threshold;
  bool equilibrate;
  int64_t fill; /* entries of the complete L if no pivot leaves the diagonal; 0: not known */
} trs_factor_input;

/* Each sets L, U, diag_L and diag_U of *parts, and LU what else it knows; what they set stays set
 * after a failure, for the caller to release. */
trs_status trs_factor_triangle(trs_factors *parts, const trs_factor_input *input);
trs_status trs_factor_ilu0(trs_factors *parts, const trs_factor_input *input);
trs_status trs_factor_ic0(trs_factors *parts, const trs_factor_input *input);
trs_status trs_factor_lu(trs_factors *parts, const trs_factor_input *input);

/* Row i of B in A's numbering, for messages. */
static inline int64_t trs_factor_row(const trs_factor_input *input, int64_t i) {
  return input->perm ? input->perm[i] : i;
}

/* Powers of two that bring the largest entry of every row and column of B near one, or NULL where
 * they lie within a factor of ten already.  TRS_ERROR_ZERO_PIVOT names a row or column of zeros. */
trs_status trs_equilibrate(double **row_scale, double **col_scale, const trs_factor_input *input);

/* B with a diagonal entry of max(1, sum of the row's absolute values) wherever there is none or a
 * zero. */
trs_status trs_add_diagonal(trs_matrix **result, const trs_matrix *A);

/* Merges nodes of the separator tree wherever an entry of L or U couples two subtrees, which takes
 * pivots off the diagonal; drops the tree when only its root would be left. */
trs_status trs_collapse_tree(trs_factors *parts);

#endif
