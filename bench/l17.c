/* l17.c - trireme bench l17: the measurements of L17's Figures 7 to 12 and Tables IV and V on a
 * suite of ours, beside cuSPARSE and the engine: rates of SpTRSV by block size with scratchpad and
 * without, single and double, forward and backward; SpTRSM by both strategies and the adaptive
 * choice over right-hand sides; the sweep over p; and what comes before the solves. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "leave.h"
#include "output.h"
#include "progress.h"
#include "trireme.h"

const char *const bench_l17_suites[] = {"l17 rates", "l17 strategies", "l17 p"};

const char *bench_l17_method(bench_experiment experiment, int k) {
  static const char *const methods[BENCH_EXPERIMENTS][11] = {
      {"cusparse", "auto", "syncfree-csc:warps=4,scratchpad=yes",
       "syncfree-csc:warps=8,scratchpad=yes", "syncfree-csc:warps=16,scratchpad=yes",
       "syncfree-csc:warps=32,scratchpad=yes", "syncfree-csc:warps=4,scratchpad=no",
       "syncfree-csc:warps=8,scratchpad=no", "syncfree-csc:warps=16,scratchpad=no",
       "syncfree-csc:warps=32,scratchpad=no"},
      {"cusparse", "auto", "syncfree-csc-rhs:strategy=adaptive", "syncfree-csc-rhs:strategy=rhs",
       "syncfree-csc-rhs:strategy=nnz"},
      {"syncfree-csc-rhs:p=1", "syncfree-csc-rhs:p=2", "syncfree-csc-rhs:p=4",
       "syncfree-csc-rhs:p=8", "syncfree-csc-rhs:p=16", "syncfree-csc-rhs:p=32"}};
  return methods[experiment][k];
}

static const bench_counts counts[BENCH_EXPERIMENTS] = {
    {{1}, 1, 1}, {{1, 2, 4, 8, 16, 32, 64, 128, 256}, 256, 9}, {{2, 4, 8, 16, 32, 64}, 64, 6}};

typedef struct l17 {
  const bench_settings *set;
  bench_suite suite;
  bench_runners runners[BENCH_EXPERIMENTS];
  bench_rows rows;
  FILE *out;
  int64_t wrong, done, steps;
} l17;

static double share; /* of the run, done */

static void tick(const char *name, double done) {
  (void)done;
  progress_show(NULL, name, share);
}

/* Those that this build has. */
static int open_runners(l17 *run, bench_experiment experiment) {
  char methods[1024] = "";
  size_t used = 0;
  for (int k = 0; bench_l17_method(experiment, k); k++) {
    const char *name = bench_l17_method(experiment, k);
    bool peer = !strcmp(name, "cusparse");
    if (peer ? run->set->peer : !bench_is_method(name)) continue;
    used += (size_t)snprintf(methods + used, sizeof methods - used, used ? ",%s" : "%s", name);
  }
  bench_settings set = *run->set;
  set.methods = methods;
  set.peer = 1; /* named above */
  if (!used) return -1;
  int code = bench_runners_open(&run->runners[experiment], &set);
  bench_runners *all = &run->runners[experiment];
  for (int i = 0; code < 0 && i < all->count; i++)
    all->runner[i].terse = strcmp(all->runner[i].method, "auto") != 0;
  return code;
}

static void publish(l17 *run, bench_experiment experiment, int64_t first) {
  for (int64_t i = first; i < run->rows.count; i++) {
    bench_row *row = &run->rows.row[i];
    run->wrong += row->wrong;
    snprintf(row->suite, sizeof row->suite, "%s", bench_l17_suites[experiment]);
    if (run->out) bench_row_write(run->out, row);
    if (run->set->json) bench_row_write(stdout, row);
  }
}

static int run_experiment(l17 *run, bench_experiment experiment, bench_gpu *gpu) {
  bool chosen = experiment == BENCH_STRATEGIES && run->set->nrhs_list;
  const bench_counts *nrhs = chosen ? &run->set->nrhs : &counts[experiment];
  int code = -1;
  for (int k = 0; k < nrhs->count && code < 0 && run->runners[experiment].count; k++) {
    int64_t first = run->rows.count;
    code = bench_measure_gpu(&run->rows, &run->runners[experiment], gpu, nrhs->value[k],
                             run->set->seconds, tick);
    publish(run, experiment, first);
  }
  return code;
}

/* Right-hand sides by the dozen are measured forward, in double, as in the paper. */
static int run_system(l17 *run, const bench_system *system, int scalar) {
  bench_settings set = *run->set;
  bench_gpu gpu;
  set.scalar = scalar;
  int code = bench_gpu_open(&gpu, run->runners[BENCH_RATES].gpu, system, &set);
  if (code < 0) code = run_experiment(run, BENCH_RATES, &gpu);
  bool all = system->uplo == TRS_LOWER && !scalar;
  if (code < 0 && all) code = run_experiment(run, BENCH_STRATEGIES, &gpu);
  if (code < 0 && all) code = run_experiment(run, BENCH_P, &gpu);
  bench_gpu_close(&gpu);
  return code;
}

static int run_triangle(l17 *run, const char *entry, const bench_source *source, trs_uplo uplo) {
  bench_system system = {.name = entry, .nrhs = 1};
  int code = bench_system_take(&system, source, uplo) ? leave_library(entry) : -1;
  bool diagonal = code < 0 && !system.info.nlower && !system.info.nupper;
  for (int scalar = 0; scalar < 2 && code < 0 && !diagonal; scalar++) {
    share = (double)run->done++ / (double)run->steps;
    code = run_system(run, &system, scalar);
  }
  bench_system_free(&system);
  return code;
}

static int run_entry(l17 *run, const char *entry) {
  char skipped[1200];
  bench_source source;
  int code = bench_source_open(&source, entry, skipped, sizeof skipped) ? leave_library(entry) : -1;
  if (*skipped) bench_notice(entry, skipped);
  for (int u = 0; u < 2 && code < 0 && !*skipped; u++)
    if (run->set->uplo == 2 || run->set->uplo == u)
      code = run_triangle(run, entry, &source, u == 0 ? TRS_LOWER : TRS_UPPER);
  bench_source_close(&source);
  return code;
}

/* A run in which an entry failed still tells what the others gave. */
static int run_all(l17 *run) {
  int worst = LEAVE_SOLVED;
  run->steps = 4 * run->suite.count;
  progress_begin();
  for (int64_t i = 0; i < run->suite.count && !output_lost(); i++) {
    int code = run_entry(run, run->suite.entry[i]);
    if (code > worst) worst = code;
  }
  progress_end();
  if (!run->set->json) bench_l17_report(&run->rows, run->set->markdown);
  int code = run->set->svg ? bench_l17_draw(&run->rows, run->set->svg) : -1;
  if (code >= 0) return code;
  if (run->wrong && worst == LEAVE_SOLVED)
    return leave(LEAVE_NUMERICAL, "backward error", -1, "%s: wrong, or without an answer",
                 human_things(run->wrong, "result is WRONG", "results are WRONG").s);
  return worst;
}

int bench_l17(const bench_settings *set) {
  l17 run = {.set = set};
  int code = bench_suite_read(&run.suite, set->suite ? set->suite : "l17");
  for (int e = 0; e < BENCH_EXPERIMENTS && code < 0; e++)
    code = open_runners(&run, (bench_experiment)e);
  if (code < 0) code = bench_out_open(&run.out, set);
  if (code < 0) code = bench_out_close(run.out, set, run_all(&run));
  for (int e = 0; e < BENCH_EXPERIMENTS; e++) bench_runners_close(&run.runners[e]);
  bench_suite_free(&run.suite);
  bench_rows_free(&run.rows);
  return code;
}
