/* factors_error.h - the backward error of A x = b for an A given by its factors. */
#ifndef TRS_VERIFY_FACTORS_ERROR_H
#define TRS_VERIFY_FACTORS_ERROR_H

#include "factor/factors.h"
#include "verify/backward_error.h"

/* A = D_r^-1 P_r^T L U P_c D_c^-1.  Magnitudes are propagated through both products. */
trs_status trs_factors_error_of(const trs_factors *F, trs_trans trans, const trs_rhs *rhs,
                                trs_backward_error *error);

/* As trs_factors_condition. */
trs_status trs_condition_of(double *condition, const trs_factors *F);

#endif
