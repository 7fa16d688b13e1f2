/* range.h - why an x is not finite: what the check says where no backward error is left. */
#ifndef TRS_VERIFY_RANGE_H
#define TRS_VERIFY_RANGE_H

#include "factor/factors.h"
#include "verify/backward_error.h"

/* No error, and x is finite. */
void trs_range_begin(trs_backward_error *error);

/* Fills in range, range_row and range_column.  x and y: room for n, overwritten.  One or two more
 * products with op(A). */
trs_status trs_range_explain(const trs_operand *operand, const trs_rhs *rhs, trs_wide *x,
                             trs_wide *y, trs_backward_error *error);
void trs_range_explain_factors(const trs_factors *F, const trs_rhs *rhs, trs_backward_error *error);

#endif
