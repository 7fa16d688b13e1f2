/* mpi_relax.c - trs_mpi_relax_*: argument checks, agreed on by all ranks, then dispatch. */
#include <math.h>
#include <string.h>

#include "api/relax.h"
#include "base/structs.h"
#include "comm/ranks_mpi.h"
#include "matrix/matrix.h"
#include "matrix/rhs.h"
#include "relax/backend.h"
#include "relax/kernels.h"
#include "relax/mpi/ranks.h"
#include "trireme_mpi.h"

struct trs_mpi_relaxation {
  trs_mpi_relaxation *next; /* linked list of all relaxations of this process */
  trs_ranks_relaxation own;
};

/* ---- Creation ---- */

static bool on_gpu(const trs_context *ctx) { return ctx->backend->gpu && !ctx->group; }

static trs_status check_context(const trs_context *ctx, const trs_relax_options *options) {
  if (!ctx) return trs_fail(TRS_ERROR_ARGUMENT, -1, "ctx is NULL");
  if (ctx->group)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "a rank relaxes on one GPU or on the CPU: use a context of \"cuda:N\", "
                    "\"threads:T\" or \"serial\", or trs_mpi_context_create");
  if (!on_gpu(ctx) && options->variant && strcmp(options->variant, "auto") != 0)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "variant \"%s\" is a GPU's", options->variant);
  return TRS_SUCCESS;
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

static trs_mpi_relaxation *relaxations;

/* The relaxation that a rank with a NULL argument must mean: the only one of the process.  NULL if
 * the process has none or several. */
static trs_mpi_relaxation *only_one(void) {
  bool one = relaxations && !relaxations->next && !trs_mpi_usable(&relaxations->own.ranks);
  return one ? relaxations : NULL;
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
  made->next = relaxations;
  relaxations = made;
  *result = made;
  return TRS_SUCCESS;
}

static trs_status finish_creation(trs_mpi_relaxation **R, trs_status status) {
  if (!status) return TRS_SUCCESS;
  trs_mpi_relax_destroy(*R);
  *R = NULL;
  return status;
}

/* The matrix argument of the ranks other than 0. */
static trs_block_source nothing(trs_scalar scalar, int block_size) {
  static const int64_t none[1];
  return (trs_block_source){
      .scalar = scalar, .block = block_size, .span = 1, .ptr = none, .matrix = true};
}

/* Rank 0's matrix as a source, and its type for all. */
static trs_status take_dealt(trs_ranks *ranks, trs_block_source *source, trs_matrix **by_rows,
                             const trs_matrix *A, int block_size, trs_status status) {
  *by_rows = NULL;
  if (!status && ranks->rank == 0)
    status = A ? trs_relax_take_matrix(source, by_rows, A, block_size)
               : trs_fail(TRS_ERROR_ARGUMENT, -1, "A is NULL");
  TRS_TRY(trs_ranks_agree(ranks, status));
  int scalar = ranks->rank == 0 ? (int)source->scalar : 0;
  TRS_TRY(trs_ranks_broadcast(ranks, &scalar, sizeof scalar));
  if (ranks->rank) *source = nothing((trs_scalar)scalar, block_size);
  return TRS_SUCCESS;
}

static trs_status create(trs_mpi_relaxation *R, trs_context *ctx, const trs_matrix *A,
                         int block_size, const trs_relax_options *given) {
  trs_block_source source = {.nrows = 0};
  trs_relax_options own, *options = &own;
  trs_matrix *by_rows;
  trs_ranks *ranks = &R->own.ranks;
  trs_status status = trs_relax_take_options(options, block_size, given);
  if (!status) status = check_context(ctx, options);
  status = take_dealt(ranks, &source, &by_rows, A, block_size, status);
  if (!status) status = check_same(ranks, ctx, source.scalar, block_size, true, options);
  if (!status) status = trs_ranks_relaxation_create(&R->own, ctx, &source, true, options);
  trs_matrix_destroy(by_rows);
  return status;
}

trs_status trs_mpi_relax_create(MPI_Comm comm, trs_context *ctx, trs_mpi_relaxation **R,
                                const trs_matrix *A, int block_size,
                                const trs_relax_options *options) {
  TRS_TRY(open_ranks(R, comm));
  return finish_creation(R, create(*R, ctx, A, block_size, options));
}

/* This rank's rows as a source, whose copies are freed with free_blocks. */
static trs_status take_blocks(trs_block_source *source, void *taken[2], trs_scalar scalar,
                              int64_t nrows, int block_size, trs_layout layout, int indexing,
                              const void *ptr, const void *idx, const void *val) {
  taken[0] = taken[1] = NULL;
  *source = trs_relax_blocks(scalar, nrows, block_size, layout, indexing, ptr, idx, val);
  TRS_TRY(trs_relax_check_blocks(scalar, nrows, block_size, layout));
  return trs_block_source_take(source, taken);
}

static void free_blocks(void *taken[2]) {
  trs_free(taken[0]);
  trs_free(taken[1]);
}

trs_status trs_mpi_relax_create_bsr(MPI_Comm comm, trs_context *ctx, trs_mpi_relaxation **R,
                                    trs_scalar scalar, int64_t nrows, int block_size,
                                    trs_layout layout, int indexing, const void *ptr,
                                    const void *idx, const void *val,
                                    const trs_relax_options *options) {
  trs_relax_options chosen;
  trs_block_source source;
  void *taken[2] = {NULL, NULL};
  TRS_TRY(open_ranks(R, comm));
  trs_ranks_relaxation *own = &(*R)->own;
  trs_status status = trs_relax_take_options(&chosen, block_size, options);
  if (!status) status = check_context(ctx, &chosen);
  if (!status)
    status =
        take_blocks(&source, taken, scalar, nrows, block_size, layout, indexing, ptr, idx, val);
  status = trs_ranks_agree(&own->ranks, status);
  if (!status) status = check_same(&own->ranks, ctx, scalar, block_size, false, &chosen);
  if (!status) status = trs_ranks_relaxation_create(own, ctx, &source, false, &chosen);
  free_blocks(taken);
  return finish_creation(R, status);
}

void trs_mpi_relax_destroy(trs_mpi_relaxation *R) {
  if (!R) return;
  trs_mpi_relaxation **at = &relaxations;
  while (*at != R) at = &(*at)->next;
  *at = R->next;
  trs_ranks_relaxation_free(&R->own);
  trs_free(R);
}

/* ---- Values ---- */

static trs_status check_kind(const trs_mpi_relaxation *R, bool dealt) {
  if (!R) {
    trs_status status = trs_fail(TRS_ERROR_ARGUMENT, -1, "R is NULL");
    return only_one() ? trs_ranks_agree(&only_one()->own.ranks, status) : status;
  }
  TRS_TRY(trs_mpi_usable(&R->own.ranks));
  if (R->own.dealt == dealt) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_ARGUMENT, -1,
                  dealt ? "each rank brought its rows: use trs_mpi_relax_update_bsr"
                        : "rank 0 brought a matrix: use trs_mpi_relax_update");
}

trs_status trs_mpi_relax_update(trs_mpi_relaxation *R, const trs_matrix *A) {
  trs_block_source source = {.nrows = 0};
  trs_matrix *by_rows;
  TRS_TRY(check_kind(R, true));
  const trs_relaxation *D = R->own.R;
  trs_status status = TRS_SUCCESS;
  if (R->own.ranks.rank == 0 && A && (A->nrows != D->ncols * D->block || A->scalar != D->scalar))
    status = trs_fail(TRS_ERROR_ARGUMENT, -1,
                      "the matrix has %lld rows, or a type, unlike the %lld at creation",
                      (long long)A->nrows, (long long)D->ncols * D->block);
  status = take_dealt(&R->own.ranks, &source, &by_rows, A, D->block, status);
  if (!status) status = trs_ranks_relaxation_update(&R->own, &source);
  trs_matrix_destroy(by_rows);
  return status;
}

trs_status trs_mpi_relax_update_bsr(trs_mpi_relaxation *R, trs_layout layout, int indexing,
                                    const void *ptr, const void *idx, const void *val) {
  trs_block_source source;
  void *taken[2];
  TRS_TRY(check_kind(R, false));
  const trs_relaxation *D = R->own.R;
  trs_status status = take_blocks(&source, taken, D->scalar, R->own.nrows, D->block, layout,
                                  indexing, ptr, idx, val);
  status = trs_ranks_agree(&R->own.ranks, status);
  if (!status) status = trs_ranks_relaxation_update(&R->own, &source);
  free_blocks(taken);
  return status;
}

/* ---- Sweeps ---- */

static trs_status check_sweep(trs_ranks *ranks, trs_status status, const trs_sweep_options *o,
                              int64_t nrhs) {
  static const char *const names[] = {"nrhs",  "sweeps", "direction",
                                      "omega", "keep_x", "residual_every"};
  const double values[] = {(double)nrhs, (double)o->sweeps, o->direction,
                           o->omega,     o->keep_x != 0,    (double)o->residual_every};
  return trs_ranks_same(ranks, status, values, names, sizeof values / sizeof *values);
}

trs_status trs_mpi_relax_sweep(trs_mpi_relaxation *R, void *x, int64_t ldx, const void *b,
                               int64_t ldb, int64_t nrhs, trs_layout layout,
                               const trs_sweep_options *options) {
  trs_sweep_options complete = {0};
  trs_rhs rhs = {.nrhs = nrhs};
  if (!R) {
    trs_mpi_relaxation *one = only_one();
    trs_status missing = trs_fail(TRS_ERROR_ARGUMENT, -1, "R is NULL");
    return one ? check_sweep(&one->own.ranks, missing, &complete, nrhs) : missing;
  }
  TRS_TRY(trs_mpi_usable(&R->own.ranks));
  trs_ranks_relaxation *Q = &R->own;
  int64_t rows = !Q->dealt ? Q->nrows : Q->ranks.rank == 0 ? Q->R->ncols : 0;
  trs_status status = trs_relax_complete(&complete, options);
  if (!status && Q->dealt && Q->ranks.rank) {
    if (nrhs < 0) status = trs_fail(TRS_ERROR_ARGUMENT, -1, "nrhs is %lld", (long long)nrhs);
  } else if (!status) {
    status = trs_rhs_make(&rhs, rows * Q->R->block, Q->R->scalar, x, ldx, b, ldb, nrhs, layout);
    if (!status && Q->dealt && (trs_device_address(x) || trs_device_address(b)))
      status = trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                        "x and b that rank 0 deals must lie in host memory: only rows that each "
                        "rank brings may lie on its GPU");
  }
  TRS_TRY(check_sweep(&Q->ranks, status, &complete, nrhs));
  return trs_ranks_relaxation_sweep(Q, &rhs, &complete);
}

/* ---- Queries ---- */

typedef struct figures {
  double rows, blocks, longest, halo, messages, bytes, sweep_bytes, frobenius[2], threads, create_s,
      update_s;
} figures;

static figures own_figures(const trs_ranks_relaxation *Q) {
  const trs_relaxation *D = Q->R;
  figures f = {.rows = (double)D->nrows,
               .blocks = (double)D->noff,
               .longest = (double)D->longest,
               .halo = (double)D->nhalo,
               .sweep_bytes = (double)trs_relaxation_sweep_bytes(D),
               .frobenius = {D->frobenius[0], D->frobenius[1]},
               .threads = D->threads,
               .create_s = Q->create_seconds,
               .update_s = Q->update_seconds};
  if (!D->domain) return f;
  int64_t messages = D->domain->send_ptr[D->ncolours];
  f.messages = (double)messages;
  if (messages > 0)
    f.bytes = (double)D->domain->send[messages - 1].end * D->block *
              (double)trs_relax_kernels_of(D->store)->x_size;
  return f;
}

static void spread(trs_mpi_spread *s, double value, int size, bool first) {
  if (first) *s = (trs_mpi_spread){value, 0, value};
  s->min = value < s->min ? value : s->min;
  s->max = value > s->max ? value : s->max;
  s->mean += value / size;
}

static double larger(double a, double b) { return a > b ? a : b; }

static void add_rank(trs_relax_info *w, trs_mpi_relax_info *info, const figures *f, bool first) {
  spread(&info->rows, f->rows, w->domains, first);
  spread(&info->blocks, f->blocks, w->domains, first);
  spread(&info->halo_rows, f->halo, w->domains, first);
  spread(&info->messages, f->messages, w->domains, first);
  spread(&info->bytes, f->bytes, w->domains, first);
  w->nblocks += (int64_t)f->blocks;
  w->sweep_bytes += (int64_t)f->sweep_bytes;
  w->longest_row = (int64_t)larger((double)w->longest_row, f->longest);
  w->threads = (int)larger(w->threads, f->threads);
  w->create_seconds = larger(w->create_seconds, f->create_s);
  w->update_seconds = larger(w->update_seconds, f->update_s);
}

/* Rows of each colour on all ranks. */
static trs_status count_colours(trs_ranks_relaxation *Q, trs_relax_info *w) {
  const trs_relaxation *D = Q->R;
  int64_t *rows;
  trs_status status = TRS_ALLOC(&rows, D->ncolours);
  TRS_TRY(trs_ranks_agree(&Q->ranks, status));
  for (int32_t c = 0; c < D->ncolours; c++) rows[c] = D->colour_ptr[c + 1] - D->colour_ptr[c];
  status = trs_ranks_reduce(&Q->ranks, rows, D->ncolours, sizeof *rows, trs_join_sums);
  w->smallest_colour = D->ncolours ? D->ncols : 0;
  for (int32_t c = 0; c < D->ncolours; c++) {
    if (rows[c] < w->smallest_colour) w->smallest_colour = rows[c];
    if (rows[c] > w->largest_colour) w->largest_colour = rows[c];
  }
  trs_free(rows);
  return status;
}

static trs_status gather_figures(trs_ranks_relaxation *Q, trs_relax_info *w,
                                 trs_mpi_relax_info *info) {
  figures own = own_figures(Q), *all;
  double norm = 0, lost = 0;
  trs_status status = TRS_ALLOC(&all, Q->ranks.size);
  TRS_TRY(trs_ranks_agree(&Q->ranks, status));
  status = trs_ranks_records(&Q->ranks, &own, all, sizeof own);
  for (int r = 0; !status && r < Q->ranks.size; r++) {
    add_rank(w, info, &all[r], r == 0);
    norm = hypot(norm, all[r].frobenius[0]);
    lost = hypot(lost, all[r].frobenius[1]);
  }
  w->rounding = norm > 0 ? lost / norm : 0;
  trs_free(all);
  return status;
}

static trs_status check_infos(const trs_relax_info *whole, const trs_mpi_relax_info *info) {
  if (whole) TRS_TRY(TRS_STRUCT_CHECK(trs_relax_info, whole));
  return info ? TRS_STRUCT_CHECK(trs_mpi_relax_info, info) : TRS_SUCCESS;
}

trs_status trs_mpi_relax_get_info(trs_mpi_relaxation *R, trs_relax_info *whole,
                                  trs_mpi_relax_info *info) {
  if (!R) return trs_fail(TRS_ERROR_ARGUMENT, -1, "R is NULL");
  TRS_TRY(trs_mpi_usable(&R->own.ranks));
  const trs_relaxation *D = R->own.R;
  trs_relax_info all = {.scalar = D->scalar,
                        .store = D->store,
                        .block_size = D->block,
                        .nrows = D->ncols,
                        .colours = D->ncolours,
                        .domains = R->own.ranks.size,
                        .partition = R->own.partition};
  trs_mpi_relax_info own = {.rows = {0}};
  D->backend->describe(D, &all);
  TRS_TRY(trs_ranks_agree(&R->own.ranks, check_infos(whole, info)));
  TRS_TRY(gather_figures(&R->own, &all, &own));
  TRS_TRY(count_colours(&R->own, &all));
  if (whole) TRS_TRY(TRS_STRUCT_GIVE(trs_relax_info, whole, &all));
  return info ? TRS_STRUCT_GIVE(trs_mpi_relax_info, info, &own) : TRS_SUCCESS;
}
