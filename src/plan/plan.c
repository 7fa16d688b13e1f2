/* plan.c - the life of a plan once it is made: levels, device, solves, streams, memory, end. */
#include "plan/plan.h"

#include <string.h>

#include "analysis/system.h"
#include "matrix/device.h"

void trs_plan_drop_matrix(const trs_plan *plan, trs_matrix *A) {
  if (A && A->on_device) trs_matrix_settle(A, plan->stream);
  trs_matrix_destroy(A);
}

/* Levels are computed on the host; a pattern in device memory is first copied there. */
static trs_status compute_levels(trs_plan *plan) {
  trs_host_system h;
  TRS_TRY(TRS_ALLOC_ZERO(&plan->levels, 1));
  trs_status status = trs_host_system_create(&h, &plan->system, plan->matrix, plan->system.rows,
                                             false, plan->stream);
  if (!status) status = trs_levels_create(plan->levels, &h.S);
  trs_host_system_destroy(&h);
  if (!status) return TRS_SUCCESS;
  trs_free(plan->levels);
  plan->levels = NULL;
  return status;
}

trs_status trs_plan_need_levels(trs_plan *plan) {
  if (plan->levels) return TRS_SUCCESS;
  if (!plan->root) return compute_levels(plan);
  TRS_TRY(trs_plan_need_levels(plan->root));
  plan->levels = plan->root->levels;
  return TRS_SUCCESS;
}

void trs_plan_drop_level_of_rows(trs_plan *plan) {
  if (!plan->levels || !plan->levels->level) return;
  trs_free(plan->levels->level);
  plan->levels->level = NULL;
}

static void drop_levels(trs_plan *plan) {
  if (!plan->levels || plan->root || plan->borrows) return;
  trs_levels_destroy(plan->levels);
  trs_free(plan->levels);
}

trs_status trs_plan_count_levels(trs_plan *plan) {
  TRS_TRY(trs_plan_need_levels(plan));
  trs_plan_drop_level_of_rows(plan);
  return TRS_SUCCESS;
}

/* The backend of a plan over factors is that of its sweeps. */
static const trs_backend *backend_of(const trs_plan *plan) {
  if (plan->sweep[0]) return backend_of(plan->sweep[0]);
  return plan->method ? plan->method->backend : plan->context->backend;
}

int trs_plan_enter(const trs_plan *plan) {
  const trs_backend *backend = backend_of(plan);
  return backend->enter ? backend->enter(plan->context) : 0;
}

void trs_plan_leave(const trs_plan *plan, int before) {
  const trs_backend *backend = backend_of(plan);
  if (backend->leave) backend->leave(before);
}

trs_status trs_plan_run(trs_plan *plan, trs_status (*step)(trs_plan *plan)) {
  int before = trs_plan_enter(plan);
  trs_status status = step(plan);
  trs_plan_leave(plan, before);
  return status;
}

void trs_plan_free_state(trs_plan *plan) {
  int before = trs_plan_enter(plan);
  plan->method->free(plan);
  trs_plan_leave(plan, before);
  plan->state = NULL;
}

/* In a forked child a plan on a GPU can neither be used nor freed. */
static bool is_lost(const trs_plan *plan) {
  return trs_context_is_inherited(plan->context) && backend_of(plan)->gpu;
}

trs_status trs_plan_check(const trs_plan *plan) {
  if (is_lost(plan)) return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "%s", trs_context_inherited);
  return trs_context_check(plan->context);
}

/* The stream of a plan need not outlive the caller's call that destroys it; its clones do. */
static void leave_stream(trs_plan *plan) {
  trs_failure before;
  if (is_lost(plan)) return;
  trs_failure_get(&before);
  (void)trs_plan_finish(plan);
  trs_failure_set(&before);
  trs_plan_use_stream(plan, NULL);
}

/* Frees the plan once neither the caller nor a clone has it. */
static void release(trs_plan *plan) {
  if (atomic_fetch_sub(&plan->clones, 1) > 0) return;
  trs_plan *origin = plan->origin;
  if (plan->method && !is_lost(plan)) trs_plan_free_state(plan);
  drop_levels(plan);
  trs_plan_drop_matrix(plan, plan->matrix);
  trs_plan_destroy(plan->sweep[0]);
  trs_plan_destroy(plan->sweep[1]);
  trs_context_destroy(plan->context);
  TRS_FREE_ALL(plan->member_stream, plan);
  if (origin) release(origin);
}

void trs_plan_destroy(trs_plan *plan) {
  if (!plan) return;
  if (atomic_load(&plan->clones) > 0) leave_stream(plan);
  release(plan);
}

int trs_plan_threads(const trs_plan *plan) {
  return plan->method->threads ? plan->method->threads(plan) : 1;
}

int64_t trs_plan_bytes(const trs_plan *plan) {
  const trs_matrix *T = plan->matrix;
  int64_t bytes = plan->method->bytes ? plan->method->bytes(plan) : 0;
  if (plan->sweep[0] || plan->method->backend->gpu) return bytes;
  if (plan->origin) return bytes;
  if (plan->levels) bytes += TRS_HELD(plan->levels->ptr, plan->levels->entries);
  return bytes + (plan->cut ? TRS_HELD(T, T->ptr, T->idx, T->val, T->source) : 0);
}

int64_t trs_plan_solve_bytes(const trs_plan *plan) {
  if (plan->sweep[0])
    return trs_plan_solve_bytes(plan->sweep[0]) + trs_plan_solve_bytes(plan->sweep[1]);
  const trs_system *S = &plan->system;
  int64_t value = (int64_t)trs_scalar_size(S->scalar);
  return S->nnz * (value + (int64_t)sizeof *S->idx) + (S->n + 1) * (int64_t)sizeof *S->ptr +
         2 * S->n * value;
}

trs_store trs_plan_store(const trs_plan *plan) {
  for (int s = 0; s < 2; s++)
    if (plan->sweep[s] && trs_plan_store(plan->sweep[s])) return trs_plan_store(plan->sweep[s]);
  return plan->method->store ? plan->method->store(plan) : TRS_STORE_DEFAULT;
}

trs_store trs_store_mixed(const trs_plan *plan) {
  const bool mixed =
      plan->options.store == TRS_STORE_MIXED && trs_scalar_is_double(plan->system.scalar);
  return mixed ? TRS_STORE_MIXED : TRS_STORE_DEFAULT;
}

trs_status trs_plan_solve(trs_plan *plan, const trs_rhs *rhs) {
  TRS_TRY(trs_plan_check(plan));
  if (plan->system.n == 0 || rhs->nrhs == 0) return TRS_SUCCESS;
  trs_rhs own = *rhs;
  if (backend_of(plan)->gpu && !rhs->x_of) trs_rhs_locate(&own);
  int before = trs_plan_enter(plan);
  trs_status status = plan->method->solve(plan, &own);
  trs_plan_leave(plan, before);
  return status;
}

trs_status trs_plan_check_words(trs_uplo uplo, trs_trans trans, trs_diag diag) {
  if (uplo != TRS_LOWER && uplo != TRS_UPPER)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "uplo must be TRS_LOWER or TRS_UPPER");
  if ((unsigned)trans > TRS_CONJ_TRANS)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "trans %d is not one of trs_trans's", trans);
  if ((unsigned)diag > TRS_UNIT)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "diag must be TRS_NONUNIT or TRS_UNIT");
  return TRS_SUCCESS;
}

trs_status trs_plan_takes(const trs_plan *plan, unsigned kinds, trs_plan_use use) {
  static const char *const of[] = {"one triangle", "factors", "a batch", "a batch of factors",
                                   "relaxation"};
  static const char *const serves[][3] = {
      {"trs_solve", "trs_update", "trs_plan_get_info"},
      {"trs_solve", "trs_update_factors", "trs_plan_get_info"},
      {"trs_batch_solve", "trs_batch_update", "trs_batch_get_info"},
      {"trs_batch_solve", "trs_batch_update_factors", "trs_batch_get_info"},
      {"trs_relax_sweep", "trs_update or trs_update_bsr", "trs_relax_get_info"}};
  if (1U << plan->kind & kinds) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_ARGUMENT, -1, "the plan is of %s: call %s", of[plan->kind],
                  use == TRS_USE_STREAM ? "trs_plan_set_stream" : serves[plan->kind][use]);
}

trs_status trs_plan_check_unshared(const trs_plan *plan) {
  const int clones = atomic_load(&plan->clones);
  if (plan->origin)
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "a clone has the values of the plan that it was made from: destroy the clones, "
                    "update that plan, and clone it again");
  if (clones == 0) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_ARGUMENT, -1,
                  "the plan shares its values with %d clone%s: destroy the clones, update, and "
                  "clone again",
                  clones, clones > 1 ? "s" : "");
}

/* An update that waits would end the capture with an error of CUDA. */
trs_status trs_plan_check_update(const trs_plan *plan, unsigned kinds) {
  TRS_TRY(trs_plan_takes(plan, kinds, TRS_USE_UPDATE));
  TRS_TRY(trs_plan_check_unshared(plan));
  if (plan->options.launch_updates || !trs_device_capturing(plan->stream)) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                  "an update waits, so a stream that is being captured cannot contain it: %s",
                  TRS_TAKE_SYSTEM >> plan->kind & 1
                      ? "analyse with trs_options.launch_updates, or update outside the capture"
                      : "update outside the capture");
}

const char *trs_host_refuses(const trs_plan *plan) {
  return plan->matrix->on_device ? "the matrix is in device memory" : NULL;
}

trs_status trs_plan_finish(trs_plan *plan) {
  TRS_TRY(trs_plan_check(plan));
  for (int s = 0; s < 2; s++)
    if (plan->sweep[s]) TRS_TRY(trs_plan_finish(plan->sweep[s]));
  return plan->method->wait ? trs_plan_run(plan, plan->method->wait) : TRS_SUCCESS;
}

trs_status trs_plan_use_streams(trs_plan *plan, const trs_stream *streams) {
  int local;
  (void)trs_context_members(plan->context, NULL, &local);
  if (!plan->member_stream) TRS_TRY(TRS_ALLOC(&plan->member_stream, local));
  memcpy(plan->member_stream, streams, (size_t)local * sizeof *streams);
  plan->stream = streams[0];
  return TRS_SUCCESS;
}

void trs_plan_use_stream(trs_plan *plan, trs_stream stream) {
  trs_free(plan->member_stream);
  plan->member_stream = NULL;
  plan->stream = stream;
  for (int s = 0; s < 2; s++)
    if (plan->sweep[s]) trs_plan_use_stream(plan->sweep[s], stream);
}
