/* mpi_relax.c - trs_mpi_relax_*: argument checks, agreed on by all ranks, then dispatch. */
#include "api/mpi.h"
#include "api/relax.h"
#include "base/guard.h"
#include "base/structs.h"
#include "comm/ranks_mpi.h"
#include "matrix/matrix.h"
#include "matrix/rhs.h"
#include "relax/mpi/links.h"
#include "relax/ranks.h"

struct trs_mpi_relaxation {
  trs_ranks_relaxation own;
  trs_guard guard; /* refuses on all ranks alike */
};

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

/* Opens the ranks on all ranks or on none. */
static trs_status open_ranks(trs_mpi_relaxation **result, MPI_Comm comm) {
  trs_ranks ranks;
  trs_mpi_relaxation *made = NULL;
  if (result) *result = NULL;
  TRS_TRY(trs_ranks_open_mpi(&ranks, comm, 0));
  trs_status status =
      result ? TRS_ALLOC_ZERO(&made, 1) : trs_fail(TRS_ERROR_ARGUMENT, -1, "R is NULL");
  status = trs_ranks_agree(&ranks, status);
  if (status) {
    trs_ranks_close(&ranks);
    trs_free(made);
    return status;
  }
  made->own.ranks = ranks;
  made->own.link = trs_mpi_links_create;
  *result = made;
  return TRS_SUCCESS;
}

static trs_status finish_creation(trs_mpi_relaxation **R, trs_status status) {
  if (!status) return TRS_SUCCESS;
  trs_mpi_relax_destroy(*R);
  *R = NULL;
  return status;
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

static trs_status create(trs_mpi_relaxation *R, trs_context *ctx, const trs_matrix *A,
                         int block_size, const trs_relax_options *given) {
  trs_block_source source;
  trs_relax_options options;
  trs_matrix *by_rows;
  trs_ranks *ranks = &R->own.ranks;
  trs_status status = take_options(&options, ctx, block_size, given);
  status = take_dealt(ranks, &source, &by_rows, A, block_size, status);
  if (!status) status = check_same(ranks, ctx, 0, block_size, true, &options);
  if (!status) status = trs_ranks_relaxation_create(&R->own, ctx, &source, true, &options);
  trs_matrix_destroy(by_rows);
  return status;
}

trs_status trs_mpi_relax_create(trs_mpi_relaxation **R, MPI_Comm comm, trs_context *ctx,
                                const trs_matrix *A, int block_size,
                                const trs_relax_options *options) {
  TRS_TRY(open_ranks(R, comm));
  return finish_creation(R, create(*R, ctx, A, block_size, options));
}

trs_status trs_mpi_relax_create_bsr(trs_mpi_relaxation **R, MPI_Comm comm, trs_context *ctx,
                                    const trs_blocks *blocks, const trs_relax_options *options) {
  trs_relax_options chosen;
  trs_block_source source;
  trs_blocks B = {0};
  void *taken[2] = {NULL, NULL};
  TRS_TRY(open_ranks(R, comm));
  trs_ranks_relaxation *own = &(*R)->own;
  trs_status status = trs_blocks_take(&B, blocks);
  B.ncols = B.nrows;
  if (!status) status = take_options(&chosen, ctx, B.block_size, options);
  if (!status) status = trs_relax_take_blocks(&source, taken, &B);
  status = trs_ranks_agree(&own->ranks, status);
  if (!status) status = check_same(&own->ranks, ctx, B.scalar, B.block_size, false, &chosen);
  if (!status) status = trs_ranks_relaxation_create(own, ctx, &source, false, &chosen);
  TRS_FREE_ALL(taken[0], taken[1]);
  return finish_creation(R, status);
}

void trs_mpi_relax_destroy(trs_mpi_relaxation *R) {
  if (!R) return;
  trs_ranks_relaxation_free(&R->own);
  trs_free(R);
}

/* ---- Values ---- */

static trs_status enter(trs_mpi_relaxation *R) {
  if (!R) return trs_fail(TRS_ERROR_ARGUMENT, -1, "R is NULL");
  TRS_TRY(trs_mpi_usable(&R->own.ranks));
  return trs_guard_take(&R->guard, "relaxation");
}

static trs_status check_kind(const trs_mpi_relaxation *R, bool dealt) {
  if (R->own.dealt == dealt) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_ARGUMENT, -1,
                  dealt ? "each rank brought its rows: use trs_mpi_relax_update_bsr"
                        : "rank 0 brought a matrix: use trs_mpi_relax_update");
}

static trs_status update(trs_mpi_relaxation *R, const trs_matrix *A) {
  trs_block_source source;
  trs_matrix *by_rows;
  TRS_TRY(check_kind(R, true));
  const trs_relaxation *D = R->own.R;
  trs_status status = TRS_SUCCESS;
  if (R->own.ranks.rank == 0 && A) status = trs_relax_check_like(A, D->scalar, D->ncols * D->block);
  status = take_dealt(&R->own.ranks, &source, &by_rows, A, D->block, status);
  if (!status) status = trs_ranks_relaxation_update(&R->own, &source);
  trs_matrix_destroy(by_rows);
  return status;
}

static trs_status update_bsr(trs_mpi_relaxation *R, const trs_blocks *blocks) {
  trs_block_source source;
  trs_blocks B;
  void *taken[2] = {NULL, NULL};
  TRS_TRY(check_kind(R, false));
  const trs_relaxation *D = R->own.R;
  trs_status status = trs_blocks_take_like(&B, blocks, D->scalar, R->own.nrows, D->ncols, D->block);
  B.ncols = B.nrows;
  if (!status) status = trs_relax_take_blocks(&source, taken, &B);
  status = trs_ranks_agree(&R->own.ranks, status);
  if (!status) status = trs_ranks_relaxation_update(&R->own, &source);
  TRS_FREE_ALL(taken[0], taken[1]);
  return status;
}

trs_status trs_mpi_relax_update(trs_mpi_relaxation *R, const trs_matrix *A) {
  TRS_TRY(enter(R));
  return trs_guard_leave_updated(&R->guard, "trs_mpi_relax_update", update(R, A));
}

trs_status trs_mpi_relax_update_bsr(trs_mpi_relaxation *R, const trs_blocks *blocks) {
  TRS_TRY(enter(R));
  return trs_guard_leave_updated(&R->guard, "trs_mpi_relax_update_bsr", update_bsr(R, blocks));
}

/* ---- Sweeps ---- */

static trs_status sweep(trs_mpi_relaxation *R, void *x, int64_t ldx, const void *b, int64_t ldb,
                        int64_t nrhs, trs_layout layout, const trs_sweep_options *options) {
  trs_sweep_options complete = {0};
  trs_rhs rhs = {.nrhs = nrhs};
  const trs_ranks_relaxation *Q = &R->own;
  const int64_t rows = !Q->dealt ? Q->nrows : Q->ranks.rank == 0 ? Q->R->ncols : 0;
  trs_status status = trs_cancelled();
  if (!status) status = trs_refusal_check(&R->guard.refusal, "relaxation");
  if (!status) status = trs_relax_complete(&complete, options);
  if (!status)
    status = trs_rhs_make(&rhs, rows * Q->R->block, Q->R->scalar, x, ldx, b, ldb, nrhs, layout);
  return trs_ranks_relaxation_sweep(&R->own, status, &rhs, &complete);
}

trs_status trs_mpi_relax_sweep(trs_mpi_relaxation *R, void *x, int64_t ldx, const void *b,
                               int64_t ldb, int64_t nrhs, trs_layout layout,
                               const trs_sweep_options *options) {
  TRS_TRY(enter(R));
  return trs_guard_leave(&R->guard, sweep(R, x, ldx, b, ldb, nrhs, layout, options));
}

/* ---- Queries ---- */

static trs_status check_infos(const trs_relax_info *whole, const trs_mpi_relax_info *info,
                              trs_mpi_over over) {
  TRS_TRY(trs_mpi_over_check(over));
  if (whole) TRS_TRY(TRS_STRUCT_CHECK(trs_relax_info, whole));
  return info ? TRS_STRUCT_CHECK(trs_mpi_relax_info, info) : TRS_SUCCESS;
}

static trs_status get_info(trs_mpi_relaxation *R, trs_relax_info *whole, trs_mpi_relax_info *info,
                           trs_mpi_over over) {
  trs_relax_info all;
  trs_mpi_relax_info own;
  TRS_TRY(trs_ranks_agree(&R->own.ranks, check_infos(whole, info, over)));
  TRS_TRY(trs_ranks_relaxation_info(&R->own, &all, &own, over));
  if (whole) TRS_TRY(TRS_STRUCT_GIVE(trs_relax_info, whole, &all));
  return info ? TRS_STRUCT_GIVE(trs_mpi_relax_info, info, &own) : TRS_SUCCESS;
}

trs_status trs_mpi_relax_get_info(trs_mpi_relaxation *R, trs_relax_info *whole,
                                  trs_mpi_relax_info *info, trs_mpi_over over) {
  TRS_TRY(enter(R));
  return trs_guard_leave(&R->guard, get_info(R, whole, info, over));
}
