/* factors.c - factoring, new values in the patterns of factors, and their condition. */
#include "base/cancel.h"
#include "base/structs.h"
#include "verify/factors_error.h"

trs_status trs_factor(trs_factors **F, const trs_matrix *A, const trs_factor_options *options) {
  if (!F) return trs_fail(TRS_ERROR_ARGUMENT, -1, "F is NULL");
  *F = NULL;
  int cancel = trs_cancel_defer();
  trs_status status = trs_factor_run(F, A, options);
  trs_cancel_restore(cancel);
  return status;
}

trs_status trs_factors_refactor(trs_factors *F, trs_pivots *pivots, trs_context *ctx,
                                const trs_matrix *A) {
  trs_pivots own = {.least_share = 1, .row = -1};
  if (pivots) TRS_TRY(TRS_STRUCT_CHECK(trs_pivots, pivots));
  TRS_ENTER_ALWAYS(F, "factors");
  trs_status status = trs_refactor_kind_check(F);
  if (status) return trs_guard_leave(&F->guard, status);
  status = trs_cancelled();
  int cancel = trs_cancel_defer();
  if (!status) status = trs_refactor_run(F, &own, ctx, A);
  status = trs_guard_leave_updated(&F->guard, "trs_factors_refactor", status);
  trs_cancel_restore(cancel);
  if (status || !pivots) return status;
  return TRS_STRUCT_GIVE(trs_pivots, pivots, &own);
}

trs_status trs_factors_condition(double *condition, const trs_factors *F) {
  if (!F || !condition)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is NULL", F ? "condition" : "F");
  return trs_condition_of(condition, F);
}
