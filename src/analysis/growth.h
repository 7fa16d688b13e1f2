/* growth.h - the rule by which triangular blocks are inverted: a product with the inverse N of a
 * triangle T replaces a solve with T only if the growth of N is below a limit.
 *
 * The growth is the largest (|N| |T| x)_i / x_i, Skeel's condition number for a solution of sizes
 * x. The error of x = N r is at most some roundings of |N| |T| |x|, so of growth |x|, and leaves a
 * residual of at most some roundings of growth |T| |x|: the componentwise backward error of a
 * product is that of a substitution times the growth.  The sizes x compensate for the scaling of
 * T's rows and columns.  (A right-hand side that cancels makes x of other sizes, and can lose more
 * digits.)
 *
 * A coefficient of N that loses digits to underflow, or that is not finite, counts as an infinite
 * growth.
 *
 * A growth of 1000 is 1e-13 to 1e-12 in double, 1e-4 in float.  It is the limit where a smaller
 * block costs time: levels of a GPU's solve, messages between ranks.  It is 50 where substitution
 * in a supernode costs little.  docs/experiments/ranks.md has the measurements.
 *
 * A block whose inverse is refused is cut in halves, and these again: the growth of most quarters
 * is below the limit, and they make a quarter of the levels that rows would.  C and CUDA C++. */
#ifndef TRS_ANALYSIS_GROWTH_H
#define TRS_ANALYSIS_GROWTH_H

#include <stdbool.h>

#include "base/status.h"

#define TRS_MOST_GROWTH 1000
#define TRS_MOST_GROWTH_SUPERNODE \
  50 /* where a solve with the triangle itself replaces the product */

#ifdef __cplusplus
extern "C" {
#endif

/* The growth of rows from .. from + rows of N.  T is width x width by columns, with zeros on its
 * other side; number k of row from + r of N is at k * rows + r.  INFINITY if it is not finite,
 * or if N has lost digits to underflow.
 * room: for twice the width.  O(width^2 rows) at most, O(width (width + rows)) where N has
 * no small coefficients. */
double trs_growth(trs_scalar scalar, int64_t width, const void *T, int64_t from, int64_t rows,
                  const void *N, double *room);

/* Cuts a block: begins[r] becomes 1, r > 0, where row r begins one of the largest blocks with a
 * growth of at most TRS_MOST_GROWTH whose sizes are powers of two and whose first rows multiples of
 * these.  T and N are width x width.  False if the growth of N as a whole is small: begins then
 * stays as it is.  O(width^3) at most. */
bool trs_growth_cut(trs_scalar scalar, int64_t width, const void *T, const void *N, double *room,
                    uint8_t *begins);

#ifdef __cplusplus
}
#endif
#endif
