/* solve.c - trs_analyze, trs_update, trs_solve and trs_check: argument checks, then dispatch. */
#include <stdint.h>
#include <stdlib.h>

#include "api/relax.h"
#include "base/cancel.h"
#include "base/options.h"
#include "base/structs.h"
#include "matrix/create.h"
#include "matrix/indexing.h"
#include "solve/factors/factors.h"
#include "solve/serial/once.h"
#include "verify/factors_error.h"

/* A type that the values have anyway is the default. */
static trs_status take_store(trs_options *own, trs_scalar scalar) {
  if (own->store != TRS_STORE_DOUBLE && own->store != TRS_STORE_FLOAT) return TRS_SUCCESS;
  if ((own->store == TRS_STORE_DOUBLE) != trs_scalar_is_double(scalar))
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "a plan stores values in their own type or in a mixed one: convert the matrix "
                    "(trs_matrix_convert), or take TRS_STORE_MIXED");
  own->store = TRS_STORE_DEFAULT;
  return TRS_SUCCESS;
}

static trs_status take_options(trs_options *own, trs_scalar scalar, const trs_options *options) {
  TRS_TRY(TRS_STRUCT_TAKE(trs_options, own, options));
  const trs_option numbers[] = {{"take_triangle", own->take_triangle, 0, 1},
                                {"nrhs", own->nrhs, 0, INT64_MAX},
                                {"solves", own->solves, 0, INT64_MAX},
                                {"store", (int)own->store, 0, TRS_STORE_BFLOAT},
                                {"tune", own->tune, 0, 1},
                                {"distributed", own->distributed, 0, 1},
                                {"launch_updates", own->launch_updates, 0, 1}};
  TRS_TRY(trs_options_check("trs_options", numbers, sizeof numbers / sizeof *numbers));
  TRS_TRY(take_store(own, scalar));
  if (own->nrhs > INT32_MAX) own->nrhs = INT32_MAX; /* a hint, which estimates multiply */
  return TRS_SUCCESS;
}

/* The GPU that holds a matrix solves with it. */
static trs_status check_place(trs_context *ctx, const trs_matrix *A) {
  if (!A->on_device) return TRS_SUCCESS;
  (void)trs_context_find_device(ctx);
  if (ctx->device == A->device) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                  "the matrix is in device memory: analyse it in a context of its GPU (\"cuda\" or "
                  "\"cuda:N\"), not in one of %s",
                  ctx->device ? "another" : "the CPU");
}

trs_status trs_analyze(trs_plan **plan, trs_context *ctx, const trs_matrix *A, trs_uplo uplo,
                       trs_trans trans, trs_diag diag, const trs_options *options) {
  if (plan) *plan = NULL;
  if (!ctx || !plan || !A)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is NULL", !ctx ? "ctx" : !plan ? "plan" : "A");
  TRS_TRY(trs_plan_check_words(uplo, trans, diag));
  trs_options own;
  TRS_TRY(take_options(&own, A->scalar, options));
  TRS_TRY(check_place(ctx, A));
  int cancel = trs_cancel_defer();
  trs_status status = trs_plan_create(plan, ctx, A, uplo, trans, diag, &own);
  trs_cancel_restore(cancel);
  return status;
}

trs_status trs_analyze_factors(trs_plan **plan, trs_context *ctx, const trs_factors *F,
                               trs_trans trans, const trs_options *options) {
  if (plan) *plan = NULL;
  if (!ctx || !plan || !F)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is NULL", !ctx ? "ctx" : !plan ? "plan" : "F");
  TRS_TRY(trs_plan_check_words(TRS_LOWER, trans, TRS_UNIT));
  trs_options own;
  TRS_TRY(take_options(&own, F->L->scalar, options));
  TRS_TRY(trs_factors_check(F));
  TRS_TRY(check_place(ctx, F->L));
  int cancel = trs_cancel_defer();
  trs_status status = trs_factors_plan_create(plan, ctx, F, trans, &own);
  trs_cancel_restore(cancel);
  return status;
}

/* A call that waits would end the capture with an error of CUDA. */
static trs_status check_clone(const trs_plan *origin, trs_stream stream) {
  TRS_TRY(trs_plan_check(origin));
  const char *why = trs_plan_clone_refuses(origin);
  if (why) return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "the plan cannot be cloned: %s", why);
  if (!trs_device_capturing(stream) && !trs_device_capturing(origin->stream)) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                  "a clone waits, so a stream that is being captured cannot contain it: clone "
                  "outside the capture");
}

static trs_status clone_unused(trs_plan **clone, trs_plan *origin, trs_stream stream) {
  TRS_TRY(trs_refusal_check(&origin->guard.refusal, "plan"));
  TRS_TRY(trs_plan_finish(origin));
  trs_context_limit_gpus(origin->context);
  const int cancel = trs_cancel_defer();
  trs_status status = trs_plan_create_clone(clone, origin, stream);
  trs_cancel_restore(cancel);
  return status;
}

trs_status trs_plan_clone(trs_plan **clone, trs_plan *plan) {
  if (clone) *clone = NULL;
  if (!clone || !plan)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is NULL", plan ? "clone" : "plan");
  trs_plan *origin = plan->origin ? plan->origin : plan;
  TRS_TRY(check_clone(origin, plan->stream));
  trs_single_wait(&origin->guard.user);
  return trs_guard_leave(&origin->guard, clone_unused(clone, origin, plan->stream));
}

/* Checks the pattern of a matrix other than the analysed one; the plan reports different
 * dimensions. */
static trs_status check_pattern(trs_plan *plan, const trs_matrix *A) {
  const trs_matrix *T = plan->matrix;
  TRS_TRY(trs_matrix_fill(A));
  if (A->device != T->device)
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "the matrix is %s, unlike the one analysed: analyse it anew",
                    A->device ? "in device memory" : "in host memory");
  if (A->number == plan->compared || A->on_device || A->nnz != plan->source_nnz ||
      A->nrows != plan->system.n || A->ncols != A->nrows || A->format != T->format)
    return TRS_SUCCESS;
  int64_t i = trs_matrix_first_difference(T, A, plan->uplo, plan->context->team);
  if (i < 0) {
    plan->compared = A->number;
    return TRS_SUCCESS;
  }
  return trs_fail(
      TRS_ERROR_STRUCTURE, i,
      "%s %lld (0-based) has other entries than in the matrix analysed: analyse this one "
      "anew",
      A->format == TRS_CSR ? "row" : "column", (long long)i);
}

static trs_status update(trs_plan *plan, const trs_matrix *A) {
  if (!A) return trs_fail(TRS_ERROR_ARGUMENT, -1, "A is NULL");
  TRS_TRY(trs_cancelled());
  if (plan->kind == TRS_OF_RELAXATION) return trs_relax_refresh(plan, A);
  TRS_TRY(check_pattern(plan, A));
  return trs_plan_refresh(plan, A);
}

static trs_status update_factors(trs_plan *plan, const trs_factors *F) {
  if (!F) return trs_fail(TRS_ERROR_ARGUMENT, -1, "F is NULL");
  TRS_TRY(trs_cancelled());
  return trs_factors_plan_refresh(plan, F);
}

trs_status trs_update(trs_plan *plan, const trs_matrix *A) {
  TRS_ENTER_ALWAYS(plan, "plan");
  trs_status status = trs_plan_check_update(plan, TRS_TAKE_TRIANGLE | TRS_TAKE_RELAXATION);
  if (status) return trs_guard_leave(&plan->guard, status);
  return trs_guard_leave_updated(&plan->guard, "trs_update", update(plan, A));
}

trs_status trs_update_factors(trs_plan *plan, const trs_factors *F) {
  TRS_ENTER_ALWAYS(plan, "plan");
  trs_status status = trs_plan_check_update(plan, TRS_TAKE_FACTORS);
  if (status) return trs_guard_leave(&plan->guard, status);
  return trs_guard_leave_updated(&plan->guard, "trs_update_factors", update_factors(plan, F));
}

static trs_status solve(trs_plan *plan, void *x, int64_t ldx, const void *b, int64_t ldb,
                        int64_t nrhs, trs_layout layout) {
  trs_rhs rhs;
  TRS_TRY(trs_plan_takes(plan, TRS_TAKE_SYSTEM, TRS_USE_SOLVE));
  TRS_TRY(trs_refusal_check(&plan->guard.refusal, "plan"));
  TRS_TRY(trs_rhs_make(&rhs, plan->system.n, plan->system.scalar, x, ldx, b, ldb, nrhs, layout));
  return trs_plan_solve(plan, &rhs);
}

trs_status trs_solve(trs_plan *plan, void *x, int64_t ldx, const void *b, int64_t ldb, int64_t nrhs,
                     trs_layout layout) {
  TRS_ENTER(plan, "plan");
  return trs_guard_leave(&plan->guard, solve(plan, x, ldx, b, ldb, nrhs, layout));
}

static trs_status check_once(trs_uplo uplo, trs_diag diag, trs_format format, trs_scalar scalar,
                             int64_t n, int indexing, const void *ptr) {
  TRS_TRY(trs_plan_check_words(uplo, TRS_NO_TRANS, diag));
  TRS_TRY(trs_matrix_check_shape(format, scalar, n, n));
  TRS_TRY(trs_indexing_check(indexing));
  return ptr ? TRS_SUCCESS : trs_fail(TRS_ERROR_ARGUMENT, -1, "ptr is NULL");
}

trs_status trs_solve_once(void *x, const void *b, trs_uplo uplo, trs_diag diag, trs_format format,
                          trs_scalar scalar, int64_t n, int indexing, const void *ptr,
                          const void *idx, const void *val) {
  trs_rhs rhs;
  TRS_TRY(check_once(uplo, diag, format, scalar, n, indexing, ptr));
  TRS_TRY(trs_rhs_make(&rhs, n, scalar, x, n, b, n, 1, TRS_COL_MAJOR));
  trs_once once = {.n = n,
                   .indexing = indexing,
                   .lower = uplo == TRS_LOWER,
                   .unit = diag == TRS_UNIT,
                   .ptr = ptr,
                   .idx = idx,
                   .val = val,
                   .end = trs_from_base(trs_ptr_at(indexing, ptr, n), trs_index_base(indexing))};
  if (once.end && (!idx || !val))
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is NULL", idx ? "val" : "idx");
  return trs_once_solve(&once, format == TRS_CSR, scalar, x, b);
}

trs_status trs_plan_wait(trs_plan *plan) {
  TRS_ENTER_ALWAYS(plan, "plan");
  return trs_guard_leave(&plan->guard, trs_plan_finish(plan));
}

trs_status trs_plan_set_stream(trs_plan *plan, void *stream) {
  TRS_ENTER(plan, "plan");
  trs_status status = trs_plan_finish(plan);
  if (!status) trs_plan_use_stream(plan, stream);
  return trs_guard_leave(&plan->guard, status);
}

static trs_status set_streams(trs_plan *plan, void *const *streams) {
  if (!streams) return trs_fail(TRS_ERROR_ARGUMENT, -1, "streams is NULL");
  TRS_TRY(trs_plan_takes(plan, TRS_TAKE_SYSTEM, TRS_USE_STREAM));
  if (plan->kind == TRS_OF_FACTORS)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "a plan over factors has one stream: its solves are not distributed");
  TRS_TRY(trs_plan_finish(plan));
  return trs_plan_use_streams(plan, streams);
}

trs_status trs_plan_set_streams(trs_plan *plan, void *const *streams) {
  TRS_ENTER(plan, "plan");
  return trs_guard_leave(&plan->guard, set_streams(plan, streams));
}

trs_status trs_check(trs_backward_error *error, const trs_matrix *A, trs_uplo uplo, trs_trans trans,
                     trs_diag diag, const void *x, int64_t ldx, const void *b, int64_t ldb,
                     int64_t nrhs, trs_layout layout) {
  trs_backward_error found = {0};
  trs_rhs rhs;
  if (!A || !error) return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is NULL", A ? "error" : "A");
  TRS_TRY(TRS_STRUCT_CHECK(trs_backward_error, error));
  if (!trs_matrix_is_deferred(A)) TRS_TRY(trs_matrix_need_host(A, "trs_check"));
  if ((unsigned)uplo > TRS_UPPER)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "uplo %d is not one of trs_uplo's", uplo);
  if (A->nrows != A->ncols)
    return trs_fail(TRS_ERROR_STRUCTURE, -1, "the matrix is %lld x %lld, not square",
                    (long long)A->nrows, (long long)A->ncols);
  TRS_TRY(trs_plan_check_words(TRS_LOWER, trans, diag));
  TRS_TRY(trs_rhs_make(&rhs, A->nrows, A->scalar, (void *)x, ldx, b, ldb, nrhs, layout));
  TRS_TRY(trs_backward_error_of(&(trs_operand){A, uplo, trans, diag}, &rhs, &found));
  return TRS_STRUCT_GIVE(trs_backward_error, error, &found);
}

trs_status trs_check_factors(trs_backward_error *error, const trs_factors *F, trs_trans trans,
                             const void *x, int64_t ldx, const void *b, int64_t ldb, int64_t nrhs,
                             trs_layout layout) {
  trs_backward_error found = {0};
  trs_rhs rhs;
  if (!F || !error) return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is NULL", F ? "error" : "F");
  TRS_TRY(TRS_STRUCT_CHECK(trs_backward_error, error));
  TRS_TRY(trs_factors_need_host(F, "trs_check_factors"));
  TRS_TRY(trs_plan_check_words(TRS_LOWER, trans, TRS_UNIT));
  TRS_TRY(trs_rhs_make(&rhs, F->n, F->scalar, (void *)x, ldx, b, ldb, nrhs, layout));
  TRS_TRY(trs_factors_error_of(F, trans, &rhs, &found));
  return TRS_STRUCT_GIVE(trs_backward_error, error, &found);
}
