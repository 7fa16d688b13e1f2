/* kinds.h - the factorisations behind trs_factor. */
#ifndef TRS_FACTOR_KINDS_H
#define TRS_FACTOR_KINDS_H

#include "base/search.h"
#include "factor/factors.h"
#include "order/order.h"

/* Of a column's largest entry, the least that a diagonal entry must have to stay pivot, unless the
 * caller says otherwise. */
#define TRS_FACTOR_THRESHOLD 0.1
/* The same of doubles where then every pivot stays on the diagonal, as in UMFPACK's symmetric
 * strategy and in KLU; floats have no digits for it. */
#define TRS_FACTOR_DIAGONAL_THRESHOLD 0.001

/* row[j]: the row of A whose entry in column j belongs to the matching of greatest product.
 * row_scale[j], of row row[j], and col_scale[j]: powers of two that bring matched entries near one,
 * and others near or below it; NULL where none are needed, as for a triangle. */
typedef struct trs_matching {
  int32_t *row;
  double *row_scale, *col_scale;
  double rivals; /* of the other entries, the share of those at least half as large as the scaled
                    matched entry of their column */
} trs_matching;

/* The input of each factorisation.  B, a square CSR matrix, is A with renumbered rows and columns:
 * row i of B is row perm[i] of A; a NULL perm is the identity.  For block kinds B is A itself, and
 * they renumber its rows by perm, which moves whole blocks. */
typedef struct trs_factor_input {
  const trs_matrix *B;
  const int32_t *perm;
  double pivot_threshold;
  double diagonal_threshold; /* down to which all pivots stay on the diagonal; 0: not tried */
  bool equilibrate;
  const trs_matching *matching; /* of the rows of B before perm, whose scaling equilibrates; NULL */
  int64_t fill; /* entries of the complete L if all pivots stay on the diagonal; 0: not known */
  int64_t unmirrored;                   /* of the ordering */
  double operations;                    /* of the complete LU as well; 0: not known */
  const int32_t *block_end;             /* of the ordering */
  double most_entries, most_operations; /* with stopped: where complete LU stops */
  bool *stopped;                        /* complete LU has reached them; NULL: no limits */
  int block;                            /* rows of a block; 1 for other than block kinds */
} trs_factor_input;

/* Each sets L, U, diag_L and diag_U of *parts; LU also sets permutations and supernodes.  ILU(0)
 * and IC(0), also with levels of fill, keep patterns of L and U that hold B's; of a symmetric B IC
 * reads the upper triangle.  After a failure the caller releases the fields that are set. */
trs_status trs_factor_triangle(trs_factors *parts, const trs_factor_input *input);
trs_status trs_factor_ilu0(trs_factors *parts, const trs_factor_input *input);
trs_status trs_factor_ic0(trs_factors *parts, const trs_factor_input *input);
/* IC(0) of a B that may be unsymmetric, which it compares on the way.  Not done: it is, or a pivot
 * failed; *parts has no factors then. */
trs_status trs_factor_ic0_compare(trs_factors *parts, const trs_factor_input *input, bool *done);
trs_status trs_factor_lu(trs_factors *parts, const trs_factor_input *input);
trs_status trs_factor_blocks(trs_factors *parts, const trs_factor_input *input);

/* L and U with the patterns of B's triangles, or with parts->levels of fill, and no values yet; L
 * without its diagonal if diag_L says that it is ones. */
trs_status trs_factor_patterns(trs_factors *parts, const trs_factor_input *input);
trs_status trs_factor_fill(trs_factors *parts, const trs_matrix *B);
/* These patterns of L and of U, whose arrays it takes; rows have their diagonals throughout or not
 * at all. */
trs_status trs_factor_take_patterns(trs_factors *parts, const trs_matrix *B, int64_t *const ptr[2],
                                    int32_t *const idx[2]);

/* TRS_ERROR_NOT_FINITE names the first row of L, else of U, with a value that is not, or with a
 * pivot without a reciprocal. */
trs_status trs_factor_check_values(const trs_factors *F);

/* Whether the pivots of both are known to have reciprocals, which plans need not find again. */
static inline void trs_factor_set_divides(const trs_factors *F, bool known) {
  F->L->divides = F->U->divides = known;
}

/* The name of a kind in messages: "block IC(0)", with levels of fill "IC(k)". */
const char *trs_factor_name(trs_factor_kind kind, int levels);

/* Of B, if it is symmetric, or Hermitian, up to rounding: itself, or its symmetric part if entries
 * without a mirror make its pattern unsymmetric.  Fails otherwise; perm and kind are for the
 * message.  The caller destroys S. */
trs_status trs_factor_symmetric(trs_matrix **S, const trs_matrix *B, const int32_t *perm,
                                const char *kind);

/* The symmetric, or Hermitian, matrix that has the triangle uplo of A. */
trs_status trs_factor_mirror(trs_matrix **S, const trs_matrix *A, trs_uplo uplo);

/* TRS_ERROR_ZERO_PIVOT names a row that no matching of all rows has.  row NULL: the search was
 * given up. */
trs_status trs_match_rows(trs_matching *matching, const trs_matrix *A);
void trs_matching_free(trs_matching *matching);

/* The matching of a diagonal without zeros, which has no row: its rivals once rows and columns are
 * equilibrated, and those scales.  After a failure the caller frees it too. */
trs_status trs_match_diagonal(trs_matching *matching, const trs_matrix *A, bool equilibrate);

/* Whether A is triangular but for the order of its rows and columns: row row[k] and column col[k]
 * become row and column k of an upper triangle. */
trs_status trs_find_triangle(bool *found, int32_t *row, int32_t *col, const trs_matrix *A);

/* So many multiplications with a subtraction complete LU makes in this process, given the entries
 * of L; what needs more is for SuperLU. */
double trs_lu_light(int64_t fill);

/* For tests: SuperLU makes every complete LU; the number that its integers count to. */
extern bool trs_lu_by_superlu;
extern int64_t trs_lu_most;

/* 2^exponent, rounded, in the range of the scalar type and of its reciprocal. */
double trs_power_of_two(double exponent, trs_scalar scalar);

/* Destroys L and U. */
void trs_factor_forget(trs_factors *parts);

/* After a pivot that is not positive: runs the factorisation of B + alpha diag(B), with alpha =
 * first, 2 first, ... until it succeeds, and sets parts->shift. */
trs_status trs_factor_shift(trs_factors *parts, const trs_factor_input *input, double first,
                            trs_status (*run)(trs_factors *, const trs_factor_input *));

/* A row this many times as long as the row that it updates is searched, not read: one row with most
 * columns would otherwise be read for every row below it. */
enum { TRS_FACTOR_LONG = 16 };

/* Rows of an incomplete factorisation between two looks at the caller's flag (base/cancel.h). */
enum { TRS_FACTOR_CANCEL = 1024 };

/* The first position in [begin, end) of ascending columns at which the column is at least j, or
 * end.  O(log of the distance from begin). */
static inline int64_t trs_factor_seek(const int32_t *idx, int64_t begin, int64_t end, int32_t j) {
  int64_t step = 1, low = begin;
  while (low < end && idx[low] < j) {
    begin = low + 1;
    low = step < end - low ? low + step : end;
    step *= 2;
  }
  return trs_search_32(idx, begin, low, j); /* idx[low] >= j, or low is end */
}

/* Errors of ILU and IC, for the first row of B without a diagonal entry, and for the pivot of row
 * i. zero: what it is, and what to do. */
trs_status trs_fail_no_diagonal(const trs_factors *parts, const trs_factor_input *input);
trs_status trs_fail_pivot(const trs_factor_input *input, const char *kind, int64_t i,
                          bool not_finite, const char *zero);
#define TRS_ILU0_ADVICE "zero; another order, or a larger diagonal, may help"
#define TRS_IC0_ADVICE                                                    \
  "not positive: the matrix is not positive definite, or its incomplete " \
  "factor is not; use a shift, ILU(0) or a larger diagonal"

/* Row i of L or U has a value that is not finite. */
trs_status trs_fail_not_finite(const trs_factors *parts, int64_t i);

/* Errors of the shift: the diagonal entry of row i of B, which perm numbers, is not positive; the
 * pivot of a row of A is not with any shift. */
enum { TRS_SHIFT_TRIES = 40 };
trs_status trs_fail_shift_start(const trs_factors *parts, const int32_t *perm, int64_t i);
trs_status trs_fail_shift(const trs_factors *parts, int64_t row, double first);

/* L, U and shift of new values of A, in the order, the patterns and by the recipe of F, of ILU or
 * IC, which are in host memory. */
trs_status trs_factor_again(trs_factors *F, const trs_matrix *A);

/* The position of entry (i, i) of a CSR matrix, or -1. */
static inline int64_t trs_factor_diagonal(const trs_matrix *A, int64_t i) {
  const int64_t p = trs_factor_seek(A->idx, A->ptr[i], A->ptr[i + 1], (int32_t)i);
  return p < A->ptr[i + 1] && A->idx[p] == i ? p : -1;
}

/* Row i of B in A's numbering, for messages. */
static inline int64_t trs_factor_row(const trs_factor_input *input, int64_t i) {
  return input->perm ? input->perm[i] : i;
}

/* Powers of two that bring the largest entry of every row and column of B near one; NULL if they
 * are within a factor of ten already.  TRS_ERROR_ZERO_PIVOT names a row or column of zeros. */
trs_status trs_equilibrate(double **row_scale, double **col_scale, const trs_factor_input *input);

/* B with a diagonal entry of max(1, sum of the row's absolute values) in rows without one or with a
 * zero one. */
trs_status trs_add_diagonal(trs_matrix **result, const trs_matrix *A);

/* Merges nodes of the separator tree if an entry of L or U couples two subtrees, which happens
 * after pivots off the diagonal.  Drops the tree if only its root would be left. */
trs_status trs_collapse_tree(trs_factors *parts);

#endif
