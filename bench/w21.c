/* w21.c - trireme bench w21: W21's case on the CPU, n_iter = 15: bandwidth of the sweeps for every
 * way of storing and number of threads, beside what a copy moves on as many threads here. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "leave.h"
#include "output.h"
#include "progress.h"
#include "residual.h"
#include "trireme.h"

enum { SWEEPS = 15, BLOCK = 5, ROUNDS = 5, MOST_THREADS = 1024 };
static const char *const stores[] = {"mixed", "f64", "f32", "f16", "bf16"};
enum { NSTORES = sizeof stores / sizeof stores[0] };

typedef struct outcome {
  trs_relax_info info;
  double sweep_s, copy_gbs, residual;
} outcome;

/* ---- What memory gives: a copy, counted once read and once written ---- */

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

/* Seconds of one copy, or NAN; starting the threads is a thousandth of it. */
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

static double measure_copy(int threads) {
  const int64_t count = (int64_t)32 << 20;
  double *to = malloc((size_t)count * sizeof *to), *from = malloc((size_t)count * sizeof *from);
  double best = INFINITY;
  if (to && from && threads <= MOST_THREADS) {
    memset(to, 0, (size_t)count * sizeof *to);
    memset(from, 0, (size_t)count * sizeof *from);
    for (int round = 0; round < 2 * ROUNDS; round++)
      best = fmin(best, time_copy(to, from, count, threads));
  }
  free(to);
  free(from);
  return 2 * (double)count * sizeof *to / best;
}

/* ---- Sweeps ---- */

static trs_status sweep(trs_relaxation *R, int64_t n, double *x, const double *b, outcome *o) {
  trs_sweep_options how = {.struct_size = sizeof(trs_sweep_options), .sweeps = SWEEPS};
  trs_status status = TRS_SUCCESS;
  o->sweep_s = INFINITY;
  for (int round = 0; round <= ROUNDS && !status; round++) {
    double start = seconds_now();
    status = trs_relax_sweep(R, x, n, b, n, 1, TRS_COL_MAJOR, &how);
    double took = (seconds_now() - start) / SWEEPS;
    if (took < o->sweep_s) o->sweep_s = took;
  }
  return status;
}

static int measure(const trs_matrix *A, int64_t n, trs_context *ctx, int store, outcome *o) {
  trs_relaxation *R;
  trs_relax_options how = {.struct_size = sizeof(trs_relax_options),
                           .store = (trs_relax_store)store};
  if (trs_relax_create(ctx, &R, A, BLOCK, &how)) return leave_library(NULL);
  double *b = malloc((size_t)n * sizeof *b), *x = calloc((size_t)n, sizeof *x);
  int code = -1;
  trs_status status = TRS_SUCCESS;
  if (b && x) {
    trs_random_fill(b, n, TRS_DOUBLE, 1);
    status = sweep(R, n, x, b, o);
    if (!status) status = relative_residual(&o->residual, A, x, b, 1);
    o->info.struct_size = sizeof o->info;
    if (!status) status = trs_relax_get_info(R, &o->info);
  } else {
    code = leave_memory((double)n * 16, "b and x");
  }
  if (status) code = leave_library(NULL);
  free(b);
  free(x);
  trs_relax_destroy(R);
  return code;
}

static void publish(FILE *stream, const char *name, int store, const outcome *o) {
  fprintf(
      stream,
      "{\"suite\": \"w21\", \"matrix\": \"%s\", \"backend\": \"cpu\", \"threads\": %d, \"store\": "
      "\"%s\", \"rows\": %lld, \"blocks\": %lld, \"block_size\": %d, \"colours\": %lld, "
      "\"sweeps\": %d, \"sweep_s\": %.6g, \"bytes\": %lld, \"gbs\": %.4g, \"copy_gbs\": %.4g, "
      "\"create_s\": %.4g, \"update_s\": %.4g, \"rounding\": %.3g, \"residual\": %.4g}\n",
      name, o->info.threads, stores[store], (long long)o->info.nrows, (long long)o->info.nblocks,
      o->info.block_size, (long long)o->info.colours, SWEEPS, o->sweep_s,
      (long long)o->info.sweep_bytes, (double)o->info.sweep_bytes / o->sweep_s * 1e-9, o->copy_gbs,
      o->info.create_seconds, o->info.update_seconds, o->info.rounding, o->residual);
  fflush(stream);
}

static void print_head(const char *name, const outcome *o) {
  printf("%s: %s block rows, %s blocks of 5 x 5 off the diagonal, %s colours, %d sweeps\n\n", name,
         human_count(o->info.nrows).s, human_count(o->info.nblocks).s,
         human_count(o->info.colours).s, SWEEPS);
  printf(
      "| store | threads | sweep | GB/s | copy GB/s | share | setup | rounding | residual |\n"
      "| --- | --: | --: | --: | --: | --: | --: | --: | --: |\n");
}

static void print_row(int store, const outcome *o) {
  double gbs = (double)o->info.sweep_bytes / o->sweep_s * 1e-9;
  printf("| %s | %d | %s | %.1f | %.1f | %.0f %% | %s | %.0e | %.2e |\n", stores[store],
         o->info.threads, human_seconds(o->sweep_s).s, gbs, o->copy_gbs, 100 * gbs / o->copy_gbs,
         human_seconds(o->info.create_seconds).s, o->info.rounding, o->residual);
  fflush(stdout);
}

static int run_threads(const bench_settings *set, const trs_matrix *A, const char *name, FILE *out,
                       int64_t threads, bool first) {
  char where[32];
  trs_context *ctx;
  trs_matrix_info m = {.struct_size = sizeof m};
  int code = -1;
  trs_matrix_get_info(A, &m);
  snprintf(where, sizeof where, threads ? "threads:%d" : "threads", (int)threads);
  if (trs_context_create(&ctx, where)) return leave_library(NULL);
  double copy = measure_copy(trs_context_threads(ctx)) * 1e-9;
  for (int store = 0; store < NSTORES && code < 0; store++) {
    outcome o = {.copy_gbs = copy};
    code = measure(A, m.nrows, ctx, store, &o);
    if (code >= 0) break;
    if (!set->json && first && store == 0) print_head(name, &o);
    if (!set->json) print_row(store, &o);
    if (set->json) publish(stdout, name, store, &o);
    if (out) publish(out, name, store, &o);
  }
  trs_context_destroy(ctx);
  return code;
}

int bench_w21(const bench_settings *set) {
  const char *name = set->suite ? set->suite : BENCH_W21_CASE;
  bench_counts threads = {{0}, 0, 1};
  trs_matrix *A = NULL;
  FILE *out = NULL;
  trs_read_options reading = {.struct_size = sizeof(trs_read_options), .progress = progress_show};
  int code = bench_counts_parse(&threads, "threads", set->threads, MOST_THREADS);
  if (!threads.count) threads = (bench_counts){{0}, 0, 1};
  if (code < 0) code = bench_out_open(&out, set);
  if (code >= 0) return code;
  progress_begin();
  if (trs_matrix_read(&A, name, &reading)) code = leave_library(NULL);
  progress_end();
  for (int k = 0; k < threads.count && code < 0; k++)
    code = run_threads(set, A, name, out, threads.value[k], k == 0);
  trs_matrix_destroy(A);
  return bench_out_close(out, set, code < 0 ? LEAVE_SOLVED : code);
}
