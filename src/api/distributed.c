/* distributed.c - trs_plan_get_share and trs_solve_distributed. */
#include "base/structs.h"
#include "device/device.h"
#include "matrix/rhs.h"
#include "plan/plan.h"

static trs_plan_share whole(const trs_plan *plan, int64_t nrhs) {
  return (trs_plan_share){.nrows = plan->system.n, .ncolumns = nrhs};
}

static trs_status share_of(const trs_plan *plan, int member, int64_t nrhs, trs_plan_share *share,
                           int64_t *rows) {
  const int members = trs_context_members(plan->context, NULL, NULL);
  if (member < 0 || member >= members)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "member %d of %d: they count from 0", member, members);
  if (nrhs < 0) return trs_fail(TRS_ERROR_ARGUMENT, -1, "nrhs is %lld", (long long)nrhs);
  *share = member == 0 ? whole(plan, nrhs) : (trs_plan_share){0};
  if (plan->method->share) return plan->method->share(plan, member, nrhs, share, rows);
  for (int64_t i = 0; rows && i < share->nrows; i++) rows[i] = i;
  return TRS_SUCCESS;
}

trs_status trs_plan_get_share(const trs_plan *plan, trs_plan_share *share, int64_t *rows,
                              int member, int64_t nrhs) {
  trs_plan_share own;
  if (!plan || !share)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is NULL", plan ? "share" : "plan");
  TRS_TRY(TRS_STRUCT_CHECK(trs_plan_share, share));
  TRS_TRY(trs_plan_takes(plan, TRS_TAKE_SYSTEM, TRS_USE_SOLVE));
  TRS_TRY(share_of(plan, member, nrhs, &own, rows));
  return TRS_STRUCT_GIVE(trs_plan_share, share, &own);
}

/* Each member with a share solves its part in place, so its arrays must lie in device memory. */
static trs_status check_member(const trs_plan *plan, int member, const trs_plan_share *share,
                               const trs_rhs *rhs) {
  const void *astray = NULL;
  if (!plan->method->share || share->nrows == 0 || share->ncolumns == 0) return TRS_SUCCESS;
  if (!trs_device_address(rhs->x)) astray = rhs->x;
  if (!trs_device_address(rhs->b)) astray = rhs->b;
  if (!astray) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_ARGUMENT, -1,
                  "%s of member %d is not in device memory: trs_solve takes arrays of the host",
                  astray == rhs->x ? "x" : "b", member);
}

static trs_status check_streams(const trs_plan *plan, int local) {
  for (int k = 0; plan->method->share && plan->member_stream && k < local; k++)
    if (trs_device_capturing(plan->member_stream[k]))
      return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                      "solves in several streams cannot become part of a graph: give the plan one "
                      "stream (trs_plan_set_stream)");
  return TRS_SUCCESS;
}

static trs_status solve(trs_plan *plan, void *const *x, int64_t ldx, const void *const *b,
                        int64_t ldb, int64_t nrhs, trs_layout layout) {
  trs_rhs rhs = {0}, all = {0};
  int first, local;
  if (!x || !b) return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is NULL", x ? "b" : "x");
  TRS_TRY(trs_plan_takes(plan, TRS_TAKE_SYSTEM, TRS_USE_SOLVE));
  if (plan->kind == TRS_OF_FACTORS)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "a plan over factors permutes b and x as a whole: use trs_solve, or plans of "
                    "the two triangles");
  (void)trs_context_members(plan->context, &first, &local);
  TRS_TRY(trs_refusal_check(&plan->guard.refusal, "plan"));
  TRS_TRY(check_streams(plan, local));
  for (int k = 0; k < local; k++) {
    trs_plan_share share;
    TRS_TRY(share_of(plan, first + k, nrhs, &share, NULL));
    int64_t n = share.nrows > 0 && share.ncolumns > 0 ? plan->system.n : 0;
    TRS_TRY(
        trs_rhs_make(&rhs, n, plan->system.scalar, x[k], ldx, b[k], ldb, share.ncolumns, layout));
    TRS_TRY(check_member(plan, first + k, &share, &rhs));
    if (n > 0 || k == 0) all = rhs;
  }
  if (!plan->method->share && first > 0) return TRS_SUCCESS; /* the first process solves */
  if (plan->method->share) {
    all.x_of = x;
    all.b_of = b;
  }
  all.nrhs = nrhs;
  return trs_plan_solve(plan, &all);
}

trs_status trs_solve_distributed(trs_plan *plan, void *const *x, int64_t ldx, const void *const *b,
                                 int64_t ldb, int64_t nrhs, trs_layout layout) {
  TRS_ENTER(plan, "plan");
  return trs_guard_leave(&plan->guard, solve(plan, x, ldx, b, ldb, nrhs, layout));
}
