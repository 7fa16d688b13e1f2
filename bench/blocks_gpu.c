/* blocks_gpu.c - trireme bench blocks --backend cuda: solves by blocks on a GPU in every storage
 * format, new values factored from its memory, and every algorithm of cuSPARSE on the same factors
 * as scalars; x and b in device memory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "blocks.h"
#include "copy.h"
#include "cuda.h"
#include "cusparse.h"
#include "leave.h"
#include "progress.h"
#include "run.h"

enum { BATCH = 10, ROUNDS = 15, UPDATES = 10 };

/* Arrays in device memory. */
typedef struct on_gpu {
  blocks_run *run;
  trs_context *ctx;
  void *b, *x, *val; /* val NULL: updates are not timed */
} on_gpu;

static int leave_cuda(const on_gpu *g) {
  const char *why = bench_cuda_error();
  return leave(LEAVE_UNAVAILABLE, "unsupported", -1, "%s: CUDA says %s", g->run->name,
               why ? why : "nothing, but it failed");
}

static size_t bytes_of(const on_gpu *g) { return (size_t)g->run->info.n * sizeof(double); }

/* Times BATCH solves at a time. */
typedef bool one_solve(void *user);
static bool time_solves(bench_row *row, one_solve *solve, void *user) {
  double seconds[ROUNDS];
  bool good = solve(user) && bench_cuda_wait();
  for (int k = 0; k < ROUNDS && good; k++) {
    good = bench_cuda_start();
    for (int s = 0; s < BATCH && good; s++) good = solve(user);
    seconds[k] = bench_cuda_stop() / BATCH;
  }
  if (good) bench_row_times(row, seconds, ROUNDS, 1);
  return good;
}

/* ---- By blocks ---- */

typedef struct by_blocks {
  on_gpu *g;
  trs_plan *plan;
} by_blocks;

static bool solve_blocks(void *user) {
  const by_blocks *s = user;
  const int64_t n = s->g->run->info.n;
  return !trs_solve(s->plan, s->g->x, n, s->g->b, n, 1, TRS_COL_MAJOR);
}

/* The first update brings the pattern. */
static trs_status time_updates(const by_blocks *s, bench_row *row) {
  const blocks_matrix *A = &s->g->run->A;
  if (!s->g->val) return TRS_SUCCESS;
  trs_blocks blocks = {.struct_size = sizeof(trs_blocks),
                       .layout = TRS_ROW_MAJOR,
                       .indexing = TRS_PTR64,
                       .ptr = A->ptr,
                       .idx = A->idx,
                       .val = s->g->val};
  trs_status status = trs_update_bsr(s->plan, &blocks);
  blocks.ptr = blocks.idx = NULL;
  row->update = INFINITY;
  for (int k = 0; k < UPDATES && !status; k++) {
    (void)bench_cuda_wait();
    const double start = seconds_now();
    status = trs_update_bsr(s->plan, &blocks);
    row->update = fmin(row->update, seconds_now() - start);
  }
  return status;
}

static int run_blocks(on_gpu *g, trs_store store) {
  const trs_options how = {.struct_size = sizeof how, .method = "blocks", .store = store};
  by_blocks s = {.g = g};
  bench_row row = blocks_row(g->run, "blocks", store, false);
  const double start = seconds_now();
  if (trs_analyze_factors(&s.plan, g->ctx, g->run->F, TRS_NO_TRANS, &how))
    return leave_library("blocks");
  row.analysis = seconds_now() - start;
  trs_status status = time_updates(&s, &row);
  const bool good = !status && time_solves(&row, solve_blocks, &s);
  if (!status) status = trs_plan_wait(s.plan);
  trs_plan_destroy(s.plan);
  if (status) return leave_library("blocks");
  if (!good || !bench_cuda_get(g->run->x, g->x, bytes_of(g))) return leave_cuda(g);
  blocks_show(g->run, &row, false);
  return -1;
}

/* ---- By scalars: cuSPARSE solves with L, then with U ---- */

typedef struct by_scalars {
  bench_system system[2];
  bench_gpu gpu[2];
  bench_cusparse peer[2];
} by_scalars;

static bool solve_scalars(void *user) {
  const by_scalars *s = user;
  return bench_cusparse_solve(&s->peer[0]) && bench_cusparse_solve(&s->peer[1]);
}

/* U's right-hand side is L's solution. */
static int open_scalars(on_gpu *g, by_scalars *s) {
  const trs_factors_info *F = &g->run->info;
  int code = -1;
  for (int k = 0; k < 2 && code < 0; k++) {
    s->system[k] = (bench_system){.name = g->run->name,
                                  .uplo = k ? TRS_UPPER : TRS_LOWER,
                                  .diag = k ? F->diag_U : F->diag_L,
                                  .T = k ? F->U : F->L,
                                  .info = {.struct_size = sizeof(trs_matrix_info)},
                                  .nrhs = 1};
    trs_matrix_get_info(s->system[k].T, &s->system[k].info);
    code = bench_gpu_open(&s->gpu[k], NULL, &s->system[k], g->run->set);
    if (code < 0) code = bench_gpu_rhs(&s->gpu[k], 1);
  }
  if (code < 0) {
    BENCH_CUDA_FREE(s->gpu[1].b);
    s->gpu[1].b = s->gpu[0].x;
  }
  return code;
}

static void close_scalars(by_scalars *s) {
  if (s->gpu[1].b == s->gpu[0].x) s->gpu[1].b = NULL;
  for (int k = 0; k < 2; k++) bench_gpu_close(&s->gpu[k]);
}

/* Moves b to the order of the rows of L, or x back from that of the columns of U. */
static void permute(double *to, const double *from, const int32_t *perm, int64_t n, bool back) {
  for (int64_t i = 0; i < n; i++) {
    const int64_t other = perm ? perm[i] : i;
    to[back ? other : i] = from[back ? i : other];
  }
}

static bool bring_b(on_gpu *g, const by_scalars *s) {
  permute(g->run->x, g->run->b, g->run->info.row_perm, g->run->info.n, false);
  return bench_cuda_put(s->gpu[0].b, g->run->x, bytes_of(g));
}

static bool fetch_x(on_gpu *g, const by_scalars *s) {
  double *packed = malloc(bytes_of(g) + 1);
  const bool good = packed && bench_cuda_get(packed, s->gpu[1].x, bytes_of(g));
  if (good) permute(g->run->x, packed, g->run->info.col_perm, g->run->info.n, true);
  free(packed);
  return good;
}

static bool run_algorithm(on_gpu *g, by_scalars *s, int algorithm) {
  bench_row row = blocks_row(g->run, bench_cusparse_name[algorithm], TRS_STORE_DEFAULT, true);
  bool good = true;
  row.analysis = row.update = 0;
  for (int k = 0; k < 2; k++) {
    double ask = NAN, seconds = NAN, update = NAN;
    good = good && bench_cusparse_prepare(&s->peer[k], &s->gpu[k], algorithm) &&
           bench_cusparse_analyze(&s->peer[k], &ask, &seconds);
    (void)(good && bench_cusparse_update(&s->peer[k], &update));
    row.analysis += ask + seconds;
    row.update += update;
  }
  good = good && time_solves(&row, solve_scalars, s) && fetch_x(g, s);
  for (int k = 0; k < 2; k++) bench_cusparse_free(&s->peer[k]);
  if (good) blocks_show(g->run, &row, true);
  return good;
}

static int run_peer(on_gpu *g) {
  const char *missing = bench_cusparse_load();
  by_scalars s = {0};
  if (missing) {
    bench_notice("cusparse", missing);
    return -1;
  }
  int code = open_scalars(g, &s);
  if (code < 0 && !bring_b(g, &s)) code = leave_cuda(g);
  for (int k = 0; k < bench_cusparse_known() && code < 0; k++)
    if (!run_algorithm(g, &s, k)) bench_notice(bench_cusparse_name[k], bench_cusparse_error());
  close_scalars(&s);
  return code;
}

/* ---- All ---- */

static int open_arrays(on_gpu *g) {
  const blocks_run *run = g->run;
  const int64_t square = BLOCKS_SIZE * BLOCKS_SIZE;
  bool good = bench_cuda_upload(&g->b, run->b, bytes_of(g)) && bench_cuda_alloc(&g->x, bytes_of(g));
  if (run->A.val)
    good = good && bench_cuda_upload(&g->val, run->A.val,
                                     (size_t)(run->A.ptr[run->A.n] * square) * sizeof(double));
  return good ? -1 : leave_cuda(g);
}

int blocks_on_gpu(blocks_run *run) {
  on_gpu g = {.run = run};
  char where[32];
  snprintf(where, sizeof where, "cuda:%d", run->set->device);
  int code = trs_context_create(&g.ctx, where) ? leave_library(NULL) : -1;
  if (code < 0) run->copy_gbs = bench_copy_gpu();
  if (code < 0 && run->set->peer == 0) code = run_peer(&g);
  if (code < 0) code = open_arrays(&g);
  for (int k = 0; k < BLOCKS_STORES && code < 0; k++) code = run_blocks(&g, blocks_stores[k]);
  BENCH_CUDA_FREE(g.b, g.x, g.val);
  trs_context_destroy(g.ctx);
  return code;
}
