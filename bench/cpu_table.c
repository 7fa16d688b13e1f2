/* cpu_table.c - one line per system on a CPU: during a run, and from a file, as Markdown; and the
 * performance profile of a suite. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chart.h"
#include "grid.h"
#include "groups.h"
#include "output.h"
#include "row.h"
#include "runner.h"
#include "tables.h"

/* Time of the fastest solve; "!" marks a wrong answer. */
static short_text milliseconds(const bench_row *row) {
  short_text t = bench_milliseconds(row ? row->fastest : NAN);
  size_t used = strlen(t.s);
  if (row && row->wrong) snprintf(t.s + used, sizeof t.s - used, "!");
  return t;
}

/* ---- During a run ---- */

static const bench_column live[] = {BENCH_SERIAL,  BENCH_THREADS, BENCH_AUTO,
                                    BENCH_MKL_ONE, BENCH_MKL_ALL, BENCH_OTHER};

static int columns_of(const bench_runners *all) { return all->set && all->set->programs ? 6 : 5; }

/* Gains need more than 80 columns; the last column has space for "WRONG". */
enum { GAINS_FROM = 100 };
static bool shows_gains(void) { return output_columns() >= GAINS_FROM; }

static void print_gains(const bench_group *g) {
  printf(" %7s %6s", bench_ratio(bench_gain(g, BENCH_THREADS, BENCH_SERIAL)).s,
         bench_ratio(bench_gain(g, BENCH_AUTO, BENCH_SERIAL)).s);
  printf(" %6s",
         bench_ratio(bench_gain(g, BENCH_AUTO, bench_best(g, BENCH_MKL_ONE, BENCH_MKL_ALL))).s);
}

void bench_live_head(const bench_runners *all) {
  int64_t most = 1;
  char name[24];
  for (int i = 0; i < all->count; i++)
    if (all->runner[i].threads > most) most = all->runner[i].threads;
  printf("%s%-33s%s%s%s\n", style_on(STYLE_DIM), "", "milliseconds of the fastest solve",
         shows_gains() ? "        times as fast" : "", style_off());
  printf("%s%-25s%7s", style_on(STYLE_BOLD), "matrix", "par");
  for (int c = 0; c < columns_of(all); c++) {
    bench_column_name(name, sizeof name, live[c], most);
    printf(" %7s", name);
  }
  if (shows_gains()) printf(" %7s %6s %6s", "thr/ser", "au/ser", "au/mkl");
  printf("%s\n", style_off());
  if (!shows_gains())
    printf("%s(COLUMNS=%d shows ratios in each line too)%s\n", style_on(STYLE_DIM), GAINS_FROM,
           style_off());
  fflush(stdout);
}

/* The line of the system whose rows start at first. */
void bench_live_line(const bench_runners *all, const bench_rows *rows, int64_t first) {
  bench_groups groups;
  char label[25];
  bool wrong = false;
  bench_rows part = {.row = rows->row + first, .count = rows->count - first};
  if (bench_groups_make(&groups, &part, false) >= 0) return;
  const bench_group *g = groups.group;
  bench_label(label, sizeof label, g->first);
  printf("%-25s%7s", label, human_real(g->first->parallelism).s);
  for (int c = 0; c < columns_of(all); c++) printf(" %7s", milliseconds(g->column[live[c]]).s);
  for (int64_t i = 0; i < part.count; i++) wrong |= part.row[i].wrong;
  if (shows_gains()) print_gains(g);
  printf("%s%s%s\n", style_on(STYLE_BAD), wrong ? " WRONG" : "", style_off());
  fflush(stdout);
  free(groups.group);
}

/* ---- From a file ---- */

static void add_heads(bench_grid *grid, const bool used[BENCH_CPU_COLUMNS], int64_t threads) {
  static const char *const first[] = {"system", "n", "nnz", "levels", "parallelism"};
  static const char *const last[] = {"threads : serial", "auto : serial", "serial : mkl:1",
                                     "auto : best mkl", "analysis of auto, solves"};
  char name[24];
  bench_grid_head(grid, first, 5);
  for (int c = 0; c < BENCH_CPU_COLUMNS; c++) {
    if (!used[c]) continue;
    bench_column_name(name, sizeof name, (bench_column)c, threads);
    bench_grid_put(grid, "%s, ms", name);
    grid->columns++;
  }
  bench_grid_head(grid, last, 5);
}

/* With the name of the library, and its threads if it has several. */
static void add_other(bench_grid *grid, const bench_row *row) {
  if (!row)
    bench_grid_add(grid, milliseconds(row).s);
  else if (row->threads > 1)
    bench_grid_put(grid, "%s (%s:%lld)", milliseconds(row).s, row->method, (long long)row->threads);
  else
    bench_grid_put(grid, "%s (%s)", milliseconds(row).s, row->method);
}

static void add_group(bench_grid *grid, const bench_group *g, const bool used[BENCH_CPU_COLUMNS]) {
  char label[64];
  const bench_row *a = g->column[BENCH_AUTO], *s = g->column[BENCH_SERIAL];
  bench_label(label, sizeof label, g->first);
  bench_grid_add(grid, label);
  bench_grid_add(grid, human_count(g->first->n).s);
  bench_grid_add(grid, human_count(g->first->nnz).s);
  bench_grid_add(grid, human_count(g->first->levels).s);
  bench_grid_add(grid, human_real(g->first->parallelism).s);
  for (int c = 0; c < BENCH_CPU_COLUMNS; c++)
    if (used[c] && c != BENCH_OTHER) bench_grid_add(grid, milliseconds(g->column[c]).s);
  if (used[BENCH_OTHER]) add_other(grid, g->column[BENCH_OTHER]);
  const double ratios[] = {bench_gain(g, BENCH_THREADS, BENCH_SERIAL),
                           bench_gain(g, BENCH_AUTO, BENCH_SERIAL),
                           bench_gain(g, BENCH_SERIAL, BENCH_MKL_ONE),
                           bench_gain(g, BENCH_AUTO, bench_best(g, BENCH_MKL_ONE, BENCH_MKL_ALL)),
                           a && s ? a->analysis / s->fastest : NAN};
  bench_grid_ratios(grid, ratios, 5);
}

void bench_cpu_tables(const bench_groups *groups, const bench_rows *rows) {
  bool used[BENCH_CPU_COLUMNS] = {0};
  bench_grid grid = {0};
  for (int64_t g = 0; g < groups->count; g++)
    for (int c = 0; c < BENCH_CPU_COLUMNS; c++) used[c] |= groups->group[g].column[c] != NULL;
  add_heads(&grid, used, groups->threads);
  for (int64_t g = 0; g < groups->count; g++) add_group(&grid, &groups->group[g], used);
  bench_grid_print(&grid, NULL, true);
  printf(
      "\nMilliseconds of the fastest solve, ! marks a wrong answer; a : b says how many times as "
      "fast a is as b.\n");
  bench_means_print(groups, true);
  bench_peer_tables(groups, rows, true);
}

/* ---- The chart ---- */

/* One panel per number of right-hand sides and type of values. */
static int panel_of(bench_profile *profile, const bench_row *row) {
  char label[96];
  snprintf(label, sizeof label, "%s%s",
           human_things(row->nrhs, "right-hand side", "right-hand sides").s,
           strcmp(row->scalar, "double") != 0 ? ", single precision" : "");
  return bench_profile_panel(profile, label);
}

static int draw_profile(bench_profile *profile, const bench_groups *groups,
                        const bench_column *columns, const char *path) {
  int code = bench_profile_open(profile, groups->count);
  if (code >= 0) return code;
  for (int64_t g = 0; g < groups->count; g++) {
    profile->panel[g] = panel_of(profile, groups->group[g].first);
    for (int c = 0; c < profile->series; c++) {
      const bench_row *row = groups->group[g].column[columns[c]];
      if (row && !row->wrong) profile->seconds[g * profile->series + c] = bench_row_seconds(row);
    }
  }
  return bench_profile_write(profile, path);
}

/* Columns without a value for any system are left out. */
static int used_columns(const bench_groups *groups, const bench_column *from, int count,
                        bench_column *used) {
  int kept = 0;
  for (int c = 0; c < count; c++)
    for (int64_t g = 0; g < groups->count; g++)
      if (groups->group[g].column[from[c]]) {
        used[kept++] = from[c];
        break;
      }
  return kept;
}

static int draw_cpu(const bench_groups *groups, const char *path) {
  static const bench_column all[] = {BENCH_AUTO, BENCH_THREADS, BENCH_SERIAL, BENCH_MKL_ONE,
                                     BENCH_MKL_ALL};
  bench_profile profile = {.title = "Triangular solves on a CPU: performance profiles"};
  bench_column columns[5];
  profile.series = used_columns(groups, all, 5, columns);
  snprintf(
      profile.subtitle, sizeof profile.subtitle,
      "Share of the systems that a method solves within a factor of the fastest method's time, "
      "%s; further left and higher is better",
      human_things(groups->threads, "thread", "threads").s);
  for (int c = 0; c < profile.series; c++)
    bench_column_name(profile.name[c], sizeof profile.name[c], columns[c], groups->threads);
  return draw_profile(&profile, groups, columns, path);
}

static int draw_gpu(const bench_groups *groups, const char *path) {
  static const bench_column columns[] = {BENCH_ENGINE, BENCH_CUSPARSE};
  bench_profile profile = {.title = "Triangular solves on a GPU: performance profiles",
                           .series = 2,
                           .name = {"Trireme, engine", "cuSPARSE"}};
  for (int64_t i = groups->count; i-- > 0;) /* the version of the first row */
    if (groups->group[i].column[BENCH_CUSPARSE])
      snprintf(profile.name[1], sizeof profile.name[1], "%.79s",
               groups->group[i].column[BENCH_CUSPARSE]->reason);
  snprintf(profile.subtitle, sizeof profile.subtitle,
           "Share of the systems that a library solves within a factor of the faster library's "
           "time; further left and higher is better");
  return draw_profile(&profile, groups, columns, path);
}

int bench_draw(const bench_groups *groups, bool gpu, const char *path) {
  return gpu ? draw_gpu(groups, path) : draw_cpu(groups, path);
}
