/* line_chart.c - panels of lines as an SVG: x in powers of two, y logarithmic, every panel with its
 * own scale. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chart.h"
#include "files.h"
#include "svg.h"

int bench_lines_open(bench_lines *lines, int64_t panels) {
  lines->panels = panels;
  return svg_room(panels, &lines->label, (size_t)(panels * lines->series * lines->points),
                  &lines->value);
}

void bench_lines_close(bench_lines *lines) {
  free(lines->label);
  free(lines->value);
}

typedef struct panel {
  const bench_lines *lines;
  const double *value; /* series x points */
  svg_panel place;
  double low, high;
} panel;

static panel panel_of(const bench_lines *lines, int64_t at, double head) {
  panel p = {.lines = lines,
             .value = lines->value + at * lines->series * lines->points,
             .place = svg_panel_at(lines->panels, at, head),
             .low = INFINITY};
  for (int i = 0; i < lines->series * lines->points; i++) {
    if (!(p.value[i] > 0) || isinf(p.value[i])) continue;
    p.low = fmin(p.low, p.value[i]);
    p.high = fmax(p.high, p.value[i]);
  }
  p.low /= 1.15;
  p.high *= 1.15;
  return p;
}

static double x_of(const panel *p, int point) {
  const double *x = p->lines->x;
  double range = log(x[p->lines->points - 1] / x[0]), inset = 10;
  double width = p->place.width - 2 * inset;
  return p->place.x + inset + (range > 0 ? width * log(x[point] / x[0]) / range : width / 2);
}

static double y_of(const panel *p, double value) {
  return p->place.y + p->place.height * (1 - log(value / p->low) / log(p->high / p->low));
}

/* 131072 is 128k. */
static void name_point(char *words, size_t size, double x) {
  bool thousands = x >= 1024 && fmod(x, 1024) == 0;
  snprintf(words, size, "%.6g%s", thousands ? x / 1024 : x, thousands ? "k" : "");
}

/* A number below each point, unless the previous number leaves no space. */
static void draw_axes(FILE *svg, const panel *p) {
  enum { ROOM = 26 };
  double last = -INFINITY;
  char words[32];
  double first = svg_next_tick(p->low, p->low, p->high, p->place.height);
  for (double v = first; v < p->high; v = svg_next_tick(v, p->low, p->high, p->place.height)) {
    snprintf(words, sizeof words, "%.4g", v);
    svg_tick_left(svg, &p->place, y_of(p, v), words);
  }
  for (int k = 0; k < p->lines->points; k++) {
    name_point(words, sizeof words, p->lines->x[k]);
    if (x_of(p, k) - last < ROOM) continue;
    last = x_of(p, k);
    svg_tick_below(svg, &p->place, last, words);
  }
}

static void draw_dots(FILE *svg, const panel *p, int series, double radius) {
  const bench_lines *l = p->lines;
  for (int k = 0; k < l->points; k++) {
    double value = p->value[series * l->points + k];
    if (value > 0 && !isinf(value))
      fprintf(svg, "<circle class=\"d%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>\n",
              series - l->dots[series], x_of(p, k), y_of(p, value), radius);
  }
}

/* With a small dot at each point, so that a single point is visible. */
static void draw_line(FILE *svg, const panel *p, int series) {
  const bench_lines *l = p->lines;
  fprintf(svg, "<polyline class=\"s%d\" points=\"", series);
  for (int k = 0; k < l->points; k++) {
    double value = p->value[series * l->points + k];
    if (value > 0 && !isinf(value)) fprintf(svg, "%.1f,%.1f ", x_of(p, k), y_of(p, value));
  }
  fprintf(svg, "\"/>\n");
  draw_dots(svg, p, series, 1.8);
}

static void draw_panel(FILE *svg, const bench_lines *lines, int64_t at, double head) {
  panel p = panel_of(lines, at, head);
  if (p.high > p.low) draw_axes(svg, &p);
  for (int s = lines->series; p.high > p.low && s-- > 0;)
    if (lines->dots[s])
      draw_dots(svg, &p, s, 4);
    else
      draw_line(svg, &p, s);
  svg_frame(svg, &p.place, lines->label[at], lines->x_axis);
}

static bool has_value(const bench_lines *lines, int series) {
  for (int64_t at = 0; at < lines->panels; at++)
    for (int k = 0; k < lines->points; k++) {
      double value = lines->value[(at * lines->series + series) * lines->points + k];
      if (value > 0 && !isinf(value)) return true;
    }
  return false;
}

int bench_lines_write(const bench_lines *lines, const char *path) {
  text_file file;
  char name[BENCH_MOST_LINES][80] = {""};
  for (int s = 0; s < lines->series; s++)
    if (has_value(lines, s)) memcpy(name[s], lines->name[s], sizeof name[s]);
  svg_page page = {lines->title, lines->subtitle, NULL, lines->series, (const char(*)[80])name, 0};
  double head = svg_head_height(&page);
  page.body = svg_panels_height(lines->panels, head);
  int code = text_file_open(&file, path);
  if (code >= 0) return code;
  svg_head(file.stream, &page);
  for (int64_t at = 0; at < lines->panels; at++) draw_panel(file.stream, lines, at, head);
  fprintf(file.stream, "</svg>\n");
  return text_file_close(&file, -1);
}
