/* x20.c - trireme bench x20: the measurements of X20's Figures 3 and 7 to 10 on a suite of ours:
 * managed memory by the number of GPUs, the four designs beside each other, tasks a GPU, and
 * zerocopy with 32 tasks in all by the number of GPUs against cuSPARSE on one; the systems' metrics
 * of its Table I beside them.  With fewer GPUs than the paper's, on those that there are. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "leave.h"
#include "output.h"
#include "progress.h"
#include "trireme.h"

const char *const bench_x20_suites[] = {"x20 unified", "x20 designs", "x20 tasks", "x20 scaling"};

enum { DESIGN_GPUS = 4, ALL_TASKS = 32 };

typedef struct x20 {
  const bench_settings *set;
  bench_suite suite;
  bench_gpu_list gpus;
  int count;
  trs_context
      *ctx[BENCH_MOST_GPUS + 1]; /* of so many GPUs; [0] of the first alone, for one-GPU methods */
  bench_runners runners[BENCH_X20_EXPERIMENTS];
  bench_rows rows;
  FILE *out;
  int64_t wrong, done;
} x20;

static double share; /* of the run, done */

static void tick(const char *name, double done) {
  (void)done;
  progress_show(NULL, name, share);
}

/* ---- Where ---- */

static int open_contexts(x20 *run) {
  char one[48];
  int code = bench_gpu_list_find(&run->gpus, run->set->backend);
  if (code < 0) code = bench_gpu_list_open(&run->gpus, 1, &run->ctx[0]);
  if (code >= 0) return code;
  run->count = run->gpus.count;
  snprintf(one, sizeof one, "cuda:%d-%d", run->gpus.number[0], run->gpus.number[0]);
  if (trs_context_create(&run->ctx[1], one)) return leave_library("--backend");
  for (int k = 2; k <= run->count && code < 0; k++)
    code = bench_gpu_list_open(&run->gpus, k, &run->ctx[k]);
  return code < 0 ? bench_cuda_open(run->gpus.number[0]) : code;
}

/* ---- Who ---- */

/* gpus 0: a method of one GPU. */
static void add(x20 *run, bench_x20_experiment experiment, const char *method, int gpus) {
  bench_runners *all = &run->runners[experiment];
  bench_runner *r = &all->runner[all->count++];
  *r = (bench_runner){.threads = gpus ? gpus : 1, .terse = true, .ctx = run->ctx[gpus]};
  snprintf(r->method, sizeof r->method, "%s", method);
  snprintf(r->asked, sizeof r->asked, "%s", method);
}

static void add_peer(x20 *run) {
  const char *missing = run->set->peer ? "--peer none" : bench_cusparse_load();
  if (missing) {
    notify("bench: without cuSPARSE: %s", missing);
    return;
  }
  add(run, BENCH_X20_SCALING, "cusparse", 0);
  bench_runners *all = &run->runners[BENCH_X20_SCALING];
  all->runner[all->count - 1].ctx = NULL;
}

static int add_runners(x20 *run) {
  int few = run->count < DESIGN_GPUS ? run->count : DESIGN_GPUS;
  char name[64];
  for (int e = 0; e < BENCH_X20_EXPERIMENTS; e++) {
    run->runners[e].runner = calloc(BENCH_MOST_RUNNERS, sizeof *run->runners[e].runner);
    if (!run->runners[e].runner)
      return leave_memory(BENCH_MOST_RUNNERS * sizeof(bench_runner), "the timings");
  }
  for (int gpus = 1; gpus <= run->count; gpus++) add(run, BENCH_X20_UNIFIED, "unified", gpus);
  add(run, BENCH_X20_DESIGNS, "unified", few);
  add(run, BENCH_X20_DESIGNS, "unified:tasks=8", few);
  add(run, BENCH_X20_DESIGNS, "zerocopy-block", few);
  add(run, BENCH_X20_DESIGNS, "zerocopy:tasks=8", few);
  for (int tasks = 4; tasks <= ALL_TASKS; tasks *= 2) {
    snprintf(name, sizeof name, "zerocopy:tasks=%d", tasks);
    add(run, BENCH_X20_TASKS, name, few);
  }
  add_peer(run);
  add(run, BENCH_X20_SCALING, "auto", 0);
  for (int gpus = 1; gpus <= run->count; gpus++) {
    snprintf(name, sizeof name, "zerocopy:tasks=%d", ALL_TASKS / gpus);
    add(run, BENCH_X20_SCALING, name, gpus);
  }
  if (run->count > 1) add(run, BENCH_X20_SCALING, "auto", run->count);
  return -1;
}

/* ---- The run ---- */

static void publish(x20 *run, bench_x20_experiment experiment, int64_t first) {
  for (int64_t i = first; i < run->rows.count; i++) {
    bench_row *row = &run->rows.row[i];
    run->wrong += row->wrong;
    snprintf(row->suite, sizeof row->suite, "%s", bench_x20_suites[experiment]);
    if (run->out) bench_row_write(run->out, row);
    if (run->set->json) bench_row_write(stdout, row);
  }
}

static int run_triangle(x20 *run, const char *entry, const bench_source *source, trs_uplo uplo) {
  bench_system system = {.name = entry, .nrhs = 1};
  bench_gpu gpu;
  int code = bench_system_take(&system, source, uplo) ? leave_library(entry) : -1;
  if (code >= 0 || (!system.info.nlower && !system.info.nupper)) {
    bench_system_free(&system);
    return code;
  }
  code = bench_gpu_open(&gpu, run->ctx[0], &system, run->set);
  for (int e = 0; e < BENCH_X20_EXPERIMENTS && code < 0; e++) {
    int64_t first = run->rows.count;
    code = bench_measure_gpu(&run->rows, &run->runners[e], &gpu, 1, run->set->seconds, tick);
    publish(run, (bench_x20_experiment)e, first);
  }
  bench_gpu_close(&gpu);
  bench_system_free(&system);
  return code;
}

/* Forward sweeps, as in the paper, unless asked otherwise. */
static int run_entry(x20 *run, const char *entry) {
  char skipped[1200];
  bench_source source;
  int code = bench_source_open(&source, entry, skipped, sizeof skipped) ? leave_library(entry) : -1;
  share = (double)run->done++ / (double)run->suite.count;
  if (*skipped) bench_notice(entry, skipped);
  if (code < 0 && !*skipped)
    code = run_triangle(run, entry, &source, run->set->uplo == 1 ? TRS_UPPER : TRS_LOWER);
  bench_source_close(&source);
  return code;
}

/* A run in which an entry failed still tells what the others gave. */
static int run_all(x20 *run) {
  int worst = LEAVE_SOLVED;
  progress_begin();
  for (int64_t i = 0; i < run->suite.count && !output_lost(); i++) {
    int code = run_entry(run, run->suite.entry[i]);
    if (code > worst) worst = code;
  }
  progress_end();
  if (!run->set->json) bench_x20_report(&run->rows, run->set->markdown);
  int code = run->set->svg ? bench_x20_draw(&run->rows, run->set->svg) : -1;
  if (code >= 0) return code;
  if (run->wrong && worst == LEAVE_SOLVED)
    return leave(LEAVE_NUMERICAL, "backward error", -1, "%s: wrong, or without an answer",
                 human_things(run->wrong, "result is WRONG", "results are WRONG").s);
  return worst;
}

int bench_x20(const bench_settings *set) {
  x20 run = {.set = set};
  int code = bench_suite_read(&run.suite, set->suite ? set->suite : "x20");
  if (code < 0) code = open_contexts(&run);
  if (code < 0) code = add_runners(&run);
  if (code < 0) code = bench_out_open(&run.out, set);
  if (code < 0) code = bench_out_close(run.out, set, run_all(&run));
  for (int e = 0; e < BENCH_X20_EXPERIMENTS; e++) free(run.runners[e].runner);
  for (int k = 0; k <= BENCH_MOST_GPUS; k++) trs_context_destroy(run.ctx[k]);
  bench_suite_free(&run.suite);
  bench_rows_free(&run.rows);
  return code;
}
