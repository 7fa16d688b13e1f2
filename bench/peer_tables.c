/* peer_tables.c - the programs of a run beside auto: of each, its answers and its analyses; and by
 * class of system, how many times as fast auto is as each and as the fastest of them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "grid.h"
#include "lot.h"
#include "settings.h"
#include "tables.h"

typedef struct contest {
  const bench_groups *groups;
  const bench_rows *rows;
  bench_column own;
  const bench_row *program[BENCH_MOST_PROGRAMS]; /* the first row of each */
  int count;
} contest;

static contest contest_of(const bench_groups *groups, const bench_rows *rows) {
  contest c = {.groups = groups, .rows = rows, .own = BENCH_AUTO};
  const bool gpu = groups->count && bench_on_gpu(groups->group[0].first);
  if (gpu) c.own = BENCH_ENGINE;
  for (int64_t i = 0; i < rows->count && c.count < BENCH_MOST_PROGRAMS; i++) {
    const bench_row *row = &rows->row[i];
    bool known = !*row->program || bench_on_gpu(row) != gpu;
    for (int k = 0; k < c.count; k++) known |= !strcmp(c.program[k]->method, row->method);
    if (!known) c.program[c.count++] = row;
  }
  return c;
}

static const bench_row *row_of(const contest *c, const bench_group *g, int k) {
  return bench_find(c->rows, g->first, c->program[k]->method);
}

/* ---- Of each program ---- */

/* Its version, of an answer; "" if it printed none. */
static const char *version_of(const contest *c, int k) {
  for (int64_t i = 0; i < c->groups->count; i++) {
    const bench_row *row = row_of(c, &c->groups->group[i], k);
    if (row && !row->wrong) return row->reason;
  }
  return "";
}

static void add_program(bench_grid *grid, const contest *c, int k) {
  int64_t right = 0, wrong = 0, none = 0;
  bench_mean analysis = {0};
  for (int64_t i = 0; i < c->groups->count; i++) {
    const bench_group *g = &c->groups->group[i];
    const bench_row *row = row_of(c, g, k), *own = g->column[c->own];
    if (!row) continue;
    right += !row->wrong;
    none += row->wrong && isnan(row->median);
    wrong += row->wrong && !isnan(row->median);
    if (!row->wrong && own && !own->wrong)
      bench_mean_add(&analysis, row->analysis / own->analysis, i);
  }
  const double mean = bench_mean_value(&analysis);
  bench_grid_add(grid, c->program[k]->method);
  bench_grid_put(grid, "%lld", (long long)right);
  bench_grid_put(grid, "%lld", (long long)wrong);
  bench_grid_put(grid, "%lld", (long long)none);
  bench_grid_ratios(grid, &mean, 1);
  bench_grid_add(grid, version_of(c, k));
}

static void print_programs(const contest *c, bool markdown) {
  static const char *const heads[] = {"program",   "right answers",  "wrong",
                                      "no answer", "analysis : own", "version"};
  bench_grid grid = {.text_last = true};
  bench_grid_head(&grid, heads, sizeof heads / sizeof *heads);
  for (int k = 0; k < c->count; k++) add_program(&grid, c, k);
  bench_grid_print(&grid, "Programs as peers", markdown);
}

/* ---- By class ---- */

/* auto beside a program, or beside the fastest of them (k = count). */
static double gain_of(const contest *c, const bench_group *g, int k) {
  const bench_row *own = g->column[c->own], *row = k < c->count ? row_of(c, g, k) : NULL;
  if (k == c->count) return bench_gain(g, c->own, BENCH_OTHER);
  if (!own || own->wrong || !row || row->wrong) return NAN;
  return bench_row_seconds(row) / bench_row_seconds(own);
}

static bench_mean mean_of(const contest *c, const char *class, int k) {
  bench_mean mean = {0};
  for (int64_t i = 0; i < c->groups->count; i++) {
    const bench_group *g = &c->groups->group[i];
    if (!class || class == bench_class_of(g)) bench_mean_add(&mean, gain_of(c, g, k), i);
  }
  return mean;
}

static void add_class(bench_grid *grid, const contest *c, const char *class) {
  const bench_mean best = mean_of(c, class, c->count);
  char label[64];
  if (!best.count) return;
  bench_grid_add(grid, class ? class : "all");
  bench_grid_put(grid, "%lld", (long long)best.count);
  for (int k = 0; k <= c->count; k++) {
    const bench_mean mean = mean_of(c, class, k);
    const double value = bench_mean_value(&mean);
    bench_grid_ratios(grid, &value, 1);
  }
  bench_grid_ratios(grid, &best.least, 1);
  bench_label(label, sizeof label, c->groups->group[best.least_at].first);
  bench_grid_add(grid, label);
}

static void print_classes(const contest *c, bool markdown) {
  static const char *const first[] = {"class", "systems"}, *const last[] = {"the fastest",
                                                                            "the least", "where"};
  bench_grid grid = {.text_last = true};
  const char *class;
  char title[64];
  bench_grid_head(&grid, first, 2);
  for (int k = 0; k < c->count; k++)
    bench_grid_head(&grid, (const char *[]){c->program[k]->method}, 1);
  bench_grid_head(&grid, last, 3);
  for (int k = 0; (class = bench_class(k)); k++) add_class(&grid, c, class);
  add_class(&grid, c, NULL);
  snprintf(title, sizeof title, "By class: %s against programs, times as fast",
           c->own == BENCH_ENGINE ? "the engine" : "auto");
  bench_grid_print(&grid, title, markdown);
}

void bench_peer_tables(const bench_groups *groups, const bench_rows *rows, bool markdown) {
  const contest c = contest_of(groups, rows);
  if (!c.count) return;
  print_programs(&c, markdown);
  print_classes(&c, markdown);
}
