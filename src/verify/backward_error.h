/* backward_error.h - componentwise and normwise backward errors of a computed solution.
 * Oettli & Prager 1964; Higham, Accuracy and Stability of Numerical Algorithms, section 7. */
#ifndef TRS_VERIFY_BACKWARD_ERROR_H
#define TRS_VERIFY_BACKWARD_ERROR_H

#include "plan/method.h"

/* op(A), of which only the triangle uplo counts, with ones on the diagonal if diag says so. */
typedef struct trs_operand {
  const trs_matrix *A;
  trs_uplo uplo;
  trs_trans trans;
  trs_diag diag;
} trs_operand;

/* A column vector in higher precision than any input, and the sum of absolute values behind each
 * element. */
typedef struct trs_wide {
  long double re, im, magnitude;
} trs_wide;

/* y = op(A) x; y[i].magnitude = (|op(A)| x.magnitude)[i].  x and y are arrays of n, distinct. */
void trs_wide_apply(const trs_operand *operand, const trs_wide *x, trs_wide *y);

/* The error of one column from y = op(A) x, worse values going into *error. */
void trs_wide_compare(const trs_wide *y, const void *b, int64_t b_row, trs_scalar scalar, int64_t n,
                      trs_backward_error *error);

/* Column r of x, magnitudes |x|. */
void trs_wide_load(trs_wide *wide, const void *x, int64_t x_row, trs_scalar scalar, int64_t n);

trs_status trs_backward_error_of(const trs_operand *operand, const trs_rhs *rhs,
                                 trs_backward_error *error);

#endif
