/* copy.c - bandwidth of a copy of memory, by threads of the CPU and on a GPU: the fastest of
 * several copies. */
#include "copy.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"
#include "progress.h"

enum { ROUNDS_CPU = 10, ROUNDS_GPU = 14, MOST_THREADS = 1024 };

typedef struct copy_job {
  double *to;
  const double *from;
  int64_t count;
} copy_job;

static void *copy_share(void *pointer) {
  copy_job *job = pointer;
  for (int64_t i = 0; i < job->count; i++) job->to[i] = job->from[i];
  return NULL;
}

/* Seconds of one copy, or NAN; starting the threads takes a thousandth of it. */
static double time_copy(double *to, const double *from, int64_t count, int threads) {
  pthread_t thread[MOST_THREADS];
  copy_job job[MOST_THREADS];
  double start = seconds_now();
  int started = 0;
  for (; started < threads; started++) {
    int64_t begin = count * started / threads, end = count * (started + 1) / threads;
    job[started] = (copy_job){to + begin, from + begin, end - begin};
    if (pthread_create(&thread[started], NULL, copy_share, &job[started])) break;
  }
  for (int t = 0; t < started; t++) pthread_join(thread[t], NULL);
  return started == threads ? seconds_now() - start : NAN;
}

double bench_copy_cpu(int threads) {
  const int64_t count = (int64_t)32 << 20;
  double *to = malloc((size_t)count * sizeof *to), *from = malloc((size_t)count * sizeof *from);
  double best = INFINITY;
  if (to && from && threads <= MOST_THREADS) {
    memset(to, 0, (size_t)count * sizeof *to);
    memset(from, 0, (size_t)count * sizeof *from);
    for (int round = 0; round < ROUNDS_CPU; round++)
      best = fmin(best, time_copy(to, from, count, threads));
  }
  free(to);
  free(from);
  return 2e-9 * (double)count * sizeof *to / best;
}

double bench_copy_gpu(void) {
  const size_t bytes = (size_t)1 << 31;
  void *from, *to;
  double best = INFINITY;
  bool good = bench_cuda_alloc(&from, bytes);
  good &= bench_cuda_alloc(&to, bytes);
  good = good && bench_cuda_fill(from, 0, bytes) && bench_cuda_fill(to, 0, bytes);
  for (int round = 0; good && round < ROUNDS_GPU; round++) {
    good = bench_cuda_start() && bench_cuda_move(to, from, bytes);
    double took = bench_cuda_stop();
    if (took > 0 && took < best) best = took;
  }
  BENCH_CUDA_FREE(from, to);
  return good ? 2e-9 * (double)bytes / best : NAN;
}
