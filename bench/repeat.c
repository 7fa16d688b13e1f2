/* repeat.c - what experiments that repeat a solve on a GPU share. */
#include "repeat.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda.h"
#include "leave.h"
#include "progress.h"

enum { ROUNDS = 5, MOST_REPEATS = 200 };
#define SHORT 2e-3 /* seconds of a round */

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static bool wait_all(const bench_gpu_list *gpus) {
  bool good = true;
  for (int k = gpus->count; k-- > 0;)
    good = bench_cuda_use(gpus->number[k]) && bench_cuda_wait() && good;
  return good;
}

/* gpus NULL: by the clock of the current GPU. */
static double time_some(const bench_gpu_list *gpus, bench_launch *solve, void *user, int repeats) {
  bool good = gpus ? wait_all(gpus) : bench_cuda_start();
  const double start = seconds_now();
  for (int k = 0; k < repeats && good; k++) good = solve(user);
  const double seconds = !gpus ? bench_cuda_stop() : wait_all(gpus) ? seconds_now() - start : -1;
  return good && seconds >= 0 ? seconds / repeats : NAN;
}

double bench_repeat(bench_launch *solve, void *user) { return bench_repeat_on(NULL, solve, user); }

double bench_repeat_on(const bench_gpu_list *gpus, bench_launch *solve, void *user) {
  double seconds[ROUNDS];
  const double first = solve(user) && bench_cuda_wait() ? time_some(gpus, solve, user, 1) : NAN;
  if (isnan(first)) return NAN;
  const double wanted = SHORT / first;
  const int repeats = wanted < 1 ? 1 : wanted < MOST_REPEATS ? (int)wanted : MOST_REPEATS;
  for (int k = 0; k < ROUNDS; k++) {
    seconds[k] = time_some(gpus, solve, user, repeats);
    if (isnan(seconds[k])) return NAN;
  }
  qsort(seconds, ROUNDS, sizeof *seconds, compare);
  return seconds[ROUNDS / 2];
}

double bench_noise(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(int64_t)(*state >> 11) * 0x1p-52 - 1;
}

int bench_context_open(trs_context **ctx, const bench_settings *set, const char *experiment) {
  char where[32];
  if (set->device < 0)
    return leave_usage("bench", "%s runs through CUDA: leave out --backend opencl", experiment);
  snprintf(where, sizeof where, "cuda:%d", set->device);
  if (trs_context_create(ctx, where)) return leave_library("--backend");
  const int code = bench_cuda_open(set->device);
  if (code < 0) return -1;
  trs_context_destroy(*ctx);
  *ctx = NULL;
  return code;
}
