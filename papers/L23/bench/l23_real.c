/* l23_real.c - solves of trireme bench l23 on the ranks of an MPI program; every rank runs this
 * code.  Grids are as square as possible, with every Pz up to 8 that divides the ranks.  On GPUs
 * each rank is a grid; with one GPU per rank, grids of two and of four ranks are measured too. */

#include "l23.h"
#include "leave.h"
#include "output.h"
#include "row.h"
#include "settings.h"

void l23_square(int64_t places, int *px, int *py) {
  *px = 1;
  for (int x = 1; (int64_t)x * x <= places; x++)
    if (places % x == 0) *px = x;
  *py = (int)(places / *px);
}

#if TRIREME_CLI_MPI

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trireme_mpi.h"

typedef struct solver {
  const bench_settings *set;
  const char *factors, *name;
  int rank, size;
  int64_t n, rows, first; /* rows of b and x on this rank */
  double *b, *x;
  int64_t room;
  trs_factors *F;    /* rank 0: what answers are checked with */
  double *whole;     /* rank 0: a column of b, then of x */
  int code;          /* LEAVE_...: an answer was wrong or not checked, all ranks stop; 0: none */
  int *count, *from; /* rank 0: rows of each rank, and the first */
  void (*put)(void *user, const l23_row *row);
  void *user;
} solver;

typedef struct way {
  const char *method;
  bool scattered, inverted, flat;
} way;

/* Copies `count` fields from `offset` on of the smallest, mean and largest values. */
static void copy_values(l23_row *row, l23_value to, const trs_mpi_stats *t, size_t offset,
                        int count) {
  const double *of[3];
  for (int k = 0; k < 3; k++) of[k] = (const double *)(const void *)((const char *)&t[k] + offset);
  for (int k = 0; k < count; k++)
    row->value[to + k] = (l23_spread){of[TRS_MPI_MIN][k], of[TRS_MPI_MEAN][k], of[TRS_MPI_MAX][k]};
}

/* t: three structures, by trs_mpi_over. */
static l23_row row_of(const solver *s, const way *w, const trs_mpi_stats *t, int64_t nrhs) {
  l23_row row = {.kind = "real",
                 .homes = !w->scattered,
                 .inverted = w->inverted,
                 .n = s->n,
                 .supernodes = t->supernodes,
                 .ranks = s->size,
                 .nrhs = nrhs,
                 .px = t->px,
                 .py = t->py,
                 .pz = t->pz,
                 .replicated = t->replicated,
                 .replicated_work = t->replicated_work,
                 .volume_bound = t->volume_bound};
  snprintf(row.matrix, sizeof row.matrix, "%s", s->name);
  snprintf(row.method, sizeof row.method, "%s", w->method);
  snprintf(row.trees, sizeof row.trees, "%s", w->flat ? "flat" : "binary");
  copy_values(&row, L23_SOLVE, t, offsetof(trs_mpi_stats, solve_s), 1);
  copy_values(&row, L23_BYTES, t, offsetof(trs_mpi_stats, bytes), 1);
  copy_values(&row, L23_INTER, t, offsetof(trs_mpi_stats, inter_s), 2);
  copy_values(&row, L23_INTER_MESSAGES, t, offsetof(trs_mpi_stats, inter_messages), 2);
  copy_values(&row, L23_INTER_BYTES, t, offsetof(trs_mpi_stats, inter_bytes), 2);
  copy_values(&row, L23_INTRA, t, offsetof(trs_mpi_stats, intra_s), 2);
  copy_values(&row, L23_INTRA_MESSAGES, t, offsetof(trs_mpi_stats, intra_messages), 2);
  copy_values(&row, L23_INTRA_BYTES, t, offsetof(trs_mpi_stats, intra_bytes), 2);
  copy_values(&row, L23_FLOP, t, offsetof(trs_mpi_stats, flop_s), 2);
  copy_values(&row, L23_FLOPS, t, offsetof(trs_mpi_stats, flops), 2);
  copy_values(&row, L23_LEAF, t, offsetof(trs_mpi_stats, leaf_entries), 1);
  return row;
}

/* If ranks take turns, only the sweeps determine the fastest solve. */
static double seconds_of(const trs_mpi_stats *t, bool in_turn) {
  t += TRS_MPI_MAX;
  return in_turn ? t->flop_s[0] + t->flop_s[1] : t->solve_s;
}

static trs_status get_stats(trs_mpi_plan *plan, trs_mpi_stats stats[3]) {
  trs_status status = TRS_SUCCESS;
  for (int k = 0; k < 3 && !status; k++) {
    stats[k].struct_size = sizeof stats[k];
    status = trs_mpi_get_stats(plan, &stats[k], (trs_mpi_over)k);
  }
  return status;
}

/* The fastest of as many solves as fit in the time, at least five. */
static trs_status time_solves(solver *s, trs_mpi_plan *plan, int64_t nrhs, bool in_turn,
                              trs_mpi_stats best[3]) {
  double begin = MPI_Wtime();
  int more = 1;
  for (int k = 0; more; k++) {
    trs_mpi_stats stats[3];
    MPI_Barrier(MPI_COMM_WORLD);
    trs_status status = trs_mpi_solve(plan, s->x, s->rows, s->b, s->rows, nrhs, TRS_COL_MAJOR);
    if (!status) status = get_stats(plan, stats);
    if (status) return status;
    if (k == 0 || seconds_of(stats, in_turn) < seconds_of(best, in_turn))
      memcpy(best, stats, sizeof stats);
    more = k < 4 || MPI_Wtime() - begin < s->set->seconds;
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  return TRS_SUCCESS;
}

/* On rank 0, from the rows of all. */
static void gather_column(const solver *s, const double *rows, int64_t column, double *whole) {
  MPI_Gatherv(rows + column * s->rows, (int)s->rows, MPI_DOUBLE, whole, s->count, s->from,
              MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

/* A column of the solve before, by its backward errors. */
static void check_column(solver *s, const char *method, int64_t column, int64_t nrhs) {
  static const double NORMWISE = 1e-12, COMPONENTWISE = 1e-5;
  trs_backward_error error = {.struct_size = sizeof error};
  gather_column(s, s->b, column, s->whole);
  gather_column(s, s->x, column, s->whole ? s->whole + s->n : NULL);
  if (s->rank == 0) {
    trs_status status = trs_check_factors(&error, s->F, TRS_NO_TRANS, s->whole + s->n, s->n,
                                          s->whole, s->n, 1, TRS_COL_MAJOR);
    if (status)
      s->code = leave_library(s->factors);
    else if (!(error.normwise < NORMWISE && error.componentwise < COMPONENTWISE))
      s->code = leave(LEAVE_NUMERICAL, "wrong", -1,
                      "%s: the %s column of %lld by %s on %d ranks is wrong: backward errors %.2g "
                      "normwise, %.2g componentwise",
                      s->factors, column ? "last" : "first", (long long)nrhs, method, s->size,
                      error.normwise, error.componentwise);
  }
  MPI_Bcast(&s->code, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

/* The first and the last column: times of wrong answers are none. */
static void check_answer(solver *s, const char *method, int64_t nrhs) {
  check_column(s, method, 0, nrhs);
  if (!s->code && nrhs > 1) check_column(s, method, nrhs - 1, nrhs);
}

static trs_status make_room(solver *s, int64_t nrhs) {
  int64_t count = s->rows * nrhs;
  trs_status status = TRS_SUCCESS;
  if (count > s->room) {
    free(s->b);
    free(s->x);
    s->b = malloc((size_t)count * sizeof *s->b + 1);
    s->x = malloc((size_t)count * sizeof *s->x + 1);
    s->room = s->b && s->x ? count : 0;
    if (s->b) trs_random_fill(s->b, s->room, TRS_DOUBLE, 1 + (uint64_t)s->rank);
    if (!s->room && count) status = TRS_ERROR_MEMORY;
  }
  return trs_mpi_agree(MPI_COMM_WORLD, status);
}

static trs_status run_way(solver *s, const way *w, int pz) {
  trs_mpi_options how = {.struct_size = sizeof(trs_mpi_options),
                         .method = w->method,
                         .pz = pz,
                         .flat_trees = w->flat,
                         .scattered = w->scattered};
  trs_scalar scalar = TRS_DOUBLE;
  trs_mpi_plan *plan = NULL;
  how.scalar = scalar;
  how.invert = w->inverted ? "separators" : "blocks";
  l23_square(s->size / pz, &how.px, &how.py);
  trs_status status =
      trs_mpi_analyze_file(&plan, MPI_COMM_WORLD, NULL, s->factors, TRS_NO_TRANS, &how);
  if (!status) status = trs_mpi_distribute(plan, s->first, s->rows);
  for (int k = 0; k < s->set->nrhs.count && !status; k++) {
    int64_t nrhs = s->set->nrhs.value[k];
    trs_mpi_stats stats[3] = {{0}};
    status = make_room(s, nrhs);
    if (!status) status = time_solves(s, plan, nrhs, false, stats);
    if (!status) check_answer(s, w->method, nrhs);
    if (s->code) break;
    if (status || s->rank) continue;
    l23_row row = row_of(s, w, stats, nrhs);
    s->put(s->user, &row);
  }
  trs_mpi_plan_destroy(plan);
  return status;
}

/* ---- On GPUs: Figures 9 to 11, 1 x 1 x Pz and Px x 1 x Pz. ---- */

/* Each rank's sweeps were timed alone; the exchange is modelled from the measured number of bytes.
 */
static void compose(l23_row *row) {
  int steps = 0;
  while (1 << steps < row->pz) steps++;
  double inter = steps * L23_STEP_S + row->value[L23_INTER_BYTES].max / L23_NETWORK;
  double total = row->value[L23_FLOP].max + inter + row->value[L23_FLOP + 1].max;
  snprintf(row->kind, sizeof row->kind, "composed");
  row->value[L23_INTER] = (l23_spread){inter, inter, inter};
  row->value[L23_INTER + 1] = row->value[L23_INTRA] = row->value[L23_INTRA + 1] = (l23_spread){0};
  row->value[L23_SOLVE] = (l23_spread){total, total, total};
}

/* sharing: the largest number of ranks on one GPU. */
static trs_status run_gpu(solver *s, const way *w, int px, int64_t nrhs, bool composed,
                          int *sharing) {
  trs_mpi_options how = {.struct_size = sizeof(trs_mpi_options),
                         .method = w->method,
                         .px = px,
                         .py = 1,
                         .pz = s->size / px,
                         .scattered = w->scattered,
                         .invert = w->inverted ? "separators" : NULL,
                         .scalar = TRS_DOUBLE,
                         .nrhs = nrhs,
                         .in_turn = composed};
  trs_mpi_stats stats[3] = {{0}};
  trs_mpi_plan *plan = NULL;
  trs_context *ctx = NULL;
  trs_status status = trs_mpi_context_create(&ctx, MPI_COMM_WORLD, "cuda");
  if (!status)
    status = trs_mpi_analyze_file(&plan, MPI_COMM_WORLD, ctx, s->factors, TRS_NO_TRANS, &how);
  if (!status) status = trs_mpi_distribute(plan, s->first, s->rows);
  if (!status) status = make_room(s, nrhs);
  if (!status) status = time_solves(s, plan, nrhs, composed, stats);
  if (!status) check_answer(s, w->method, nrhs);
  *sharing = stats->ranks_on_gpu;
  if (!status && !s->code && s->rank == 0) {
    l23_row row = row_of(s, w, stats, nrhs);
    snprintf(row.kind, sizeof row.kind, "%s", stats->ranks_on_gpu > 1 ? "shared" : "gpu");
    if (composed) compose(&row);
    s->put(s->user, &row);
  }
  trs_mpi_plan_destroy(plan);
  trs_context_destroy(ctx);
  return status;
}

/* 1 x 1 x Pz: each grid alone in its turn, then all at once if every rank has its own GPU.
 * Algorithm 4 for comparison. */
static trs_status run_gpus(solver *s, int *sharing) {
  static const way ways[] = {{.method = "grid3d"}, {.method = "grid3d:algorithm=4"}};
  trs_status status = TRS_SUCCESS;
  for (int w = 0; w < 2; w++)
    for (int k = 0; k < s->set->nrhs.count && !status && !s->code; k++) {
      int64_t nrhs = s->set->nrhs.value[k];
      if (s->size > 1) status = run_gpu(s, &ways[w], 1, nrhs, true, sharing);
      if (!status && !s->code && *sharing <= 1)
        status = run_gpu(s, &ways[w], 1, nrhs, false, sharing);
    }
  return status;
}

/* Several GPUs per grid: the default, with separators inverted, distributed as in L23, and L23's
 * Algorithm 5. */
static trs_status run_wide_grids(solver *s) {
  static const way ways[] = {{.method = "grid3d"},
                             {.method = "grid3d", .inverted = true},
                             {.method = "grid3d", .scattered = true},
                             {.method = "grid3d:algorithm=5", .scattered = true}};
  trs_status status = TRS_SUCCESS;
  int sharing;
  for (int px = 2; px <= 4; px *= 2)
    for (int w = 0; w < 4 && s->size % px == 0; w++)
      for (int k = 0; k < s->set->nrhs.count && !status && !s->code; k++)
        status = run_gpu(s, &ways[w], px, s->set->nrhs.value[k], false, &sharing);
  return status;
}

/* Ranks that share a GPU take turns on it: for grids of several ranks such times mean nothing. */
static trs_status run_gpu_shapes(solver *s) {
  int sharing = 0;
  trs_status status = run_gpus(s, &sharing);
  return status || s->code || sharing > 1 ? status : run_wide_grids(s);
}

static trs_status run_shapes(solver *s, int64_t leaves) {
  /* L23's baseline, and that one with look-ahead and with binary trees; L23's solve with Algorithm
   * 2 and with pairwise exchange; ours, with blocks and with separators inverted; and with one grid
   */
  static const way ways[] = {
      {.method = "grid3d-baseline:lookahead=0", .scattered = true, .flat = true},
      {.method = "grid3d-baseline", .scattered = true, .flat = true},
      {.method = "grid3d-baseline", .scattered = true},
      {.method = "grid3d:algorithm=2", .scattered = true},
      {.method = "grid3d", .scattered = true},
      {.method = "grid3d"},
      {.method = "grid3d", .inverted = true}};
  static const way one[] = {
      {.method = "grid3d-baseline:lookahead=0", .scattered = true, .flat = true},
      {.method = "grid2d", .scattered = true},
      {.method = "grid3d"},
      {.method = "grid3d", .inverted = true}};
  trs_status status = TRS_SUCCESS;
  for (int pz = 1; pz <= 8 && s->size % pz == 0 && pz <= leaves; pz *= 2) {
    const way *of = pz == 1 ? one : ways;
    const size_t count = pz == 1 ? sizeof one / sizeof *one : sizeof ways / sizeof *ways;
    for (size_t k = 0; k < count && !status && !s->code;
         k++) /* grids of one process: nothing is distributed */
      if (!of[k].inverted || s->size > pz) status = run_way(s, &of[k], pz);
  }
  return status;
}

/* Rank 0's, for check_answer. */
static trs_status make_arrays(solver *s) {
  s->whole = malloc(2 * (size_t)s->n * sizeof *s->whole + 1);
  s->count = malloc((size_t)s->size * sizeof *s->count);
  s->from = malloc((size_t)s->size * sizeof *s->from);
  if (!s->whole || !s->count || !s->from) return TRS_ERROR_MEMORY;
  for (int r = 0; r < s->size; r++) {
    s->from[r] = (int)(s->n * r / s->size);
    s->count[r] = (int)(s->n * (r + 1) / s->size) - s->from[r];
  }
  return TRS_SUCCESS;
}

/* Rank 0 reads the factors, and tells the others their size. */
static int look(solver *s, int64_t *leaves) {
  long long told[2] = {-1, 0};
  if (s->rank == 0) {
    trs_factors_info info = {.struct_size = sizeof info};
    if (trs_factors_read(&s->F, s->factors, NULL)) {
      leave_library(s->factors);
    } else {
      trs_factors_get_info(s->F, &info);
      s->n = info.n;
      if (make_arrays(s))
        leave_memory(16.0 * (double)s->n, "a column of b and x");
      else
        told[0] = s->n;
      told[1] = info.tree_nodes > 0 ? (info.tree_nodes + 1) / 2 : 1; /* no tree: one grid */
    }
  }
  MPI_Bcast(told, 2, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
  s->n = told[0];
  *leaves = told[1];
  return told[0] < 0 ? LEAVE_INPUT : -1;
}

int l23_real(const bench_settings *set, const char *factors, const char *name, bool gpu,
             void (*put)(void *user, const l23_row *row), void *user) {
  solver s = {.set = set, .factors = factors, .name = name, .put = put, .user = user};
  int64_t leaves;
  if (MPI_Init(NULL, NULL) != MPI_SUCCESS)
    return leave(LEAVE_UNAVAILABLE, "unsupported", -1, "MPI does not start");
  MPI_Comm_rank(MPI_COMM_WORLD, &s.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &s.size);
  if (s.rank) output_silence();
  int code = look(&s, &leaves);
  s.first = s.n * s.rank / s.size;
  s.rows = s.n * (s.rank + 1) / s.size - s.first;
  if (code < 0 && (gpu ? run_gpu_shapes(&s) : run_shapes(&s, leaves)))
    code = leave_library(factors);
  if (code < 0 && s.code) code = s.code;
  trs_factors_destroy(s.F);
  free(s.whole);
  free(s.count);
  free(s.from);
  free(s.b);
  free(s.x);
  MPI_Finalize();
  return s.rank ? LEAVE_SOLVED : code < 0 ? LEAVE_SOLVED : code;
}

#else

int l23_real(const bench_settings *set, const char *factors, const char *name, bool gpu,
             void (*put)(void *user, const l23_row *row), void *user) {
  (void)set, (void)factors, (void)name, (void)gpu, (void)put, (void)user;
  return leave(LEAVE_UNAVAILABLE, "unsupported", -1,
               "l23 needs MPI, which is not in this build: install libopenmpi-dev and build "
               "Trireme from source");
}

#endif
