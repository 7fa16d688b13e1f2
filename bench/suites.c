/* suites.c - the methods on a suite, on the CPU or on a GPU, beside oneMKL or cuSPARSE: one line
 * per system, then the means. */
#include <stdlib.h>
#include <string.h>

#include "experiment.h"
#include "gpu_system.h"
#include "groups.h"
#include "leave.h"
#include "lot.h"
#include "machine.h"
#include "output.h"
#include "row.h"
#include "run.h"
#include "runner.h"
#include "settings.h"
#include "system.h"
#include "tables.h"

/* Threads that share their cores wait for each other much longer than they work. */
static void warn_of_load(void) {
  double load = bench_machine_look()->load;
  if (load > 0.5) notify("bench: the load is %.1f before the run: times will be off", load);
}

static void publish(bench_run *run, int64_t first) {
  const bench_runners *all = run->own;
  bench_run_publish(run, run->suite.name, first);
  if (run->set->json || run->rows.count == first) return;
  if (run->set->device >= 0)
    bench_gpu_live_line(all, &run->rows, first);
  else
    bench_live_line(all, &run->rows, first);
}

static int run_on_gpu(bench_run *run, bench_system *system) {
  const bench_settings *set = run->set;
  bench_runners *all = run->own;
  bench_gpu gpu;
  int code = bench_gpu_open(&gpu, all->gpu, system, set);
  for (int k = 0; k < set->nrhs.count && code < 0; k++) {
    int64_t first = run->rows.count;
    code = bench_measure_gpu(&run->rows, all, &gpu, set->nrhs.value[k], set->seconds);
    publish(run, first);
  }
  bench_gpu_close(&gpu);
  return code;
}

static int run_on_cpu(bench_run *run, bench_system *system) {
  const bench_settings *set = run->set;
  int code = -1;
  for (int k = 0; k < set->nrhs.count && code < 0; k++) {
    int64_t first = run->rows.count;
    system->nrhs = set->nrhs.value[k];
    system->by_rows = set->layout == 1;
    code = bench_measure(&run->rows, run->own, system, set->seconds);
    publish(run, first);
  }
  return code;
}

/* What follows the means; NULL: nothing. */
typedef void tables(const bench_groups *groups, bool gpu, bool markdown);

static int sum_up(const bench_run *run, tables *last) {
  const bench_settings *set = run->set;
  bool gpu = set->device >= 0;
  bench_groups groups = {0};
  int code = bench_groups_make(&groups, &run->rows, gpu);
  if (code < 0 && !set->json && groups.count) {
    if (gpu)
      bench_gpu_means(&groups, false);
    else
      bench_means_print(&groups, false);
    bench_peer_tables(&groups, &run->rows, false);
    if (last) last(&groups, gpu, false);
  }
  if (code < 0 && set->svg && groups.count) code = bench_draw(&groups, gpu, set->svg);
  if (code < 0 && set->svg && !groups.count)
    notify("bench: there is nothing to draw: %s is not written", human_name(set->svg).s);
  free(groups.group);
  return code;
}

static int run_all(bench_run *run, tables *last) {
  bool gpu = run->set->device >= 0;
  if (!gpu) warn_of_load();
  if (!run->set->json && gpu) bench_gpu_live_head(run->own);
  if (!run->set->json && !gpu) bench_live_head(run->own);
  bench_run_systems(run, run->set->uplo, gpu ? run_on_gpu : run_on_cpu);
  return sum_up(run, last);
}

/* Of a run with its suite, or with the exit code of what failed. */
static int measure(bench_run *run, int code, tables *last) {
  bench_runners runners = {0};
  run->own = &runners;
  if (code < 0) code = bench_runners_open(&runners, run->set);
  if (code < 0) code = bench_out_open(&run->out, run->set);
  if (code < 0) code = run_all(run, last);
  bench_runners_close(&runners);
  return bench_run_close(run, code);
}

int bench_suites(const bench_settings *set) {
  bench_run run;
  int code = bench_run_open(&run, set, set->device < 0 ? "cpu" : "gpu", NULL);
  return measure(&run, code, NULL);
}

int bench_lot(const bench_settings *set) {
  bench_run run = {.set = set};
  int code = bench_lot_draw(&run.suite, set);
  return measure(&run, code, bench_lot_tables);
}

/* Rows of CPU and GPU in one file are reported in sequence. */
static void report(const bench_rows *rows, tables *last) {
  bench_groups groups[2] = {0};
  for (int gpu = 0; gpu < 2; gpu++)
    if (bench_groups_make(&groups[gpu], rows, gpu == 1) >= 0) groups[gpu].count = 0;
  if (groups[0].count) bench_cpu_tables(&groups[0], rows);
  if (groups[1].count) bench_gpu_tables(&groups[1], rows);
  for (int gpu = 0; gpu < 2 && last; gpu++)
    if (groups[gpu].count) last(&groups[gpu], gpu == 1, true);
  for (int k = 0; k < 2; k++) free(groups[k].group);
}

/* Tables of a file are always Markdown. */
void bench_suites_report(const bench_rows *rows, bool markdown) {
  (void)markdown;
  report(rows, NULL);
}

void bench_lot_report(const bench_rows *rows, bool markdown) {
  (void)markdown;
  report(rows, bench_lot_tables);
}

/* The GPU's rows if the file has both. */
int bench_suites_draw(const bench_rows *rows, const char *path) {
  bench_groups groups;
  bool gpu = false;
  for (int64_t i = 0; i < rows->count; i++) gpu |= bench_on_gpu(&rows->row[i]);
  int code = bench_groups_make(&groups, rows, gpu);
  if (code < 0) code = bench_draw(&groups, gpu, path);
  free(groups.group);
  return code;
}
