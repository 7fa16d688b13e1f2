/* batches_cpu.c - trireme bench batches on the CPU: the batch beside a loop over a plan per system,
 * a plan of the block-diagonal matrix of them all, and a loop over a handle of oneMKL per system
 * with one thread and with as many as the batch has. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batches.h"
#include "experiment.h"
#include "leave.h"
#include "mkl.h"
#include "progress.h"
#include "repeat.h"
#include "run.h"

/* MOST_BYTES: of the values of a case.  MOST_ALONE: systems that have a plan or a handle each. */
enum { MOST_BYTES = 160000000, MOST_ALONE = 1000, ROUNDS = 7, MOST_THREADS = 1024 };
#define ROUND 20e-3 /* seconds */

typedef struct cpu_batch {
  const bench_settings *set;
  trs_context *ctx;
  int threads;
  bool has_mkl;
  bench_batch here;
  trs_plan *B;
  trs_matrix *joint; /* the block-diagonal matrix */
  trs_plan *plan;    /* of it */
  int64_t alone;     /* systems with a plan and a handle of their own; 0: too many */
  trs_matrix **matrix;
  trs_plan **plans;
  bench_system *system;
  bench_mkl *handle;
} cpu_batch;

/* ---- Solves of all systems ---- */

typedef bool solve_all(const cpu_batch *c);

static bool solve_batch(const cpu_batch *c) {
  const bench_batch *h = &c->here;
  return !trs_batch_solve(c->B, h->x, h->n, h->n, h->b, h->n, h->n, 1, TRS_COL_MAJOR);
}

static bool solve_joint(const cpu_batch *c) {
  const bench_batch *h = &c->here;
  const int64_t n = h->n * h->count;
  return !trs_solve(c->plan, h->x, n, h->b, n, 1, TRS_COL_MAJOR);
}

static bool solve_plans(const cpu_batch *c) {
  const bench_batch *h = &c->here;
  for (int64_t s = 0; s < c->alone; s++)
    if (trs_solve(c->plans[s], h->x + s * h->n, h->n, h->b + s * h->n, h->n, 1, TRS_COL_MAJOR))
      return false;
  return true;
}

static bool solve_handles(const cpu_batch *c) {
  const bench_batch *h = &c->here;
  for (int64_t s = 0; s < c->alone; s++)
    if (!bench_mkl_solve(&c->handle[s], h->x + s * h->n, h->b + s * h->n)) return false;
  return true;
}

/* ---- The other ways: made once, not timed ---- */

static trs_status make_joint(cpu_batch *c) {
  const bench_batch *h = &c->here;
  const int64_t n = h->n * h->count, nnz = h->nnz * h->count, *ptr;
  const int32_t *idx;
  int64_t *all_ptr = malloc((size_t)(n + 1) * sizeof *all_ptr);
  int32_t *all_idx = malloc((size_t)nnz * sizeof *all_idx);
  trs_status status = all_ptr && all_idx ? TRS_SUCCESS : TRS_ERROR_MEMORY;
  trs_matrix_get_arrays(h->L, &ptr, &idx, NULL);
  for (int64_t s = 0; s < h->count && !status; s++) {
    for (int64_t i = 0; i <= h->n; i++) all_ptr[s * h->n + i] = s * h->nnz + ptr[i];
    for (int64_t p = 0; p < h->nnz; p++) all_idx[s * h->nnz + p] = (int32_t)(s * h->n + idx[p]);
  }
  if (!status)
    status = trs_matrix_create(&c->joint, TRS_CSR, TRS_DOUBLE, n, n, TRS_PTR64, all_ptr, all_idx,
                               h->val, TRS_COPY);
  if (!status)
    status = trs_analyze(&c->plan, c->ctx, c->joint, TRS_LOWER, TRS_NO_TRANS, h->diag, NULL);
  free(all_ptr);
  free(all_idx);
  return status;
}

static trs_status make_alone(cpu_batch *c) {
  const bench_batch *h = &c->here;
  const int64_t *ptr;
  const int32_t *idx;
  if (h->count > MOST_ALONE) return TRS_SUCCESS;
  c->matrix = calloc((size_t)h->count, sizeof *c->matrix);
  c->plans = calloc((size_t)h->count, sizeof *c->plans);
  c->system = calloc((size_t)h->count, sizeof *c->system);
  c->handle = calloc((size_t)h->count, sizeof *c->handle);
  if (!c->matrix || !c->plans || !c->system || !c->handle) return TRS_ERROR_MEMORY;
  c->alone = h->count;
  trs_matrix_get_arrays(h->L, &ptr, &idx, NULL);
  trs_status status = TRS_SUCCESS;
  for (int64_t s = 0; s < h->count && !status; s++) {
    status = trs_matrix_create(&c->matrix[s], TRS_CSR, TRS_DOUBLE, h->n, h->n, TRS_PTR64, ptr, idx,
                               h->val + s * h->nnz, TRS_BORROW);
    if (!status)
      status =
          trs_analyze(&c->plans[s], c->ctx, c->matrix[s], TRS_LOWER, TRS_NO_TRANS, h->diag, NULL);
  }
  return status;
}

/* Handles that were analysed with as many threads. */
static bool open_handles(cpu_batch *c, int threads) {
  bench_mkl_threads(threads);
  for (int64_t s = 0; s < c->alone; s++) {
    bench_system *own = &c->system[s];
    *own = (bench_system){.name = c->here.name,
                          .uplo = TRS_LOWER,
                          .diag = c->here.diag,
                          .T = c->matrix[s],
                          .info = {.struct_size = sizeof own->info},
                          .nrhs = 1};
    trs_matrix_get_info(own->T, &own->info);
    if (!bench_mkl_prepare(&c->handle[s], own) || !bench_mkl_create(&c->handle[s]) ||
        !bench_mkl_analyze(&c->handle[s]))
      return false;
  }
  return true;
}

static void close_handles(cpu_batch *c) {
  for (int64_t s = 0; s < c->alone; s++) bench_mkl_free(&c->handle[s]);
}

static void close_case(cpu_batch *c) {
  for (int64_t s = 0; s < c->alone; s++) {
    trs_plan_destroy(c->plans[s]);
    trs_matrix_destroy(c->matrix[s]);
  }
  free(c->matrix);
  free(c->plans);
  free(c->system);
  free(c->handle);
  trs_plan_destroy(c->plan);
  trs_matrix_destroy(c->joint);
  trs_plan_destroy(c->B);
  bench_batch_close(&c->here);
}

/* ---- Times: the median of rounds, and the errors after the first ---- */

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* NAN: a solve failed, or left a wrong x. */
static double time_of(const cpu_batch *c, solve_all *solve, double *error) {
  double seconds[ROUNDS];
  /* oneMKL with several threads keeps NaN that x holds before. */
  memset(c->here.x, 0, (size_t)(c->here.n * c->here.count) * sizeof(double));
  if (!solve(c)) return NAN;
  *error = fmax(*error, bench_batch_error(&c->here));
  for (int k = 0; k < ROUNDS; k++) {
    const double start = seconds_now();
    int repeats = 0;
    while (repeats == 0 || seconds_now() - start < ROUND) {
      if (!solve(c)) return NAN;
      repeats++;
    }
    seconds[k] = (seconds_now() - start) / repeats;
  }
  qsort(seconds, ROUNDS, sizeof *seconds, compare);
  return seconds[ROUNDS / 2];
}

/* The faster of one thread and all; times of wrong answers do not count. */
static double time_of_mkl(cpu_batch *c) {
  double least = NAN;
  for (int all = 0; all < (c->threads > 1 ? 2 : 1); all++) {
    double error = 0;
    const double seconds =
        open_handles(c, all ? c->threads : 1) ? time_of(c, solve_handles, &error) : NAN;
    if (isnan(seconds))
      bench_notice(c->here.name, "oneMKL refused a matrix");
    else if (bench_batch_is_right(error))
      least = fmin(least, seconds);
    else
      bench_notice(c->here.name, all ? "oneMKL is wrong with several threads" : "oneMKL is wrong");
    close_handles(c);
  }
  return least;
}

static trs_status make_batch(cpu_batch *c, double *update) {
  const bench_batch *h = &c->here;
  trs_status status =
      trs_batch_create(&c->B, c->ctx, h->L, TRS_LOWER, TRS_NO_TRANS, h->diag, h->count, NULL);
  if (!status) status = trs_batch_update(c->B, h->val, 0);
  const double start = seconds_now();
  if (!status) status = trs_batch_update(c->B, h->val, 0);
  *update = seconds_now() - start;
  return status;
}

static int run_count(cpu_batch *c) {
  const bench_batch *h = &c->here;
  double update = 0, error = 0, plans = NAN, mkl = NAN;
  int code = bench_batch_open(&c->here);
  if (code >= 0) return code;
  trs_status status = make_batch(c, &update);
  if (!status) status = make_joint(c);
  if (!status) status = make_alone(c);
  if (status) return leave_library(h->name);
  const double solve = time_of(c, solve_batch, &error), joint = time_of(c, solve_joint, &error);
  if (c->alone) plans = time_of(c, solve_plans, &error);
  if (c->alone && c->has_mkl) mkl = time_of_mkl(c);
  const double bytes = (double)h->count * 8 * (double)(h->nnz + 2 * h->n);
  printf("%-26s %6lld  %9.4f  %6.2f  %6.2f  %6.2f  %6.2f  %9.4f  %8.1e\n", h->name,
         (long long)h->count, 1e3 * solve, joint / solve, plans / solve, mkl / solve,
         1e-9 * bytes / solve, 1e3 * update, error);
  fflush(stdout);
  return bench_batch_judge(h, error);
}

static int run_counts(const bench_batch *pattern, void *user) {
  const cpu_batch *all = user;
  int code = -1;
  for (int k = 0; k < BATCH_COUNTS && code < 0; k++) {
    cpu_batch one = *all;
    one.here = *pattern;
    one.here.count = bench_batch_counts[k];
    if (one.here.count * one.here.nnz * 8 > MOST_BYTES) continue;
    code = run_count(&one);
    close_case(&one);
  }
  return code;
}

static int run_threads(cpu_batch *c, int64_t threads) {
  char where[32];
  snprintf(where, sizeof where, "threads:%d", (int)threads);
  if (trs_context_create(&c->ctx, where)) return leave_library("--threads");
  c->threads = trs_context_threads(c->ctx);
  printf("%d threads\n%-26s %6s  %9s  %6s  %6s  %6s  %6s  %9s  %8s\n", c->threads, "pattern",
         "count", "solve, ms", "/joint", "/plans", "/MKL", "GB/s", "update", "error");
  const int code = bench_batch_each(run_counts, c);
  trs_context_destroy(c->ctx);
  return code;
}

int bench_batches_cpu(const bench_settings *set) {
  cpu_batch c = {.set = set};
  bench_counts threads;
  int code = bench_counts_parse(&threads, "threads", set->threads, MOST_THREADS);
  if (!threads.count) threads = (bench_counts){{1, 2}, 2, 2};
  if (code >= 0) return code;
  const char *missing = set->peer ? "left out" : bench_mkl_load();
  if (missing && !set->peer) bench_notice("oneMKL", missing);
  c.has_mkl = !missing;
  if (c.has_mkl) printf("%s\n", bench_mkl_version());
  for (int k = 0; k < threads.count && code < 0; k++) code = run_threads(&c, threads.value[k]);
  return code < 0 ? LEAVE_SOLVED : code;
}
