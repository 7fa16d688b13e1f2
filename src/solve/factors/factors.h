/* factors.h - plans over a pair of factors. */
#ifndef TRS_SOLVE_FACTORS_FACTORS_H
#define TRS_SOLVE_FACTORS_FACTORS_H

#include "factor/factors.h"
#include "plan/plan.h"

trs_status trs_factors_plan_create(trs_plan **plan, trs_context *context, const trs_factors *F,
                                   trs_trans trans, const trs_options *options);
trs_status trs_factors_plan_refresh(trs_plan *plan, const trs_factors *F);

/* Both sweeps by a method that auto did not choose; the plan stays as it is if auto did not choose,
 * if it is transposed, or after a failure. */
trs_status trs_factors_plan_use(trs_plan *plan, const char *method);

/* The factors of a plan; NULL for a plan over a triangle. */
const trs_factors *trs_plan_factors(const trs_plan *plan);

#endif
