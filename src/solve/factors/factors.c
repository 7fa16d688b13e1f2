/* factors.c - op(A) x = b by two sweeps.  With L U = P_r D_r A D_c P_c^T:
 *
 *     A x = b      y = P_r D_r b,  L w = y,    U z = w,    x = D_c P_c^T z
 *     A^T x = b    y = P_c D_c b,  U^T w = y,  L^T z = w,  x = D_r P_r^T z     (A^H likewise)
 *
 * Both sweeps run in place on a tile of right-hand sides that the plan owns.
 * O((nnz(L) + nnz(U)) nrhs). */
#include "solve/factors/factors.h"

#include <stdio.h>
#include <string.h>

#include "base/timer.h"

enum { TILE = 8 }; /* right-hand sides permuted into the workspace at a time */

typedef struct two_sweeps {
  trs_factors *F;
  const int32_t *in_perm, *out_perm;  /* NULL: identity */
  const double *in_scale, *out_scale; /* NULL: ones */
  void *work; /* n x TILE, row-major; one right-hand side uses the first n */
} two_sweeps;

typedef struct move_job {
  const two_sweeps *state;
  const trs_rhs *rhs;
  int64_t n, first;
  int width; /* right-hand sides in the tile */
} move_job;

#define TRS_TEMPLATE "solve/factors/move_tmpl.c"
#include "base/instantiate.h"

static const char *refuses(const trs_plan *plan) {
  (void)plan;
  return NULL;
}

static trs_status solve_tile(trs_plan *plan, move_job *job) {
  static void (*const gather_of[])(void *, int, int) = TRS_TABLE(gather);
  static void (*const scatter_of[])(void *, int, int) = TRS_TABLE(scatter);
  two_sweeps *state = plan->state;
  int size = plan->system.n < 20000 ? 1 : trs_team_size(plan->context->team);
  trs_rhs inner = {state->work, state->work, job->width, job->width, 1, job->width, 1};
  trs_team_run(plan->context->team, size, gather_of[plan->system.scalar], job);
  TRS_TRY(trs_plan_solve(plan->sweep[0], &inner));
  TRS_TRY(trs_plan_solve(plan->sweep[1], &inner));
  trs_team_run(plan->context->team, size, scatter_of[plan->system.scalar], job);
  return TRS_SUCCESS;
}

static trs_status solve(trs_plan *plan, const trs_rhs *rhs) {
  for (int64_t first = 0; first < rhs->nrhs; first += TILE) {
    int64_t left = rhs->nrhs - first;
    move_job job = {plan->state, rhs, plan->system.n, first, left < TILE ? (int)left : TILE};
    TRS_TRY(solve_tile(plan, &job));
  }
  return TRS_SUCCESS;
}

static int threads(const trs_plan *plan) {
  int first = plan->sweep[0]->method->threads(plan->sweep[0]);
  int second = plan->sweep[1]->method->threads(plan->sweep[1]);
  return first > second ? first : second;
}

static int64_t bytes(const trs_plan *plan) {
  int64_t total = plan->system.n * TILE * (int64_t)trs_scalar_size(plan->system.scalar);
  for (int s = 0; s < 2; s++) {
    const trs_plan *sweep = plan->sweep[s];
    if (sweep->method->bytes) total += sweep->method->bytes(sweep);
  }
  return total;
}

static void describe(const trs_plan *plan, char *text, size_t size) {
  bool plain = plan->trans == TRS_NO_TRANS;
  snprintf(text, size, "two sweeps, %s by %s then %s by %s", plain ? "L" : "op(U)",
           plan->sweep[0]->method->name, plain ? "U" : "op(L)", plan->sweep[1]->method->name);
}

static void free_state(trs_plan *plan) {
  two_sweeps *state = plan->state;
  if (!state) return;
  trs_factors_destroy(state->F);
  trs_free(state->work);
  trs_free(state);
}

static const trs_method sweeps = {
    .name = "factors",
    .backend = "serial",
    .summary = "both sweeps over a pair of factors",
    .refuses = refuses,
    .solve = solve,
    .threads = threads,
    .bytes = bytes,
    .describe = describe,
    .free = free_state,
};

const trs_factors *trs_plan_factors(const trs_plan *plan) {
  return plan->method == &sweeps ? ((const two_sweeps *)plan->state)->F : NULL;
}

static trs_status make_sweeps(trs_plan *plan, const trs_factors *F, const trs_options *options) {
  int lower = plan->trans == TRS_NO_TRANS ? 0 : 1;
  TRS_TRY(trs_plan_create(&plan->sweep[lower], plan->context, F->L, TRS_LOWER, plan->trans,
                          F->diag_L, options));
  TRS_TRY(trs_plan_create(&plan->sweep[1 - lower], plan->context, F->U, TRS_UPPER, plan->trans,
                          F->diag_U, options));
  if (strcmp(plan->sweep[0]->reason, plan->sweep[1]->reason) == 0)
    snprintf(plan->reason, sizeof plan->reason, "%s", plan->sweep[0]->reason);
  else
    snprintf(plan->reason, sizeof plan->reason, "first sweep %.100s; second %.100s",
             plan->sweep[0]->reason, plan->sweep[1]->reason);
  return TRS_SUCCESS;
}

static trs_status build(trs_plan *plan, const trs_factors *F, const trs_options *options) {
  two_sweeps *state;
  TRS_TRY(TRS_ALLOC_ZERO(&state, 1));
  plan->state = state;
  state->F = trs_factors_retain(F);
  bool plain = plan->trans == TRS_NO_TRANS;
  state->in_perm = plain ? F->row_perm : F->col_perm;
  state->in_scale = plain ? F->row_scale : F->col_scale;
  state->out_perm = plain ? F->col_perm : F->row_perm;
  state->out_scale = plain ? F->col_scale : F->row_scale;
  TRS_TRY(trs_alloc(&state->work, F->n * TILE, trs_scalar_size(F->scalar)));
  return make_sweeps(plan, F, options);
}

trs_status trs_factors_plan_create(trs_plan **result, trs_context *context, const trs_factors *F,
                                   trs_trans trans, const trs_options *options) {
  double start = trs_seconds();
  trs_plan *plan;
  *result = NULL;
  TRS_TRY(TRS_ALLOC_ZERO(&plan, 1));
  plan->context = trs_context_retain(context);
  plan->method = &sweeps;
  plan->trans = trans;
  plan->system = (trs_system){.n = F->n, .nnz = F->L->nnz + F->U->nnz, .scalar = F->scalar};
  trs_status status = build(plan, F, options);
  if (status) {
    trs_plan_destroy(plan);
    return status;
  }
  plan->analysis_seconds = trs_seconds() - start;
  *result = plan;
  return TRS_SUCCESS;
}

trs_status trs_factors_plan_refresh(trs_plan *plan, const trs_factors *F) {
  double start = trs_seconds();
  two_sweeps *state = plan->state;
  int lower = plan->trans == TRS_NO_TRANS ? 0 : 1;
  if (F != state->F)
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "the plan was made for other factors: update those, or analyse these");
  TRS_TRY(trs_plan_refresh(plan->sweep[lower], F->L));
  TRS_TRY(trs_plan_refresh(plan->sweep[1 - lower], F->U));
  plan->update_seconds = trs_seconds() - start;
  return TRS_SUCCESS;
}
