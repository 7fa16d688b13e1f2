/* l17.c - trireme bench l17: the measurements of L17's Figures 7 to 12 and Tables IV and V on a
 * suite of ours, beside cuSPARSE and the engine: rates of SpTRSV by block size with scratchpad and
 * without, single and double, forward and backward; SpTRSM by both strategies and the adaptive
 * choice over right-hand sides; the sweep over p; and what comes before the solves. */
#include <stdio.h>
#include <string.h>

#include "l17.h"

#include "experiment.h"
#include "gpu_system.h"
#include "run.h"
#include "runner.h"
#include "settings.h"
#include "system.h"

const char *const bench_l17_suites[] = {"l17 rates", "l17 strategies", "l17 p"};

const char *bench_l17_method(bench_l17_part part, int k) {
  static const char *const methods[BENCH_L17_PARTS][11] = {
      {"cusparse", "auto", "syncfree-csc:warps=4,scratchpad=yes",
       "syncfree-csc:warps=8,scratchpad=yes", "syncfree-csc:warps=16,scratchpad=yes",
       "syncfree-csc:warps=32,scratchpad=yes", "syncfree-csc:warps=4,scratchpad=no",
       "syncfree-csc:warps=8,scratchpad=no", "syncfree-csc:warps=16,scratchpad=no",
       "syncfree-csc:warps=32,scratchpad=no"},
      {"cusparse", "auto", "syncfree-csc-rhs:strategy=adaptive", "syncfree-csc-rhs:strategy=rhs",
       "syncfree-csc-rhs:strategy=nnz"},
      {"syncfree-csc-rhs:p=1", "syncfree-csc-rhs:p=2", "syncfree-csc-rhs:p=4",
       "syncfree-csc-rhs:p=8", "syncfree-csc-rhs:p=16", "syncfree-csc-rhs:p=32"}};
  return methods[part][k];
}

static const bench_counts counts[BENCH_L17_PARTS] = {
    {{1}, 1, 1}, {{1, 2, 4, 8, 16, 32, 64, 128, 256}, 256, 9}, {{2, 4, 8, 16, 32, 64}, 64, 6}};

/* Those that this build has. */
static int open_runners(bench_runners *all, const bench_settings *set, bench_l17_part part) {
  char methods[1024] = "";
  size_t used = 0;
  for (int k = 0; bench_l17_method(part, k); k++) {
    const char *name = bench_l17_method(part, k);
    bool peer = !strcmp(name, "cusparse");
    if (peer ? set->peer : !bench_is_method(name)) continue;
    used += (size_t)snprintf(methods + used, sizeof methods - used, used ? ",%s" : "%s", name);
  }
  bench_settings own = *set;
  own.methods = methods;
  own.peer = 1; /* named above */
  if (!used) return -1;
  int code = bench_runners_open(all, &own);
  for (int i = 0; code < 0 && i < all->count; i++)
    all->runner[i].terse = strcmp(all->runner[i].method, "auto") != 0;
  return code;
}

static int run_part(bench_run *run, bench_l17_part part, bench_gpu *gpu) {
  bench_runners *all = (bench_runners *)run->own + part;
  bool chosen = part == BENCH_L17_STRATEGIES && run->set->nrhs_list;
  const bench_counts *nrhs = chosen ? &run->set->nrhs : &counts[part];
  int code = -1;
  for (int k = 0; k < nrhs->count && code < 0 && all->count; k++) {
    int64_t first = run->rows.count;
    code = bench_measure_gpu(&run->rows, all, gpu, nrhs->value[k], run->set->seconds);
    bench_run_publish(run, bench_l17_suites[part], first);
  }
  return code;
}

/* Right-hand sides by the dozen are measured forward, in double, as in the paper. */
static int run_system(bench_run *run, bench_system *system) {
  const bench_runners *rates = run->own;
  int code = -1;
  for (int scalar = 0; scalar < 2 && code < 0; scalar++) {
    int parts = system->uplo == TRS_LOWER && !scalar ? BENCH_L17_PARTS : 1;
    bench_settings set = *run->set;
    bench_gpu gpu;
    set.scalar = scalar;
    bench_tick_part(scalar, 2);
    code = bench_gpu_open(&gpu, rates->gpu, system, &set);
    for (int p = 0; p < parts && code < 0; p++) code = run_part(run, (bench_l17_part)p, &gpu);
    bench_gpu_close(&gpu);
  }
  return code;
}

int bench_l17(const bench_settings *set) {
  bench_run run;
  bench_runners runners[BENCH_L17_PARTS] = {0};
  int code = bench_run_open(&run, set, "l17", runners);
  for (int p = 0; p < BENCH_L17_PARTS && code < 0; p++)
    code = open_runners(&runners[p], set, (bench_l17_part)p);
  if (code < 0) code = bench_out_open(&run.out, set);
  if (code < 0) {
    bench_run_systems(&run, set->uplo, run_system);
    if (!set->json) bench_l17_report(&run.rows, set->markdown);
    if (set->svg) code = bench_l17_draw(&run.rows, set->svg);
  }
  for (int p = 0; p < BENCH_L17_PARTS; p++) bench_runners_close(&runners[p]);
  return bench_run_close(&run, code);
}
