/* w21.c - trireme bench w21: W21's case, n_iter = 15.  On the CPU: bandwidth of the sweeps for
 * every storage format and number of threads, beside the bandwidth of a copy with as many threads
 * on the same machine. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "copy.h"
#include "experiment.h"
#include "leave.h"
#include "progress.h"
#include "residual.h"
#include "run.h"
#include "suite.h"

#include "w21.h"

enum { ROUNDS = 5, MOST_THREADS = 1024, NSTORES = 5 /* from TRS_STORE_MIXED on */ };
static const char CASE[] = "gen:wingmesh:1100000";

/* ---- Sweeps ---- */

static trs_status sweep(trs_plan *R, int64_t n, double *x, const double *b, double *least) {
  trs_sweep_options how = {.struct_size = sizeof(trs_sweep_options), .sweeps = W21_SWEEPS};
  trs_status status = TRS_SUCCESS;
  *least = INFINITY;
  for (int round = 0; round <= ROUNDS && !status; round++) {
    double start = seconds_now();
    status = trs_relax_sweep(R, x, n, b, n, 1, TRS_COL_MAJOR, &how);
    *least = fmin(*least, (seconds_now() - start) / W21_SWEEPS);
  }
  return status;
}

static int measure(w21_run *run, trs_context *ctx, trs_store store, double copy_gbs) {
  trs_plan *R;
  trs_relax_options how = {.struct_size = sizeof(trs_relax_options), .store = store};
  trs_relax_info info = {.struct_size = sizeof info};
  if (trs_relax_create(&R, ctx, run->A, W21_BLOCK, &how)) return leave_library(NULL);
  double *b = malloc((size_t)run->n * sizeof *b), *x = calloc((size_t)run->n, sizeof *x);
  double least = NAN, residual = NAN;
  int code = b && x ? -1 : leave_memory((double)run->n * 16, "b and x");
  if (code < 0) {
    trs_random_fill(b, run->n, TRS_DOUBLE, 1);
    if (sweep(R, run->n, x, b, &least) || relative_residual(&residual, run->A, x, b, 1) ||
        trs_relax_get_info(R, &info))
      code = leave_library(NULL);
  }
  if (code < 0) {
    bench_row row = w21_row(run, store, &info);
    row.sweep = least;
    row.residual = residual;
    row.copy_gbs = copy_gbs;
    w21_show(run, &row);
  }
  free(b);
  free(x);
  trs_plan_destroy(R);
  return code;
}

static int run_threads(w21_run *run, int64_t threads) {
  char where[32];
  trs_context *ctx;
  int code = -1;
  snprintf(where, sizeof where, threads ? "threads:%d" : "threads", (int)threads);
  if (trs_context_create(&ctx, where)) return leave_library(NULL);
  double copy = bench_copy_cpu(trs_context_threads(ctx));
  for (int store = 0; store < NSTORES && code < 0; store++)
    code = measure(run, ctx, (trs_store)(TRS_STORE_MIXED + store), copy);
  trs_context_destroy(ctx);
  return code;
}

static int run_on_cpu(w21_run *run) {
  bench_counts threads;
  int code = bench_counts_parse(&threads, "threads", run->set->threads, MOST_THREADS);
  if (!threads.count) threads = (bench_counts){{0}, 0, 1};
  if (code < 0) code = w21_read(run);
  for (int k = 0; k < threads.count && code < 0; k++) code = run_threads(run, threads.value[k]);
  return code;
}

/* ---- All ---- */

int bench_w21_list(const char *suite) { return bench_list(suite ? suite : CASE); }

int bench_w21(const bench_settings *set) {
  w21_run run = {.set = set, .name = set->suite ? set->suite : CASE};
  bool several = set->backend && strpbrk(set->backend, "-,");
  if (set->device < 0 && set->methods)
    return leave_usage("bench", "--methods are a GPU's variants for w21: --backend cuda");
  int code = bench_out_open(&run.out, set);
  if (code >= 0) return code;
  code = several ? w21_on_gpus(&run) : set->device < 0 ? run_on_cpu(&run) : w21_on_gpu(&run);
  trs_matrix_destroy(run.A);
  if (code < 0) code = run.wrong ? LEAVE_NUMERICAL : LEAVE_SOLVED;
  return bench_out_close(run.out, set, code);
}
