/* x20.c - trireme bench x20: the measurements of X20's Figures 3, 7, 9 and 10 on this project's
 * suite: managed memory by the number of GPUs, the four designs side by side, Get-Update-Put beside
 * read-only communication, tasks per GPU, and zerocopy with 32 tasks in all by the number of GPUs
 * against cuSPARSE on one; beside them the systems' metrics of its Table I.  With fewer GPUs than
 * in the paper, it uses those available.  With --backend nvshmem there is a process per GPU: each
 * makes the same calls on the same number of GPUs, and the first one reports. */
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
  X20_COMMUNICATION, /* Get-Update-Put, and read-only */
  X20_TASKS,         /* tasks per GPU */
  X20_SCALING,       /* by the number of GPUs, with a constant total of tasks */
  X20_PARTS
} x20_part;

static const char *const suites[] = {"x20 unified", "x20 designs", "x20 communication", "x20 tasks",
                                     "x20 scaling"};

enum { DESIGN_GPUS = 4, ALL_TASKS = 32 };

/* ==== Tables and plots, from rows alone ==== */

enum { MOST_COLUMNS = 64, MOST_SYSTEMS = 128 };

static int systems_of(const bench_rows *rows, x20_part part, const bench_row **system) {
  return bench_distinct(rows, suites[part], 0, bench_same_system, system, MOST_SYSTEMS);
}

/* Managed memory is compared from two GPUs on, as in the paper: one GPU is apart, behind them. */
static int columns_of(const bench_rows *rows, x20_part part, const bench_row **column) {
  int count = bench_distinct(rows, suites[part], 0, bench_same_column, column, MOST_COLUMNS);
  for (int k = 0; part == X20_UNIFIED && k + 1 < count; k++)
    if (column[k]->threads == 1) {
      const bench_row *one = column[k];
      column[k] = column[k + 1];
      column[k + 1] = one;
    }
  return count;
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

static bool by_processes(const bench_row *column) { return !strcmp(column->backend, "nvshmem"); }

/* "zerocopy:tasks=8" is "zerocopy 8, 4 GPUs"; "zerocopy:total=32" is "zerocopy, 4 GPUs". */
static void name_of(char *name, size_t size, const bench_row *column) {
  const char *tasks = strstr(column->method, ":tasks=");
  int length = (int)strcspn(column->method, ":");
  snprintf(name, size, "%.*s%s%s, %lld GPU%s%s", length, column->method, tasks ? " " : "",
           tasks ? tasks + strlen(":tasks=") : "", (long long)column->threads,
           column->threads == 1 ? "" : "s", by_processes(column) ? ", NVSHMEM" : "");
}

/* ---- Tables ---- */

/* The share of the intermediate arrays (VI-A), in per cent of the memory of all GPUs: in.degree and
 * left.sum, of all components on each GPU, beside the matrix, b and x.  Double precision. */
static double share_of_arrays(const bench_row *system, double gpus) {
  double arrays = gpus * 12.0 * (double)system->n;
  double others = 12.0 * (double)system->nnz + 8.0 * (double)(3 * system->n + 1);
  return 100 * arrays / (arrays + others);
}

/* X20's Table I: dependency is entries per row, parallelism rows per level. */
static void print_systems(const bench_rows *rows, bool markdown) {
  static const char *const heads[] = {"system",     "rows",        "entries",         "levels",
                                      "dependency", "parallelism", "arrays, 1 GPU, %"};
  const bench_row *system[MOST_SYSTEMS];
  bench_grid grid = {0};
  char label[64];
  int count = systems_of(rows, X20_DESIGNS, system);
  long long gpus = count ? system[0]->threads : 1;
  bench_grid_head(&grid, heads, 7);
  if (count && gpus > 1) {
    snprintf(label, sizeof label, "%lld GPUs, %%", gpus);
    bench_grid_head(&grid, (const char *const[]){label}, 1);
  }
  for (int s = 0; s < count; s++) {
    bench_label(label, sizeof label, system[s]);
    bench_grid_add(&grid, label);
    bench_grid_add(&grid, human_count(system[s]->n).s);
    bench_grid_add(&grid, human_count(system[s]->nnz).s);
    bench_grid_add(&grid, human_count(system[s]->levels).s);
    bench_grid_put(&grid, "%.3g", system[s]->dependency);
    bench_grid_put(&grid, "%.4g", system[s]->parallelism);
    bench_grid_put(&grid, "%.0f", share_of_arrays(system[s], 1));
    if (gpus > 1) bench_grid_put(&grid, "%.0f", share_of_arrays(system[s], (double)gpus));
  }
  bench_grid_print(&grid,
                   "X20, Table I: systems and their metrics, and the share of intermediate arrays "
                   "in the memory of zerocopy (VI-A)",
                   markdown);
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

/* Not finite if all of one of them are equal. */
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
static bool is_zerocopy(const bench_row *column, const bench_row *beside) {
  return !strncmp(column->method, "zerocopy", 8) && by_processes(column) == by_processes(beside);
}

static void put_correlation(bench_grid *grid, const double *gain, const double *metric, int count) {
  const double value = correlation(gain, metric, count);
  if (isfinite(value))
    bench_grid_put(grid, "%.2f", value);
  else
    bench_grid_add(grid, "-");
}

static void print_correlation(const bench_rows *rows, bool markdown) {
  static const char *const title = "Rank correlation of the gain with X20's metrics (Spearman)";
  static const char *const heads[] = {"gain", "with parallelism", "with dependency", "systems"};
  static const x20_part parts[] = {X20_DESIGNS, X20_SCALING};
  const bench_row *system[MOST_SYSTEMS], *column[MOST_COLUMNS];
  bench_grid grid = {0};
  bool too_few = false;
  bench_grid_head(&grid, heads, 4);
  for (int e = 0; e < 2; e++) {
    int all = systems_of(rows, parts[e], system), count = 0;
    int columns = columns_of(rows, parts[e], column), last = columns - 1, first = 0;
    double gain[MOST_SYSTEMS], parallelism[MOST_SYSTEMS], dependency[MOST_SYSTEMS];
    if (columns && by_processes(column[0])) continue; /* without unified and one GPU */
    while (last > 0 && !is_zerocopy(column[last], column[0])) last--;
    while (e == 1 && first < last && !is_zerocopy(column[first], column[0])) first++;
    if (first >= last) continue;
    for (int s = 0; s < all; s++) {
      gain[count] =
          seconds_of(rows, column[first], system[s]) / seconds_of(rows, column[last], system[s]);
      parallelism[count] = system[s]->parallelism;
      dependency[count] = system[s]->dependency;
      count += isfinite(gain[count]);
    }
    too_few |= count < 2;
    if (count < 2) continue;
    bench_grid_add(&grid, e ? "zerocopy, most GPUs over one" : "zerocopy over unified");
    put_correlation(&grid, gain, parallelism, count);
    put_correlation(&grid, gain, dependency, count);
    bench_grid_add(&grid, human_count(count).s);
  }
  bench_grid_print(&grid, title, markdown);
  if (too_few) printf("\n%s: left out, for it takes two systems\n", title);
}

static const char *const titles[] = {
    ("X20, Figure 3b: managed memory by the number of GPUs, times as fast as on two; one apart; "
     "papers/X20/bench/page_faults.c counts page faults (Figure 3a)"),
    "X20, Figure 7, solve alone: the designs, times as fast as unified",
    "X20, IV-B: read-only communication, times as fast as Get-Update-Put",
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
  static const char *const names[] = {"unified", "designs", "communication", "tasks", "scaling"};
  static const char *const heads[] = {
      "Managed memory by the number of GPUs (X20, Figure 3b)",
      "The designs, solve alone (X20, Figure 7)", "Read-only communication (X20, IV-B)",
      "Tasks per GPU (X20, Figure 9)", "32 tasks by the number of GPUs (X20, Figure 10)"};
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

/* ---- Two machines ---- */

static const bench_row *column_by(const bench_rows *rows, const char *method) {
  const bench_row *column[MOST_COLUMNS];
  int count = columns_of(rows, X20_DESIGNS, column);
  for (int k = 0; k < count; k++)
    if (!strcmp(column[k]->method, method)) return column[k];
  return NULL;
}

/* X20's Figure 8: both designs on both machines, relative to unified on the first. */
static void print_machines(const bench_rows *const *rows, x20_seconds *seconds, const char *title) {
  static const char *const methods[] = {"unified", "zerocopy:tasks=8"};
  static const char *const whose[] = {"before", "after"};
  const bench_row *system[MOST_SYSTEMS];
  bench_gains gains = {
      .systems = systems_of(rows[0], X20_DESIGNS, system), .columns = 4, .system = system};
  if (!gains.systems || bench_gains_open(&gains) >= 0) return;
  for (int k = 0; k < gains.columns; k++) {
    const bench_row *column = column_by(rows[k / 2], methods[k % 2]);
    char name[80] = "none";
    if (column) name_of(name, sizeof name, column);
    snprintf(gains.name[k], sizeof gains.name[k], "%s, %s", name, whose[k / 2]);
    for (int s = 0; s < gains.systems; s++)
      gains.seconds[s * gains.columns + k] = column ? seconds(rows[k / 2], column, system[s]) : NAN;
  }
  bench_gains_print(&gains, title, false);
}

void bench_x20_compare(const bench_rows *before, const bench_rows *after) {
  const bench_rows *const rows[] = {before, after};
  print_machines(rows, seconds_in_all,
                 "X20, Figure 8, analysis and solve: two machines, times as fast as unified on the "
                 "first");
  print_machines(rows, seconds_of,
                 "X20, Figure 8, solve alone: two machines, times as fast as unified on the first");
}

/* ==== The run ==== */

typedef struct x20 {
  bench_settings set; /* of a process behind the first without output */
  bench_gpu_list gpus;
  int count;
  bool processes; /* one per GPU */
  /* A context per number of GPUs; [0] is the first GPU alone, for one-GPU methods. */
  trs_context *ctx[BENCH_MOST_GPUS + 1];
  bench_runners runners[X20_PARTS];
} x20;

/* ---- Contexts ---- */

/* Every process has one GPU, and all of them have the group of all. */
static int open_processes(x20 *x) {
  trs_context *group;
  int rank = 0;
  if (trs_context_create(&group, "nvshmem")) return leave_library("--backend");
  x->count = trs_context_processes(group, &rank);
  if (rank > 0) {
    output_silence();
    x->set.out = x->set.svg = NULL;
    x->set.json = false;
  }
  if (x->count > BENCH_MOST_GPUS) {
    trs_context_destroy(group);
    return leave_usage("bench", "x20 takes at most %d processes, not %d", BENCH_MOST_GPUS,
                       x->count);
  }
  x->ctx[x->count] = group;
  x->gpus = (bench_gpu_list){.number = {trs_context_gpu(group, rank)}, .count = 1};
  int code = bench_gpu_list_open(&x->gpus, 1, &x->ctx[0]);
  return code < 0 ? bench_cuda_open(x->gpus.number[0]) : code;
}

static int open_contexts(x20 *x) {
  char one[48];
  x->processes = x->set.backend && !strcmp(x->set.backend, "nvshmem");
  if (x->processes) return open_processes(x);
  int code = bench_gpu_list_find(&x->gpus, x->set.backend);
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

/* gpus 0: a method of one GPU.  The array is large enough: no part has more than 3 +
 * BENCH_MOST_GPUS. */
static bench_runner *add(x20 *x, x20_part part, const char *method, int gpus) {
  bench_runner *r = bench_runners_add(&x->runners[part], method, gpus ? gpus : 1);
  r->terse = true;
  r->together = x->processes;
  r->ctx = x->ctx[gpus];
  return r;
}

static void add_peer(x20 *x) {
  const char *missing = x->set.peer ? "--peer none" : bench_cusparse_load();
  if (missing)
    notify("bench: without cuSPARSE: %s", missing);
  else
    add(x, X20_SCALING, "cusparse", 0)->ctx = NULL;
}

static void add_designs(x20 *x, int gpus) {
  static const int tasks[] = {4, 8, 16, 32};
  char name[64];
  add(x, X20_DESIGNS, "zerocopy-block", gpus);
  add(x, X20_DESIGNS, "zerocopy:tasks=8", gpus);
  add(x, X20_COMMUNICATION, "get-update-put", gpus);
  add(x, X20_COMMUNICATION, "get-update-put:tasks=8", gpus);
  add(x, X20_COMMUNICATION, "zerocopy-block", gpus);
  add(x, X20_COMMUNICATION, "zerocopy:tasks=8", gpus);
  for (size_t k = 0; k < sizeof tasks / sizeof *tasks; k++) {
    snprintf(name, sizeof name, "zerocopy:tasks=%d", tasks[k]);
    add(x, X20_TASKS, name, gpus);
  }
}

static void add_scaling(x20 *x, int gpus) {
  char name[64];
  snprintf(name, sizeof name, "zerocopy:total=%d", ALL_TASKS);
  add(x, X20_SCALING, name, gpus);
}

/* One process has contexts of every number of GPUs, several have the one of all. */
static int add_runners(x20 *x) {
  int few = x->count < DESIGN_GPUS ? x->count : DESIGN_GPUS, code = -1;
  for (int p = 0; p < X20_PARTS && code < 0; p++) code = bench_runners_reserve(&x->runners[p]);
  if (code >= 0) return code;
  if (x->processes) {
    add_designs(x, x->count);
    add_scaling(x, x->count);
    return -1;
  }
  for (int gpus = 1; gpus <= x->count; gpus++) add(x, X20_UNIFIED, "unified", gpus);
  add(x, X20_DESIGNS, "unified", few);
  add(x, X20_DESIGNS, "unified:tasks=8", few);
  add_designs(x, few);
  add_peer(x);
  add(x, X20_SCALING, "auto", 0);
  for (int gpus = 1; gpus <= x->count; gpus++) add_scaling(x, gpus);
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
    if (!x->runners[p].count) continue;
    bench_tick_part(p, X20_PARTS);
    /* Get-Update-Put takes up to seconds: one solve of each. */
    const double seconds = p == X20_COMMUNICATION ? 0 : run->set->seconds;
    code = bench_measure_gpu(&run->rows, &x->runners[p], &gpu, 1, seconds);
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
  x20 x = {.set = *set};
  set = &x.set;
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
