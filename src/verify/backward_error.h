/* backward_error.h - componentwise and normwise backward errors of a computed solution.  Oettli &
 * Prager 1964; Higham, Accuracy and Stability of Numerical Algorithms, section 7.
 *
 * Underflow (Demmel, Underflow and the reliability of numerical software, 1984; Higham, section
 * 2.8).  With gradual underflow  fl(a op b) = (a op b)(1 + d) + e  for products and quotients, and
 * |e| <= s / 2, where s is the smallest subnormal number; sums lose nothing more.  In row i of
 * op(T) x = b with m entries
 *   - each product loses at most s / 2 in addition to its rounding: together m s / 2;
 *   - each x_j has an error of at most s / 2, as a quotient, as a product with a reciprocal, or by
 *     storing it: together (|op(T)| e)_i s / 2 with e = (1, ..., 1).
 * With the spacing eps of numbers at 1, s = eps mu, where mu is the smallest normal number.  The
 * componentwise error is the smallest w such that for all rows
 *   |b - op(T) x|_i <= w (|op(T)| |x| + |b|)_i + w / eps s (|op(T)| e + m)_i
 *                    = w (|op(T)| (|x| + mu e) + |b| + m mu)_i.
 * Underflow alone makes w at most eps / 2.  If |op(T)| |x| + |b| is well above mu (|op(T)| e + m),
 * the second term is negligible.  A complex operation consists of a few real ones, for underflow as
 * for rounding.  No method has to flush subnormal numbers to zero. */
#ifndef TRS_VERIFY_BACKWARD_ERROR_H
#define TRS_VERIFY_BACKWARD_ERROR_H

#include "matrix/matrix.h"
#include "matrix/rhs.h"

/* op(A), restricted to the triangle uplo, with ones on the diagonal if diag is TRS_UNIT. */
typedef struct trs_operand {
  const trs_matrix *A;
  trs_uplo uplo;
  trs_trans trans;
  trs_diag diag;
} trs_operand;

/* An element of a vector in higher precision than any input: its value, the sum of the absolute
 * values that it was computed from, and its underflow term. */
typedef struct trs_wide {
  long double re, im, magnitude, underflow;
} trs_wide;

/* y = op(A) x; y[i].magnitude = (|op(A)| x.magnitude)[i]; y[i].underflow is (|op(A)|
 * x.underflow)[i] plus the smallest normal number for each entry of the row.  x and y are distinct
 * arrays of n. */
void trs_wide_apply(const trs_operand *operand, const trs_wide *x, trs_wide *y);

/* Updates *error with the error of one column, from y = op(A) x. */
void trs_wide_compare(const trs_wide *y, const void *b, int64_t b_row, trs_scalar scalar, int64_t n,
                      trs_backward_error *error);

/* Loads column r of x: magnitudes |x|, and the smallest normal number for underflow. */
void trs_wide_load(trs_wide *wide, const void *x, int64_t x_row, trs_scalar scalar, int64_t n);

trs_status trs_backward_error_of(const trs_operand *operand, const trs_rhs *rhs,
                                 trs_backward_error *error);

/* As trs_wide_apply, also for deferred values. */
trs_status trs_wide_apply_any(const trs_operand *operand, const trs_wide *x, trs_wide *y);

#endif
