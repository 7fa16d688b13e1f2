/* l17_charts.c - the charts of trireme bench l17, from rows alone: performance profiles of medians,
 * which are not the paper's statistic, and lines of its Figures 10 to 12. */
#include <math.h>
#include <stdio.h>
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
      .title = analysis ? "Preprocessing for SpTRSV: performance profiles"
                        : "SpTRSV by three methods: performance profiles",
      .series = 3,
      .name = {"engine", "cuSPARSE, default algorithm", "syncfree-csc, 16 warps, scratchpad"}};
  snprintf(profile.subtitle, sizeof profile.subtitle,
           "Share of the systems within a factor of the fastest method's %s",
           analysis ? "preprocessing (in-degrees; analyses)" : "median");
  int code = fill_profile(&profile, rows, method, analysis);
  return code < 0 ? write_profile(&profile, prefix, analysis ? "preprocessing" : "rates") : code;
}

/* The gain from the scratchpad, by warps per block. */
static int draw_scratchpad(const bench_rows *rows, const char *prefix) {
  bench_profile profile = {
      .title = "Warps per block and the scratchpad in syncfree-csc: performance profiles",
      .subtitle = "Share of the systems within a factor of the fastest choice's median",
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
  const bench_row *system[L17_MOST_SYSTEMS], *point[L17_MOST_POINTS];
  int count = l17_systems(rows, part, system);
  char path[1200];
  bench_lines lines = {.title = titles[part],
                       .subtitle = directions_of(system, count),
                       .x_axis = "right-hand sides",
                       .points = l17_points(rows, part, point)};
  for (; l17_method(part, lines.series); lines.series++)
    snprintf(lines.name[lines.series], sizeof lines.name[0], "%s",
             l17_short_name(l17_method(part, lines.series)).s);
  for (int p = 0; p < lines.points; p++) lines.x[p] = (double)point[p]->nrhs;
  if (!lines.points) return -1;
  int code = bench_lines_open(&lines, count);
  if (code >= 0) return code;
  double *value = lines.value;
  for (int i = 0; i < count; i++) {
    l17_label(lines.label[i], sizeof lines.label[i], system[i], 1);
    for (int s = 0; s < lines.series; s++)
      for (int p = 0; p < lines.points; p++)
        *value++ = l17_rate(l17_find(rows, system[i], part, l17_method(part, s), point[p]->nrhs));
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
