/* range.h - the reason why x is not finite, reported by the check instead of a backward error. */
#ifndef TRS_VERIFY_RANGE_H
#define TRS_VERIFY_RANGE_H

#include "factor/factors.h"
#include "verify/backward_error.h"

/* Clears the error: x is finite. */
void trs_range_begin(trs_backward_error *error);

/* Sets range, range_row and range_column.  x and y: arrays of n, overwritten.  Costs one or two
 * further products with op(A). */
trs_status trs_range_explain(const trs_operand *operand, const trs_rhs *rhs, trs_wide *x,
                             trs_wide *y, trs_backward_error *error);
void trs_range_explain_factors(const trs_factors *F, const trs_rhs *rhs, trs_backward_error *error);

#endif
