/* line_chart.c - panels of lines as an SVG: x in powers of two, y logarithmic, every panel with a
 * scale of its own.  One file without scripts, fonts or links. */
#include <math.h>
#include <stdlib.h>

#include "bench.h"
#include "files.h"
#include "output.h"
#include "picture.h"

enum { ACROSS = 3, PANEL = 300, HIGH = 220, LEFT = 60, GAP = 40, TOP = 130, BOTTOM = 70 };

static const char style_sheet[] =
    "<style>\n"
    "text{font-family:system-ui,-apple-system,'Segoe UI','DejaVu Sans',Helvetica,Arial,sans-serif;"
    "fill:#24292f;font-size:12px}\n"
    ".title{font-size:21px;font-weight:600}.note{fill:#57606a}.head{font-weight:600}\n"
    ".grid{stroke:#eaeef2;fill:none}.axis{stroke:#57606a;fill:none}\n"
    "polyline{fill:none;stroke-width:2}\n"
    ".s0{stroke:#949ca6}.s1{stroke:#1c5f9f}.s2{stroke:#d9722f}.s3{stroke:#1a7f37}"
    ".d0{fill:#949ca6}.d1{fill:#1c5f9f}.d2{fill:#d9722f}.d3{fill:#1a7f37}\n"
    ".s4{stroke:#8250df}.s5{stroke:#bf3989}.s6{stroke:#9a6700}.s7{stroke:#424a53}\n"
    "</style>\n";

int bench_lines_open(bench_lines *lines, int64_t panels) {
  size_t cells = (size_t)(panels * lines->series * lines->points);
  lines->panels = panels;
  lines->label = calloc((size_t)panels + 1, sizeof *lines->label);
  lines->value = malloc((cells + 1) * sizeof *lines->value);
  if (!lines->label || !lines->value) {
    bench_lines_close(lines);
    return leave_memory((double)cells * sizeof *lines->value, "the chart");
  }
  for (size_t i = 0; i < cells; i++) lines->value[i] = NAN;
  return -1;
}

void bench_lines_close(bench_lines *lines) {
  free(lines->label);
  free(lines->value);
}

typedef struct panel {
  const bench_lines *lines;
  const double *value; /* series x points */
  double x, y;         /* of its corner at the bottom left */
  double low, high;
} panel;

static panel panel_of(const bench_lines *lines, int64_t at) {
  panel p = {.lines = lines,
             .value = lines->value + at * lines->series * lines->points,
             .x = LEFT + (double)(at % ACROSS) * (PANEL + LEFT),
             .y = TOP + HIGH + (double)(at / ACROSS) * (HIGH + GAP + BOTTOM),
             .low = INFINITY};
  for (int i = 0; i < lines->series * lines->points; i++) {
    if (!(p.value[i] > 0) || isinf(p.value[i])) continue;
    p.low = fmin(p.low, p.value[i]);
    p.high = fmax(p.high, p.value[i]);
  }
  p.low /= 1.1;
  p.high *= 1.1;
  return p;
}

static double x_of(const panel *p, int point) {
  const double *x = p->lines->x;
  double range = log(x[p->lines->points - 1] / x[0]);
  return p->x + (range > 0 ? PANEL * log(x[point] / x[0]) / range : 0);
}

static double y_of(const panel *p, double value) {
  return p->y - HIGH * log(value / p->low) / log(p->high / p->low);
}

static void text(FILE *svg, const char *class, double x, double y, const char *anchor,
                 const char *words) {
  fprintf(svg, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", class, x, y, anchor);
  svg_escape(svg, words);
  fprintf(svg, "</text>\n");
}

static void draw_tick(FILE *svg, const panel *p, double value) {
  char words[32];
  if (value < p->low || value > p->high) return;
  snprintf(words, sizeof words, "%.4g", value);
  fprintf(svg, "<path class=\"grid\" d=\"M%.1f %.1fh%d\"/>\n", p->x, y_of(p, value), PANEL);
  text(svg, "note", p->x - 6, y_of(p, value) + 4, "end", words);
}

static void draw_axes(FILE *svg, const panel *p) {
  static const double shares[] = {1, 2, 5};
  for (double power = 1e-6; power < 1e9; power *= 10)
    for (int i = 0; i < 3; i++) draw_tick(svg, p, shares[i] * power);
  for (int k = 0; k < p->lines->points; k++) {
    char words[32];
    snprintf(words, sizeof words, "%.4g", p->lines->x[k]);
    text(svg, "note", x_of(p, k), p->y + 18, "middle", words);
  }
  fprintf(svg, "<path class=\"axis\" d=\"M%.1f %.1fv%dh%d\"/>\n", p->x, p->y - HIGH, HIGH, PANEL);
}

static void draw_dots(FILE *svg, const panel *p, int series) {
  const bench_lines *l = p->lines;
  for (int k = 0; k < l->points; k++) {
    double value = p->value[series * l->points + k];
    if (value > 0 && !isinf(value))
      fprintf(svg, "<circle class=\"d%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"/>\n", series % 4,
              x_of(p, k), y_of(p, value));
  }
}

static void draw_line(FILE *svg, const panel *p, int series) {
  const bench_lines *l = p->lines;
  fprintf(svg, "<polyline class=\"s%d\" points=\"", series);
  for (int k = 0; k < l->points; k++) {
    double value = p->value[series * l->points + k];
    if (value > 0 && !isinf(value)) fprintf(svg, "%.1f,%.1f ", x_of(p, k), y_of(p, value));
  }
  fprintf(svg, "\"/>\n");
}

static void draw_panel(FILE *svg, const bench_lines *lines, int64_t at) {
  panel p = panel_of(lines, at);
  text(svg, "head", p.x, p.y - HIGH - 12, "start", lines->label[at]);
  if (!(p.high > p.low)) return;
  draw_axes(svg, &p);
  for (int s = 0; s < lines->series; s++) (lines->dots[s] ? draw_dots : draw_line)(svg, &p, s);
  text(svg, "note", p.x + PANEL / 2.0, p.y + 36, "middle", lines->x_axis);
}

static void draw_head(FILE *svg, const bench_lines *l, double width, double height) {
  double x = 32;
  fprintf(svg,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 "
          "%.0f %.0f\" role=\"img\">\n<title>%s</title>\n%s<rect width=\"%.0f\" height=\"%.0f\" "
          "fill=\"#fff\"/>\n",
          width, height, width, height, l->title, style_sheet, width, height);
  text(svg, "title", x, 40, "start", l->title);
  text(svg, "note", x, 62, "start", l->subtitle);
  for (int s = 0; s < l->series; s++) {
    int length = 0;
    while (l->name[s][length]) length++;
    if (!length) continue;
    fprintf(svg, "<polyline class=\"s%d\" points=\"%.0f,84 %.0f,84\"/>\n", s, x, x + 22);
    text(svg, "legend", x + 28, 88, "start", l->name[s]);
    x += 56 + 7 * length;
  }
  text(svg, "note", x, 88, "start", l->y_axis);
}

int bench_lines_write(const bench_lines *lines, const char *path) {
  text_file file;
  int64_t down = (lines->panels + ACROSS - 1) / ACROSS;
  int code = text_file_open(&file, path);
  if (code >= 0) return code;
  draw_head(file.stream, lines, LEFT + ACROSS * (PANEL + LEFT),
            TOP + (double)down * (HIGH + GAP + BOTTOM));
  for (int64_t at = 0; at < lines->panels; at++) draw_panel(file.stream, lines, at);
  fprintf(file.stream, "</svg>\n");
  return text_file_close(&file);
}
