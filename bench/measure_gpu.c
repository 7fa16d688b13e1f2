/* measure_gpu.c - times methods of a GPU and cuSPARSE on one system, with the same device arrays.
 * Analyses and updates: by the host's clock, with the device idle before and after; the first of
 * each runner is recorded separately, because it loads kernels and allocates memory.  Solves:
 * batches between two events on the default stream, in rounds that include every runner, so that
 * drift of the machine affects all.  Where several processes solve together, every process makes
 * the same number of calls, whatever they take.  The last round starts with invalid solutions, and
 * ends with their check. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "cuda.h"
#include "cusparse.h"
#include "gpu_system.h"
#include "leave.h"
#include "peer.h"
#include "progress.h"
#include "row.h"
#include "run.h"
#include "runner.h"
#include "system.h"

enum {
  FRESH = 3,
  MOST_FRESH = 20,
  LEAST_SAMPLES = 3,
  MOST_IN_BATCH = 32,
  LATENCIES = 5,
  TOGETHER = 4, /* samples per round */
  PATIENCE = 4
};
static const double SAMPLE = 200e-6, LONG_ANALYSIS = 0.25, FRESH_SECONDS = 10e-3; /* seconds */
enum { SPOILT = 0x7b }; /* a byte whose repetition gives large, finite values */

/* ---- Runners that fail ---- */

static void say_without(const bench_runner *r, const bench_gpu *gpu, const char *why) {
  notify("bench: %s: without %s: %s", gpu->system->name, r->method, why);
}

/* A method that does not support the system is left out; a failure of Trireme is a result. */
static void give_up(bench_runner *r, const bench_gpu *gpu) {
  const trs_error *error = trs_last_error();
  const char *why = r->ctx ? bench_cuda_error() : bench_cusparse_error();
  bool refused = error->status == TRS_ERROR_UNSUPPORTED || error->status == TRS_ERROR_ARGUMENT;
  r->failed = r->ctx && (why || !refused);
  r->out = !r->failed;
  if (!why) why = error->message;
  snprintf(r->row.reason, sizeof r->row.reason, "%s", why);
  say_without(r, gpu, why);
}

static bool plays(const bench_runner *r) { return !r->out && !r->failed; }

/* ---- Before the solves ---- */

static const trs_matrix *matrix_of(const bench_runner *r, const bench_gpu *gpu) {
  return r->by_columns ? gpu->columns : gpu->T;
}

static bool analyze_matrix(bench_runner *r, const bench_gpu *gpu, const trs_matrix *T,
                           double *seconds) {
  const bench_system *s = gpu->system;
  trs_options how = {.struct_size = sizeof(trs_options),
                     .method = r->asked,
                     .nrhs = gpu->nrhs,
                     .store = r->store,
                     .tune = r->tune};
  trs_plan_destroy(r->plan);
  r->plan = NULL;
  if (!bench_cuda_wait()) return false;
  double start = seconds_now();
  bool good =
      !trs_analyze(&r->plan, r->ctx, T, s->uplo, TRS_NO_TRANS, s->diag, &how) && bench_cuda_wait();
  *seconds = seconds_now() - start;
  return good;
}

static bool analyze_plan(bench_runner *r, const bench_gpu *gpu, double *seconds) {
  return analyze_matrix(r, gpu, matrix_of(r, gpu), seconds);
}

/* The transposition that a system by rows would cost a method that takes columns. */
static bool time_loading(bench_runner *r, const bench_gpu *gpu) {
  double seconds;
  for (int k = 0; k < FRESH; k++) {
    if (!analyze_matrix(r, gpu, gpu->T, &seconds)) return false;
    bench_read_loading(&r->row, r->plan);
  }
  return true;
}

static bool update_plan(bench_runner *r, const bench_gpu *gpu, double *seconds) {
  double start = seconds_now();
  bool good = !trs_update(r->plan, matrix_of(r, gpu)) && bench_cuda_wait();
  *seconds = seconds_now() - start;
  return good;
}

static bool analyze_once(bench_runner *r, const bench_gpu *gpu, double *seconds) {
  double ask = NAN;
  if (r->ctx) return analyze_plan(r, gpu, seconds);
  bool good = bench_cusparse_analyze(&r->cusparse, &ask, seconds);
  r->row.ask = fmin(r->row.ask, ask);
  return good;
}

static bool update_once(bench_runner *r, const bench_gpu *gpu, double *seconds) {
  return r->ctx ? update_plan(r, gpu, seconds) : bench_cusparse_update(&r->cusparse, seconds);
}

/* True if step k of a kind is due.  Short steps are repeated more often: their times vary more. */
static bool is_due(const bench_runner *r, int k, double last, double spent) {
  if (r->together) return k < FRESH;
  if (k < FRESH) return k < 2 || last < LONG_ANALYSIS;
  return k < MOST_FRESH && spent < FRESH_SECONDS;
}

static void prepare(bench_runner *r, const bench_gpu *gpu) {
  double seconds = 0, spent = 0;
  bool good = true;
  int algorithm = r->ctx ? 0 : bench_cusparse_algorithm(r->method);
  r->row = bench_row_empty();
  r->repeats = r->batch = 0;
  r->failed = false;
  r->out = gpu->nrhs > 1 && algorithm > 0; /* SpSM has one algorithm */
  if (r->out) return;
  if (!r->ctx && !gpu->short_ptr) {
    say_without(r, gpu, "more entries than 32-bit row pointers can count");
    r->out = true;
    return;
  }
  if (!r->ctx) good = bench_cusparse_prepare(&r->cusparse, gpu, algorithm);
  for (int k = 0; good && is_due(r, k, seconds, spent); spent += k++ ? seconds : 0) {
    good = analyze_once(r, gpu, &seconds);
    if (k == 0)
      r->row.first_analysis = seconds;
    else
      r->row.analysis = fmin(r->row.analysis, seconds);
    if (good && k > 0 && r->steps) bench_read_steps(&r->row, r->plan);
  }
  if (good && r->by_columns && r->steps)
    good = time_loading(r, gpu) && analyze_plan(r, gpu, &seconds);
  spent = 0;
  for (int k = 0; good && is_due(r, k, 0, spent); k++, spent += seconds) {
    bool updated = update_once(r, gpu, &seconds);
    if (updated) r->row.update = fmin(r->row.update, seconds);
    if (!updated && !r->ctx) break; /* versions of cuSPARSE without it */
    good = updated;
  }
  if (!good) give_up(r, gpu);
}

/* ---- The solves ---- */

static bool solve(bench_runner *r, const bench_gpu *gpu) {
  int64_t ld = gpu->row_major ? gpu->nrhs : gpu->n;
  trs_layout layout = gpu->row_major ? TRS_ROW_MAJOR : TRS_COL_MAJOR;
  if (!r->ctx) return bench_cusparse_solve(&r->cusparse);
  return !trs_solve(r->plan, gpu->x, ld, gpu->b, ld, gpu->nrhs, layout);
}

static bool wait_for(bench_runner *r) {
  bool idle = bench_cuda_wait();
  return r->ctx ? !trs_plan_wait(r->plan) && idle : idle;
}

/* Seconds per solve of count solves; negative: a failure. */
static double time_batch(bench_runner *r, const bench_gpu *gpu, int64_t count) {
  bool good = bench_cuda_start();
  for (int64_t k = 0; k < count && good; k++) good = solve(r, gpu);
  double seconds = good ? bench_cuda_stop() : -1;
  return seconds < 0 ? -1 : seconds / (double)count;
}

static int64_t batch_for(double seconds) {
  if (!(seconds > SAMPLE / MOST_IN_BATCH)) return MOST_IN_BATCH;
  return seconds >= SAMPLE ? 1 : (int64_t)ceil(SAMPLE / seconds);
}

/* At least one sample, three unless they are long, and more if time permits, up to `most`. */
static bool wants_sample(const bench_runner *r, int64_t taken, int64_t most, double spent,
                         double seconds) {
  if (taken == 0) return true;
  if (r->together) return seconds > 0 && taken < TOGETHER;
  return taken < most && (spent < seconds || (taken < LEAST_SAMPLES && spent < PATIENCE * seconds));
}

/* At most `solves` solves unless that is 0. */
static bool run_samples(bench_runner *r, const bench_gpu *gpu, double seconds, int64_t solves) {
  int64_t first = r->repeats, most = BENCH_MOST_REPEATS / BENCH_ROUNDS;
  if (!solve(r, gpu) || !wait_for(r)) return false; /* not counted */
  if (r->together) r->batch = 1;
  if (!r->batch) r->batch = seconds > 0 ? batch_for(time_batch(r, gpu, 2)) : 1;
  while (solves && solves % r->batch) r->batch--; /* exactly as many */
  if (solves) most = solves / r->batch;
  double begin = seconds_now(), spent = 0;
  while (wants_sample(r, r->repeats - first, most, spent, seconds)) {
    double sample = time_batch(r, gpu, r->batch);
    if (sample < 0) return false;
    r->seconds[r->repeats++] = sample;
    spent = seconds_now() - begin;
  }
  return wait_for(r);
}

static void run_rounds(bench_runners *all, const bench_gpu *gpu, double seconds) {
  const int rounds = bench_rounds(all, seconds);
  for (int round = 0; round < rounds; round++)
    for (int i = 0; i < all->count; i++) {
      bench_runner *r = &all->runner[i];
      bench_tick(gpu->system->name, (double)(round + 1) / (rounds + 1));
      if (plays(r) && !run_samples(r, gpu, seconds / rounds, all->solves / rounds)) give_up(r, gpu);
    }
}

/* A solve that the host waits for, launch included; the median of as many as were sampled, at most
 * five. */
static bool time_latency(bench_runner *r, const bench_gpu *gpu) {
  double seconds[LATENCIES];
  bench_row times = bench_row_empty();
  const int64_t count = r->repeats < LATENCIES ? r->repeats : LATENCIES;
  for (int64_t k = 0; k < count; k++) {
    double start = seconds_now();
    if (!solve(r, gpu) || !wait_for(r)) return false;
    seconds[k] = seconds_now() - start;
  }
  bench_row_times(&times, seconds, count, 1);
  r->row.latency = times.median;
  return true;
}

/* ---- The answers ---- */

/* Invalidates old answers: the checked answer is of a solve into memory with invalid contents. */
static bool fetch(bench_runner *r, const bench_gpu *g, bench_check *check, size_t bytes) {
  size_t whole = (size_t)(g->n * g->nrhs) * g->size;
  check->x = malloc(bytes + 1);
  return check->x && bench_cuda_fill(g->x, SPOILT, whole) && bench_cuda_wait() && solve(r, g) &&
         wait_for(r) && bench_gpu_columns(g, g->x, check->x) && time_latency(r, g);
}

/* Values stored as floats are judged by norm: values below a float's range are lost, and a row may
 * consist of such values only. */
static bench_check check_of(bench_runner *r, const bench_gpu *gpu, const void *b) {
  bool stored = r->store == TRS_STORE_MIXED;
  return (bench_check){.system = gpu->system,
                       .T = gpu->host,
                       .b = b,
                       .columns = bench_gpu_checked(gpu),
                       .epsilon = stored || gpu->scalar == TRS_FLOAT ? 0x1p-23 : 0x1p-52,
                       .by_norm = stored,
                       .row = &r->row};
}

static int check_answers(bench_runners *all, const bench_gpu *gpu) {
  size_t bytes = (size_t)(gpu->n * bench_gpu_checked(gpu)) * gpu->size;
  bench_check check[BENCH_MOST_RUNNERS] = {0};
  void *b = malloc(bytes + 1);
  if (!b) return leave_memory((double)bytes, "the answers");
  bool fetched = bench_gpu_columns(gpu, gpu->b, b);
  for (int i = 0; i < all->count; i++) {
    bench_runner *r = &all->runner[i];
    check[i] = check_of(r, gpu, b);
    if (!plays(r)) continue;
    if (fetched && fetch(r, gpu, &check[i], bytes))
      bench_check_begin(&check[i]);
    else
      give_up(r, gpu);
  }
  for (int i = 0; i < all->count; i++) bench_check_end(&check[i]);
  free(b);
  return -1;
}

/* ---- Rows ---- */

static void describe_plan(bench_row *row, bench_runner *r) {
  trs_plan_info info = {.struct_size = sizeof info};
  (void)trs_plan_describe(r->plan, row->plan, sizeof row->plan);
  if (r->terse || trs_plan_get_info(r->plan, &info)) {
    snprintf(row->chosen, sizeof row->chosen, "%s", r->asked);
    return;
  }
  row->plan_bytes = (double)info.plan_bytes;
  snprintf(row->chosen, sizeof row->chosen, "%s", info.method);
  snprintf(row->reason, sizeof row->reason, "%s", info.reason);
}

static void describe_peer(bench_row *row, const bench_runner *r) {
  row->plan_bytes = (double)r->cusparse.buffer_bytes;
  snprintf(row->chosen, sizeof row->chosen, "%s", r->cusparse.many ? "SpSM" : "SpSV");
  if (r->cusparse.algorithm)
    snprintf(row->chosen, sizeof row->chosen, "SpSV ALG%d", r->cusparse.algorithm);
  snprintf(row->reason, sizeof row->reason, "%s", bench_cusparse_version());
}

/* The bound is a property of the system: any plan of the library that solves it provides it. */
static void find_bound(bench_runners *all, bench_gpu *gpu) {
  for (int i = 0; i < all->count && gpu->nrhs == 1 && isnan(gpu->bound); i++) {
    bench_runner *r = &all->runner[i];
    if (r->ctx && !r->terse && plays(r) && trs_plan_bound(r->plan, &gpu->bound)) gpu->bound = NAN;
  }
}

static int add_rows(bench_rows *rows, bench_runners *all, bench_gpu *gpu) {
  int code = -1;
  find_bound(all, gpu);
  for (int i = 0; i < all->count && code < 0; i++) {
    bench_runner *r = &all->runner[i];
    if (r->out) continue;
    snprintf(r->row.method, sizeof r->row.method, "%s", r->method);
    bench_describe(&r->row, gpu->system, &gpu->info, gpu->scalar, gpu->nrhs);
    snprintf(r->row.backend, sizeof r->row.backend, r->together ? "nvshmem" : "cuda");
    snprintf(r->row.layout, sizeof r->row.layout, gpu->row_major ? "row" : "column");
    r->row.bound = gpu->nrhs == 1 ? gpu->bound : NAN;
    r->row.threads = r->threads;
    if (r->failed) {
      r->row.wrong = true;
    } else {
      bench_row_times(&r->row, r->seconds, r->repeats, r->batch);
      r->row.gbs = 1e-9 * (double)r->row.bytes / r->row.median;
      r->row.create = r->ctx ? gpu->create : NAN;
      if (r->ctx) describe_plan(&r->row, r);
      if (!r->ctx) describe_peer(&r->row, r);
    }
    code = bench_rows_add(rows, &r->row);
  }
  return code;
}

int bench_measure_gpu(bench_rows *rows, bench_runners *all, bench_gpu *gpu, int64_t nrhs,
                      double seconds) {
  int code = bench_gpu_rhs(gpu, nrhs);
  for (int i = 0; i < all->count && code < 0; i++) {
    bench_tick(gpu->system->name, 0);
    prepare(&all->runner[i], gpu);
  }
  if (code < 0) run_rounds(all, gpu, seconds);
  if (code < 0) code = check_answers(all, gpu);
  if (code < 0) code = add_rows(rows, all, gpu);
  if (code < 0 && nrhs == 1)
    code = bench_peers_measure(
        rows, all->set,
        &(bench_peer_job){
            .system = gpu->system, .info = &gpu->info, .backend = "cuda", .bound = gpu->bound});
  for (int i = 0; i < all->count; i++) {
    bench_cusparse_free(&all->runner[i].cusparse);
    trs_plan_destroy(all->runner[i].plan);
    all->runner[i].plan = NULL;
  }
  return code;
}
