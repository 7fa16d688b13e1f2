/* mpi_relax.c - trs_mpi_relax_*: argument checks, agreed on by all ranks, then dispatch. */
#include "api/mpi.h"
#include "api/relax.h"
#include "base/structs.h"
#include "comm/ranks_mpi.h"
#include "matrix/matrix.h"
#include "matrix/rhs.h"
#include "relax/mpi/links.h"

/* ---- Creation ---- */

static bool on_gpu(const trs_context *ctx) { return ctx->backend->gpu && !ctx->group; }

static trs_status take_options(trs_relax_options *own, const trs_context *ctx, int block_size,
                               const trs_relax_options *options) {
  if (!ctx)
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "ctx is NULL: make one by trs_mpi_context_create, as of \"serial\"");
  if (ctx->group)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "a rank relaxes on one GPU or on the CPU: use a context of \"cuda:N\", "
                    "\"threads:T\" or \"serial\", or trs_mpi_context_create");
  return trs_relax_take_options(own, ctx, block_size, options);
}

static trs_status check_same(trs_ranks *ranks, const trs_context *ctx, trs_scalar scalar,
                             int block_size, bool dealt, const trs_relax_options *options) {
  static const char *const names[] = {"the scalar type",   "the block size", "store",
                                      "balanced",          "nrhs",           "the call's kind",
                                      "a context of a GPU"};
  const double values[] = {scalar,
                           block_size,
                           options->store,
                           options->balanced != 0,
                           (double)(options->nrhs > 1 ? options->nrhs : 1),
                           dealt,
                           on_gpu(ctx)};
  return trs_ranks_same(ranks, TRS_SUCCESS, values, names, sizeof values / sizeof *values);
}

static trs_status open_plan(trs_mpi_plan **plan, MPI_Comm comm) {
  TRS_TRY(trs_mpi_open(plan, comm, 0, &(trs_failure){.status = TRS_SUCCESS}));
  (*plan)->relaxation.ranks = &(*plan)->ranks;
  (*plan)->relaxation.link = trs_mpi_links_create;
  return TRS_SUCCESS;
}

/* Rank 0's matrix as a source; an empty one elsewhere. */
static trs_status take_dealt(trs_ranks *ranks, trs_block_source *source, trs_matrix **by_rows,
                             const trs_matrix *A, int block_size, trs_status status) {
  *by_rows = NULL;
  *source = (trs_block_source){.block = block_size};
  if (!status && ranks->rank == 0)
    status = A ? trs_relax_take_matrix(source, by_rows, A, block_size)
               : trs_fail(TRS_ERROR_ARGUMENT, -1, "A is NULL");
  return trs_ranks_agree(ranks, status);
}

static trs_status create(trs_ranks_relaxation *Q, trs_context *ctx, const trs_matrix *A,
                         int block_size, const trs_relax_options *given) {
  trs_block_source source;
  trs_relax_options options;
  trs_matrix *by_rows;
  trs_status status = take_options(&options, ctx, block_size, given);
  status = take_dealt(Q->ranks, &source, &by_rows, A, block_size, status);
  if (!status) status = check_same(Q->ranks, ctx, 0, block_size, true, &options);
  if (!status) status = trs_ranks_relaxation_create(Q, ctx, &source, true, &options);
  trs_matrix_destroy(by_rows);
  return status;
}

trs_status trs_mpi_relax_create(trs_mpi_plan **plan, MPI_Comm comm, trs_context *ctx,
                                const trs_matrix *A, int block_size,
                                const trs_relax_options *options) {
  TRS_TRY(open_plan(plan, comm));
  return trs_mpi_finish(plan, create(&(*plan)->relaxation, ctx, A, block_size, options));
}

trs_status trs_mpi_relax_create_bsr(trs_mpi_plan **plan, MPI_Comm comm, trs_context *ctx,
                                    const trs_blocks *blocks, const trs_relax_options *options) {
  trs_relax_options chosen;
  trs_block_source source;
  trs_blocks B = {0};
  void *taken[2] = {NULL, NULL};
  TRS_TRY(open_plan(plan, comm));
  trs_ranks_relaxation *Q = &(*plan)->relaxation;
  trs_status status = trs_blocks_take(&B, blocks);
  B.ncols = B.nrows;
  if (!status) status = take_options(&chosen, ctx, B.block_size, options);
  if (!status) status = trs_relax_take_blocks(&source, taken, &B);
  status = trs_ranks_agree(Q->ranks, status);
  if (!status) status = check_same(Q->ranks, ctx, B.scalar, B.block_size, false, &chosen);
  if (!status) status = trs_ranks_relaxation_create(Q, ctx, &source, false, &chosen);
  TRS_FREE_ALL(taken[0], taken[1]);
  return trs_mpi_finish(plan, status);
}

/* ---- Values ---- */

static trs_status check_kind(const trs_ranks_relaxation *Q, bool dealt) {
  if (Q->dealt == dealt) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_ARGUMENT, -1,
                  dealt ? "each rank brought its rows: use trs_mpi_relax_update_bsr"
                        : "rank 0 brought a matrix: use trs_mpi_relax_update");
}

static trs_status update(trs_ranks_relaxation *Q, const trs_matrix *A) {
  trs_block_source source;
  trs_matrix *by_rows;
  TRS_TRY(check_kind(Q, true));
  const trs_relaxation *D = Q->R;
  trs_status status = TRS_SUCCESS;
  if (Q->ranks->rank == 0 && A) status = trs_relax_check_like(A, D->scalar, D->ncols * D->block);
  status = take_dealt(Q->ranks, &source, &by_rows, A, D->block, status);
  if (!status) status = trs_ranks_relaxation_update(Q, &source);
  trs_matrix_destroy(by_rows);
  return status;
}

static trs_status update_bsr(trs_ranks_relaxation *Q, const trs_blocks *blocks) {
  trs_block_source source;
  trs_blocks B;
  void *taken[2] = {NULL, NULL};
  TRS_TRY(check_kind(Q, false));
  const trs_relaxation *D = Q->R;
  trs_status status = trs_blocks_take_like(&B, blocks, D->scalar, Q->nrows, D->ncols, D->block);
  B.ncols = B.nrows;
  if (!status) status = trs_relax_take_blocks(&source, taken, &B);
  status = trs_ranks_agree(Q->ranks, status);
  if (!status) status = trs_ranks_relaxation_update(Q, &source);
  TRS_FREE_ALL(taken[0], taken[1]);
  return status;
}

trs_status trs_mpi_relax_update(trs_mpi_plan *plan, const trs_matrix *A) {
  TRS_TRY(trs_mpi_enter(plan, true));
  return trs_guard_leave_updated(&plan->guard, "trs_mpi_relax_update",
                                 update(&plan->relaxation, A));
}

trs_status trs_mpi_relax_update_bsr(trs_mpi_plan *plan, const trs_blocks *blocks) {
  TRS_TRY(trs_mpi_enter(plan, true));
  return trs_guard_leave_updated(&plan->guard, "trs_mpi_relax_update_bsr",
                                 update_bsr(&plan->relaxation, blocks));
}

/* ---- Sweeps ---- */

static trs_status sweep(trs_mpi_plan *plan, void *x, int64_t ldx, const void *b, int64_t ldb,
                        int64_t nrhs, trs_layout layout, const trs_sweep_options *options) {
  trs_sweep_options complete = {0};
  trs_rhs rhs = {.nrhs = nrhs};
  trs_ranks_relaxation *Q = &plan->relaxation;
  const int64_t rows = !Q->dealt ? Q->nrows : Q->ranks->rank == 0 ? Q->R->ncols : 0;
  trs_status status = trs_cancelled();
  if (!status) status = trs_refusal_check(&plan->guard.refusal, "plan");
  if (!status) status = trs_relax_complete(&complete, options);
  if (!status)
    status = trs_rhs_make(&rhs, rows * Q->R->block, Q->R->scalar, x, ldx, b, ldb, nrhs, layout);
  return trs_ranks_relaxation_sweep(Q, status, &rhs, &complete);
}

trs_status trs_mpi_relax_sweep(trs_mpi_plan *plan, void *x, int64_t ldx, const void *b, int64_t ldb,
                               int64_t nrhs, trs_layout layout, const trs_sweep_options *options) {
  TRS_TRY(trs_mpi_enter(plan, true));
  return trs_guard_leave(&plan->guard, sweep(plan, x, ldx, b, ldb, nrhs, layout, options));
}

/* ---- Queries ---- */

static trs_status check_infos(const trs_relax_info *whole, const trs_mpi_relax_info *info,
                              trs_mpi_over over) {
  TRS_TRY(trs_mpi_over_check(over));
  if (whole) TRS_TRY(TRS_STRUCT_CHECK(trs_relax_info, whole));
  return info ? TRS_STRUCT_CHECK(trs_mpi_relax_info, info) : TRS_SUCCESS;
}

static trs_status get_info(trs_ranks_relaxation *Q, trs_relax_info *whole, trs_mpi_relax_info *info,
                           trs_mpi_over over) {
  trs_relax_info all;
  trs_mpi_relax_info own;
  TRS_TRY(trs_ranks_agree(Q->ranks, check_infos(whole, info, over)));
  TRS_TRY(trs_ranks_relaxation_info(Q, &all, &own, over));
  if (whole) TRS_TRY(TRS_STRUCT_GIVE(trs_relax_info, whole, &all));
  return info ? TRS_STRUCT_GIVE(trs_mpi_relax_info, info, &own) : TRS_SUCCESS;
}

trs_status trs_mpi_relax_get_info(trs_mpi_plan *plan, trs_relax_info *whole,
                                  trs_mpi_relax_info *info, trs_mpi_over over) {
  TRS_TRY(trs_mpi_enter(plan, true));
  return trs_guard_leave(&plan->guard, get_info(&plan->relaxation, whole, info, over));
}
