/* ratio_chart.c - ratios as an SVG: one line per system, with a bar from 1 and a dot per series, on
 * a logarithmic scale; above them the geometric means.  If the page is too small for all systems it
 * shows those whose ratios are farthest from 1. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "chart.h"
#include "files.h"
#include "groups.h"
#include "output.h"
#include "sort.h"
#include "svg.h"

enum { LEFT = 230, BAR = 6, GAP = 8, MEANS = 30, BOTTOM = 48 };

int bench_chart_open(bench_chart *chart, int64_t rows) {
  chart->rows = rows;
  return svg_room(rows, &chart->label, (size_t)(rows * chart->series), &chart->value);
}

/* ---- The systems shown ---- */

static double distance_of(const bench_chart *chart, int64_t row) {
  double most = 0;
  for (int k = 0; k < chart->series; k++) {
    double v = chart->value[row * chart->series + k];
    if (v > 0 && !isinf(v)) most = fmax(most, fabs(log(v)));
  }
  return most;
}

/* The least distance from 1 of the *shown systems. */
static double least_distance(const bench_chart *chart, int64_t room, int64_t *shown) {
  double *distance = malloc(((size_t)chart->rows + 1) * sizeof *distance), least = 0;
  *shown = chart->rows;
  if (!distance || chart->rows <= room) {
    free(distance);
    return 0;
  }
  for (int64_t i = 0; i < chart->rows; i++) distance[i] = distance_of(chart, i);
  sort_reals(distance, chart->rows);
  least = distance[chart->rows - room];
  free(distance);
  *shown = room;
  return least;
}

/* ---- Scale and axis ---- */

typedef struct scale {
  double low, high, top, bottom; /* top, bottom: of the lines */
} scale;

static double place_of(const scale *s, double value) {
  return LEFT + (SVG_WIDTH - SVG_MARGIN - LEFT) * log(value / s->low) / log(s->high / s->low);
}

/* From the smallest to the largest ratio, always with 1 and a margin of a tenth. */
static scale scale_of(const bench_chart *chart) {
  scale s = {.low = 1 / 1.25, .high = 1.25};
  for (int64_t i = 0; i < chart->rows * chart->series; i++) {
    double v = chart->value[i];
    if (!(v > 0) || isinf(v)) continue;
    s.low = fmin(s.low, v / 1.1);
    s.high = fmax(s.high, v * 1.1);
  }
  return s;
}

static int step_of(const bench_chart *chart) { return BAR * chart->series + GAP; }

static void draw_axis(FILE *svg, const bench_chart *chart, const scale *s) {
  svg_panel p = {LEFT, s->top, SVG_WIDTH - SVG_MARGIN - LEFT, s->bottom - s->top};
  char words[32];
  for (double v = svg_next_tick(s->low, s->low, s->high, p.width); v < s->high;
       v = svg_next_tick(v, s->low, s->high, p.width)) {
    snprintf(words, sizeof words, "%.4g", v);
    svg_tick_below(svg, &p, place_of(s, v), words);
  }
  fprintf(svg, "<path class=\"axis\" d=\"M%.1f %.1fV%.1f\"/>\n", place_of(s, 1), s->top, s->bottom);
  svg_text(svg, "note", p.x + p.width / 2, s->bottom + 36, "middle", chart->axis);
}

/* ---- Lines ---- */

static void draw_values(FILE *svg, const bench_chart *chart, const scale *s, int64_t row,
                        double top) {
  double one = place_of(s, 1);
  svg_text(svg, "label", LEFT - 14, top + step_of(chart) / 2.0 + 4, "end", chart->label[row]);
  for (int k = 0; k < chart->series; k++) {
    double v = chart->value[row * chart->series + k], y = top + GAP / 2.0 + BAR * (k + 0.5);
    if (!(v > 0) || isinf(v)) continue;
    double x = place_of(s, v);
    fprintf(svg,
            "<path class=\"s%d\" stroke-width=\"2\" stroke-opacity=\".5\" d=\"M%.1f %.1fH%.1f\"/>",
            k, one, y, x);
    fprintf(svg, "<circle class=\"d%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"2.6\"/>\n", k, x, y);
  }
}

static void draw_lines(FILE *svg, const bench_chart *chart, const scale *s, double least) {
  int64_t shown = (int64_t)((s->bottom - s->top) / step_of(chart) + 0.5), at = 0;
  for (int64_t k = 0; k < shown; k += 2)
    fprintf(svg, "<rect class=\"band\" x=\"0\" y=\"%.1f\" width=\"%d\" height=\"%d\"/>\n",
            s->top + (double)(k * step_of(chart)), SVG_WIDTH, step_of(chart));
  draw_axis(svg, chart, s);
  for (int64_t i = 0; i < chart->rows && at < shown; i++)
    if (distance_of(chart, i) >= least)
      draw_values(svg, chart, s, i, s->top + (double)(at++ * step_of(chart)));
}

/* ---- Means, over all systems: in the legend, and as diamonds above the lines. ---- */

static double mean_of(const bench_chart *chart, int series) {
  bench_mean mean = {0};
  for (int64_t i = 0; i < chart->rows; i++)
    bench_mean_add(&mean, chart->value[i * chart->series + series], i);
  return mean.count ? bench_mean_value(&mean) : NAN;
}

static void draw_means(FILE *svg, const bench_chart *chart, const scale *s) {
  for (int k = 0; k < chart->series; k++) {
    double mean = mean_of(chart, k);
    if (!isnan(mean))
      fprintf(svg, "<path class=\"d%d\" d=\"M%.1f %.1fl6 7l-6 7l-6 -7z\"/>\n", k, place_of(s, mean),
              s->top - 20);
  }
}

static void name_series(const bench_chart *chart, char name[8][80]) {
  for (int k = 0; k < chart->series; k++) {
    double mean = mean_of(chart, k);
    if (isnan(mean))
      *name[k] = 0;
    else
      snprintf(name[k], 80, "%.56s: %.20s", chart->name[k], human_times(mean).s);
  }
}

static void name_shown(char *text, size_t size, const bench_chart *chart, int64_t shown) {
  snprintf(text, size, "%s; the %lld of %lld systems that are farthest from 1", chart->subtitle,
           (long long)shown, (long long)chart->rows);
}

static int write(const bench_chart *chart, const char *path) {
  text_file file;
  char name[8][80] = {""}, subtitle[400];
  int64_t shown;
  svg_page page = {chart->title,
                   subtitle,
                   "diamonds: geometric means",
                   chart->series,
                   (const char(*)[80])name,
                   0};
  scale s = scale_of(chart);
  name_series(chart, name);
  name_shown(subtitle, sizeof subtitle, chart, chart->rows);
  double free = SVG_MOST_HEIGHT - svg_head_height(&page) - MEANS - BOTTOM;
  double least = least_distance(chart, (int64_t)(free / step_of(chart)), &shown);
  if (shown < chart->rows)
    name_shown(subtitle, sizeof subtitle, chart, shown);
  else
    snprintf(subtitle, sizeof subtitle, "%s", chart->subtitle);
  s.top = svg_head_height(&page) + MEANS;
  s.bottom = s.top + (double)(step_of(chart) * shown);
  page.body = s.bottom + BOTTOM - svg_head_height(&page);
  int code = text_file_open(&file, path);
  if (code >= 0) return code;
  svg_head(file.stream, &page);
  draw_lines(file.stream, chart, &s, least);
  draw_means(file.stream, chart, &s);
  fprintf(file.stream, "</svg>\n");
  return text_file_close(&file, -1);
}

int bench_chart_write(bench_chart *chart, const char *path) {
  int code = write(chart, path);
  free(chart->label);
  free(chart->value);
  return code;
}
