/* gpus_report.c - tables and plot of trireme bench gpus, from its rows: speed relative to auto on
 * one GPU, geometric means, systems on which more GPUs do not help, and a system larger than a
 * GPU's memory. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chart.h"
#include "experiment.h"
#include "gpu_list.h"
#include "gpus.h"
#include "grid.h"
#include "groups.h"
#include "output.h"
#include "row.h"

const char gpus_suite[] = "gpus", gpus_capped[] = "gpus capped";

enum { MOST_COLUMNS = 32, MOST_SYSTEMS = 256, MOST_SIZES = 4, MOST_NRHS = 16 };

static bool in_suite(const bench_row *row) { return !strcmp(row->suite, gpus_suite); }
static bool is_auto(const bench_row *row) { return !strcmp(row->method, "auto"); }
static bool is_first(const bench_row *row) { return !strcmp(row->place, gpus_place_names[0]); }

/* ", spread"; "" for b and x on the first GPU. */
static const char *place_of(const bench_row *row) {
  static const char *const text[GPUS_PLACES] = {"", ", spread", ", streams"};
  int place = GPUS_PLACES - 1;
  while (place > 0 && strcmp(row->place, gpus_place_names[place]) != 0) place--;
  return text[place];
}

static int systems_of(const bench_rows *rows, int64_t nrhs, const bench_row **system) {
  return bench_distinct(rows, gpus_suite, nrhs, bench_same_system, system, MOST_SYSTEMS);
}

static int columns_of(const bench_rows *rows, int64_t nrhs, const bench_row **column) {
  return bench_distinct(rows, gpus_suite, nrhs, bench_same_column, column, MOST_COLUMNS);
}

/* The numbers of right-hand sides, in ascending order, as measured. */
static int kinds_of(const bench_rows *rows, const bench_row **kind) {
  return bench_distinct(rows, gpus_suite, 0, bench_same_nrhs, kind, MOST_NRHS);
}

/* The row of a system in a column's configuration; NULL: none, or a wrong one. */
static const bench_row *find(const bench_rows *rows, const bench_row *system,
                             const bench_row *column) {
  const bench_row *row = bench_at(rows, gpus_suite, system, column);
  return row && !row->wrong ? row : NULL;
}

static const bench_row *find_auto(const bench_rows *rows, const bench_row *system, int64_t gpus,
                                  gpus_place place) {
  bench_row column = {.threads = gpus, .backend = "cuda", .method = "auto"};
  snprintf(column.place, sizeof column.place, "%s", gpus_place_names[place]);
  return find(rows, system, &column);
}

/* The speed of a row relative to auto on one GPU. */
static double gain_of(const bench_rows *rows, const bench_row *row) {
  const bench_row *one = row ? find_auto(rows, row, 1, GPUS_FIRST) : NULL;
  return one ? one->median / row->median : NAN;
}

static void name_of(char *name, size_t size, const bench_row *column) {
  snprintf(name, size, "%.40s, %d GPU%s%s", column->method, (int)column->threads,
           column->threads == 1 ? "" : "s", place_of(column));
}

/* ---- During a run ---- */

/* "kkt3d:160 L  auto, 1 GPU 0.5655 ms  auto, 2 GPUs 1.91 ..." */
void gpus_line(const bench_rows *rows, int64_t first) {
  char label[64], name[96];
  if (first == rows->count || !in_suite(&rows->row[first])) return;
  bench_label(label, sizeof label, &rows->row[first]);
  printf("%-24s", label);
  for (int64_t i = first; i < rows->count; i++) {
    const bench_row *r = &rows->row[i];
    name_of(name, sizeof name, r);
    if (r->wrong)
      printf("  %s%s WRONG%s", style_on(STYLE_BAD), name, style_off());
    else if (r->threads == 1)
      printf("  %s %s ms", name, bench_milliseconds(r->median).s);
    else
      printf("  %s %s", name, bench_ratio(gain_of(rows, r)).s);
  }
  printf("\n");
  fflush(stdout);
}

/* ---- Tables ---- */

static bool ruled_by_levels(const bench_row *one) {
  return (double)one->levels * one->hop >= 0.9 * one->bound; /* it is the larger of the two */
}

static void print_systems(const bench_rows *rows, bool markdown) {
  static const char *const heads[] = {
      "system",           "rows",          "entries",  "levels",      "parallelism", "bytes, MB",
      "levels x hop, ms", "reference, ms", "ruled by", "one GPU, ms", "best"};
  const bench_row *system[MOST_SYSTEMS];
  bench_grid grid = {0};
  char label[64];
  int count = systems_of(rows, 1, system);
  bench_grid_head(&grid, heads, sizeof heads / sizeof *heads);
  for (int s = 0; s < count; s++) {
    const bench_row *r = find_auto(rows, system[s], 1, GPUS_FIRST);
    if (!r) r = system[s];
    const double limits[] = {(double)r->levels * r->hop, r->bound},
                 times[] = {r->median, r->fastest};
    bench_label(label, sizeof label, r);
    bench_grid_add(&grid, label);
    bench_grid_add(&grid, human_count(r->n).s);
    bench_grid_add(&grid, human_count(r->nnz).s);
    bench_grid_add(&grid, human_count(r->levels).s);
    bench_grid_add(&grid, human_real(r->parallelism).s);
    bench_grid_put(&grid, "%.1f", 1e-6 * (double)r->bytes);
    bench_grid_milliseconds(&grid, limits, 2);
    bench_grid_add(&grid, isnan(r->bound) ? "-" : ruled_by_levels(r) ? "levels" : "bytes");
    bench_grid_milliseconds(&grid, times, 2);
  }
  bench_grid_print(&grid, "Systems, and what limits a solve on one GPU", markdown);
}

static void print_gains(const bench_rows *rows, int64_t nrhs, bool markdown) {
  const bench_row *system[MOST_SYSTEMS], *column[MOST_COLUMNS];
  int count = systems_of(rows, nrhs, system), columns = columns_of(rows, nrhs, column);
  bench_gains gains = {.systems = count, .columns = columns, .system = system};
  char text[224];
  if (columns < 2 || bench_gains_open(&gains) >= 0) return;
  for (int k = 0; k < columns; k++) name_of(gains.name[k], sizeof gains.name[k], column[k]);
  for (int s = 0; s < count; s++)
    for (int k = 0; k < columns; k++)
      gains.seconds[s * columns + k] = bench_median(find(rows, system[s], column[k]));
  snprintf(
      text, sizeof text,
      "%s, times as fast as one GPU; b and x on the first GPU, or spread as they are solved, in "
      "one stream or in a stream per GPU (streams)",
      human_things(nrhs, "right-hand side", "right-hand sides").s);
  bench_gains_print(&gains, text, markdown);
}

static void print_analyses(const bench_rows *rows, int64_t nrhs, bool markdown) {
  const bench_row *system[MOST_SYSTEMS], *column[MOST_COLUMNS];
  int count = systems_of(rows, nrhs, system), all = columns_of(rows, nrhs, column), columns = 0;
  char text[160];
  for (int k = 0; k < all; k++)
    if (is_first(column[k])) column[columns++] = column[k]; /* the same plan */
  bench_grid grid = {.columns = columns + 1};
  bench_grid_add(&grid, "system");
  for (int k = 0; k < columns; k++) {
    name_of(text, sizeof text, column[k]);
    bench_grid_add(&grid, text);
  }
  for (int s = 0; s < count; s++) {
    bench_label(text, sizeof text, system[s]);
    bench_grid_add(&grid, text);
    for (int k = 0; k < columns; k++) {
      const bench_row *r = find(rows, system[s], column[k]);
      bench_grid_add(&grid, bench_milliseconds(r ? r->analysis : NAN).s);
    }
  }
  snprintf(text, sizeof text, "Analyses of a matrix on the host, ms, %s",
           human_things(nrhs, "right-hand side", "right-hand sides").s);
  bench_grid_print(&grid, text, markdown);
}

/* ---- Means and worst cases ---- */

typedef struct line {
  const char *text;
  bool least; /* reports the worst case, else the mean */
  bool (*takes)(const bench_row *row);
  double (*value)(const bench_rows *rows, const bench_row *row);
} line;

static bool takes_all(const bench_row *row) {
  (void)row;
  return true;
}
static bool takes_two_level(const bench_row *row) {
  return row->nrhs == 1 && row->levels <= 2 && row->nnz >= 100000000;
}
static bool takes_many(const bench_row *row) { return row->nrhs == 64 && row->parallelism >= 5000; }
static bool takes_single(const bench_row *row) { return row->nrhs == 1; }

static double over_zerocopy(const bench_rows *rows, const bench_row *row) {
  bench_row column = {
      .threads = row->threads, .backend = "cuda", .method = "zerocopy", .place = "first"};
  const bench_row *other = find(rows, row, &column);
  return other ? other->median / row->median : NAN;
}

static const line lines[] = {
    {"auto over one GPU, the worst", true, takes_all, gain_of},
    {"auto over one GPU, mean, 1 right-hand side", false, takes_single, gain_of},
    {"two levels, 100 M entries and more", false, takes_two_level, gain_of},
    {"64 right-hand sides, parallelism 5,000 and more", false, takes_many, gain_of},
    {"auto over zerocopy", false, takes_single, over_zerocopy}};

static void print_line(const bench_rows *rows, bench_grid *grid, const line *l, int size,
                       gpus_place place) {
  bench_mean mean = {0};
  char label[64];
  for (int64_t i = 0; i < rows->count; i++) {
    const bench_row *r = &rows->row[i];
    bool here = in_suite(r) && is_auto(r) && !r->wrong && r->threads == 2 << size;
    if (here && !strcmp(r->place, gpus_place_names[place]) && l->takes(r))
      bench_mean_add(&mean, l->value(rows, r), i);
  }
  if (!mean.count) return;
  bench_grid_add(grid, l->text);
  bench_grid_put(grid, "%d%s", 2 << size, place_of(&rows->row[mean.least_at]));
  bench_grid_add(grid, human_times(l->least ? mean.least : bench_mean_value(&mean)).s);
  bench_grid_add(grid, human_count(mean.count).s);
  bench_label(label, sizeof label, &rows->row[mean.least_at]);
  bench_grid_put(grid, "%s, %s", label, human_times(mean.least).s);
}

static void print_means(const bench_rows *rows, bool markdown) {
  static const char *const heads[] = {"times as fast", "GPUs", "value", "of", "the least"};
  bench_grid grid = {0};
  bench_grid_head(&grid, heads, 5);
  for (size_t k = 0; k < sizeof lines / sizeof *lines; k++)
    for (int size = 0; size < MOST_SIZES - 1; size++)
      for (int place = 0; place < GPUS_PLACES; place++)
        if (place == GPUS_FIRST || lines[k].value != over_zerocopy)
          print_line(rows, &grid, &lines[k], size, (gpus_place)place);
  bench_grid_print(&grid, "Geometric means and worst cases", markdown);
}

/* ---- Systems on which more GPUs do not help ---- */

/* The dominant term of the bound, and by how much more GPUs shorten it. */
static void explain(const bench_row *one, char *text, size_t size) {
  double levels = (double)one->levels * one->hop;
  if (!isfinite(levels) || isnan(one->bound))
    snprintf(text, size, "its reference time is not known");
  else if (ruled_by_levels(one))
    snprintf(
        text, size,
        "%s levels of rows, a hop of %s each, are %s, which no number of GPUs shortens (one GPU "
        "takes %s; blocks that are inverted save levels)",
        human_count(one->levels).s, human_seconds(one->hop).s, human_seconds(levels).s,
        human_seconds(one->median).s);
  else
    snprintf(text, size, "bytes take %s on one GPU, levels %s at the least, the solve %s",
             human_seconds(one->bound).s, human_seconds(levels).s, human_seconds(one->median).s);
}

static void print_without_gain(const bench_rows *rows, bool markdown) {
  static const double WORTH = 1.1;
  const bench_row *system[MOST_SYSTEMS];
  int count = systems_of(rows, 1, system);
  bool headed = false;
  for (int s = 0; s < count; s++) {
    const bench_row *one = find_auto(rows, system[s], 1, GPUS_FIRST);
    for (int gpus = 2; gpus <= BENCH_MOST_GPUS && one; gpus *= 2) {
      const bench_row *first = find_auto(rows, system[s], gpus, GPUS_FIRST);
      const bench_row *spread = find_auto(rows, system[s], gpus, GPUS_SPREAD);
      double near = gain_of(rows, first), far = gain_of(rows, spread);
      char label[64], why[512];
      if (!first || near >= WORTH || far >= WORTH) continue;
      if (!headed)
        printf("\n%sWhere more GPUs gain less than 1.1 times%s\n", markdown ? "**" : "",
               markdown ? "**\n" : "");
      headed = true;
      bench_label(label, sizeof label, one);
      explain(one, why, sizeof why);
      printf("%s%s, %d GPUs: %s, spread %s: %s. auto took %s: %s\n", markdown ? "- " : "  ", label,
             gpus, bench_ratio(near).s, bench_ratio(far).s, why, first->chosen, first->reason);
    }
  }
}

/* ---- A system larger than the memory limit of a GPU ---- */

static double rate_of(const bench_row *row) { return 1e-9 * (double)row->bytes / row->median; }

static void print_capped(const bench_rows *rows, bool markdown) {
  static const char *const heads[] = {"system", "GPUs", "limit, MB",        "times the limit",
                                      "ms",     "GB/s", "of one GPU's rate"};
  bench_grid grid = {0};
  const bench_row *one = NULL;
  char label[64];
  bench_grid_head(&grid, heads, sizeof heads / sizeof *heads);
  for (int64_t i = 0; i < rows->count; i++)
    if (!strcmp(rows->row[i].suite, gpus_capped) && rows->row[i].threads == 1 &&
        !rows->row[i].wrong)
      one = &rows->row[i];
  for (int64_t i = 0; i < rows->count; i++) {
    const bench_row *r = &rows->row[i];
    if (strcmp(r->suite, gpus_capped) != 0 || r->wrong) continue;
    double share = one && r != one ? rate_of(r) / rate_of(one) : NAN;
    bench_label(label, sizeof label, r);
    bench_grid_add(&grid, label);
    bench_grid_put(&grid, "%lld%s", (long long)r->threads, place_of(r));
    bench_grid_put(&grid, "%.1f", 1e-6 * r->limit_bytes);
    bench_grid_add(&grid, bench_ratio((double)r->bytes / r->limit_bytes).s);
    bench_grid_milliseconds(&grid, &r->median, 1);
    bench_grid_add(&grid, human_real(rate_of(r)).s);
    bench_grid_add(&grid, isnan(share) ? "" : human_times(share).s);
  }
  bench_grid_print(&grid,
                   "A system (matrix, b and x) larger than what plans may hold on a GPU, and one "
                   "that fits",
                   markdown);
}

void bench_gpus_report(const bench_rows *rows, bool markdown) {
  const bench_row *kind[MOST_NRHS];
  int count = kinds_of(rows, kind);
  print_systems(rows, markdown);
  for (int k = 0; k < count; k++) {
    print_gains(rows, kind[k]->nrhs, markdown);
    print_analyses(rows, kind[k]->nrhs, markdown);
  }
  print_means(rows, markdown);
  print_without_gain(rows, markdown);
  print_capped(rows, markdown);
}

/* ---- The plot: auto on one GPU and on several, a panel per number of right-hand sides. ---- */

/* All systems in sequence, and auto's columns. */
static int collect(const bench_rows *rows, const bench_row **system, const bench_row **column,
                   int most, int *columns) {
  const bench_row *kind[MOST_NRHS], *picked[MOST_SYSTEMS];
  int count = 0, kinds = kinds_of(rows, kind);
  *columns = 0;
  for (int k = 0; k < kinds; k++) {
    int more = systems_of(rows, kind[k]->nrhs, picked);
    for (int s = 0; s < more && count < MOST_SYSTEMS; s++) system[count++] = picked[s];
    more = k ? 0 : columns_of(rows, kind[k]->nrhs, picked);
    for (int c = 0; c < more && *columns < most; c++)
      if (is_auto(picked[c])) column[(*columns)++] = picked[c];
  }
  return count;
}

int bench_gpus_draw(const bench_rows *rows, const char *path) {
  enum { MOST_SERIES = 8 };
  const bench_row *system[MOST_SYSTEMS], *column[MOST_SERIES];
  bench_profile profile = {.title = "Triangular solves on several GPUs: performance profiles"};
  int count = collect(rows, system, column, MOST_SERIES, &profile.series);
  if (!count || !profile.series) return -1;
  int code = bench_profile_open(&profile, count);
  if (code >= 0) return code;
  snprintf(profile.subtitle, sizeof profile.subtitle,
           "Share of the systems solved within a factor of the fastest time; b and x on the first "
           "GPU, or spread over the GPUs that solve them");
  for (int k = 0; k < profile.series; k++)
    name_of(profile.name[k], sizeof profile.name[k], column[k]);
  for (int s = 0; s < count; s++) {
    profile.panel[s] = bench_profile_panel(
        &profile, human_things(system[s]->nrhs, "right-hand side", "right-hand sides").s);
    for (int k = 0; k < profile.series; k++)
      profile.seconds[s * profile.series + k] = bench_median(find(rows, system[s], column[k]));
  }
  return bench_profile_write(&profile, path);
}
