/* l17_charts.c - the charts of trireme bench l17, from rows alone: performance profiles of medians,
 * which are not the paper's statistic, and lines of its Figures 9 to 12. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chart.h"
#include "experiment.h"
#include "l17.h"

static int write_profile(bench_profile *profile, const char *prefix, const char *name) {
  char path[1200];
  bench_svg_path(path, sizeof path, prefix, name);
  return bench_profile_write(profile, path);
}

static double time_of(const bench_row *row, bool analysis) {
  if (!row || row->wrong) return NAN;
  return !analysis ? row->median : isnan(row->preprocessing) ? row->analysis : row->preprocessing;
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
  const bench_row *system[L17_MOST_SYSTEMS];
  int count = l17_systems(rows, L17_RATES, system);
  int code = bench_profile_open(profile, count);
  if (code >= 0) return code;
  for (int s = 0; s < count; s++) {
    profile->panel[s] = panel_of(profile, system[s]);
    for (int k = 0; k < profile->series; k++)
      profile->seconds[s * profile->series + k] =
          time_of(l17_find(rows, system[s], L17_RATES, method[k], 1), analysis);
  }
  return -1;
}

static int draw_against_cusparse(const bench_rows *rows, const char *prefix, bool analysis) {
  static const char *const method[] = {L17_ENGINE, L17_CUSPARSE, L17_SYNCFREE};
  bench_profile profile = {
      .title = analysis ? "Tables IV and V: preprocessing for SpTRSV, performance profiles"
                        : "Figures 7 and 8: SpTRSV, performance profiles",
      .series = 3,
      .name = {"engine", "cuSPARSE, default algorithm", "syncfree-csc, 16 warps, scratchpad"}};
  snprintf(profile.subtitle, sizeof profile.subtitle,
           "Share of the systems within a factor of the fastest method's %s",
           analysis ? "preprocessing (in-degrees; analyses)" : "median");
  int code = fill_profile(&profile, rows, method, analysis);
  return code < 0 ? write_profile(&profile, prefix, analysis ? "preprocessing" : "rates") : code;
}

static void name_methods(bench_lines *lines, l17_part part) {
  for (; l17_method(part, lines->series); lines->series++)
    snprintf(lines->name[lines->series], sizeof lines->name[0], "%s",
             l17_short_name(l17_method(part, lines->series)).s);
}

static int write_lines(bench_lines *lines, const char *prefix, const char *name) {
  char path[1200];
  bench_svg_path(path, sizeof path, prefix, name);
  int code = bench_lines_write(lines, path);
  bench_lines_close(lines);
  return code;
}

/* The harmonic mean of a method's rates over the triangles of one direction; NAN where one lacks.
 */
static double mean_rate(const bench_rows *rows, const bench_row *const *system, int count,
                        bool upper, const char *method, int64_t nrhs) {
  double sum = 0;
  int used = 0;
  for (int i = 0; i < count; i++)
    if (system[i]->upper == upper) {
      sum += 1 / l17_rate(l17_find(rows, system[i], L17_STRATEGIES, method, nrhs));
      used++;
    }
  return used / sum;
}

static int triangles_of(const bench_row *const *system, int count, bool upper) {
  int used = 0;
  for (int i = 0; i < count; i++) used += system[i]->upper == upper;
  return used;
}

/* A panel for each direction: one for each triangle could not be read. */
static int draw_strategies(const bench_rows *rows, const char *prefix) {
  const bench_row *system[L17_MOST_SYSTEMS], *point[L17_MOST_POINTS];
  int count = l17_systems(rows, L17_STRATEGIES, system), panel = 0;
  bench_lines lines = {.title = "Figures 10 and 11: SpTRSM by right-hand sides",
                       .subtitle = "GFlop/s, double precision, harmonic mean",
                       .x_axis = "right-hand sides",
                       .points = l17_points(rows, L17_STRATEGIES, point)};
  name_methods(&lines, L17_STRATEGIES);
  for (int p = 0; p < lines.points; p++) lines.x[p] = (double)point[p]->nrhs;
  if (!lines.points) return -1;
  const int both = triangles_of(system, count, false) > 0 && triangles_of(system, count, true) > 0;
  int code = bench_lines_open(&lines, 1 + both);
  if (code >= 0) return code;
  double *value = lines.value;
  for (int upper = 0; upper < 2; upper++) {
    const int triangles = triangles_of(system, count, upper);
    if (!triangles) continue;
    snprintf(lines.label[panel++], sizeof lines.label[0], "%s, %.40s",
             upper ? "backward" : "forward", human_things(triangles, "triangle", "triangles").s);
    for (int s = 0; s < lines.series; s++)
      for (int p = 0; p < lines.points; p++)
        *value++ =
            mean_rate(rows, system, count, upper, l17_method(L17_STRATEGIES, s), point[p]->nrhs);
  }
  return write_lines(&lines, prefix, "strategies");
}

/* The paper's figure: the harmonic mean over the triangles, relative to p = 4. */
static int draw_p(const bench_rows *rows, const char *prefix) {
  const bench_row *system[L17_MOST_SYSTEMS], *point[L17_MOST_POINTS];
  bench_lines lines = {.title = "Figure 12: SpTRSM, the adaptive strategy by p",
                       .subtitle = "Times as fast as with p = 4, harmonic mean; q = 8192",
                       .x_axis = "right-hand sides",
                       .points = l17_points(rows, L17_P, point)};
  if (!lines.points) return -1;
  name_methods(&lines, L17_P);
  for (int p = 0; p < lines.points; p++) lines.x[p] = (double)point[p]->nrhs;
  int code = bench_lines_open(&lines, 1);
  if (code >= 0) return code;
  snprintf(lines.label[0], sizeof lines.label[0], "%s",
           human_things(l17_systems(rows, L17_P, system), "triangle", "triangles").s);
  double *value = lines.value;
  for (int s = 0; s < lines.series; s++)
    for (int p = 0; p < lines.points; p++)
      *value++ =
          l17_gain(rows, L17_P, NULL, l17_method(L17_P, 0), l17_method(L17_P, s), point[p]->nrhs)
              .mean;
  return write_lines(&lines, prefix, "p");
}

/* Three lines of all triangles: most lines of single ones would be flat and lie on one another. */
static void name_spread(bench_lines *lines) {
  static const char *const names[] = {"the most of a triangle", "harmonic mean",
                                      "the least of a triangle"};
  lines->series = 3;
  for (int s = 0; s < lines->series; s++)
    snprintf(lines->name[s], sizeof lines->name[s], "%s", names[s]);
}

static void put_spread(const bench_lines *lines, int panel, int point, l17_spread gain) {
  double *value = lines->value + panel * lines->series * lines->points + point;
  value[0] = gain.most;
  value[lines->points] = gain.mean;
  value[2 * lines->points] = gain.least;
}

/* The paper's figure: with scratchpad over without, by warps per block. */
static int draw_scratchpad(const bench_rows *rows, const char *prefix) {
  static const char *const scalar[] = {"double", "float"};
  bench_lines lines = {.title = "Figure 9: SpTRSV with scratchpad over without",
                       .subtitle = "Times as fast, over L and U of all systems",
                       .x_axis = "warps per block",
                       .points = 4,
                       .x = {4, 8, 16, 32}};
  const bench_row *system[L17_MOST_SYSTEMS];
  char with[64], without[64];
  if (!l17_systems(rows, L17_RATES, system)) return -1;
  name_spread(&lines);
  int code = bench_lines_open(&lines, 2);
  if (code >= 0) return code;
  for (int i = 0; i < 2; i++) {
    snprintf(lines.label[i], sizeof lines.label[i], "%s precision", i ? "single" : "double");
    for (int k = 0; k < lines.points; k++) {
      snprintf(with, sizeof with, "syncfree-csc:warps=%d,scratchpad=yes", 4 << k);
      snprintf(without, sizeof without, "syncfree-csc:warps=%d,scratchpad=no", 4 << k);
      put_spread(&lines, i, k, l17_gain(rows, L17_RATES, scalar[i], without, with, 1));
    }
  }
  return write_lines(&lines, prefix, "scratchpad");
}

static int q_of(const char *method) { return atoi(strstr(method, "q=") + strlen("q=")); }

/* A panel for each number of right-hand sides. */
static int draw_q(const bench_rows *rows, const char *prefix) {
  const char *reference = "syncfree-csc-rhs:q=8192";
  const bench_row *point[L17_MOST_POINTS];
  int panels = l17_points(rows, L17_Q, point);
  bench_lines lines = {.title = "Section 5.3: SpTRSM, the adaptive strategy by q",
                       .subtitle = "Times as fast as with q = 8192; p = 8",
                       .x_axis = "q"};
  if (!panels) return -1;
  name_spread(&lines);
  for (; l17_method(L17_Q, lines.points); lines.points++)
    lines.x[lines.points] = q_of(l17_method(L17_Q, lines.points));
  int code = bench_lines_open(&lines, panels);
  if (code >= 0) return code;
  for (int i = 0; i < panels; i++) {
    snprintf(lines.label[i], sizeof lines.label[i], "%s",
             human_things(point[i]->nrhs, "right-hand side", "right-hand sides").s);
    for (int k = 0; k < lines.points; k++)
      put_spread(&lines, i, k,
                 l17_gain(rows, L17_Q, NULL, reference, l17_method(L17_Q, k), point[i]->nrhs));
  }
  return write_lines(&lines, prefix, "q");
}

int bench_l17_draw(const bench_rows *rows, const char *prefix) {
  int code = draw_against_cusparse(rows, prefix, false);
  if (code < 0) code = draw_scratchpad(rows, prefix);
  if (code < 0) code = draw_strategies(rows, prefix);
  if (code < 0) code = draw_p(rows, prefix);
  if (code < 0) code = draw_q(rows, prefix);
  return code < 0 ? draw_against_cusparse(rows, prefix, true) : code;
}
