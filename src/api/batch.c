/* batch.c - trs_batch_create, trs_batch_update, trs_batch_solve and their likes for factors:
 * argument checks, then dispatch. */
#include "solve/batch/batch.h"

#include "base/cancel.h"
#include "base/extent.h"
#include "base/options.h"
#include "base/structs.h"
#include "factor/factors.h"
#include "matrix/matrix.h"

static trs_status check_create(const trs_context *ctx, int64_t count, bool on_device,
                               const char *what) {
  if (count < 0 || count > INT32_MAX)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "count is %lld: it must be from 0 to %d",
                    (long long)count, INT32_MAX);
  if (on_device)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "%s in device memory: a batch takes a pattern in host memory", what);
  const trs_context_kind kind = trs_context_get_kind(ctx, NULL);
  if (kind != TRS_KIND_AUTO && kind != TRS_KIND_THREADS && kind != TRS_KIND_GPU)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "batches are solved on the CPU or on one GPU: create the context by \"auto\", "
                    "\"serial\", \"threads\" or \"cuda\"");
  return TRS_SUCCESS;
}

static trs_status take_options(trs_batch_options *own, const trs_batch_options *options) {
  TRS_TRY(TRS_STRUCT_TAKE(trs_batch_options, own, options));
  const trs_option numbers[] = {{"take_triangle", own->take_triangle, 0, 1},
                                {"nrhs", own->nrhs, 0, INT64_MAX},
                                {"hermitian", own->hermitian, 0, 1}};
  return trs_options_check("trs_batch_options", numbers, sizeof numbers / sizeof *numbers);
}

trs_status trs_batch_create(trs_plan **plan, trs_context *ctx, const trs_matrix *A, trs_uplo uplo,
                            trs_trans trans, trs_diag diag, int64_t count,
                            const trs_batch_options *options) {
  if (plan) *plan = NULL;
  if (!ctx || !plan || !A)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is NULL", !ctx ? "ctx" : !plan ? "plan" : "A");
  trs_batch_options own;
  TRS_TRY(trs_plan_check_words(uplo, trans, diag));
  TRS_TRY(check_create(ctx, count, A->on_device, "the matrix is"));
  TRS_TRY(take_options(&own, options));
  TRS_TRY(trs_matrix_fill(A));
  int cancel = trs_cancel_defer();
  trs_status status = trs_batch_make(plan, ctx, A, uplo, trans, diag, count, &own);
  trs_cancel_restore(cancel);
  return status;
}

/* Options of factors: IC0 and BIC0 make U = L^H. */
static trs_status take_factors_options(trs_batch_options *own, const trs_factors *F,
                                       const trs_batch_options *options) {
  TRS_TRY(take_options(own, options));
  if (own->take_triangle)
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "take_triangle is for a batch of a matrix: leave it out for factors");
  if (F->kind == TRS_FACTOR_IC0 || F->kind == TRS_FACTOR_BIC0) own->hermitian = 1;
  if (own->hermitian && (F->L->nnz != F->U->nnz || F->diag_L != F->diag_U))
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "hermitian is 1, and U is not L^H: they have %lld and %lld entries, and %s",
                    (long long)F->U->nnz, (long long)F->L->nnz,
                    F->diag_L == F->diag_U ? "equal diagonals" : "one of them a unit diagonal");
  return TRS_SUCCESS;
}

trs_status trs_batch_create_factors(trs_plan **plan, trs_context *ctx, const trs_factors *F,
                                    trs_trans trans, int64_t count,
                                    const trs_batch_options *options) {
  if (plan) *plan = NULL;
  if (!ctx || !plan || !F)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is NULL", !ctx ? "ctx" : !plan ? "plan" : "F");
  trs_batch_options own;
  TRS_TRY(trs_plan_check_words(TRS_LOWER, trans, TRS_UNIT));
  TRS_TRY(trs_factors_check(F));
  TRS_TRY(trs_matrix_fill(F->L));
  TRS_TRY(trs_matrix_fill(F->U));
  TRS_TRY(check_create(ctx, count, F->L->on_device && !F->L_here, "L and U are"));
  TRS_TRY(take_factors_options(&own, F, options));
  int cancel = trs_cancel_defer();
  trs_status status = trs_batch_make_factors(plan, ctx, F, trans, count, &own);
  trs_cancel_restore(cancel);
  return status;
}

/* Bytes from the first element of the first system to the end of the last, of systems that begin
 * *next elements apart and have `own` elements each.  *next 0: they follow each other. */
static trs_status span(int64_t *bytes, const char *name, const char *stride, const trs_batch *batch,
                       const void *array, int64_t own, int64_t *next) {
  if (*next < 0) return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is %lld", stride, (long long)*next);
  if (*next == 0) *next = own;
  *bytes = 0;
  if (batch->count == 0 || own == 0) return TRS_SUCCESS;
  if (batch->count > 1 && *next < own)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is %lld, less than the %lld elements of a system",
                    stride, (long long)*next, (long long)own);
  if (!array) return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is NULL", name);
  if (trs_extent(bytes, batch->count, own, batch->count > 1 ? *next : own,
                 (int64_t)trs_scalar_size(batch->scalar)) &&
      (uintptr_t)*bytes <= UINTPTR_MAX - (uintptr_t)array)
    return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s of %lld systems ends beyond the address space", name,
                  (long long)batch->count);
}

static trs_status update(trs_batch *batch, trs_batch_given *given) {
  int64_t bytes;
  TRS_TRY(trs_cancelled());
  TRS_TRY(span(&bytes, "val", "stride_val", batch, given->val, batch->triangle[0].given,
               &given->stride));
  return trs_batch_fill(batch, given);
}

static trs_status update_factors(trs_batch *batch, trs_batch_given *of_L, trs_batch_given *of_U) {
  int64_t bytes;
  TRS_TRY(trs_cancelled());
  if (batch->hermitian && of_U->val)
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "U is L^H in this batch: its values are those of L, pass NULL as U_val");
  TRS_TRY(span(&bytes, "L_val", "stride_L", batch, of_L->val, batch->triangle[batch->of_L].given,
               &of_L->stride));
  if (batch->hermitian)
    *of_U = *of_L;
  else
    TRS_TRY(span(&bytes, "U_val", "stride_U", batch, of_U->val, batch->triangle[batch->of_U].given,
                 &of_U->stride));
  trs_batch_given given[2];
  given[batch->of_L] = *of_L;
  given[batch->of_U] = *of_U;
  return trs_batch_fill(batch, given);
}

/* Before an update.  A failure leaves the batch as it was. */
static trs_status begin_update(trs_plan *plan, trs_plan_kind kind) {
  TRS_ENTER_ALWAYS(plan, "batch");
  trs_status status = trs_plan_check_update(plan, 1U << kind);
  if (status) return trs_guard_leave(&plan->guard, status);
  trs_batch *B = trs_batch_of(plan);
  B->filled = false;
  B->faults = 0;
  return TRS_SUCCESS;
}

/* Single systems that cannot be solved keep none of the others back. */
static trs_status end_update(trs_plan *plan, const char *call, trs_status status) {
  trs_refusal_note(&plan->guard.refusal, call, trs_batch_of(plan)->filled ? TRS_SUCCESS : status);
  return trs_guard_leave(&plan->guard, status);
}

trs_status trs_batch_update(trs_plan *plan, const void *val, int64_t stride_val) {
  TRS_TRY(begin_update(plan, TRS_OF_BATCH));
  trs_batch_given given = {val, stride_val};
  return end_update(plan, "trs_batch_update", update(trs_batch_of(plan), &given));
}

trs_status trs_batch_update_factors(trs_plan *plan, const void *L_val, int64_t stride_L,
                                    const void *U_val, int64_t stride_U) {
  TRS_TRY(begin_update(plan, TRS_OF_FACTORS_BATCH));
  trs_batch_given of_L = {L_val, stride_L}, of_U = {U_val, stride_U};
  return end_update(plan, "trs_batch_update_factors",
                    update_factors(trs_batch_of(plan), &of_L, &of_U));
}

static trs_status check_apart(const trs_rhs *rhs, int64_t x_bytes, int64_t b_bytes, int64_t x_next,
                              int64_t b_next) {
  const uintptr_t x = (uintptr_t)rhs->x, b = (uintptr_t)rhs->b;
  const bool same =
      x == b && x_next == b_next && rhs->x_row == rhs->b_row && rhs->x_col == rhs->b_col;
  if (same || x + (uintptr_t)x_bytes <= b || b + (uintptr_t)b_bytes <= x || !x_bytes || !b_bytes)
    return TRS_SUCCESS;
  return trs_fail(
      TRS_ERROR_ARGUMENT, -1,
      "x and b overlap: pass the same array with the same ld and stride, or distinct ones");
}

static trs_status solve(trs_plan *plan, void *x, int64_t ldx, int64_t stride_x, const void *b,
                        int64_t ldb, int64_t stride_b, int64_t nrhs, trs_layout layout) {
  trs_rhs rhs;
  int64_t x_bytes, b_bytes;
  TRS_TRY(trs_plan_takes(plan, TRS_TAKE_BATCH, TRS_USE_SOLVE));
  TRS_TRY(trs_refusal_check(&plan->guard.refusal, "batch"));
  trs_batch *batch = trs_batch_of(plan);
  const int64_t n = batch->n;
  if (!batch->filled && batch->count > 0)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "the batch has no values: call %s first",
                    batch->triangles == 1 ? "trs_batch_update" : "trs_batch_update_factors");
  if (stride_x < 0 || stride_b < 0)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "stride_%s is %lld", stride_x < 0 ? "x" : "b",
                    (long long)(stride_x < 0 ? stride_x : stride_b));
  if (batch->count == 0) return TRS_SUCCESS;
  TRS_TRY(trs_rhs_make(&rhs, n, batch->scalar, x, ldx, b, ldb, nrhs, layout));
  if (n == 0 || nrhs == 0) return TRS_SUCCESS;
  const int64_t runs = layout == TRS_COL_MAJOR ? nrhs : n,
                inner = layout == TRS_COL_MAJOR ? n : nrhs;
  TRS_TRY(span(&x_bytes, "x", "stride_x", batch, x, (runs - 1) * ldx + inner, &stride_x));
  TRS_TRY(span(&b_bytes, "b", "stride_b", batch, b, (runs - 1) * ldb + inner, &stride_b));
  TRS_TRY(check_apart(&rhs, x_bytes, b_bytes, stride_x, stride_b));
  rhs.b_next = stride_b;
  rhs.x_next = stride_x;
  return trs_batch_run(batch, &rhs);
}

trs_status trs_batch_solve(trs_plan *plan, void *x, int64_t ldx, int64_t stride_x, const void *b,
                           int64_t ldb, int64_t stride_b, int64_t nrhs, trs_layout layout) {
  TRS_ENTER(plan, "batch");
  return trs_guard_leave(&plan->guard,
                         solve(plan, x, ldx, stride_x, b, ldb, stride_b, nrhs, layout));
}

trs_status trs_batch_get_info(const trs_plan *plan, trs_batch_info *info) {
  if (!plan || !info) return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is NULL", plan ? "info" : "plan");
  TRS_TRY(trs_plan_takes(plan, TRS_TAKE_BATCH, TRS_USE_FACTS));
  TRS_TRY(TRS_STRUCT_CHECK(trs_batch_info, info));
  const trs_batch *B = trs_batch_of(plan);
  trs_batch_info own = {.n = B->n,
                        .nnz = B->triangle[0].system.nnz + B->triangle[1].system.nnz,
                        .count = B->count,
                        .systems_at_once = B->at_once,
                        .threads = B->threads,
                        .bytes = trs_plan_bytes(plan),
                        .method = B->method,
                        .faults = B->faults,
                        .first_fault = B->faults ? B->first_fault : -1};
  return TRS_STRUCT_GIVE(trs_batch_info, info, &own);
}
