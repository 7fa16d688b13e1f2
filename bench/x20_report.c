/* x20_report.c - the tables and plots of trireme bench x20, from its rows: times as fast as the
 * first of each experiment, X20's metrics of the systems, and what these say of the gain. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "output.h"

enum { MOST_COLUMNS = 16, MOST_SYSTEMS = 128 };

static bool of(const bench_row *row, bench_x20_experiment experiment) {
  return !strcmp(row->suite, bench_x20_suites[experiment]);
}

bool bench_x20_has(const bench_rows *rows) {
  return rows->count && !strncmp(rows->row[0].suite, "x20 ", 4);
}

static bool same_system(const bench_row *a, const bench_row *b) {
  return a->upper == b->upper && !strcmp(a->scalar, b->scalar) && !strcmp(a->matrix, b->matrix);
}

/* The first row of each system of an experiment. */
static int systems_of(const bench_rows *rows, bench_x20_experiment experiment,
                      const bench_row **system) {
  int count = 0;
  for (int64_t i = 0; i < rows->count && count < MOST_SYSTEMS; i++) {
    bool known = !of(&rows->row[i], experiment);
    for (int k = 0; k < count && !known; k++) known = same_system(system[k], &rows->row[i]);
    if (!known) system[count++] = &rows->row[i];
  }
  return count;
}

/* A row of each method and number of GPUs of an experiment, in the order they were measured in. */
static int columns_of(const bench_rows *rows, bench_x20_experiment experiment,
                      const bench_row **column) {
  int count = 0;
  for (int64_t i = 0; i < rows->count && count < MOST_COLUMNS; i++) {
    const bench_row *r = &rows->row[i];
    bool known = !of(r, experiment);
    for (int k = 0; k < count && !known; k++)
      known = column[k]->threads == r->threads && !strcmp(column[k]->method, r->method);
    if (!known) column[count++] = r;
  }
  return count;
}

/* Seconds of a solve by a column's method on a system; NAN: none, or wrong. */
static double seconds_of(const bench_rows *rows, const bench_row *column, const bench_row *system) {
  for (int64_t i = 0; i < rows->count; i++) {
    const bench_row *r = &rows->row[i];
    if (!strcmp(r->suite, column->suite) && !strcmp(r->method, column->method) &&
        r->threads == column->threads && same_system(r, system))
      return r->wrong ? NAN : r->median;
  }
  return NAN;
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

/* X20's Table I: dependency is entries a row, parallelism rows a level. */
static void print_systems(const bench_rows *rows, bool markdown) {
  static const char *const heads[] = {"system", "rows",       "entries",
                                      "levels", "dependency", "parallelism"};
  const bench_row *system[MOST_SYSTEMS];
  bench_grid grid = {.columns = 6};
  char text[64];
  int count = systems_of(rows, BENCH_X20_DESIGNS, system);
  for (int k = 0; k < grid.columns; k++) bench_grid_add(&grid, heads[k]);
  for (int s = 0; s < count; s++) {
    bench_label(text, sizeof text, system[s]);
    bench_grid_add(&grid, text);
    bench_grid_add(&grid, human_count(system[s]->n).s);
    bench_grid_add(&grid, human_count(system[s]->nnz).s);
    bench_grid_add(&grid, human_count(system[s]->levels).s);
    snprintf(text, sizeof text, "%.3g", system[s]->dependency);
    bench_grid_add(&grid, text);
    snprintf(text, sizeof text, "%.4g", system[s]->parallelism);
    bench_grid_add(&grid, text);
  }
  if (count) bench_grid_print(&grid, "Systems, with X20's metrics", markdown);
}

/* The first column in milliseconds, the others as times as fast as that. */
static void print_gains(const bench_rows *rows, bench_x20_experiment experiment, const char *title,
                        bool markdown) {
  const bench_row *system[MOST_SYSTEMS], *column[MOST_COLUMNS];
  int count = systems_of(rows, experiment, system), columns = columns_of(rows, experiment, column);
  bench_grid grid = {.columns = columns + 1};
  bench_mean mean[MOST_COLUMNS] = {0};
  char text[64];
  if (!count || !columns) return;
  bench_grid_add(&grid, "system");
  for (int k = 0; k < columns; k++) {
    name_of(text, sizeof text, column[k]);
    if (k == 0) strncat(text, ", ms", sizeof text - strlen(text) - 1);
    bench_grid_add(&grid, text);
  }
  for (int s = 0; s < count; s++) {
    double base = seconds_of(rows, column[0], system[s]);
    bench_label(text, sizeof text, system[s]);
    bench_grid_add(&grid, text);
    bench_grid_add(&grid, bench_milliseconds(base).s);
    for (int k = 1; k < columns; k++) {
      double gain = base / seconds_of(rows, column[k], system[s]);
      bench_mean_add(&mean[k], gain, s);
      bench_grid_add(&grid, bench_ratio(gain).s);
    }
  }
  bench_grid_add(&grid, "geometric mean");
  bench_grid_add(&grid, "");
  for (int k = 1; k < columns; k++)
    bench_grid_add(&grid, bench_ratio(mean[k].count ? bench_mean_value(&mean[k]) : NAN).s);
  bench_grid_print(&grid, title, markdown);
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
  static const bench_x20_experiment experiments[] = {BENCH_X20_DESIGNS, BENCH_X20_SCALING};
  const bench_row *system[MOST_SYSTEMS], *column[MOST_COLUMNS];
  bench_grid grid = {.columns = 4};
  for (int k = 0; k < grid.columns; k++) bench_grid_add(&grid, heads[k]);
  for (int e = 0; e < 2; e++) {
    int all = systems_of(rows, experiments[e], system), count = 0;
    int columns = columns_of(rows, experiments[e], column), last = columns - 1, first = 0;
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
    char text[48];
    bench_grid_add(&grid, e ? "zerocopy, most GPUs over one" : "zerocopy over unified");
    snprintf(text, sizeof text, "%.2f", correlation(gain, parallelism, count));
    bench_grid_add(&grid, text);
    snprintf(text, sizeof text, "%.2f", correlation(gain, dependency, count));
    bench_grid_add(&grid, text);
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
  for (int e = 0; e < BENCH_X20_EXPERIMENTS; e++)
    print_gains(rows, (bench_x20_experiment)e, titles[e], markdown);
  print_correlation(rows, markdown);
}

/* ---- Plots ---- */

static int draw(const bench_rows *rows, bench_x20_experiment experiment, const char *prefix) {
  static const char *const names[] = {"unified", "designs", "tasks", "scaling"};
  static const char *const heads[] = {
      "Managed memory by the number of GPUs (X20, Figure 3)", "The designs (X20, Figure 7)",
      "Tasks per GPU (X20, Figure 8)", "32 tasks by the number of GPUs (X20, Figures 9 and 10)"};
  const bench_row *system[MOST_SYSTEMS], *column[MOST_COLUMNS];
  int count = systems_of(rows, experiment, system), columns = columns_of(rows, experiment, column);
  bench_chart chart = {.title = heads[experiment], .axis = "times as fast, logarithmic"};
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
  bench_svg_path(path, sizeof path, prefix, names[experiment]);
  code = bench_chart_write(&chart, path);
  bench_chart_close(&chart);
  return code;
}

int bench_x20_draw(const bench_rows *rows, const char *prefix) {
  int code = -1;
  for (int e = 0; e < BENCH_X20_EXPERIMENTS && code < 0; e++)
    code = draw(rows, (bench_x20_experiment)e, prefix);
  return code;
}
