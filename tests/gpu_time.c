/* gpu_time.c - times solves in device memory, for tools/gpu_check --hip and for comparisons of
 * builds: trireme bench finds CUDA's runtime by itself, and has none where a build has HIP.
 *
 *   gpu_time [--nrhs K] SYSTEM METHOD...
 *
 * Solves the lower triangle of SYSTEM (a file, or gen:poisson3d7:50) in double by each method of
 * the first GPU.  Prints a line of JSON for each: seconds of the analysis and of a solve, by the
 * GPU's events, the least and the median of 15 rounds, and the backward error.  Ends with 77
 * without a GPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/config.h"
#include "device/device.h"
#include "backend/context.h"
#include "trireme.h"

enum { ROUNDS = 15, MOST_SOLVES = 50 };

static void check(trs_status status, const char *what) {
  if (!status) return;
  fprintf(stderr, "gpu_time: %s: %s\n", what, trs_last_error()->message);
  exit(1);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

typedef struct job {
  trs_context *ctx;
  trs_matrix *T;
  const char *system;
  int64_t n, nrhs;
  void *x, *b; /* device memory */
  double *host;
} job;

static void solve(const job *j, trs_plan *plan) {
  check(trs_solve(plan, j->x, j->n, j->b, j->n, j->nrhs, TRS_COL_MAJOR), "solving");
}

/* Each round has so many solves that it takes about two milliseconds. */
static void time_solves(const job *j, trs_plan *plan, double *seconds) {
  trs_device_timer *timer;
  check(trs_device_timer_create(&timer), "timing");
  int solves = 1;
  for (int round = -2; round < ROUNDS; round++) {
    trs_device_timer_start(timer, NULL);
    for (int k = 0; k < solves; k++) solve(j, plan);
    const double took = trs_device_timer_stop(timer, NULL) / solves;
    if (round >= 0) seconds[round] = took;
    if (round == -1 && took > 0)
      solves = took < 2e-3 / MOST_SOLVES ? MOST_SOLVES : 1 + (int)(2e-3 / took);
  }
  trs_device_timer_destroy(timer);
  check(trs_plan_wait(plan), "solving");
  qsort(seconds, ROUNDS, sizeof *seconds, compare);
}

static double error_of(const job *j) {
  trs_backward_error error = {.struct_size = sizeof error};
  const int64_t bytes = j->n * j->nrhs * (int64_t)sizeof(double);
  double *b = malloc((size_t)bytes);
  check(trs_device_copy(j->host, j->x, bytes, NULL), "copying");
  check(trs_device_copy(b, j->b, bytes, NULL), "copying");
  check(trs_device_wait(NULL), "copying");
  check(trs_check(&error, j->T, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, j->host, j->n, b, j->n,
                  j->nrhs, TRS_COL_MAJOR),
        "checking");
  free(b);
  return error.componentwise;
}

static void run(const job *j, const char *method) {
  trs_options options = {
      .struct_size = sizeof options, .method = method, .nrhs = j->nrhs, .solves = 100000};
  double seconds[ROUNDS], begin = now();
  trs_plan *plan;
  check(trs_analyze(&plan, j->ctx, j->T, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options),
        "analysing");
  const double analysis = now() - begin;
  time_solves(j, plan, seconds);
  printf(
      "{\"runtime\":\"%s\",\"device\":\"%s\",\"matrix\":\"%s\",\"n\":%lld,\"nrhs\":%lld,"
      "\"method\":\"%s\",\"analysis_s\":%.6g,\"solve_s\":{\"min\":%.6g,\"median\":%.6g},"
      "\"error\":%.3g}\n",
      TRS_GPU_RUNTIME, trs_device_look(j->ctx->device)->name, j->system, (long long)j->n,
      (long long)j->nrhs, method, analysis, seconds[0], seconds[ROUNDS / 2], error_of(j));
  fflush(stdout);
  trs_plan_destroy(plan);
}

static void make(job *j) {
  trs_matrix *A;
  trs_matrix_info info = {.struct_size = sizeof info};
  const trs_read_options how = {.struct_size = sizeof how, .scalar = TRS_DOUBLE};
  check(trs_matrix_read(&A, j->system, &how), j->system);
  check(trs_matrix_triangle(&j->T, A, TRS_LOWER, 0), j->system);
  trs_matrix_destroy(A);
  trs_matrix_get_info(j->T, &info);
  j->n = info.nrows;
  const int64_t count = j->n * j->nrhs, bytes = count * (int64_t)sizeof(double);
  j->host = malloc((size_t)bytes);
  trs_random_fill(j->host, count, TRS_DOUBLE, 1);
  check(trs_device_alloc(j->ctx->device, &j->x, count, sizeof(double), NULL), "device memory");
  check(trs_device_alloc(j->ctx->device, &j->b, count, sizeof(double), NULL), "device memory");
  check(trs_device_copy(j->b, j->host, bytes, NULL), "copying");
  check(trs_device_wait(NULL), "copying");
}

int main(int argc, char **argv) {
  job j = {.nrhs = 1};
  int k = 1;
  if (argc > 2 && !strcmp(argv[1], "--nrhs")) {
    j.nrhs = strtol(argv[2], NULL, 10);
    k = 3;
  }
  if (argc < k + 2 || j.nrhs < 1) {
    fprintf(stderr, "usage: gpu_time [--nrhs K] SYSTEM METHOD...\n");
    return 2;
  }
  if (trs_context_create(&j.ctx, TRS_GPU_BACKEND)) {
    printf("skip gpu_time: %s\n", trs_last_error()->message);
    return 77;
  }
  j.system = argv[k++];
  (void)trs_device_enter(j.ctx->device);
  make(&j);
  for (; k < argc; k++) run(&j, argv[k]);
  trs_device_free(j.ctx->device, j.x, NULL);
  trs_device_free(j.ctx->device, j.b, NULL);
  trs_matrix_destroy(j.T);
  trs_context_destroy(j.ctx);
  free(j.host);
  return 0;
}
