/* l17_tables.c - the tables of trireme bench l17, from rows alone.
 *
 * The statistics are the paper's: the arithmetic mean of a method's solves on a system, the
 * harmonic mean over systems, and in Tables IV and V the ratio of harmonic means.  (The paper's
 * mean speedups of preprocessing, 48.4 and 322.9, are the means of such ratios of both tables.) */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "experiment.h"
#include "grid.h"
#include "groups.h"
#include "l17.h"
#include "sort.h"

/* ---- Statistics ---- */

typedef struct values {
  double value[L17_MOST_SYSTEMS];
  int count;
} values;

static void add_value(values *v, double value) {
  if (isfinite(value) && value > 0 && v->count < L17_MOST_SYSTEMS) v->value[v->count++] = value;
}

static double harmonic_mean(const values *v) {
  double sum = 0;
  for (int k = 0; k < v->count; k++) sum += 1 / v->value[k];
  return v->count ? v->count / sum : NAN;
}

static double largest(const values *v) {
  double most = NAN;
  for (int k = 0; k < v->count; k++) most = fmax(most, v->value[k]);
  return most;
}

static double median(values *v) { return v->count ? sort_median(v->value, v->count) : NAN; }

static short_text number_text(double value) {
  short_text t = {"-"};
  if (isfinite(value)) snprintf(t.s, sizeof t.s, "%.*f", value < 9.995 ? 2 : 1, value);
  return t;
}

static short_text rate_text(const bench_row *r) {
  return r && r->wrong ? (short_text){"wrong"} : number_text(l17_rate(r));
}

/* What the times of a part are. */
static const char *statistic(const bench_rows *rows, l17_part part) {
  int64_t least = INT64_MAX, most = 0;
  static char text[96];
  for (int64_t i = 0; i < rows->count; i++) {
    const bench_row *r = &rows->row[i];
    if (strcmp(r->suite, l17_suite[part]) != 0 || isnan(r->mean)) continue;
    if (r->solves < least) least = r->solves;
    if (r->solves > most) most = r->solves;
  }
  if (!most) return "medians";
  if (least == most)
    snprintf(text, sizeof text, "means of %lld solves", (long long)most);
  else
    snprintf(text, sizeof text, "means of %lld to %lld solves", (long long)least, (long long)most);
  return text;
}

/* ---- Figures 7 and 8 ---- */

/* Columns of Figures 7 and 8: those of the paper first, then ours for comparison. */
static const struct {
  const char *name, *method;
  l17_part part;
} rates[] = {{"oneMKL", L17_MKL, L17_HOST},       {"cuSPARSE", L17_CUSPARSE, L17_RATES},
             {"syncfree-csc", NULL, L17_RATES}, /* l17_syncfree */
             {"over cuSPARSE", NULL, L17_RATES},  {"engine", L17_ENGINE, L17_RATES},
             {"levelset", "levelset", L17_RATES}, {"levelset-cpu", L17_BARRIERS, L17_HOST},
             {"serial", "serial", L17_HOST}};

enum { RATES = sizeof rates / sizeof rates[0], AGAINST = 3 };

static double speedup(const bench_rows *rows, const bench_row *system, const char *slow,
                      const char *fast, int64_t nrhs, l17_part part) {
  return l17_seconds(l17_find(rows, system, part, slow, nrhs)) /
         l17_seconds(l17_find(rows, system, part, fast, nrhs));
}

l17_spread l17_gain(const bench_rows *rows, l17_part part, const char *scalar,
                    const char *reference, const char *method, int64_t nrhs) {
  const bench_row *system[L17_MOST_SYSTEMS];
  int count = l17_systems(rows, part, system);
  values v = {0};
  for (int s = 0; s < count; s++)
    if (!scalar || !strcmp(system[s]->scalar, scalar))
      add_value(&v, speedup(rows, system[s], reference, method, nrhs, part));
  double least = NAN;
  for (int k = 0; k < v.count; k++) least = fmin(least, v.value[k]);
  return (l17_spread){least, harmonic_mean(&v), largest(&v)};
}

static void add_rate(bench_grid *grid, values *v, const bench_rows *rows, const bench_row *system,
                     int k) {
  const bench_row *own = l17_syncfree(rows, system), *r = own;
  if (k == AGAINST) {
    double gain =
        l17_seconds(l17_find(rows, system, L17_RATES, L17_CUSPARSE, 1)) / l17_seconds(own);
    bench_grid_add(grid, number_text(gain).s);
    add_value(v, gain);
    return;
  }
  if (rates[k].method) r = l17_find(rows, system, rates[k].part, rates[k].method, 1);
  bench_grid_add(grid, rate_text(r).s);
  add_value(v, l17_rate(r));
}

static void print_rates(const bench_rows *rows, const char *scalar, bool upper, bool markdown) {
  const bench_row *system[L17_MOST_SYSTEMS];
  bench_grid grid = {0};
  values v[RATES] = {0};
  char title[256], label[48];
  int count = l17_systems(rows, L17_RATES, system), found = 0;
  bench_grid_add(&grid, "system");
  for (int k = 0; k < RATES; k++) bench_grid_add(&grid, rates[k].name);
  grid.columns = 1 + RATES;
  for (int s = 0; s < count; s++) {
    if (system[s]->upper != upper || strcmp(system[s]->scalar, scalar) != 0) continue;
    found++;
    bench_label(label, sizeof label, system[s]);
    bench_grid_add(&grid, label);
    for (int k = 0; k < RATES; k++) add_rate(&grid, &v[k], rows, system[s], k);
  }
  if (found) bench_grid_add(&grid, "harmonic mean");
  for (int k = 0; found && k < RATES; k++)
    bench_grid_add(&grid, number_text(harmonic_mean(&v[k])).s);
  if (found) bench_grid_add(&grid, "largest");
  for (int k = 0; found && k < RATES; k++) bench_grid_add(&grid, number_text(largest(&v[k])).s);
  snprintf(title, sizeof title, "L17, Figure %d: SpTRSV, GFlop/s, %s, %s, %s",
           strcmp(scalar, "float") ? 8 : 7, strcmp(scalar, "float") ? "double" : "single",
           upper ? "backward" : "forward", statistic(rows, L17_RATES));
  bench_grid_print(&grid, title, markdown);
}

/* ---- Figure 9 ---- */

enum { SIZES = 4, LEAST_WARPS = 4 };

static double scratchpad_gain(const bench_rows *rows, const bench_row *system, int warps) {
  char with[64], without[64];
  snprintf(with, sizeof with, "syncfree-csc:warps=%d,scratchpad=yes", warps);
  snprintf(without, sizeof without, "syncfree-csc:warps=%d,scratchpad=no", warps);
  return speedup(rows, system, without, with, 1, L17_RATES);
}

/* Forward and backward together, as in the paper. */
static void print_scratchpad(const bench_rows *rows, const char *scalar, bool markdown) {
  const char *const heads[] = {"system", "4 warps", "8 warps", "16 warps", "32 warps"};
  const bench_row *system[L17_MOST_SYSTEMS];
  bench_grid grid = {0};
  values v[SIZES] = {0};
  char title[256], label[48];
  int count = l17_systems(rows, L17_RATES, system);
  bench_grid_head(&grid, heads, 1 + SIZES);
  for (int s = 0; s < count; s++) {
    if (strcmp(system[s]->scalar, scalar) != 0) continue;
    bench_label(label, sizeof label, system[s]);
    bench_grid_add(&grid, label);
    for (int k = 0; k < SIZES; k++) {
      double gain = scratchpad_gain(rows, system[s], LEAST_WARPS << k);
      bench_grid_add(&grid, number_text(gain).s);
      add_value(&v[k], gain);
    }
  }
  if (grid.cells > grid.columns) {
    bench_grid_add(&grid, "median");
    for (int k = 0; k < SIZES; k++) bench_grid_add(&grid, number_text(median(&v[k])).s);
    bench_grid_add(&grid, "harmonic mean");
    for (int k = 0; k < SIZES; k++) bench_grid_add(&grid, number_text(harmonic_mean(&v[k])).s);
  }
  snprintf(title, sizeof title,
           "L17, Figure 9: syncfree-csc with scratchpad over without, by warps per block, %s, %s",
           strcmp(scalar, "float") ? "double" : "single", statistic(rows, L17_RATES));
  bench_grid_print(&grid, title, markdown);
}

/* ---- Figures 10 to 12, and q ---- */

static void add_methods(bench_grid *grid, l17_part part, const char *corner) {
  bench_grid_add(grid, corner);
  grid->columns = 1;
  for (int k = 0; l17_method(part, k); k++, grid->columns++)
    bench_grid_add(grid, l17_short_name(l17_method(part, k)).s);
}

/* A table per system, a row per number of right-hand sides. */
static void print_strategies(const bench_rows *rows, bool markdown) {
  const bench_row *system[L17_MOST_SYSTEMS], *point[L17_MOST_POINTS];
  int count = l17_systems(rows, L17_STRATEGIES, system);
  int points = l17_points(rows, L17_STRATEGIES, point);
  for (int s = 0; s < count; s++) {
    char label[64], title[256];
    bench_grid grid = {0};
    add_methods(&grid, L17_STRATEGIES, "right-hand sides");
    bench_grid_add(&grid, "oneMKL");
    grid.columns++;
    for (int p = 0; p < points; p++) {
      const int64_t nrhs = point[p]->nrhs;
      bench_grid_add(&grid, human_count(nrhs).s);
      for (int k = 0; l17_method(L17_STRATEGIES, k); k++)
        bench_grid_add(&grid, rate_text(l17_find(rows, system[s], L17_STRATEGIES,
                                                 l17_method(L17_STRATEGIES, k), nrhs))
                                  .s);
      bench_grid_add(&grid, rate_text(l17_find(rows, system[s], L17_HOST, L17_MKL, nrhs)).s);
    }
    l17_label(label, sizeof label, system[s], 1);
    snprintf(title, sizeof title, "L17, Figure %d: SpTRSM by strategy, GFlop/s, %s, %s, %s",
             system[s]->upper ? 11 : 10, system[s]->upper ? "backward" : "forward", label,
             statistic(rows, L17_STRATEGIES));
    bench_grid_print(&grid, title, markdown);
  }
}

/* Harmonic means over forward and backward of all systems. */
static void print_p(const bench_rows *rows, bool markdown) {
  const bench_row *system[L17_MOST_SYSTEMS], *point[L17_MOST_POINTS];
  const char *reference = l17_method(L17_P, 0); /* p = 4 */
  int count = l17_systems(rows, L17_P, system), points = l17_points(rows, L17_P, point);
  char title[256];
  bench_grid grid = {0};
  add_methods(&grid, L17_P, "right-hand sides");
  for (int p = 0; p < points; p++) {
    bench_grid_add(&grid, human_count(point[p]->nrhs).s);
    for (int k = 0; l17_method(L17_P, k); k++)
      bench_grid_add(
          &grid,
          number_text(
              l17_gain(rows, L17_P, NULL, reference, l17_method(L17_P, k), point[p]->nrhs).mean)
              .s);
  }
  snprintf(
      title, sizeof title,
      "L17, Figure 12: SpTRSM, adaptive, speed over p = 4, q = 8192, harmonic mean over %s, %s",
      human_things(count, "triangle", "triangles").s, statistic(rows, L17_P));
  bench_grid_print(&grid, title, markdown);
}

static void print_q(const bench_rows *rows, bool markdown) {
  const bench_row *system[L17_MOST_SYSTEMS], *point[L17_MOST_POINTS];
  int count = l17_systems(rows, L17_Q, system), points = l17_points(rows, L17_Q, point);
  char title[256], label[64];
  bench_grid grid = {0};
  add_methods(&grid, L17_Q, "system");
  for (int s = 0; s < count; s++)
    for (int p = 0; p < points; p++) {
      l17_label(label, sizeof label, system[s], point[p]->nrhs);
      bench_grid_add(&grid, label);
      for (int k = 0; l17_method(L17_Q, k); k++)
        bench_grid_add(
            &grid,
            rate_text(l17_find(rows, system[s], L17_Q, l17_method(L17_Q, k), point[p]->nrhs)).s);
    }
  snprintf(title, sizeof title, "L17, section 5.3: SpTRSM, adaptive, GFlop/s by q, p = 8, %s",
           statistic(rows, L17_Q));
  bench_grid_print(&grid, title, markdown);
}

/* ---- Tables IV and V ---- */

enum { COSTS = 9, SPTRSV = 1, SPTRSM = 2, OWN_V = 3, OWN_M = 4 };

/* The columns of the paper, then what its preprocessing leaves out, and the engine. */
static const char *const cost_heads[] = {"system",
                                         "oneMKL",
                                         "cuSPARSE, SpTRSV",
                                         "cuSPARSE, SpTRSM",
                                         "syncfree, SpTRSV",
                                         "syncfree, SpTRSM",
                                         "apart: CSR to CSC",
                                         "apart: allocation",
                                         "whole analysis",
                                         "engine"};

static double right(const bench_row *r, double seconds) { return r && !r->wrong ? seconds : NAN; }

static double analysis_of(const bench_row *r) { return right(r, r ? r->analysis : NAN); }

/* The number of right-hand sides of SpTRSM in Tables IV and V, which the paper does not tell: 32,
 * or the largest available. */
static int64_t shown_nrhs(const bench_rows *rows) {
  enum { USUAL = 32 };
  const bench_row *point[L17_MOST_POINTS];
  int64_t most = 0;
  int points = l17_points(rows, L17_STRATEGIES, point);
  for (int k = 0; k < points; k++) {
    if (point[k]->nrhs == USUAL) return USUAL;
    if (point[k]->nrhs > most) most = point[k]->nrhs;
  }
  return most;
}

static void find_costs(const bench_rows *rows, const bench_row *system, int64_t nrhs,
                       double cost[COSTS]) {
  const bench_row *one = l17_syncfree(rows, system);
  const bench_row *many = l17_find(rows, system, L17_STRATEGIES, L17_ADAPTIVE, nrhs);
  cost[0] = analysis_of(l17_find(rows, system, L17_HOST, L17_MKL, 1));
  cost[SPTRSV] = analysis_of(l17_find(rows, system, L17_RATES, L17_CUSPARSE, 1));
  cost[SPTRSM] = analysis_of(l17_find(rows, system, L17_STRATEGIES, L17_CUSPARSE, nrhs));
  cost[OWN_V] = right(one, one ? one->preprocessing : NAN);
  cost[OWN_M] = right(many, many ? many->preprocessing : NAN);
  cost[5] = right(one, one ? one->loading : NAN);
  cost[6] = right(one, one ? one->allocation : NAN);
  cost[7] = analysis_of(one);
  cost[8] = analysis_of(l17_find(rows, system, L17_RATES, L17_ENGINE, 1));
}

static void add_ratios(bench_grid *grid, const char *label, double one, double many) {
  bench_grid_add(grid, label);
  bench_grid_add(grid, number_text(one).s);
  bench_grid_add(grid, number_text(many).s);
}

/* cuSPARSE's preprocessing over that of the synchronization-free methods. */
static void print_cost_ratios(const values *v, const values gain[2], int table, bool markdown) {
  static const char *const heads[] = {"cuSPARSE over syncfree", "SpTRSV", "SpTRSM"};
  char title[120];
  bench_grid grid = {0};
  if (!gain[0].count && !gain[1].count) return;
  bench_grid_head(&grid, heads, 3);
  add_ratios(&grid, "harmonic mean over harmonic mean",
             harmonic_mean(&v[SPTRSV]) / harmonic_mean(&v[OWN_V]),
             harmonic_mean(&v[SPTRSM]) / harmonic_mean(&v[OWN_M]));
  add_ratios(&grid, "harmonic mean of ratios", harmonic_mean(&gain[0]), harmonic_mean(&gain[1]));
  add_ratios(&grid, "largest ratio", largest(&gain[0]), largest(&gain[1]));
  snprintf(title, sizeof title, "L17, section 5.4: the ratios of Table %s", table ? "V" : "IV");
  bench_grid_print(&grid, title, markdown);
}

static void print_costs(const bench_rows *rows, bool upper, bool markdown) {
  const bench_row *system[L17_MOST_SYSTEMS];
  const int64_t nrhs = shown_nrhs(rows);
  bench_grid grid = {0};
  values v[COSTS] = {0}, gain[2] = {0};
  char label[64], title[256];
  int count = l17_systems(rows, L17_RATES, system);
  bench_grid_head(&grid, cost_heads, 1 + COSTS);
  for (int s = 0; s < count; s++) {
    double cost[COSTS];
    if (system[s]->upper != upper || strcmp(system[s]->scalar, "double") != 0) continue;
    find_costs(rows, system[s], nrhs, cost);
    bench_label(label, sizeof label, system[s]);
    bench_grid_add(&grid, label);
    bench_grid_milliseconds(&grid, cost, COSTS);
    for (int k = 0; k < COSTS; k++) add_value(&v[k], cost[k]);
    add_value(&gain[0], cost[SPTRSV] / cost[OWN_V]);
    add_value(&gain[1], cost[SPTRSM] / cost[OWN_M]);
  }
  if (grid.cells > grid.columns) {
    bench_grid_add(&grid, "harmonic mean");
    for (int k = 0; k < COSTS; k++)
      bench_grid_add(&grid, bench_milliseconds(harmonic_mean(&v[k])).s);
  }
  snprintf(title, sizeof title,
           "L17, Table %s: preprocessing, ms, %s; SpTRSM: %s; least of several", upper ? "V" : "IV",
           upper ? "backward" : "forward",
           human_things(nrhs, "right-hand side", "right-hand sides").s);
  bench_grid_print(&grid, title, markdown);
  print_cost_ratios(v, gain, upper, markdown);
}

/* ---- Table I ---- */

static void print_breakdown(const bench_rows *rows, bool markdown) {
  static const char *const heads[] = {"system",
                                      "levels",
                                      "CPU: preprocessing",
                                      "solve",
                                      "synchronisation",
                                      "compute",
                                      "threads",
                                      "preprocessing/solve",
                                      "GPU: preprocessing",
                                      "solve",
                                      "us per level"};
  const bench_row *system[L17_MOST_SYSTEMS];
  bench_grid grid = {0};
  char label[64], title[256];
  int count = l17_systems(rows, L17_HOST, system);
  bench_grid_head(&grid, heads, 11);
  for (int s = 0; s < count; s++) {
    const bench_row *cpu = l17_find(rows, system[s], L17_HOST, L17_BARRIERS, 1);
    const bench_row *gpu = l17_find(rows, system[s], L17_RATES, "levelset", 1);
    if (!cpu) continue;
    const double solve = l17_seconds(cpu), there = l17_seconds(gpu);
    l17_label(label, sizeof label, system[s], 1);
    bench_grid_add(&grid, label);
    bench_grid_add(&grid, human_count(cpu->levels).s);
    bench_grid_milliseconds(
        &grid, (const double[]){cpu->preprocessing, solve, cpu->synchronisation, cpu->compute}, 4);
    bench_grid_add(&grid, human_count(cpu->threads).s);
    bench_grid_add(&grid, number_text(cpu->preprocessing / solve).s);
    bench_grid_milliseconds(&grid, (const double[]){analysis_of(gpu), there}, 2);
    bench_grid_add(&grid, number_text(1e6 * there / (double)cpu->levels).s);
  }
  snprintf(title, sizeof title,
           "L17, Table I: level sets with barriers on a CPU, and with launches on the GPU, ms, %s",
           statistic(rows, L17_HOST));
  bench_grid_print(&grid, title, markdown);
}

void bench_l17_report(const bench_rows *rows, bool markdown) {
  print_breakdown(rows, markdown);
  for (int k = 0; k < 4; k++) print_rates(rows, k / 2 ? "double" : "float", k % 2, markdown);
  print_scratchpad(rows, "float", markdown);
  print_scratchpad(rows, "double", markdown);
  print_strategies(rows, markdown);
  print_p(rows, markdown);
  print_q(rows, markdown);
  print_costs(rows, false, markdown);
  print_costs(rows, true, markdown);
}
