/* mpi.c - trireme_mpi.h without relaxation: checks of arguments, then dispatch. */
#include "api/mpi.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/options.h"
#include "base/structs.h"
#include "comm/ranks_mpi.h"
#include "matrix/rhs.h"
#include "solve/grid3d/vectors.h"

enum { DEFAULT_WIDTH = 128, DEFAULT_RELAX = 20, ZEROS_A_COLUMN = 6, NRHS_AT_ONCE = 256 };

static const char *const inversions[] = {"blocks", "separators", "auto"}; /* trs_invert */
enum { NINVERSIONS = 3 };

enum { GRID3D, BASELINE, GRID2D, ALGORITHM_4, ALGORITHM_5, ALGORITHM_2, NO_LOOKAHEAD, NMETHODS };
static const char *const methods[] = {[GRID3D] = "grid3d",
                                      [BASELINE] = "grid3d-baseline",
                                      [GRID2D] = "grid2d",
                                      [ALGORITHM_4] = "grid3d:algorithm=4",
                                      [ALGORITHM_5] = "grid3d:algorithm=5",
                                      [ALGORITHM_2] = "grid3d:algorithm=2",
                                      [NO_LOOKAHEAD] = "grid3d-baseline:lookahead=0"};
static const trs_grid_algorithm algorithm_of[NMETHODS] = {[BASELINE] = TRS_GRID3D_BASELINE,
                                                          [ALGORITHM_2] = TRS_GRID3D_ALGORITHM_2,
                                                          [NO_LOOKAHEAD] = TRS_GRID3D_NO_LOOKAHEAD};

/* ---- Options. ---- */

static trs_status check_context(const trs_context *ctx, const trs_mpi_options *options,
                                int method) {
  const trs_context_kind kind = trs_context_get_kind(ctx, NULL);
  const bool gpu = kind == TRS_KIND_GPU;
  if (ctx && !gpu && kind != TRS_KIND_THREADS)
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "a rank solves on one GPU or on threads of the CPU: use a context of "
                    "trs_mpi_context_create, not one of %s",
                    ctx->backend->name);
  if ((method == ALGORITHM_4 || method == ALGORITHM_5) && !gpu)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s needs a GPU: a context of \"cuda\"",
                    methods[method]);
  if ((method == BASELINE || method == ALGORITHM_2 || method == NO_LOOKAHEAD) && ctx)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "%s solves by block operations: leave out the %s, or take grid3d",
                    methods[method], gpu ? "GPU" : "threads");
  bool spread = options->px > 1 || options->py > 1;
  if (ctx && !gpu && spread)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "a grid of %d x %d x %d on %s: there each grid is one rank, so that Px and Py "
                    "must be 1: 1 x 1 x P on P ranks",
                    options->px, options->py, options->pz, ctx->backend->name);
  if (method == ALGORITHM_4 && spread)
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "Algorithm 4 solves grids of one GPU, not %d x %d x %d: take grid3d",
                    options->px, options->py, options->pz);
  if (method == ALGORITHM_5 && (options->px < 2 || options->py != 1))
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "Algorithm 5 solves grids of several GPUs with Py = 1, not %d x %d x %d: take "
                    "px of at least 2 and py = 1 (--grid 2x1x4), or grid3d",
                    options->px, options->py, options->pz);
  if (spread && options->in_turn)
    return trs_fail(
        TRS_ERROR_ARGUMENT, -1,
        "ranks of a grid of %d x %d x %d wait for each other: they cannot sweep in turn",
        options->px, options->py, options->pz);
  return TRS_SUCCESS;
}

/* Sets all options except the context and a shape that the library chooses. */
static trs_status take_options(trs_grid_options *set, int *chosen, const trs_context *ctx,
                               trs_trans trans, const trs_mpi_options *options) {
  int method = GRID3D;
  if (options->method)
    for (method = 0; method < NMETHODS && strcmp(methods[method], options->method) != 0;) method++;
  *chosen = method;
  if (method == NMETHODS)
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "there is no method \"%s\" for ranks: grid3d, grid3d:algorithm=2, "
                    "grid3d:algorithm=4 or 5 (GPUs), grid3d-baseline, grid3d-baseline:lookahead=0 "
                    "or grid2d",
                    options->method);
  TRS_TRY(check_context(ctx, options, method));
  if (method == GRID2D && options->pz > 1)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "grid2d has one grid, not Pz = %d", options->pz);
  int invert = method == GRID3D || method == ALGORITHM_4 ? TRS_INVERT_DENSE : TRS_INVERT_BLOCKS;
  if (options->invert)
    for (invert = 0; invert < NINVERSIONS && strcmp(inversions[invert], options->invert) != 0;)
      invert++;
  if (invert == NINVERSIONS)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "invert is \"%s\": it takes blocks, separators or auto",
                    options->invert);
  if (method == ALGORITHM_5 && invert != TRS_INVERT_BLOCKS)
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "Algorithm 5 inverts the triangles of supernodes (blocks), not \"%s\"",
                    inversions[invert]);
  if ((unsigned)trans > TRS_CONJ_TRANS)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "trans = %d", (int)trans);
  *set = (trs_grid_options){.algorithm = algorithm_of[method],
                            .trees = options->flat_trees ? TRS_TREE_FLAT : TRS_TREE_BINARY,
                            .shape = {options->px, options->py, options->pz},
                            .one_grid = method == GRID2D,
                            .supernodes = {.width = options->width ? options->width : DEFAULT_WIDTH,
                                           .relax = options->relax < 0   ? 0
                                                    : options->relax > 0 ? options->relax
                                                                         : DEFAULT_RELAX,
                                           .few = options->relax < 0 ? 0 : ZEROS_A_COLUMN,
                                           .scattered = options->scattered || method == ALGORITHM_5,
                                           .invert = (trs_invert)invert},
                            .nrhs = NRHS_AT_ONCE,
                            .in_turn = options->in_turn && ctx,
                            .plans = {.method = method == ALGORITHM_4 ? "supernodal" : NULL,
                                      .by_columns = method == ALGORITHM_5,
                                      .nrhs = options->nrhs,
                                      .mpi_reads_device = trs_mpi_reads_device()}};
  return TRS_SUCCESS;
}

/* Ranks with different options would wait for messages that never come, or misread messages. */
static trs_status compare_options(trs_ranks *ranks, const trs_grid_options *set, int method,
                                  const trs_context *ctx, trs_trans trans,
                                  const trs_mpi_options *options) {
  static const char *const name[] = {"method",
                                     "px",
                                     "py",
                                     "pz",
                                     "flat_trees",
                                     "width",
                                     "relax",
                                     "trans",
                                     "scattered",
                                     "scalar",
                                     "invert",
                                     "nrhs",
                                     "the context's backend",
                                     "in_turn"};
  const trs_layout_options *of = &set->supernodes;
  const double own[] = {method,
                        set->shape.x,
                        set->shape.y,
                        set->shape.z,
                        set->trees,
                        (double)of->width,
                        (double)of->relax,
                        trans,
                        of->scattered,
                        options->scalar,
                        of->invert,
                        (double)options->nrhs,
                        ctx ? ctx->backend->name[0] : 0,
                        options->in_turn};
  return trs_ranks_same(ranks, TRS_SUCCESS, own, name, sizeof own / sizeof *own);
}

/* ---- Calls. ---- */

trs_status trs_mpi_context_create(trs_context **ctx, MPI_Comm comm, const char *where) {
  trs_ranks ranks;
  trs_context *made = NULL;
  if (ctx) *ctx = NULL;
  TRS_TRY(trs_ranks_open_mpi(&ranks, comm, 0));
  trs_status status =
      ctx ? TRS_SUCCESS : trs_fail(TRS_ERROR_ARGUMENT, -1, "the address of the context is NULL");
  status = trs_ranks_agree(&ranks, status);
  if (!status) status = trs_ranks_open_context(&ranks, &made, where);
  if (!status) *ctx = made;
  trs_ranks_close(&ranks);
  return status;
}

/* The caller's options, converted to the library's version of the struct. */
static trs_status take_struct(trs_mpi_options *own, const trs_mpi_options *options) {
  TRS_TRY(TRS_STRUCT_TAKE(trs_mpi_options, own, options));
  const trs_option numbers[] = {
      {"px", own->px, 0, INT32_MAX},       {"py", own->py, 0, INT32_MAX},
      {"pz", own->pz, 0, INT32_MAX},       {"flat_trees", own->flat_trees, 0, 1},
      {"width", own->width, 0, INT32_MAX}, {"relax", own->relax, -1, 100},
      {"scattered", own->scattered, 0, 1}, {"scalar", (int)own->scalar, 0, TRS_DCOMPLEX},
      {"nrhs", own->nrhs, 0, INT64_MAX},   {"in_turn", own->in_turn, 0, 1}};
  TRS_TRY(trs_options_check("trs_mpi_options", numbers, sizeof numbers / sizeof *numbers));
  if (own->nrhs > INT32_MAX) own->nrhs = INT32_MAX; /* a hint, which estimates multiply */
  return trs_option_check_real("trs_mpi_options", "timeout_seconds", own->timeout_seconds, -DBL_MAX,
                               DBL_MAX);
}

trs_status trs_mpi_open(trs_mpi_plan **plan, MPI_Comm comm, double limit,
                        const trs_failure *wrong) {
  trs_ranks ranks;
  trs_mpi_plan *made = NULL;
  if (plan) *plan = NULL;
  TRS_TRY(trs_ranks_open_mpi(&ranks, comm, limit));
  trs_status status = wrong->status ? trs_failure_set(wrong) : TRS_SUCCESS;
  if (!status)
    status = plan ? TRS_ALLOC_ZERO(&made, 1)
                  : trs_fail(TRS_ERROR_ARGUMENT, -1, "the address of the plan is NULL");
  status = trs_ranks_agree(&ranks, status);
  if (status) {
    trs_ranks_close(&ranks);
    trs_free(made);
    return status;
  }
  made->ranks = ranks;
  *plan = made;
  return TRS_SUCCESS;
}

trs_status trs_mpi_finish(trs_mpi_plan **plan, trs_status status) {
  if (!status) return TRS_SUCCESS;
  trs_mpi_plan_destroy(*plan);
  *plan = NULL;
  return status;
}

/* The limit of waits is the caller's also where another option is wrong. */
static trs_status open_plan(trs_mpi_plan **plan, MPI_Comm comm, trs_mpi_options *own,
                            const trs_mpi_options *options) {
  trs_failure wrong = {0};
  if (take_struct(own, options)) trs_failure_get(&wrong);
  return trs_mpi_open(plan, comm, isfinite(own->timeout_seconds) ? own->timeout_seconds : 0,
                      &wrong);
}

/* Checks the options and that all ranks have the same, before anything is read. */
static trs_status begin(trs_mpi_plan *plan, trs_grid_options *set, trs_context *ctx,
                        trs_trans trans, const trs_mpi_options *options) {
  int method = 0;
  TRS_TRY(trs_ranks_agree(&plan->ranks, take_options(set, &method, ctx, trans, options)));
  plan->method = methods[method];
  TRS_TRY(compare_options(&plan->ranks, set, method, ctx, trans, options));
  if (!ctx) return TRS_SUCCESS;
  TRS_TRY(trs_ranks_keep_context(&plan->ranks, &plan->context, ctx, &plan->gpus));
  set->plans.context = plan->context;
  set->plans.machine = plan->gpus.machine;
  return TRS_SUCCESS;
}

static trs_status analyze(trs_mpi_plan **plan, MPI_Comm comm, trs_context *ctx, trs_input_kind kind,
                          const void *source, trs_trans trans, const trs_mpi_options *options) {
  trs_grid_input in = {0};
  trs_grid_options set;
  trs_mpi_options own;
  TRS_TRY(open_plan(plan, comm, &own, options));
  trs_ranks *ranks = &(*plan)->ranks;
  trs_status status = begin(*plan, &set, ctx, trans, &own);
  if (!status) status = trs_input_open(&in, kind, source, own.scalar, trans, ranks);
  if (!status) status = trs_grid_solver_create(&(*plan)->solver, ranks, &in, &set);
  if (in.close) in.close(&in);
  return trs_mpi_finish(plan, status);
}

trs_status trs_mpi_analyze(trs_mpi_plan **plan, MPI_Comm comm, trs_context *ctx,
                           const trs_factors *F, trs_trans trans, const trs_mpi_options *options) {
  return analyze(plan, comm, ctx, TRS_INPUT_FACTORS, F, trans, options);
}

trs_status trs_mpi_analyze_file(trs_mpi_plan **plan, MPI_Comm comm, trs_context *ctx,
                                const char *path, trs_trans trans, const trs_mpi_options *options) {
  return analyze(plan, comm, ctx, TRS_INPUT_FILE, path, trans, options);
}

trs_status trs_mpi_analyze_blocks(trs_mpi_plan **plan, MPI_Comm comm, trs_context *ctx,
                                  const trs_mpi_blocks *blocks, trs_trans trans,
                                  const trs_mpi_options *options) {
  return analyze(plan, comm, ctx, TRS_INPUT_BLOCKS, blocks, trans, options);
}

trs_status trs_mpi_analyze_rows(trs_mpi_plan **plan, MPI_Comm comm, trs_context *ctx,
                                const trs_mpi_rows *rows, trs_trans trans,
                                const trs_mpi_options *options) {
  return analyze(plan, comm, ctx, TRS_INPUT_ROWS, rows, trans, options);
}

trs_status trs_mpi_enter(trs_mpi_plan *plan, bool relaxes) {
  if (!plan) return trs_fail(TRS_ERROR_ARGUMENT, -1, "the plan is NULL");
  if (relaxes != (plan->relaxation.R != NULL))
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "the plan is of %s: call %s",
                    relaxes ? "factors" : "relaxation",
                    relaxes ? "trs_mpi_solve, trs_mpi_refine or trs_mpi_get_stats"
                            : "trs_mpi_relax_sweep or trs_mpi_relax_get_info");
  TRS_TRY(trs_mpi_usable(&plan->ranks));
  return trs_guard_take(&plan->guard, "plan");
}

static trs_status distribute(trs_mpi_plan *plan, int64_t first_row, int64_t rows) {
  const int64_t n = plan->solver.part.layout->n;
  trs_status status = trs_cancelled();
  if (!status && (first_row < 0 || rows < 0 || rows > n || (rows && first_row > n - rows)))
    status = trs_fail(TRS_ERROR_ARGUMENT, -1, "first_row = %lld, rows = %lld of the matrix's %lld",
                      (long long)first_row, (long long)rows, (long long)n);
  TRS_TRY(trs_ranks_agree(&plan->ranks, status));
  return trs_grid_solver_distribute(&plan->solver, first_row, rows);
}

trs_status trs_mpi_distribute(trs_mpi_plan *plan, int64_t first_row, int64_t rows) {
  TRS_TRY(trs_mpi_enter(plan, false));
  return trs_guard_leave(&plan->guard, distribute(plan, first_row, rows));
}

/* This rank's rows.  A single run has any leading dimension. */
static trs_status make_rhs(trs_rhs *rhs, const trs_mpi_plan *plan, void *x, int64_t ldx,
                           const void *b, int64_t ldb, int64_t nrhs, trs_layout layout) {
  const int64_t *first = plan->solver.moves.first + plan->ranks.rank;
  const int64_t rows = first[1] - first[0];
  const bool by_rows = layout == TRS_ROW_MAJOR;
  *rhs = (trs_rhs){.nrhs = nrhs};
  TRS_TRY(trs_cancelled());
  if (rows == 0 || (by_rows ? rows : nrhs) == 1) ldx = ldb = by_rows ? nrhs : rows;
  return trs_rhs_make(rhs, rows, plan->solver.part.scalar, x, ldx, b, ldb, nrhs, layout);
}

trs_status trs_mpi_set_stream(trs_mpi_plan *plan, void *stream) {
  TRS_ENTER(plan, "plan");
  plan->solver.stream = stream;
  if (plan->relaxation.R) plan->relaxation.R->plan->stream = stream;
  return trs_guard_leave(&plan->guard, TRS_SUCCESS);
}

trs_status trs_mpi_solve(trs_mpi_plan *plan, void *x, int64_t ldx, const void *b, int64_t ldb,
                         int64_t nrhs, trs_layout layout) {
  trs_rhs rhs;
  TRS_TRY(trs_mpi_enter(plan, false));
  const trs_status status = make_rhs(&rhs, plan, x, ldx, b, ldb, nrhs, layout);
  return trs_guard_leave(&plan->guard, trs_grid_vectors_solve(&plan->solver, status, &rhs));
}

trs_status trs_mpi_refine(trs_mpi_plan *plan, void *x, int64_t ldx, double *error, int *taken,
                          const void *b, int64_t ldb, int64_t nrhs, trs_layout layout,
                          const trs_matrix *rows, int steps) {
  trs_rhs rhs;
  double left;
  int used;
  TRS_TRY(trs_mpi_enter(plan, false));
  const trs_status status = make_rhs(&rhs, plan, x, ldx, b, ldb, nrhs, layout);
  return trs_guard_leave(&plan->guard,
                         trs_grid_vectors_refine(&plan->solver, status, &rhs, rows, steps,
                                                 error ? error : &left, taken ? taken : &used));
}

void trs_mpi_plan_destroy(trs_mpi_plan *plan) {
  if (!plan) return;
  trs_ranks_relaxation_free(&plan->relaxation);
  trs_grid_solver_destroy(&plan->solver);
  trs_context_destroy(plan->context);
  trs_ranks_close(&plan->ranks);
  trs_free(plan);
}

trs_status trs_mpi_agree(MPI_Comm comm, trs_status status) {
  trs_ranks ranks;
  trs_failure own = {0};
  if ((unsigned)status > TRS_STATUS_LAST)
    status =
        trs_fail(TRS_ERROR_ARGUMENT, -1, "status = %d is not one of trs_status's", (int)status);
  else if (status && status != trs_last_error()->status) /* a failure of the caller's own */
    (void)trs_fail(status, -1, "%s", trs_status_name(status));
  if (status) trs_failure_get(&own);
  TRS_TRY(trs_ranks_open_mpi(&ranks, comm, 0));
  if (status) trs_failure_set(&own);
  status = trs_ranks_agree(&ranks, status);
  trs_ranks_close(&ranks);
  return status;
}

/* ---- Statistics over the ranks. ---- */

trs_status trs_mpi_over_check(trs_mpi_over over) {
  if ((unsigned)over <= TRS_MPI_MAX) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_ARGUMENT, -1, "over = %d is not one of trs_mpi_over's", (int)over);
}

static trs_status check_stats(const trs_mpi_stats *stats, trs_mpi_over over) {
  TRS_TRY(trs_mpi_over_check(over));
  if (!stats) return trs_fail(TRS_ERROR_ARGUMENT, -1, "stats is NULL");
  return TRS_STRUCT_CHECK(trs_mpi_stats, stats);
}

static trs_status get_stats(trs_mpi_plan *plan, trs_mpi_stats *stats, trs_mpi_over over) {
  TRS_TRY(trs_ranks_agree(&plan->ranks, check_stats(stats, over)));
  trs_mpi_stats own;
  TRS_TRY(trs_grid_stats(&own, &plan->solver, over));
  own.method = plan->method;
  own.invert = inversions[plan->solver.set.supernodes.invert];
  own.backend = plan->context ? plan->context->backend->name : NULL;
  own.gpus = plan->gpus.count;
  own.ranks_on_gpu = plan->gpus.sharing;
  return TRS_STRUCT_GIVE(trs_mpi_stats, stats, &own);
}

trs_status trs_mpi_get_stats(trs_mpi_plan *plan, trs_mpi_stats *stats, trs_mpi_over over) {
  TRS_TRY(trs_mpi_enter(plan, false));
  return trs_guard_leave(&plan->guard, get_stats(plan, stats, over));
}
