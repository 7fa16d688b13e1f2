/* x20.c - trireme bench x20: the measurements of X20's Figures 3, 7, 9 and 10 on this project's
 * suite: managed memory by the number of GPUs, the four designs side by side, tasks per GPU, and
 * zerocopy with 32 tasks in total by the number of GPUs against cuSPARSE on one; beside them the
 * systems' metrics of its Table I.  With fewer GPUs than in the paper, it uses those available. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chart.h"
#include "cuda.h"
#include "cusparse.h"
#include "experiment.h"
#include "gpu_list.h"
#include "gpu_system.h"
#include "grid.h"
#include "groups.h"
#include "leave.h"
#include "output.h"
#include "row.h"
#include "run.h"
#include "runner.h"
#include "settings.h"
#include "system.h"

typedef enum x20_part {
  X20_UNIFIED, /* managed memory by the number of GPUs */
  X20_DESIGNS,
  X20_TASKS,   /* tasks per GPU */
  X20_SCALING, /* by the number of GPUs, with a constant total of tasks */
  X20_PARTS
} x20_part;

static const char *const suites[] = {"x20 unified", "x20 designs", "x20 tasks", "x20 scaling"};

enum { DESIGN_GPUS = 4, ALL_TASKS = 32 };

/* ==== Tables and plots, from rows alone ==== */

enum { MOST_COLUMNS = 16, MOST_SYSTEMS = 128 };

static int systems_of(const bench_rows *rows, x20_part part, const bench_row **system) {
  return bench_distinct(rows, suites[part], 0, bench_same_system, system, MOST_SYSTEMS);
}

static int columns_of(const bench_rows *rows, x20_part part, const bench_row **column) {
  return bench_distinct(rows, suites[part], 0, bench_same_column, column, MOST_COLUMNS);
}

/* Seconds of a solve by a column's method on a system; NAN: missing, or wrong. */
static double seconds_of(const bench_rows *rows, const bench_row *column, const bench_row *system) {
  return bench_median(bench_at(rows, column->suite, system, column));
}
/* The same with the analysis, as in X20's Figure 7. */
static double seconds_in_all(const bench_rows *rows, const bench_row *column,
                             const bench_row *system) {
  const bench_row *row = bench_at(rows, column->suite, system, column);
  return row ? row->analysis + bench_median(row) : NAN;
}

/* "zerocopy:tasks=8" on 4 GPUs is "zerocopy 8 x4". */
static void name_of(char *name, size_t size, const bench_row *column) {
  const char *tasks = strstr(column->method, ":tasks=");
  int length = (int)strcspn(column->method, ":");
  snprintf(name, size, "%.*s%s%s, %lld GPU%s", length, column->method, tasks ? " " : "",
           tasks ? tasks + strlen(":tasks=") : "", (long long)column->threads,
           column->threads == 1 ? "" : "s");
}

/* ---- Tables ---- */

/* X20's Table I: dependency is entries per row, parallelism rows per level. */
static void print_systems(const bench_rows *rows, bool markdown) {
  static const char *const heads[] = {"system", "rows",       "entries",
                                      "levels", "dependency", "parallelism"};
  const bench_row *system[MOST_SYSTEMS];
  bench_grid grid = {0};
  char label[64];
  int count = systems_of(rows, X20_DESIGNS, system);
  bench_grid_head(&grid, heads, 6);
  for (int s = 0; s < count; s++) {
    bench_label(label, sizeof label, system[s]);
    bench_grid_add(&grid, label);
    bench_grid_add(&grid, human_count(system[s]->n).s);
    bench_grid_add(&grid, human_count(system[s]->nnz).s);
    bench_grid_add(&grid, human_count(system[s]->levels).s);
    bench_grid_put(&grid, "%.3g", system[s]->dependency);
    bench_grid_put(&grid, "%.4g", system[s]->parallelism);
  }
  bench_grid_print(&grid, "X20, Table I: systems and their metrics", markdown);
}

typedef double x20_seconds(const bench_rows *rows, const bench_row *column,
                           const bench_row *system);

static void print_gains(const bench_rows *rows, x20_part part, x20_seconds *seconds,
                        const char *title, bool markdown) {
  const bench_row *system[MOST_SYSTEMS], *column[MOST_COLUMNS];
  int count = systems_of(rows, part, system), columns = columns_of(rows, part, column);
  bench_gains gains = {.systems = count, .columns = columns, .system = system};
  if (!count || !columns || bench_gains_open(&gains) >= 0) return;
  for (int k = 0; k < columns; k++) name_of(gains.name[k], sizeof gains.name[k], column[k]);
  for (int s = 0; s < count; s++)
    for (int k = 0; k < columns; k++)
      gains.seconds[s * columns + k] = seconds(rows, column[k], system[s]);
  bench_gains_print(&gains, title, markdown);
}

/* ---- The metrics: Spearman's rank correlation. ---- */

static void rank(const double *value, int count, double *ranks) {
  for (int a = 0; a < count; a++) {
    int below = 0, equal = 0;
    for (int b = 0; b < count; b++) {
      below += value[b] < value[a];
      equal += value[b] == value[a];
    }
    ranks[a] = below + 0.5 * (equal - 1);
  }
}

static double correlation(const double *a, const double *b, int count) {
  double ra[MOST_SYSTEMS], rb[MOST_SYSTEMS], mean = 0.5 * (count - 1), ab = 0, aa = 0, bb = 0;
  rank(a, count, ra);
  rank(b, count, rb);
  for (int k = 0; k < count; k++) {
    ab += (ra[k] - mean) * (rb[k] - mean);
    aa += (ra[k] - mean) * (ra[k] - mean);
    bb += (rb[k] - mean) * (rb[k] - mean);
  }
  return ab / sqrt(aa * bb);
}

/* X20: if parallelism is high and dependency low, more GPUs gain more. */
static void print_correlation(const bench_rows *rows, bool markdown) {
  static const char *const heads[] = {"gain", "with parallelism", "with dependency", "systems"};
  static const x20_part parts[] = {X20_DESIGNS, X20_SCALING};
  const bench_row *system[MOST_SYSTEMS], *column[MOST_COLUMNS];
  bench_grid grid = {0};
  bench_grid_head(&grid, heads, 4);
  for (int e = 0; e < 2; e++) {
    int all = systems_of(rows, parts[e], system), count = 0;
    int columns = columns_of(rows, parts[e], column), last = columns - 1, first = 0;
    double gain[MOST_SYSTEMS], parallelism[MOST_SYSTEMS], dependency[MOST_SYSTEMS];
    while (last > 0 && strncmp(column[last]->method, "zerocopy", 8) != 0) last--;
    while (e == 1 && first < last && strncmp(column[first]->method, "zerocopy", 8) != 0) first++;
    if (first >= last) continue;
    for (int s = 0; s < all; s++) {
      gain[count] =
          seconds_of(rows, column[first], system[s]) / seconds_of(rows, column[last], system[s]);
      parallelism[count] = system[s]->parallelism;
      dependency[count] = system[s]->dependency;
      count += isfinite(gain[count]);
    }
    bench_grid_add(&grid, e ? "zerocopy, most GPUs over one" : "zerocopy over unified");
    bench_grid_put(&grid, "%.2f", correlation(gain, parallelism, count));
    bench_grid_put(&grid, "%.2f", correlation(gain, dependency, count));
    bench_grid_add(&grid, human_count(count).s);
  }
  bench_grid_print(&grid, "Rank correlation of the gain with X20's metrics (Spearman)", markdown);
}

static const char *const titles[] = {
    ("X20, Figure 3b: managed memory by the number of GPUs, times as fast as on one; "
     "bench/page_faults.c counts page faults (Figure 3a)"),
    "X20, Figure 7, solve alone: the designs, times as fast as unified",
    "X20, Figure 9: tasks a GPU, times as fast as 4",
    "X20, Figure 10: 32 tasks in all by the number of GPUs, times as fast as the first"};

void bench_x20_report(const bench_rows *rows, bool markdown) {
  print_systems(rows, markdown);
  for (int e = 0; e < X20_PARTS; e++) {
    if (e == X20_DESIGNS)
      print_gains(rows, X20_DESIGNS, seconds_in_all,
                  "X20, Figure 7, analysis and solve: the designs, times as fast as unified",
                  markdown);
    print_gains(rows, (x20_part)e, seconds_of, titles[e], markdown);
  }
  print_correlation(rows, markdown);
}

/* ---- Plots ---- */

static int draw(const bench_rows *rows, x20_part part, const char *prefix) {
  static const char *const names[] = {"unified", "designs", "tasks", "scaling"};
  static const char *const heads[] = {"Managed memory by the number of GPUs (X20, Figure 3b)",
                                      "The designs, solve alone (X20, Figure 7)",
                                      "Tasks per GPU (X20, Figure 9)",
                                      "32 tasks by the number of GPUs (X20, Figure 10)"};
  const bench_row *system[MOST_SYSTEMS], *column[MOST_COLUMNS];
  int count = systems_of(rows, part, system), columns = columns_of(rows, part, column);
  bench_chart chart = {.title = heads[part], .axis = "times as fast, logarithmic"};
  char path[1200], base[80];
  chart.series = columns - 1 < 8 ? columns - 1 : 8;
  if (!count || chart.series < 1) return -1;
  int code = bench_chart_open(&chart, count);
  if (code >= 0) return code;
  name_of(base, sizeof base, column[0]);
  snprintf(chart.subtitle, sizeof chart.subtitle, "times as fast as %s", base);
  for (int k = 0; k < chart.series; k++)
    name_of(chart.name[k], sizeof chart.name[k], column[k + 1]);
  for (int s = 0; s < count; s++) {
    double seconds = seconds_of(rows, column[0], system[s]);
    bench_label(chart.label[s], sizeof chart.label[s], system[s]);
    for (int k = 0; k < chart.series; k++)
      chart.value[s * chart.series + k] = seconds / seconds_of(rows, column[k + 1], system[s]);
  }
  bench_svg_path(path, sizeof path, prefix, names[part]);
  return bench_chart_write(&chart, path);
}

int bench_x20_draw(const bench_rows *rows, const char *prefix) {
  int code = -1;
  for (int e = 0; e < X20_PARTS && code < 0; e++) code = draw(rows, (x20_part)e, prefix);
  return code;
}

/* ==== The run ==== */

typedef struct x20 {
  const bench_settings *set;
  bench_gpu_list gpus;
  int count;
  /* A context per number of GPUs; [0] is the first GPU alone, for one-GPU methods. */
  trs_context *ctx[BENCH_MOST_GPUS + 1];
  bench_runners runners[X20_PARTS];
} x20;

/* ---- Contexts ---- */

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

/* ---- Runners ---- */

/* gpus 0: a method of one GPU.  The array is large enough: no part has more than 2 +
 * BENCH_MOST_GPUS. */
static bench_runner *add(x20 *x, x20_part part, const char *method, int gpus) {
  bench_runner *r = bench_runners_add(&x->runners[part], method, gpus ? gpus : 1);
  r->terse = true;
  r->ctx = x->ctx[gpus];
  return r;
}

static void add_with_tasks(x20 *x, x20_part part, int tasks, int gpus) {
  char name[64];
  snprintf(name, sizeof name, "zerocopy:tasks=%d", tasks);
  add(x, part, name, gpus);
}

static void add_peer(x20 *x) {
  const char *missing = x->set->peer ? "--peer none" : bench_cusparse_load();
  if (missing)
    notify("bench: without cuSPARSE: %s", missing);
  else
    add(x, X20_SCALING, "cusparse", 0)->ctx = NULL;
}

static int add_runners(x20 *x) {
  int few = x->count < DESIGN_GPUS ? x->count : DESIGN_GPUS, code = -1;
  for (int p = 0; p < X20_PARTS && code < 0; p++) code = bench_runners_reserve(&x->runners[p]);
  if (code >= 0) return code;
  for (int gpus = 1; gpus <= x->count; gpus++) add(x, X20_UNIFIED, "unified", gpus);
  add(x, X20_DESIGNS, "unified", few);
  add(x, X20_DESIGNS, "unified:tasks=8", few);
  add(x, X20_DESIGNS, "zerocopy-block", few);
  add(x, X20_DESIGNS, "zerocopy:tasks=8", few);
  for (int tasks = 4; tasks <= ALL_TASKS; tasks *= 2) add_with_tasks(x, X20_TASKS, tasks, few);
  add_peer(x);
  add(x, X20_SCALING, "auto", 0);
  for (int gpus = 1; gpus <= x->count; gpus++)
    add_with_tasks(x, X20_SCALING, ALL_TASKS / gpus, gpus);
  if (x->count > 1) add(x, X20_SCALING, "auto", x->count);
  return -1;
}

/* ---- The run ---- */

static int run_system(bench_run *run, bench_system *system) {
  x20 *x = run->own;
  bench_gpu gpu;
  int code = bench_gpu_open(&gpu, x->ctx[0], system, run->set);
  for (int p = 0; p < X20_PARTS && code < 0; p++) {
    int64_t first = run->rows.count;
    bench_tick_part(p, X20_PARTS);
    code = bench_measure_gpu(&run->rows, &x->runners[p], &gpu, 1, run->set->seconds);
    bench_run_publish(run, suites[p], first);
  }
  bench_gpu_close(&gpu);
  return code;
}

static void close_all(x20 *x) {
  for (int p = 0; p < X20_PARTS; p++) {
    for (int i = 0; i < x->runners[p].count; i++) x->runners[p].runner[i].ctx = NULL; /* below */
    bench_runners_close(&x->runners[p]);
  }
  for (int k = 0; k <= BENCH_MOST_GPUS; k++) trs_context_destroy(x->ctx[k]);
}

int bench_x20(const bench_settings *set) {
  bench_run run;
  x20 x = {.set = set};
  int code = bench_run_open(&run, set, "x20-stand-ins", &x);
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
