/* l17.c - trireme bench l17: the measurements of L17's Figures 7 to 12 and Tables IV and V on this
 * project's suite, beside cuSPARSE, the engine, and level sets with a launch each (L17's Table I):
 * rates of SpTRSV by block size with and without scratchpad, single and double; SpTRSM by both
 * strategies and the adaptive choice over right-hand sides; the sweeps over p and q; and the
 * analyses; all of them forward and backward.  Rates count two operations per
 * entry of the matrix and right-hand side. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chart.h"
#include "experiment.h"
#include "gpu_system.h"
#include "grid.h"
#include "groups.h"
#include "output.h"
#include "row.h"
#include "run.h"
#include "runner.h"
#include "settings.h"
#include "system.h"

typedef enum l17_part {
  L17_RATES,      /* SpTRSV by block size, scratchpad on and off */
  L17_STRATEGIES, /* SpTRSM by right-hand sides */
  L17_P,          /* the sweep over p */
  L17_Q,          /* the sweep over q */
  L17_PARTS
} l17_part;

static const char *const suites[] = {"l17 rates", "l17 strategies", "l17 p", "l17 q"};

static const char *method_of(l17_part part, int k) {
  static const char *const methods[L17_PARTS][12] = {
      {"cusparse", "auto", "levelset", "syncfree-csc:warps=4,scratchpad=yes",
       "syncfree-csc:warps=8,scratchpad=yes", "syncfree-csc:warps=16,scratchpad=yes",
       "syncfree-csc:warps=32,scratchpad=yes", "syncfree-csc:warps=4,scratchpad=no",
       "syncfree-csc:warps=8,scratchpad=no", "syncfree-csc:warps=16,scratchpad=no",
       "syncfree-csc:warps=32,scratchpad=no"},
      {"cusparse", "auto", "syncfree-csc-rhs:strategy=adaptive", "syncfree-csc-rhs:strategy=rhs",
       "syncfree-csc-rhs:strategy=nnz"},
      {"syncfree-csc-rhs:p=1", "syncfree-csc-rhs:p=2", "syncfree-csc-rhs:p=4",
       "syncfree-csc-rhs:p=8", "syncfree-csc-rhs:p=16", "syncfree-csc-rhs:p=32",
       "syncfree-csc-rhs:p=64"},
      {"syncfree-csc-rhs:q=128", "syncfree-csc-rhs:q=512", "syncfree-csc-rhs:q=2048",
       "syncfree-csc-rhs:q=8192", "syncfree-csc-rhs:q=32768"}};
  return methods[part][k];
}

static const bench_counts counts[L17_PARTS] = {{{1}, 1, 1},
                                               {{1, 2, 4, 8, 16, 32, 64, 128, 256}, 256, 9},
                                               {{2, 4, 8, 16, 32, 64}, 64, 6},
                                               {{4, 16, 64}, 64, 3}};

/* ==== Tables and plots, from rows alone ==== */

enum { MOST_POINTS = 16, MOST_SYSTEMS = 512 };
static const char CUSPARSE[] = "cusparse", ENGINE[] = "auto";
static const char SYNCFREE[] = "syncfree-csc:warps=16,scratchpad=yes";
static const char ADAPTIVE[] = "syncfree-csc-rhs:strategy=adaptive";

/* ---- Looking things up ---- */

/* The row of the same part and matrix with a given method and number of right-hand sides. */
static const bench_row *find(const bench_rows *rows, const bench_row *like, const char *method,
                             int64_t nrhs) {
  for (int64_t i = 0; i < rows->count; i++) {
    const bench_row *r = &rows->row[i];
    if (r->nrhs == nrhs && !strcmp(r->method, method) && !strcmp(r->suite, like->suite) &&
        bench_same_matrix(r, like))
      return r;
  }
  return NULL;
}

/* The first row of each matrix of a part, for any number of right-hand sides. */
static int systems_of(const bench_rows *rows, l17_part part, const bench_row **system) {
  return bench_distinct(rows, suites[part], 0, bench_same_matrix, system, MOST_SYSTEMS);
}

/* The numbers of right-hand sides of a part, in ascending order, as measured. */
static int points_of(const bench_rows *rows, l17_part part, const bench_row **point) {
  return bench_distinct(rows, suites[part], 0, bench_same_nrhs, point, MOST_POINTS);
}

static void label_with(char *label, size_t size, const bench_row *row, int64_t nrhs) {
  bench_row like = *row;
  like.nrhs = nrhs;
  bench_label(label, size, &like);
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

/* "warps=16,scratchpad=yes" is "16 yes", "strategy=rhs" is "rhs", "p=8" is "p 8", q too. */
static short_text short_name(const char *method) {
  short_text t;
  int warps = 0, p = 0, q = 0;
  const char *pad = strstr(method, "scratchpad="), *strategy = strstr(method, "strategy=");
  const char *at = strstr(method, "warps=");
  if (at) warps = atoi(at + strlen("warps="));
  at = strstr(method, ":p=");
  if (at) p = atoi(at + strlen(":p="));
  at = strstr(method, ":q=");
  if (at) q = atoi(at + strlen(":q="));
  if (warps && pad)
    snprintf(t.s, sizeof t.s, "%d %s", warps, pad + strlen("scratchpad="));
  else if (strategy)
    snprintf(t.s, sizeof t.s, "%s", strategy + strlen("strategy="));
  else if (p)
    snprintf(t.s, sizeof t.s, "p %d", p);
  else if (q)
    snprintf(t.s, sizeof t.s, "q %d", q);
  else
    snprintf(t.s, sizeof t.s, "%s", strcmp(method, ENGINE) != 0 ? method : "engine");
  return t;
}

/* ---- Tables ---- */

static void add_names(bench_grid *grid, l17_part part, const char *corner) {
  bench_grid_add(grid, corner);
  grid->columns = 1;
  for (int k = 0; method_of(part, k); k++, grid->columns++)
    bench_grid_add(grid, short_name(method_of(part, k)).s);
}

static void print_rates(const bench_rows *rows, const char *scalar, bool upper, bool markdown) {
  const bench_row *system[MOST_SYSTEMS];
  bench_grid grid = {0};
  bench_mean mean[MOST_POINTS] = {0};
  char title[160], label[48];
  int count = systems_of(rows, L17_RATES, system), found = 0;
  add_names(&grid, L17_RATES, "system");
  for (int s = 0; s < count; s++) {
    if (system[s]->upper != upper || strcmp(system[s]->scalar, scalar) != 0) continue;
    found++;
    bench_label(label, sizeof label, system[s]);
    bench_grid_add(&grid, label);
    for (int k = 0; k + 1 < grid.columns; k++) {
      const bench_row *r = find(rows, system[s], method_of(L17_RATES, k), 1);
      bench_grid_add(&grid, rate_text(r).s);
      bench_mean_add(&mean[k], rate(r), s);
    }
  }
  if (found) bench_grid_add(&grid, "geometric mean");
  for (int k = 0; found && k + 1 < grid.columns; k++)
    bench_grid_put(&grid, mean[k].count ? "%.2f" : "-", bench_mean_value(&mean[k]));
  snprintf(
      title, sizeof title,
      "L17, Figures 7 to 9 and Table I: SpTRSV, GFlop/s, %s, %s; syncfree-csc by warps a block, "
      "scratchpad yes or no",
      scalar, upper ? "backward" : "forward");
  bench_grid_print(&grid, title, markdown);
}

/* One table per matrix: one row per number of right-hand sides.  title: forward, backward. */
static void print_strategies(const bench_rows *rows, l17_part part, const char *const title[2],
                             bool markdown) {
  const bench_row *system[MOST_SYSTEMS], *point[MOST_POINTS];
  int count = systems_of(rows, part, system), points = points_of(rows, part, point);
  for (int s = 0; s < count; s++) {
    char label[64], text[160];
    bench_grid grid = {0};
    add_names(&grid, part, "right-hand sides");
    for (int p = 0; p < points; p++) {
      bench_grid_add(&grid, human_count(point[p]->nrhs).s);
      for (int k = 0; k + 1 < grid.columns; k++) {
        const bench_row *r = find(rows, system[s], method_of(part, k), point[p]->nrhs);
        bench_grid_add(&grid, rate_text(r).s);
      }
    }
    label_with(label, sizeof label, system[s], 1);
    snprintf(text, sizeof text, "%s, GFlop/s, %s, %s", title[system[s]->upper],
             system[s]->upper ? "backward" : "forward", label);
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

static void print_before(const bench_rows *rows, l17_part part, int64_t nrhs, const char *method,
                         const char *title, bool markdown) {
  static const char *const heads[] = {"system",          "cusparse, ms",     "engine, ms",
                                      "syncfree, ms",    "cusparse, solves", "engine, solves",
                                      "syncfree, solves"};
  const bench_row *system[MOST_SYSTEMS];
  bench_grid grid = {0};
  char label[64];
  int count = systems_of(rows, part, system);
  bench_grid_head(&grid, heads, 7);
  for (int s = 0; s < count; s++) {
    label_with(label, sizeof label, system[s], nrhs);
    bench_grid_add(&grid, label);
    add_times(&grid, (const bench_row *const[3]){find(rows, system[s], CUSPARSE, nrhs),
                                                 find(rows, system[s], ENGINE, nrhs),
                                                 find(rows, system[s], method, nrhs)});
  }
  bench_grid_print(&grid, title, markdown);
}

/* The number of right-hand sides whose analysis is shown: 32, or the largest available. */
static int64_t shown_nrhs(const bench_rows *rows) {
  enum { USUAL = 32 };
  const bench_row *point[MOST_POINTS];
  int64_t most = 0;
  int points = points_of(rows, L17_STRATEGIES, point);
  for (int k = 0; k < points; k++) {
    if (point[k]->nrhs == USUAL) return USUAL;
    if (point[k]->nrhs > most) most = point[k]->nrhs;
  }
  return most;
}

void bench_l17_report(const bench_rows *rows, bool markdown) {
  static const char *const strategies[] = {"L17, Figure 10: SpTRSM by strategy",
                                           "L17, Figure 11: SpTRSM by strategy"};
  static const char by_p[] = "L17, Figure 12: SpTRSM, adaptive, by p";
  static const char by_q[] = "L17, Algorithm 4: SpTRSM, adaptive, by q";
  for (int k = 0; k < 4; k++) print_rates(rows, k / 2 ? "float" : "double", k % 2, markdown);
  print_strategies(rows, L17_STRATEGIES, strategies, markdown);
  print_strategies(rows, L17_P, (const char *const[]){by_p, by_p}, markdown);
  print_strategies(rows, L17_Q, (const char *const[]){by_q, by_q}, markdown);
  print_before(rows, L17_RATES, 1, SYNCFREE,
               "L17, Table IV: preprocessing for SpTRSV, and as solves", markdown);
  print_before(rows, L17_STRATEGIES, shown_nrhs(rows), ADAPTIVE,
               "L17, Table V: preprocessing for SpTRSM, and as solves", markdown);
}

/* ---- Plots ---- */

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

/* Fills the profile with the times of solves, or of analyses, of one of its methods on each system.
 */
static int fill_profile(bench_profile *profile, const bench_rows *rows, const char *const *method,
                        bool analysis) {
  const bench_row *system[MOST_SYSTEMS];
  int count = systems_of(rows, L17_RATES, system);
  int code = bench_profile_open(profile, count);
  if (code >= 0) return code;
  for (int s = 0; s < count; s++) {
    profile->panel[s] = panel_of(profile, system[s]);
    for (int k = 0; k < profile->series; k++)
      profile->seconds[s * profile->series + k] =
          time_of(find(rows, system[s], method[k], 1), analysis);
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

/* The gain from the scratchpad, by warps per block. */
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

static const char *directions_of(const bench_row *const *system, int count) {
  bool has[2] = {false, false};
  for (int i = 0; i < count; i++) has[system[i]->upper] = true;
  if (has[0] && has[1]) return "GFlop/s, double precision; L: forward, U: backward";
  return has[1] ? "GFlop/s, double precision, backward" : "GFlop/s, double precision, forward";
}

static int draw_lines(const bench_rows *rows, l17_part part, const char *prefix) {
  static const char *const names[] = {
      [L17_STRATEGIES] = "strategies", [L17_P] = "p", [L17_Q] = "q"};
  static const char *const titles[] = {[L17_STRATEGIES] = "SpTRSM by right-hand sides",
                                       [L17_P] = "SpTRSM, the adaptive strategy by p",
                                       [L17_Q] = "SpTRSM, the adaptive strategy by q"};
  const bench_row *system[MOST_SYSTEMS], *point[MOST_POINTS];
  int count = systems_of(rows, part, system);
  char path[1200];
  bench_lines lines = {.title = titles[part],
                       .subtitle = directions_of(system, count),
                       .x_axis = "right-hand sides",
                       .points = points_of(rows, part, point)};
  for (; method_of(part, lines.series); lines.series++)
    snprintf(lines.name[lines.series], sizeof lines.name[0], "%s",
             short_name(method_of(part, lines.series)).s);
  for (int p = 0; p < lines.points; p++) lines.x[p] = (double)point[p]->nrhs;
  if (!lines.points) return -1;
  int code = bench_lines_open(&lines, count);
  if (code >= 0) return code;
  double *value = lines.value;
  for (int i = 0; i < count; i++) {
    label_with(lines.label[i], sizeof lines.label[i], system[i], 1);
    for (int s = 0; s < lines.series; s++)
      for (int p = 0; p < lines.points; p++)
        *value++ = rate(find(rows, system[i], method_of(part, s), point[p]->nrhs));
  }
  bench_svg_path(path, sizeof path, prefix, names[part]);
  code = bench_lines_write(&lines, path);
  bench_lines_close(&lines);
  return code;
}

int bench_l17_draw(const bench_rows *rows, const char *prefix) {
  int code = draw_against_cusparse(rows, prefix, false);
  if (code < 0) code = draw_scratchpad(rows, prefix);
  if (code < 0) code = draw_lines(rows, L17_STRATEGIES, prefix);
  if (code < 0) code = draw_lines(rows, L17_P, prefix);
  if (code < 0) code = draw_lines(rows, L17_Q, prefix);
  return code < 0 ? draw_against_cusparse(rows, prefix, true) : code;
}

/* ==== The run ==== */

/* The methods that this build has. */
static int open_runners(bench_runners *all, const bench_settings *set, l17_part part) {
  char methods[1024] = "";
  size_t used = 0;
  for (int k = 0; method_of(part, k); k++) {
    const char *name = method_of(part, k);
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

static int run_part(bench_run *run, l17_part part, bench_gpu *gpu) {
  bench_runners *all = (bench_runners *)run->own + part;
  bool chosen = part == L17_STRATEGIES && run->set->nrhs_list;
  const bench_counts *nrhs = chosen ? &run->set->nrhs : &counts[part];
  int code = -1;
  for (int k = 0; k < nrhs->count && code < 0 && all->count; k++) {
    int64_t first = run->rows.count;
    code = bench_measure_gpu(&run->rows, all, gpu, nrhs->value[k], run->set->seconds);
    bench_run_publish(run, suites[part], first);
  }
  return code;
}

/* Many right-hand sides are measured in double, as in the paper. */
static int run_system(bench_run *run, bench_system *system) {
  const bench_runners *rates = run->own;
  int code = -1;
  for (int scalar = 0; scalar < 2 && code < 0; scalar++) {
    int parts = scalar ? 1 : L17_PARTS;
    bench_settings set = *run->set;
    bench_gpu gpu;
    set.scalar = scalar;
    bench_tick_part(scalar, 2);
    code = bench_gpu_open(&gpu, rates->gpu, system, &set);
    for (int p = 0; p < parts && code < 0; p++) code = run_part(run, (l17_part)p, &gpu);
    bench_gpu_close(&gpu);
  }
  return code;
}

int bench_l17(const bench_settings *set) {
  bench_run run;
  bench_runners runners[L17_PARTS] = {0};
  int code = bench_run_open(&run, set, "l17", runners);
  for (int p = 0; p < L17_PARTS && code < 0; p++)
    code = open_runners(&runners[p], set, (l17_part)p);
  if (code < 0) code = bench_out_open(&run.out, set);
  if (code < 0) {
    bench_run_systems(&run, set->uplo, run_system);
    if (!set->json) bench_l17_report(&run.rows, set->markdown);
    if (set->svg) code = bench_l17_draw(&run.rows, set->svg);
  }
  for (int p = 0; p < L17_PARTS; p++) bench_runners_close(&runners[p]);
  return bench_run_close(&run, code);
}
