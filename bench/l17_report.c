/* l17_report.c - the tables and plots of trireme bench l17, from its rows.  Rates count two
 * operations an entry of the matrix and right-hand side, as L17 does. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chart.h"
#include "experiment.h"
#include "grid.h"
#include "groups.h"
#include "l17.h"
#include "output.h"
#include "row.h"

enum { MOST_POINTS = 16 };
static const char CUSPARSE[] = "cusparse", ENGINE[] = "auto";
static const char SYNCFREE[] = "syncfree-csc:warps=16,scratchpad=yes";
static const char ADAPTIVE[] = "syncfree-csc-rhs:strategy=adaptive";

/* ---- Looking things up ---- */

static bool of(const bench_row *row, bench_l17_part part) {
  return !strcmp(row->suite, bench_l17_suites[part]);
}

bool bench_l17_has(const bench_rows *rows) {
  for (int e = 0; e < BENCH_L17_PARTS && rows->count; e++)
    if (of(&rows->row[0], (bench_l17_part)e)) return true;
  return false;
}

/* The row of the same part and system by a method and with so many right-hand sides. */
static const bench_row *find(const bench_rows *rows, const bench_row *like, const char *method,
                             int64_t nrhs) {
  for (int64_t i = 0; i < rows->count; i++) {
    const bench_row *r = &rows->row[i];
    if (r->nrhs == nrhs && r->upper == like->upper && !strcmp(r->method, method) &&
        !strcmp(r->suite, like->suite) && !strcmp(r->scalar, like->scalar) &&
        !strcmp(r->matrix, like->matrix))
      return r;
  }
  return NULL;
}

/* Is this the first row of its part and system, however many right-hand sides? */
static bool is_first(const bench_rows *rows, int64_t at) {
  const bench_row *row = &rows->row[at];
  for (int64_t i = 0; i < at; i++) {
    const bench_row *r = &rows->row[i];
    if (r->upper == row->upper && !strcmp(r->suite, row->suite) &&
        !strcmp(r->scalar, row->scalar) && !strcmp(r->matrix, row->matrix))
      return false;
  }
  return true;
}

/* The numbers of right-hand sides of an part, ascending as they were measured. */
static int points_of(const bench_rows *rows, bench_l17_part part, int64_t *nrhs) {
  int count = 0;
  for (int64_t i = 0; i < rows->count; i++) {
    if (!of(&rows->row[i], part)) continue;
    bool known = count == MOST_POINTS;
    for (int k = 0; k < count; k++) known |= nrhs[k] == rows->row[i].nrhs;
    if (!known) nrhs[count++] = rows->row[i].nrhs;
  }
  return count;
}

static double rate(const bench_row *r) {
  if (!r || r->wrong) return NAN;
  return 2e-9 * (double)r->nnz * (double)r->nrhs / r->median;
}

static short_text rate_text(const bench_row *r) {
  if (r && r->wrong) return (short_text){"wrong"};
  short_text t = {"-"};
  double value = rate(r);
  if (isfinite(value)) snprintf(t.s, sizeof t.s, "%.*f", value < 9.995 ? 2 : 1, value);
  return t;
}

/* "warps=16,scratchpad=yes" is "16 yes", "strategy=rhs" is "rhs", "p=8" is "p 8". */
static short_text short_name(const char *method) {
  short_text t;
  int warps = 0, p = 0;
  const char *pad = strstr(method, "scratchpad="), *strategy = strstr(method, "strategy=");
  const char *at = strstr(method, "warps=");
  if (at) warps = atoi(at + strlen("warps="));
  at = strstr(method, ":p=");
  if (at) p = atoi(at + strlen(":p="));
  if (warps && pad)
    snprintf(t.s, sizeof t.s, "%d %s", warps, pad + strlen("scratchpad="));
  else if (strategy)
    snprintf(t.s, sizeof t.s, "%s", strategy + strlen("strategy="));
  else if (p)
    snprintf(t.s, sizeof t.s, "p %d", p);
  else
    snprintf(t.s, sizeof t.s, "%s", strcmp(method, ENGINE) != 0 ? method : "engine");
  return t;
}

/* ---- Tables ---- */

static void add_names(bench_grid *grid, bench_l17_part part, const char *corner) {
  bench_grid_add(grid, corner);
  grid->columns = 1;
  for (int k = 0; bench_l17_method(part, k); k++, grid->columns++)
    bench_grid_add(grid, short_name(bench_l17_method(part, k)).s);
}

static void print_rates(const bench_rows *rows, const char *scalar, bool upper, bool markdown) {
  bench_grid grid = {0};
  bench_mean mean[MOST_POINTS] = {0};
  char title[160], label[48];
  add_names(&grid, BENCH_L17_RATES, "system");
  int64_t head = grid.cells;
  for (int64_t i = 0; i < rows->count; i++) {
    const bench_row *row = &rows->row[i];
    if (!of(row, BENCH_L17_RATES) || row->upper != upper || strcmp(row->scalar, scalar) != 0 ||
        !is_first(rows, i))
      continue;
    bench_label(label, sizeof label, row);
    bench_grid_add(&grid, label);
    for (int k = 0; k + 1 < grid.columns; k++) {
      const bench_row *r = find(rows, row, bench_l17_method(BENCH_L17_RATES, k), 1);
      bench_grid_add(&grid, rate_text(r).s);
      bench_mean_add(&mean[k], rate(r), i);
    }
  }
  if (grid.cells == head) {
    free(grid.cell);
    return;
  }
  bench_grid_add(&grid, "geometric mean");
  for (int k = 0; k + 1 < grid.columns; k++) {
    if (mean[k].count)
      bench_grid_put(&grid, "%.2f", bench_mean_value(&mean[k]));
    else
      bench_grid_add(&grid, "-");
  }
  snprintf(title, sizeof title,
           "SpTRSV, GFlop/s, %s, %s; syncfree-csc by warps a block, scratchpad yes or no", scalar,
           upper ? "backward" : "forward");
  bench_grid_print(&grid, title, markdown);
}

/* A table a matrix: a row a number of right-hand sides. */
static void print_strategies(const bench_rows *rows, bench_l17_part part, const char *title,
                             bool markdown) {
  int64_t nrhs[MOST_POINTS];
  int points = points_of(rows, part, nrhs);
  for (int64_t i = 0; i < rows->count; i++) {
    char label[64], text[160];
    bench_grid grid = {0};
    if (!of(&rows->row[i], part) || !is_first(rows, i)) continue;
    add_names(&grid, part, "right-hand sides");
    for (int p = 0; p < points; p++) {
      bench_grid_add(&grid, human_count(nrhs[p]).s);
      for (int k = 0; k + 1 < grid.columns; k++)
        bench_grid_add(&grid,
                       rate_text(find(rows, &rows->row[i], bench_l17_method(part, k), nrhs[p])).s);
    }
    bench_row one = rows->row[i];
    one.nrhs = 1;
    bench_label(label, sizeof label, &one);
    snprintf(text, sizeof text, "%s, GFlop/s, %s", title, label);
    bench_grid_print(&grid, text, markdown);
  }
}

static void add_times(bench_grid *grid, const bench_row *const r[3]) {
  double analysis[3], solves[3];
  for (int k = 0; k < 3; k++) {
    analysis[k] = r[k] && !r[k]->wrong ? r[k]->analysis : NAN;
    solves[k] = r[k] && !r[k]->wrong ? r[k]->analysis / r[k]->median : NAN;
  }
  bench_grid_milliseconds(grid, analysis, 3);
  bench_grid_ratios(grid, solves, 3);
}

static void print_before(const bench_rows *rows, bench_l17_part part, int64_t nrhs,
                         const char *method, const char *title, bool markdown) {
  static const char *const heads[] = {"system",          "cusparse, ms",     "engine, ms",
                                      "syncfree, ms",    "cusparse, solves", "engine, solves",
                                      "syncfree, solves"};
  bench_grid grid = {0};
  char label[64];
  bench_grid_head(&grid, heads, 7);
  for (int64_t i = 0; i < rows->count; i++) {
    const bench_row *row = &rows->row[i];
    if (!of(row, part) || !is_first(rows, i)) continue;
    bench_row one = *row;
    one.nrhs = nrhs;
    bench_label(label, sizeof label, &one);
    bench_grid_add(&grid, label);
    add_times(&grid, (const bench_row *const[3]){find(rows, row, CUSPARSE, nrhs),
                                                 find(rows, row, ENGINE, nrhs),
                                                 find(rows, row, method, nrhs)});
  }
  bench_grid_print(&grid, title, markdown);
}

/* The number of right-hand sides whose analysis is shown: 32, or the most that there are. */
static int64_t shown_nrhs(const bench_rows *rows) {
  enum { USUAL = 32 };
  int64_t nrhs[MOST_POINTS], most = 0;
  int points = points_of(rows, BENCH_L17_STRATEGIES, nrhs);
  for (int k = 0; k < points; k++) {
    if (nrhs[k] == USUAL) return USUAL;
    if (nrhs[k] > most) most = nrhs[k];
  }
  return most;
}

void bench_l17_report(const bench_rows *rows, bool markdown) {
  for (int k = 0; k < 4; k++) print_rates(rows, k / 2 ? "float" : "double", k % 2, markdown);
  print_strategies(rows, BENCH_L17_STRATEGIES, "SpTRSM by strategy", markdown);
  print_strategies(rows, BENCH_L17_P, "SpTRSM, adaptive, by p", markdown);
  print_before(rows, BENCH_L17_RATES, 1, SYNCFREE, "Preprocessing for SpTRSV, and as solves",
               markdown);
  print_before(rows, BENCH_L17_STRATEGIES, shown_nrhs(rows), ADAPTIVE,
               "Preprocessing for SpTRSM, and as solves", markdown);
}

/* ---- Plots ---- */

static int64_t count_systems(const bench_rows *rows, bench_l17_part part) {
  int64_t count = 0;
  for (int64_t i = 0; i < rows->count; i++) count += of(&rows->row[i], part) && is_first(rows, i);
  return count;
}

static int write_profile(bench_profile *profile, const char *prefix, const char *name) {
  char path[1200];
  bench_svg_path(path, sizeof path, prefix, name);
  return bench_profile_write(profile, path);
}

static double time_of(const bench_row *row, bool analysis) {
  if (!row || row->wrong) return NAN;
  return analysis ? row->analysis : row->median;
}

static int panel_of(bench_profile *profile, const bench_row *row) {
  char label[64];
  snprintf(label, sizeof label, "%s precision, %s",
           strcmp(row->scalar, "float") ? "double" : "single", row->upper ? "backward" : "forward");
  return bench_profile_panel(profile, label);
}

/* Fills the profile with one of its methods' times of solves, or of analyses, on each system. */
static int fill_profile(bench_profile *profile, const bench_rows *rows, const char *const *method,
                        bool analysis) {
  int code = bench_profile_open(profile, count_systems(rows, BENCH_L17_RATES));
  if (code >= 0) return code;
  int64_t at = 0;
  for (int64_t i = 0; i < rows->count; i++) {
    const bench_row *row = &rows->row[i];
    if (!of(row, BENCH_L17_RATES) || !is_first(rows, i)) continue;
    profile->panel[at] = panel_of(profile, row);
    for (int k = 0; k < profile->series; k++)
      profile->seconds[at * profile->series + k] = time_of(find(rows, row, method[k], 1), analysis);
    at++;
  }
  return -1;
}

static int draw_against_cusparse(const bench_rows *rows, const char *prefix, bool analysis) {
  static const char *const method[] = {ENGINE, CUSPARSE, SYNCFREE};
  bench_profile profile = {
      .title = analysis ? "Preprocessing for SpTRSV: performance profiles"
                        : "SpTRSV by three methods: performance profiles",
      .subtitle = "Share of the systems within a factor of the fastest method's time",
      .series = 3,
      .name = {"engine", "cuSPARSE, default algorithm", "syncfree-csc, 16 warps, scratchpad"}};
  int code = fill_profile(&profile, rows, method, analysis);
  return code < 0 ? write_profile(&profile, prefix, analysis ? "preprocessing" : "rates") : code;
}

/* What the scratchpad gains, by warps a block. */
static int draw_scratchpad(const bench_rows *rows, const char *prefix) {
  bench_profile profile = {
      .title = "Warps per block and the scratchpad in syncfree-csc: performance profiles",
      .subtitle = "Share of the systems within a factor of the fastest choice's time",
      .series = 8};
  char text[8][64];
  const char *method[8];
  for (int k = 0; k < 8; k++) {
    snprintf(profile.name[k], sizeof profile.name[k], "%d warps%s", 4 << k / 2,
             k % 2 ? ", no scratchpad" : "");
    snprintf(text[k], sizeof text[k], "syncfree-csc:warps=%d,scratchpad=%s", 4 << k / 2,
             k % 2 ? "no" : "yes");
    method[k] = text[k];
  }
  int code = fill_profile(&profile, rows, method, false);
  return code < 0 ? write_profile(&profile, prefix, "scratchpad") : code;
}

static void fill_lines(bench_lines *lines, const bench_rows *rows, bench_l17_part part,
                       const int64_t *nrhs) {
  int64_t panel = 0;
  for (int64_t i = 0; i < rows->count; i++) {
    if (!of(&rows->row[i], part) || !is_first(rows, i)) continue;
    bench_row one = rows->row[i];
    one.nrhs = 1;
    bench_label(lines->label[panel], sizeof lines->label[panel], &one);
    for (int s = 0; s < lines->series; s++)
      for (int p = 0; p < lines->points; p++)
        lines->value[(panel * lines->series + s) * lines->points + p] =
            rate(find(rows, &rows->row[i], bench_l17_method(part, s), nrhs[p]));
    panel++;
  }
}

static int draw_lines(const bench_rows *rows, bench_l17_part part, const char *prefix) {
  bool sweep = part == BENCH_L17_P;
  int64_t nrhs[MOST_POINTS];
  char path[1200];
  bench_lines lines = {
      .title = sweep ? "SpTRSM, the adaptive strategy by p" : "SpTRSM by right-hand sides",
      .subtitle = "GFlop/s, double precision, forward",
      .x_axis = "right-hand sides",
      .points = points_of(rows, part, nrhs)};
  for (; bench_l17_method(part, lines.series); lines.series++)
    snprintf(lines.name[lines.series], sizeof lines.name[0], "%s",
             short_name(bench_l17_method(part, lines.series)).s);
  for (int p = 0; p < lines.points; p++) lines.x[p] = (double)nrhs[p];
  if (!lines.points) return -1;
  int code = bench_lines_open(&lines, count_systems(rows, part));
  if (code >= 0) return code;
  fill_lines(&lines, rows, part, nrhs);
  bench_svg_path(path, sizeof path, prefix, sweep ? "p" : "strategies");
  code = bench_lines_write(&lines, path);
  bench_lines_close(&lines);
  return code;
}

int bench_l17_draw(const bench_rows *rows, const char *prefix) {
  int code = draw_against_cusparse(rows, prefix, false);
  if (code < 0) code = draw_scratchpad(rows, prefix);
  if (code < 0) code = draw_lines(rows, BENCH_L17_STRATEGIES, prefix);
  if (code < 0) code = draw_lines(rows, BENCH_L17_P, prefix);
  return code < 0 ? draw_against_cusparse(rows, prefix, true) : code;
}
