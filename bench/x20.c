/* x20.c - trireme bench x20: the measurements of X20's Figures 3 and 7 to 10 on a suite of ours:
 * managed memory by the number of GPUs, the four designs beside each other, tasks a GPU, and
 * zerocopy with 32 tasks in all by the number of GPUs against cuSPARSE on one; the systems' metrics
 * of its Table I beside them.  With fewer GPUs than the paper's, on those that there are. */
#include "x20.h"

#include <stdio.h>

#include "cuda.h"
#include "cusparse.h"
#include "experiment.h"
#include "gpu_list.h"
#include "gpu_system.h"
#include "leave.h"
#include "run.h"
#include "runner.h"
#include "settings.h"
#include "system.h"

const char *const bench_x20_suites[] = {"x20 unified", "x20 designs", "x20 tasks", "x20 scaling"};

enum { DESIGN_GPUS = 4, ALL_TASKS = 32 };

typedef struct x20 {
  const bench_settings *set;
  bench_gpu_list gpus;
  int count;
  /* Of so many GPUs; [0] of the first alone, for one-GPU methods. */
  trs_context *ctx[BENCH_MOST_GPUS + 1];
  bench_runners runners[BENCH_X20_PARTS];
} x20;

/* ---- Where ---- */

static int open_contexts(x20 *x) {
  char one[48];
  int code = bench_gpu_list_find(&x->gpus, x->set->backend);
  if (code < 0) code = bench_gpu_list_open(&x->gpus, 1, &x->ctx[0]);
  if (code >= 0) return code;
  x->count = x->gpus.count;
  snprintf(one, sizeof one, "cuda:%d-%d", x->gpus.number[0], x->gpus.number[0]);
  if (trs_context_create(&x->ctx[1], one)) return leave_library("--backend");
  for (int k = 2; k <= x->count && code < 0; k++)
    code = bench_gpu_list_open(&x->gpus, k, &x->ctx[k]);
  return code < 0 ? bench_cuda_open(x->gpus.number[0]) : code;
}

/* ---- Who ---- */

/* gpus 0: a method of one GPU.  There is room: no part has more than 2 + BENCH_MOST_GPUS. */
static bench_runner *add(x20 *x, bench_x20_part part, const char *method, int gpus) {
  bench_runner *r = bench_runners_add(&x->runners[part], method, gpus ? gpus : 1);
  r->terse = true;
  r->ctx = x->ctx[gpus];
  return r;
}

static void add_with_tasks(x20 *x, bench_x20_part part, int tasks, int gpus) {
  char name[64];
  snprintf(name, sizeof name, "zerocopy:tasks=%d", tasks);
  add(x, part, name, gpus);
}

static void add_peer(x20 *x) {
  const char *missing = x->set->peer ? "--peer none" : bench_cusparse_load();
  if (missing)
    notify("bench: without cuSPARSE: %s", missing);
  else
    add(x, BENCH_X20_SCALING, "cusparse", 0)->ctx = NULL;
}

static int add_runners(x20 *x) {
  int few = x->count < DESIGN_GPUS ? x->count : DESIGN_GPUS, code = -1;
  for (int p = 0; p < BENCH_X20_PARTS && code < 0; p++)
    code = bench_runners_reserve(&x->runners[p]);
  if (code >= 0) return code;
  for (int gpus = 1; gpus <= x->count; gpus++) add(x, BENCH_X20_UNIFIED, "unified", gpus);
  add(x, BENCH_X20_DESIGNS, "unified", few);
  add(x, BENCH_X20_DESIGNS, "unified:tasks=8", few);
  add(x, BENCH_X20_DESIGNS, "zerocopy-block", few);
  add(x, BENCH_X20_DESIGNS, "zerocopy:tasks=8", few);
  for (int tasks = 4; tasks <= ALL_TASKS; tasks *= 2)
    add_with_tasks(x, BENCH_X20_TASKS, tasks, few);
  add_peer(x);
  add(x, BENCH_X20_SCALING, "auto", 0);
  for (int gpus = 1; gpus <= x->count; gpus++)
    add_with_tasks(x, BENCH_X20_SCALING, ALL_TASKS / gpus, gpus);
  if (x->count > 1) add(x, BENCH_X20_SCALING, "auto", x->count);
  return -1;
}

/* ---- The run ---- */

static int run_system(bench_run *run, bench_system *system) {
  x20 *x = run->own;
  bench_gpu gpu;
  int code = bench_gpu_open(&gpu, x->ctx[0], system, run->set);
  for (int p = 0; p < BENCH_X20_PARTS && code < 0; p++) {
    int64_t first = run->rows.count;
    bench_tick_part(p, BENCH_X20_PARTS);
    code = bench_measure_gpu(&run->rows, &x->runners[p], &gpu, 1, run->set->seconds);
    bench_run_publish(run, bench_x20_suites[p], first);
  }
  bench_gpu_close(&gpu);
  return code;
}

static void close_all(x20 *x) {
  for (int p = 0; p < BENCH_X20_PARTS; p++) {
    for (int i = 0; i < x->runners[p].count; i++) x->runners[p].runner[i].ctx = NULL; /* below */
    bench_runners_close(&x->runners[p]);
  }
  for (int k = 0; k <= BENCH_MOST_GPUS; k++) trs_context_destroy(x->ctx[k]);
}

int bench_x20(const bench_settings *set) {
  bench_run run;
  x20 x = {.set = set};
  int code = bench_run_open(&run, set, "x20", &x);
  if (code < 0) code = open_contexts(&x);
  if (code < 0) code = add_runners(&x);
  if (code < 0) code = bench_out_open(&run.out, set);
  if (code < 0) {
    bench_run_systems(&run, set->uplo == 1, run_system); /* forward sweeps, as in the paper */
    if (!set->json) bench_x20_report(&run.rows, set->markdown);
    if (set->svg) code = bench_x20_draw(&run.rows, set->svg);
  }
  close_all(&x);
  return bench_run_close(&run, code);
}
