/* x20_report.c - the tables and plots of trireme bench x20, from its rows: times as fast as the
 * first of each part, X20's metrics of the systems, and what these say of the gain. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chart.h"
#include "experiment.h"
#include "grid.h"
#include "groups.h"
#include "output.h"
#include "row.h"
#include "x20.h"

enum { MOST_COLUMNS = 16, MOST_SYSTEMS = 128 };

bool bench_x20_has(const bench_rows *rows) {
  return rows->count && !strncmp(rows->row[0].suite, "x20 ", 4);
}

static int systems_of(const bench_rows *rows, bench_x20_part part, const bench_row **system) {
  return bench_distinct(rows, bench_x20_suites[part], 0, bench_same_system, system, MOST_SYSTEMS);
}

static int columns_of(const bench_rows *rows, bench_x20_part part, const bench_row **column) {
  return bench_distinct(rows, bench_x20_suites[part], 0, bench_same_column, column, MOST_COLUMNS);
}

/* Seconds of a solve by a column's method on a system; NAN: none, or wrong. */
static double seconds_of(const bench_rows *rows, const bench_row *column, const bench_row *system) {
  return bench_median(bench_at(rows, column->suite, system, column));
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
  int count = systems_of(rows, BENCH_X20_DESIGNS, system);
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
  bench_grid_print(&grid, "Systems, with X20's metrics", markdown);
}

static void print_gains(const bench_rows *rows, bench_x20_part part, const char *title,
                        bool markdown) {
  const bench_row *system[MOST_SYSTEMS], *column[MOST_COLUMNS];
  int count = systems_of(rows, part, system), columns = columns_of(rows, part, column);
  bench_gains gains = {.systems = count, .columns = columns, .system = system};
  if (!count || !columns || bench_gains_open(&gains) >= 0) return;
  for (int k = 0; k < columns; k++) name_of(gains.name[k], sizeof gains.name[k], column[k]);
  for (int s = 0; s < count; s++)
    for (int k = 0; k < columns; k++)
      gains.seconds[s * columns + k] = seconds_of(rows, column[k], system[s]);
  bench_gains_print(&gains, title, markdown);
}

/* ---- What the metrics say: Spearman's rank correlation. ---- */

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

/* X20: where parallelism is high and dependency low, more GPUs gain more. */
static void print_correlation(const bench_rows *rows, bool markdown) {
  static const char *const heads[] = {"gain", "with parallelism", "with dependency", "systems"};
  static const bench_x20_part parts[] = {BENCH_X20_DESIGNS, BENCH_X20_SCALING};
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
    ("Managed memory by the number of GPUs (Figure 3), times as fast as on one; page faults are "
     "not counted"),
    "The designs (Figure 7), times as fast as unified",
    "Tasks a GPU (Figure 8), times as fast as 4",
    "32 tasks in all by the number of GPUs (Figures 9 and 10), times as fast as the first"};

void bench_x20_report(const bench_rows *rows, bool markdown) {
  print_systems(rows, markdown);
  for (int e = 0; e < BENCH_X20_PARTS; e++)
    print_gains(rows, (bench_x20_part)e, titles[e], markdown);
  print_correlation(rows, markdown);
}

/* ---- Plots ---- */

static int draw(const bench_rows *rows, bench_x20_part part, const char *prefix) {
  static const char *const names[] = {"unified", "designs", "tasks", "scaling"};
  static const char *const heads[] = {
      "Managed memory by the number of GPUs (X20, Figure 3)", "The designs (X20, Figure 7)",
      "Tasks per GPU (X20, Figure 8)", "32 tasks by the number of GPUs (X20, Figures 9 and 10)"};
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
  for (int e = 0; e < BENCH_X20_PARTS && code < 0; e++)
    code = draw(rows, (bench_x20_part)e, prefix);
  return code;
}
