/* profile_chart.c - performance profiles (Dolan and More, 2002) as an SVG: of each method, the
 * share of the systems that it solves within a factor of the fastest method's time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chart.h"
#include "files.h"
#include "leave.h"
#include "output.h"
#include "sort.h"
#include "svg.h"

static const double LARGEST = 50; /* largest factor on the axis */

static void close_profile(bench_profile *profile) {
  free(profile->panel);
  free(profile->seconds);
}

int bench_profile_open(bench_profile *profile, int64_t rows) {
  size_t cells = (size_t)(rows * profile->series);
  profile->rows = rows;
  profile->panel = calloc((size_t)rows + 1, sizeof *profile->panel);
  profile->seconds = svg_values(cells);
  if (profile->panel && profile->seconds) return -1;
  close_profile(profile);
  return leave_memory((double)cells * sizeof *profile->seconds, "the chart");
}

int bench_profile_panel(bench_profile *profile, const char *label) {
  int at = 0;
  while (at < profile->panels && strcmp(profile->label[at], label) != 0) at++;
  if (at < profile->panels) return at;
  if (at == BENCH_MOST_PANELS) return at - 1;
  snprintf(profile->label[at], sizeof profile->label[at], "%s", label);
  return profile->panels++;
}

static bool counts(double seconds) { return seconds > 0 && !isinf(seconds); }

/* The time of a method relative to the fastest on a system; INFINITY: no answer, NAN: no method has
 * one. */
static double factor_of(const bench_profile *profile, int64_t row, int series) {
  const double *seconds = profile->seconds + row * profile->series;
  double least = INFINITY;
  for (int s = 0; s < profile->series; s++)
    if (counts(seconds[s])) least = fmin(least, seconds[s]);
  if (isinf(least)) return NAN;
  return counts(seconds[series]) ? seconds[series] / least : INFINITY;
}

static double largest_factor(const bench_profile *profile) {
  double largest = 2;
  for (int64_t i = 0; i < profile->rows; i++)
    for (int s = 0; s < profile->series; s++) {
      double factor = factor_of(profile, i, s);
      if (!isnan(factor) && !isinf(factor)) largest = fmax(largest, 1.05 * factor);
    }
  return fmin(largest, LARGEST);
}

/* The sorted factors of a series in a panel. */
static int64_t gather(const bench_profile *profile, int panel, int series, double *factor) {
  int64_t count = 0;
  for (int64_t i = 0; i < profile->rows; i++) {
    double f = profile->panel[i] == panel ? factor_of(profile, i, series) : NAN;
    if (!isnan(f)) factor[count++] = f;
  }
  sort_reals(factor, count);
  return count;
}

/* One step upwards at each factor, then on to the right edge. */
static void draw_curve(FILE *svg, const svg_panel *p, int series, const double *factor,
                       int64_t count, double largest) {
  double y = p->y + p->height;
  fprintf(svg, "<polyline class=\"s%d\" points=\"", series);
  for (int64_t i = 0; i < count && factor[i] <= largest; i++) {
    double x = p->x + p->width * log(factor[i]) / log(largest);
    fprintf(svg, "%.1f,%.1f ", x, y);
    y = p->y + p->height * (1 - (double)(i + 1) / (double)count);
    fprintf(svg, "%.1f,%.1f ", x, y);
  }
  fprintf(svg, "%.1f,%.1f\"/>\n", p->x + p->width, y);
}

static void draw_axes(FILE *svg, const svg_panel *p, double largest) {
  char words[32];
  for (int percent = 0; percent <= 100; percent += 20) {
    snprintf(words, sizeof words, "%d %%", percent);
    svg_tick_left(svg, p, p->y + p->height * (1 - percent / 100.0), words);
  }
  for (double t = 1; t <= largest; t = svg_next_tick(t, 1, largest, p->width)) {
    snprintf(words, sizeof words, "%.4g", t);
    svg_tick_below(svg, p, p->x + p->width * log(t) / log(largest), words);
  }
}

static void draw_panel(FILE *svg, const bench_profile *profile, int panel, double head,
                       double *factor, double largest) {
  svg_panel p = svg_panel_at(profile->panels, panel, head);
  char label[160];
  int64_t count = gather(profile, panel, 0, factor);
  snprintf(label, sizeof label, "%s%s%s", profile->label[panel], *profile->label[panel] ? ", " : "",
           human_things(count, "system", "systems").s);
  draw_axes(svg, &p, largest);
  for (int s = profile->series; s-- > 0;) {
    count = gather(profile, panel, s, factor);
    draw_curve(svg, &p, s, factor, count, largest);
  }
  svg_frame(svg, &p, label, "time over the fastest method's time");
}

static int write(const bench_profile *profile, const char *path, double *factor) {
  text_file file;
  svg_page page = {profile->title, profile->subtitle, NULL, profile->series, profile->name, 0};
  double head = svg_head_height(&page), largest = largest_factor(profile);
  page.body = svg_panels_height(profile->panels, head);
  int code = text_file_open(&file, path);
  if (code >= 0) return code;
  svg_head(file.stream, &page);
  for (int panel = 0; panel < profile->panels; panel++)
    draw_panel(file.stream, profile, panel, head, factor, largest);
  fprintf(file.stream, "</svg>\n");
  return text_file_close(&file, -1);
}

int bench_profile_write(bench_profile *profile, const char *path) {
  double *factor = malloc(((size_t)profile->rows + 1) * sizeof *factor);
  int code = factor ? -1 : leave_memory((double)profile->rows * sizeof *factor, "the chart");
  if (code < 0 && profile->rows) code = write(profile, path, factor);
  free(factor);
  close_profile(profile);
  return code;
}
