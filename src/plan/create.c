/* create.c - plans of triangles are made: the triangle is checked, a method chosen and its analysis
 * run; and given new values. */
#include <stdio.h>
#include <string.h>

#include "analysis/system.h"
#include "base/timer.h"
#include "plan/choice.h"
#include "plan/timing.h"

/* In device memory the cut takes values on the default stream, and again after the plan's. */
static trs_status cut_triangle(trs_plan *plan, const trs_matrix *A) {
  TRS_TRY(trs_matrix_cut(&plan->matrix, A, plan->uplo));
  if (!A->on_device) return TRS_SUCCESS;
  trs_status status = trs_matrix_renew_on(plan->matrix, plan->stream);
  if (!status) return TRS_SUCCESS;
  trs_matrix_destroy(plan->matrix);
  plan->matrix = NULL;
  return status;
}

/* The source of the triangle: the matrix itself, or a triangle extracted from a general matrix,
 * whose values then follow those of the general matrix. */
static trs_status take_matrix(trs_plan *plan, const trs_matrix *A) {
  int64_t wrong = plan->uplo == TRS_LOWER ? A->nupper : A->nlower;
  plan->source_nnz = A->nnz;
  plan->compared = A->number;
  plan->cut = plan->options.take_triangle && wrong > 0 && A->nrows == A->ncols;
  if (plan->cut && plan->matrix && plan->matrix->parent == A) {
    TRS_TRY(trs_matrix_renew_on(plan->matrix, plan->stream));
    trs_matrix_retain(plan->matrix);
    return TRS_SUCCESS;
  }
  if (plan->cut) return cut_triangle(plan, A);
  if (!plan->by_blocks) TRS_TRY(trs_matrix_fill(A));
  TRS_TRY(trs_matrix_renew_on(A, plan->stream));
  plan->matrix = trs_matrix_retain(A);
  return TRS_SUCCESS;
}

static void tell_progress(const trs_plan *plan, double done) {
  if (plan->options.progress)
    plan->options.progress(plan->options.progress_user, "analysing", done);
}

/* Why auto takes the next best method: the method declines, or lacks memory or another resource.
 * NULL: auto takes none. */
static const char *why_not(const trs_plan *plan, trs_status status) {
  if (plan->choice->verdict.declined) return plan->choice->verdict.why;
  const bool lacks = status == TRS_ERROR_MEMORY || status == TRS_ERROR_UNSUPPORTED;
  return lacks ? trs_last_error()->message : NULL;
}

/* Takes the state of choice->made if that is a plan of plan->method. */
static bool take_made(trs_plan *plan) {
  trs_plan *made = plan->choice->made;
  if (!made || made->method != plan->method) return false;
  plan->state = made->state;
  made->state = NULL;
  trs_plan_destroy(made);
  plan->choice->made = NULL;
  return true;
}

/* The next best method replaces one that declines or fails, and the plan's reason says so.  The
 * first failure counts if none is left. */
static trs_status analyze_next(trs_plan *plan, trs_status status) {
  trs_failure first = {0};
  const char *why;
  while ((why = why_not(plan, status))) {
    char text[192];
    if (status && !first.status) trs_failure_get(&first);
    snprintf(text, sizeof text, "; not %s: %.159s", plan->method->name, why);
    trs_plan_free_state(plan);
    const trs_method *next = trs_plan_choose_next(plan, plan->method);
    if (!next)
      return first.status ? trs_failure_set(&first)
                          : trs_fail(TRS_ERROR_UNSUPPORTED, -1, "no method is left%s", text);
    plan->method = next;
    size_t used = strlen(plan->reason);
    snprintf(plan->reason + used, sizeof plan->reason - used, "%s", text);
    status = take_made(plan) ? TRS_SUCCESS : trs_plan_run(plan, trs_plan_try);
  }
  return status;
}

/* With several GPUs, and on a CPU, the next best method replaces one that auto chose.  If auto
 * chose a GPU that cannot hold the plan, the CPU solves, and the plan's reason says so. */
static trs_status analyze_or_fall_back(trs_plan *plan) {
  trs_status status = trs_plan_run(plan, trs_plan_try);
  const bool gpu = plan->method->backend->gpu;
  if (plan->choice->named) return status;
  if (plan->context->group || plan->choice->verdict.declined ||
      (status == TRS_ERROR_UNSUPPORTED && !gpu))
    return analyze_next(plan, status);
  if (status != TRS_ERROR_MEMORY || plan->matrix->on_device || !plan->context->backend->finds_gpu ||
      !gpu)
    return status;
  char why[128];
  snprintf(why, sizeof why, "%s", trs_last_error()->message);
  trs_plan_free_state(plan);
  plan->choice->on_cpu = true;
  TRS_TRY(trs_plan_choose(plan, NULL));
  status = analyze_or_fall_back(plan);
  size_t used = strlen(plan->reason);
  snprintf(plan->reason + used, sizeof plan->reason - used, "; not the GPU: %s", why);
  return status;
}

static trs_status choose(trs_plan *plan) {
  tell_progress(plan, 0.1);
  trs_context_limit_gpus(plan->context);
  TRS_TRY(trs_plan_choose(plan, plan->options.method));
  trs_context_limit_gpus(plan->context); /* auto may have opened a GPU since the first call */
  tell_progress(plan, 0.4);
  return TRS_SUCCESS;
}

static bool method_checks_diagonal(const trs_plan *plan) {
  return plan->method->checks_diagonal && plan->system.device;
}

/* A diagonal in device memory is checked while the method's analysis or update runs, so that the
 * check alone causes no wait. */
static trs_status begin_diagonal(trs_diagonal_look *look, const trs_plan *plan) {
  *look = (trs_diagonal_look){0};
  if (plan->by_blocks || plan->matrix->divides || method_checks_diagonal(plan)) return TRS_SUCCESS;
  return trs_system_begin_diagonal(look, &plan->system, plan->context->team, plan->stream);
}

/* An error of the diagonal takes precedence over a failure of the method, which it may have caused.
 * The method that began may have been replaced by one that does not check. */
static trs_status end_diagonal(trs_diagonal_look *look, const trs_plan *plan, trs_status status) {
  const bool unknown = plan->system.device && !look->device;
  if (unknown && (status || !method_checks_diagonal(plan)))
    TRS_TRY(trs_system_begin_diagonal(look, &plan->system, plan->context->team, plan->stream));
  trs_status diagonal = trs_system_end_diagonal(look);
  return diagonal ? diagonal : status;
}

static trs_status build(trs_plan *plan, const trs_matrix *A) {
  trs_diagonal_look look;
  tell_progress(plan, 0);
  TRS_TRY(take_matrix(plan, A));
  TRS_TRY(trs_system_check_pattern(plan->matrix, plan->uplo, plan->diag));
  plan->system = trs_system_of(plan->matrix, plan->uplo, plan->trans, plan->diag);
  TRS_TRY(choose(plan));
  TRS_TRY(begin_diagonal(&look, plan));
  TRS_TRY(end_diagonal(&look, plan, analyze_or_fall_back(plan)));
  TRS_TRY(trs_plan_tune(plan));
  trs_plan_drop_level_of_rows(plan);
  tell_progress(plan, 1);
  return TRS_SUCCESS;
}

static trs_status build_by_blocks(trs_plan *plan, const trs_matrix *A) {
  const bool named = plan->options.method && strcmp(plan->options.method, "auto") != 0;
  TRS_TRY(take_matrix(plan, A));
  plan->system = trs_system_of(plan->matrix, plan->uplo, plan->trans, plan->diag);
  plan->method = &trs_method_blocks;
  snprintf(plan->reason, sizeof plan->reason, "%s",
           named ? "asked for by name" : "the matrix consists of blocks");
  return plan->method->analyze(plan);
}

static trs_status build_by_choice(trs_plan *plan, const trs_matrix *A, bool on_cpu) {
  const char *name = plan->options.method;
  trs_choice choice = {.named = name && strcmp(name, "auto") != 0, .on_cpu = on_cpu};
  plan->choice = &choice;
  trs_status status = build(plan, A);
  trs_panels_destroy(&choice.panels);
  trs_plan_destroy(choice.made);
  plan->choice = NULL;
  return status;
}

enum place { ANYWHERE, ON_CPU, BY_BLOCKS };

static trs_status create(trs_plan **result, trs_context *context, const trs_matrix *A,
                         trs_uplo uplo, trs_trans trans, trs_diag diag, const trs_options *options,
                         enum place place) {
  double start = trs_seconds();
  trs_failure before; /* the reason for a fall-back must not become the last error */
  trs_plan *plan;
  *result = NULL;
  trs_failure_get(&before);
  TRS_TRY(trs_context_check(context));
  TRS_TRY(TRS_ALLOC_ZERO(&plan, 1));
  plan->context = trs_context_retain(context);
  plan->uplo = uplo;
  plan->trans = trans;
  plan->diag = diag;
  if (options) plan->options = *options;
  plan->stream = plan->options.stream;
  plan->by_blocks = place == BY_BLOCKS;
  trs_status status =
      plan->by_blocks ? build_by_blocks(plan, A) : build_by_choice(plan, A, place == ON_CPU);
  if (status) {
    trs_plan_destroy(plan);
    return status;
  }
  plan->options.method = plan->parameters =
      NULL; /* the caller may free its string after the call */
  trs_failure_set(&before);
  plan->analysis_seconds = trs_seconds() - start;
  *result = plan;
  return TRS_SUCCESS;
}

trs_status trs_plan_create(trs_plan **plan, trs_context *context, const trs_matrix *A,
                           trs_uplo uplo, trs_trans trans, trs_diag diag,
                           const trs_options *options) {
  return create(plan, context, A, uplo, trans, diag, options, ANYWHERE);
}

trs_status trs_plan_create_on_cpu(trs_plan **plan, trs_context *context, const trs_matrix *A,
                                  trs_uplo uplo, trs_trans trans, trs_diag diag,
                                  const trs_options *options) {
  return create(plan, context, A, uplo, trans, diag, options, ON_CPU);
}

trs_status trs_plan_create_by_blocks(trs_plan **plan, trs_context *context, const trs_matrix *A,
                                     trs_uplo uplo, const trs_options *options) {
  return create(plan, context, A, uplo, TRS_NO_TRANS, TRS_NONUNIT, options, BY_BLOCKS);
}

static trs_status check_new_values(trs_plan *plan, trs_diagonal_look *look) {
  const char *why =
      trs_matrix_is_deferred(plan->matrix) ? trs_plan_refuses(plan, plan->method) : NULL;
  if (why) return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "%s", why);
  return begin_diagonal(look, plan);
}

/* After a failure the plan has its system, whose arrays the method's state may read, and
 * plan->matrix is undefined: the caller, who has the matrix before, restores it. */
static trs_status replace_matrix(trs_plan *plan, const trs_matrix *A, trs_diagonal_look *look) {
  const trs_system before = plan->system;
  TRS_TRY(take_matrix(plan, A));
  plan->system = trs_system_of(plan->matrix, plan->uplo, plan->trans, plan->diag);
  trs_status status = check_new_values(plan, look);
  if (!status) return TRS_SUCCESS;
  plan->system = before;
  trs_plan_drop_matrix(plan, plan->matrix);
  return status;
}

trs_status trs_plan_refresh(trs_plan *plan, const trs_matrix *A) {
  double start = trs_seconds();
  trs_diagonal_look look;
  TRS_TRY(trs_plan_check(plan));
  if (A->nnz != plan->source_nnz || A->nrows != plan->system.n ||
      A->scalar != plan->system.scalar || A->format != plan->matrix->format)
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "the matrix differs in size, entries, format or type from the one analysed: "
                    "analyse it anew");
  trs_matrix *before = plan->matrix;
  trs_context_limit_gpus(plan->context);
  trs_status status = replace_matrix(plan, A, &look);
  if (status) {
    plan->matrix = before;
    return status;
  }
  trs_plan_drop_matrix(plan, before);
  status = plan->method->update ? trs_plan_run(plan, plan->method->update) : TRS_SUCCESS;
  TRS_TRY(end_diagonal(&look, plan, status));
  plan->update_seconds = trs_seconds() - start;
  return TRS_SUCCESS;
}
