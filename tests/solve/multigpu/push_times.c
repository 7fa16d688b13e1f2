/* push_times.c - not a test: times of `push` and `columns` beside the engine on one GPU, b and x in
 * device memory of the first GPU, solves launched behind each other.
 *   push_times GPUS NRHS MATRIX...      GPUS: 2, or 2,4,8 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "base/timer.h"
#include "trireme.h"

static void need(trs_status status) {
  if (!status) return;
  fprintf(stderr, "push_times: %s\n", trs_last_error()->message);
  exit(1);
}

/* Seconds a solve, the best of some rounds. */
static double time_solves(trs_plan *plan, void *x, const void *b, int64_t n, int64_t nrhs) {
  enum { ROUNDS = 7, SOLVES = 20 };
  double best = 1e9;
  for (int round = 0; round < ROUNDS; round++) {
    need(trs_plan_wait(plan));
    double start = trs_seconds();
    for (int k = 0; k < SOLVES; k++) need(trs_solve(plan, x, n, b, n, nrhs, TRS_COL_MAJOR));
    need(trs_plan_wait(plan));
    double took = (trs_seconds() - start) / SOLVES;
    if (took < best) best = took;
  }
  return best;
}

static double run(const char *where, const char *method, const trs_matrix *T, int64_t nrhs,
                  double one) {
  trs_context *ctx;
  trs_plan *plan;
  trs_matrix_info info;
  trs_backward_error error = {0};
  char text[1024];
  void *b, *x;
  trs_options options = {.method = method, .nrhs = nrhs};
  trs_matrix_get_info(T, &info);
  size_t bytes = (size_t)(info.nrows * nrhs) * sizeof(double);
  double *host = malloc(bytes), *solution = malloc(bytes);
  need(trs_context_create(&ctx, where));
  double start = trs_seconds();
  if (trs_analyze(ctx, &plan, T, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options)) {
    printf("  %-10s %-26s %s\n", where, method ? method : "auto", trs_last_error()->message);
    trs_context_destroy(ctx);
    free(host);
    free(solution);
    return 0;
  }
  double analysis = trs_seconds() - start;
  cudaSetDevice(0);
  trs_random_fill(host, info.nrows * nrhs, TRS_DOUBLE, 5);
  if (cudaMalloc(&b, bytes) || cudaMalloc(&x, bytes)) exit(1);
  cudaMemcpy(b, host, bytes, cudaMemcpyHostToDevice);
  double took = time_solves(plan, x, b, info.nrows, nrhs);
  cudaMemcpy(solution, x, bytes, cudaMemcpyDeviceToHost);
  need(trs_check(T, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, solution, info.nrows, host, info.nrows, 1,
                 TRS_COL_MAJOR, &error));
  trs_plan_describe(plan, text, sizeof text);
  printf("  %-10s %-26s %9.3f ms  %5.2f x  error %.1e  analysis %.0f ms\n    %s\n", where,
         method ? method : "auto", 1e3 * took, one > 0 ? one / took : 1, error.componentwise,
         1e3 * analysis, text);
  fflush(stdout);
  cudaFree(b);
  cudaFree(x);
  trs_plan_destroy(plan);
  trs_context_destroy(ctx);
  free(host);
  free(solution);
  return took;
}

static void run_matrix(const char *name, char *gpus, int64_t nrhs) {
  static const char *const many[] = {"columns", "columns:remote=direct", "columns:block=4",
                                     "columns:block=16", NULL};
  static const char *const one[] = {"push:partition=slabs", "push:partition=bands",
                                    "push:partition=cyclic", "push:partition=graph", NULL};
  trs_matrix *A, *T;
  char list[64];
  need(trs_matrix_read(&A, name, NULL));
  need(trs_matrix_triangle(&T, A, TRS_LOWER, 1));
  trs_matrix_destroy(A);
  printf("%s, %lld right-hand sides\n", name, (long long)nrhs);
  double alone = run("cuda:0", "engine", T, nrhs, 0);
  snprintf(list, sizeof list, "%s", gpus);
  for (char *count = strtok(list, ","); count; count = strtok(NULL, ",")) {
    char where[32];
    snprintf(where, sizeof where, "cuda:0-%d", atoi(count) - 1);
    const char *const *methods = nrhs > 1 ? many : one;
    for (int m = 0; m == 0 || methods[m - 1]; m++)
      run(where, m == 0 ? NULL : methods[m - 1], T, nrhs, alone);
  }
  trs_matrix_destroy(T);
}

int main(int argc, char **argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: push_times GPUS NRHS MATRIX...\n");
    return 2;
  }
  for (int k = 3; k < argc; k++) run_matrix(argv[k], argv[1], atoll(argv[2]));
  return 0;
}
