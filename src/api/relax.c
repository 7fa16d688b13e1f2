/* relax.c - trs_relax_* and trs_update_bsr: argument checks, then dispatch. */
#include "api/relax.h"

#include <float.h>
#include <string.h>

#include "base/cancel.h"
#include "base/options.h"
#include "base/structs.h"
#include "matrix/indexing.h"
#include "matrix/matrix.h"
#include "matrix/rhs.h"
#include "relax/backend.h"

trs_status trs_relax_take_options(trs_relax_options *own, const trs_context *ctx, int block_size,
                                  const trs_relax_options *options) {
  TRS_TRY(TRS_STRUCT_TAKE(trs_relax_options, own, options));
  const trs_option numbers[] = {{"store", (int)own->store, 0, TRS_STORE_BFLOAT},
                                {"balanced", own->balanced, 0, 1},
                                {"nrhs", own->nrhs, 0, INT32_MAX}};
  TRS_TRY(trs_options_check("trs_relax_options", numbers, sizeof numbers / sizeof *numbers));
  if (own->store == TRS_STORE_DEFAULT) own->store = TRS_STORE_MIXED;
  if (block_size < 1 || block_size > TRS_RELAX_MOST_BLOCK)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "the block size is %d; 1 to %d is wanted", block_size,
                    TRS_RELAX_MOST_BLOCK);
  if (own->variant && strcmp(own->variant, "auto") != 0 && !ctx->backend->gpu)
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "variant \"%s\" is a GPU's: use a context of \"cuda\" or \"cuda:N\"",
                    own->variant);
  return TRS_SUCCESS;
}

static trs_status check_context(const trs_context *ctx) {
  TRS_TRY(trs_context_check(ctx));
  if (ctx->backend->kind == TRS_KIND_OPENCL)
    return trs_fail(
        TRS_ERROR_UNSUPPORTED, -1,
        "relaxation does not run on OpenCL devices: use a context such as \"threads\" or "
        "\"cuda\"");
  if (ctx->group && !trs_group_one_process(ctx->group))
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "relaxation on several GPUs works within one process: use a context such as "
                    "\"cuda:0-3\"");
  return TRS_SUCCESS;
}

static trs_status check_real(trs_scalar scalar) {
  if (!trs_scalar_valid(scalar))
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "scalar %d is not one of trs_scalar's", scalar);
  if (trs_scalar_is_complex(scalar))
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "relaxation takes real matrices; this is complex");
  return TRS_SUCCESS;
}

trs_status trs_relax_take_matrix(trs_block_source *source, trs_matrix **by_rows,
                                 const trs_matrix *A, int block_size) {
  *by_rows = NULL;
  if (A->format != TRS_CSR || trs_matrix_is_deferred(A))
    TRS_TRY(trs_matrix_need_host(
        A, A->format == TRS_CSR ? "relaxation" : "relaxation of a matrix by columns"));
  TRS_TRY(trs_matrix_fill(A));
  trs_matrix_renew(A);
  TRS_TRY(check_real(A->scalar));
  if (A->nrows != A->ncols)
    return trs_fail(TRS_ERROR_STRUCTURE, -1, "the matrix is %lld x %lld, not square",
                    (long long)A->nrows, (long long)A->ncols);
  if (A->nrows % block_size)
    return trs_fail(
        TRS_ERROR_ARGUMENT, -1,
        "blocks of %d do not divide the %lld rows: block row %lld (0-based) would have %lld",
        block_size, (long long)A->nrows, (long long)(A->nrows / block_size),
        (long long)(A->nrows % block_size));
  if (A->format != TRS_CSR) TRS_TRY(trs_matrix_convert(by_rows, A, TRS_CSR, A->scalar));
  const trs_matrix *B = *by_rows ? *by_rows : A;
  *source = trs_block_source_by_entries(B->scalar, B->nrows, B->ncols, B->ptr, B->idx, B->val,
                                        block_size);
  return TRS_SUCCESS;
}

static trs_status check_blocks(const trs_blocks *B) {
  TRS_TRY(check_real(B->scalar));
  if (B->nrows < 0 || B->nrows > INT32_MAX / B->block_size)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "%lld block rows: 0 .. %d is wanted",
                    (long long)B->nrows, INT32_MAX / B->block_size);
  if (B->nrows != B->ncols)
    return trs_fail(TRS_ERROR_STRUCTURE, -1, "the matrix has %lld x %lld blocks: it is not square",
                    (long long)B->nrows, (long long)B->ncols);
  return TRS_SUCCESS;
}

static trs_block_source blocks_of(const trs_blocks *B) {
  trs_block_source S = {
      .scalar = B->scalar, .block = B->block_size, .span = 1, .layout = B->layout};
  S.nrows = S.ncols = B->nrows;
  S.ptr = B->ptr, S.idx = B->idx, S.val = B->val, S.indexing = B->indexing;
  return S;
}

trs_status trs_relax_take_blocks(trs_block_source *source, void *taken[2], const trs_blocks *B) {
  taken[0] = taken[1] = NULL;
  *source = blocks_of(B);
  TRS_TRY(check_blocks(B));
  return trs_block_source_take(source, taken);
}

/* Brings a source's arrays to the host and to the library's index type; free_copies frees the
 * copies, also after a failure. */
enum { COPIES = 5 };

static trs_status bring(trs_block_source *source, void *copies[COPIES], trs_device *device,
                        trs_stream stream) {
  copies[3] = copies[4] = NULL;
  trs_status status = trs_indexing_check(source->indexing);
  if (status) copies[0] = copies[1] = copies[2] = NULL;
  if (!status) status = trs_block_source_fetch(source, copies, device, stream);
  return status ? status : trs_block_source_take(source, copies + 3);
}

static void free_copies(void *const copies[COPIES]) {
  for (int k = 0; k < COPIES; k++) trs_free(copies[k]);
}

/* The device on whose streams the caller's work runs. */
static trs_device *device_of(const trs_context *ctx) {
  return ctx->group ? trs_group_device(ctx->group, 0) : ctx->device;
}

static trs_status create_from(trs_context *ctx, trs_plan **plan, trs_block_source *source,
                              const trs_relax_options *options) {
  void *copies[COPIES];
  trs_relaxation *R;
  trs_status status = bring(source, copies, device_of(ctx), NULL);
  if (!status) status = trs_relaxation_create(&R, ctx, source, options);
  if (!status) *plan = R->plan;
  free_copies(copies);
  return status;
}

static trs_status update_from(trs_plan *plan, trs_block_source *source) {
  void *copies[COPIES];
  TRS_TRY(trs_plan_check(plan));
  trs_status status = bring(source, copies, device_of(plan->context), plan->stream);
  if (!status && !source->matrix) status = trs_block_source_check(source);
  if (!status) status = trs_relaxation_update(plan->state, source);
  free_copies(copies);
  return status;
}

trs_status trs_relax_create(trs_plan **plan, trs_context *ctx, const trs_matrix *A, int block_size,
                            const trs_relax_options *options) {
  trs_relax_options own;
  trs_block_source source;
  trs_matrix *by_rows;
  if (plan) *plan = NULL;
  if (!ctx || !plan || !A)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is NULL", !ctx ? "ctx" : !plan ? "plan" : "A");
  TRS_TRY(trs_relax_take_options(&own, ctx, block_size, options));
  TRS_TRY(check_context(ctx));
  TRS_TRY(trs_relax_take_matrix(&source, &by_rows, A, block_size));
  trs_status status = create_from(ctx, plan, &source, &own);
  trs_matrix_destroy(by_rows);
  return status;
}

trs_status trs_relax_create_bsr(trs_plan **plan, trs_context *ctx, const trs_blocks *blocks,
                                const trs_relax_options *options) {
  trs_relax_options own;
  trs_blocks B;
  if (plan) *plan = NULL;
  if (!ctx || !plan) return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is NULL", ctx ? "plan" : "ctx");
  TRS_TRY(trs_blocks_take(&B, blocks));
  TRS_TRY(trs_relax_take_options(&own, ctx, B.block_size, options));
  TRS_TRY(check_context(ctx));
  TRS_TRY(check_blocks(&B));
  trs_block_source source = blocks_of(&B);
  return create_from(ctx, plan, &source, &own);
}

trs_status trs_relax_check_like(const trs_matrix *A, trs_scalar scalar, int64_t rows) {
  if (A->nrows == rows && A->scalar == scalar) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_ARGUMENT, -1,
                  "the matrix has %lld rows, or a type, unlike the %lld at creation",
                  (long long)A->nrows, (long long)rows);
}

trs_status trs_relax_refresh(trs_plan *plan, const trs_matrix *A) {
  const trs_relaxation *R = plan->state;
  trs_block_source source;
  trs_matrix *by_rows;
  TRS_TRY(trs_relax_check_like(A, R->scalar, plan->system.n));
  TRS_TRY(trs_relax_take_matrix(&source, &by_rows, A, R->block));
  trs_status status = update_from(plan, &source);
  trs_matrix_destroy(by_rows);
  return status;
}

static trs_status refresh_by_blocks(trs_plan *plan, const trs_blocks *given) {
  const trs_relaxation *R = plan->state;
  trs_blocks B;
  TRS_TRY(trs_blocks_take_like(&B, given, R->scalar, R->nrows, R->nrows, R->block));
  trs_block_source source = blocks_of(&B);
  return update_from(plan, &source);
}

/* Values in device memory stay there; ptr NULL: the pattern of the call before. */
static trs_status bring_pattern(trs_block_source *source, void *copies[COPIES],
                                const trs_plan *plan) {
  const void *val = source->val;
  const bool stays = trs_refactor_takes(plan, val);
  for (int k = 0; k < COPIES; k++) copies[k] = NULL;
  if (stays && !source->ptr) return TRS_SUCCESS;
  if (stays) source->val = NULL;
  trs_status status = bring(source, copies, device_of(plan->context), plan->stream);
  if (stays) source->val = val;
  return status;
}

static trs_status refactor(trs_plan *plan, const trs_blocks *given) {
  void *copies[COPIES];
  trs_blocks B;
  TRS_TRY(trs_plan_check(plan));
  TRS_TRY(trs_refactor_begin(plan));
  const int block = trs_triangle_of(plan->sweep[0])->block;
  const int64_t rows = plan->system.n / block;
  TRS_TRY(trs_blocks_take_like(&B, given, plan->system.scalar, rows, rows, block));
  trs_block_source source = blocks_of(&B);
  trs_status status = bring_pattern(&source, copies, plan);
  if (!status) status = trs_refactor_blocks(plan, &source);
  free_copies(copies);
  return status;
}

static trs_status update_by_blocks(trs_plan *plan, const trs_blocks *given) {
  TRS_TRY(trs_cancelled());
  return plan->kind == TRS_OF_FACTORS ? refactor(plan, given) : refresh_by_blocks(plan, given);
}

trs_status trs_update_bsr(trs_plan *plan, const trs_blocks *blocks) {
  TRS_ENTER_ALWAYS(plan, "plan");
  trs_status status = trs_plan_check_update(plan, TRS_TAKE_FACTORS | TRS_TAKE_RELAXATION);
  if (!status && plan->kind == TRS_OF_FACTORS) status = trs_refactor_check(plan);
  if (status) return trs_guard_leave(&plan->guard, status);
  return trs_guard_leave_updated(&plan->guard, "trs_update_bsr", update_by_blocks(plan, blocks));
}

trs_status trs_relax_complete(trs_sweep_options *options, const trs_sweep_options *given) {
  TRS_TRY(TRS_STRUCT_TAKE(trs_sweep_options, options, given));
  const trs_option numbers[] = {{"sweeps", options->sweeps, 0, INT32_MAX},
                                {"direction", (int)options->direction, 0, TRS_SWEEP_SYMMETRIC},
                                {"keep_x", options->keep_x, 0, 1},
                                {"residual_every", options->residual_every, 0, INT64_MAX}};
  TRS_TRY(trs_options_check("trs_sweep_options", numbers, sizeof numbers / sizeof *numbers));
  TRS_TRY(trs_option_check_real("trs_sweep_options", "omega", options->omega, -DBL_MAX, DBL_MAX));
  if (options->residual_every && !options->residuals)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "residual_every is given, but residuals is NULL");
  if (!options->residual_every) options->residuals = NULL;
  if (!options->sweeps) options->sweeps = 1;
  if (options->omega == 0) options->omega = 1;
  return TRS_SUCCESS;
}

static trs_status sweep(trs_plan *plan, void *x, int64_t ldx, const void *b, int64_t ldb,
                        int64_t nrhs, trs_layout layout, const trs_sweep_options *options) {
  trs_sweep_options own;
  trs_rhs rhs;
  TRS_TRY(trs_plan_takes(plan, TRS_TAKE_RELAXATION, TRS_USE_SOLVE));
  TRS_TRY(trs_relax_complete(&own, options));
  TRS_TRY(trs_rhs_make(&rhs, plan->system.n, plan->system.scalar, x, ldx, b, ldb, nrhs, layout));
  TRS_TRY(trs_refusal_check(&plan->guard.refusal, "plan"));
  return trs_relaxation_sweep(plan->state, &rhs, &own);
}

trs_status trs_relax_sweep(trs_plan *plan, void *x, int64_t ldx, const void *b, int64_t ldb,
                           int64_t nrhs, trs_layout layout, const trs_sweep_options *options) {
  TRS_ENTER(plan, "plan");
  return trs_guard_leave(&plan->guard, sweep(plan, x, ldx, b, ldb, nrhs, layout, options));
}

trs_status trs_relax_get_info(const trs_plan *plan, trs_relax_info *info) {
  trs_relax_info own;
  if (!plan || !info) return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is NULL", plan ? "info" : "plan");
  TRS_TRY(trs_plan_takes(plan, TRS_TAKE_RELAXATION, TRS_USE_FACTS));
  trs_relaxation_info(plan, &own);
  return TRS_STRUCT_GIVE(trs_relax_info, info, &own);
}
