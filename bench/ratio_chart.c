/* ratio_chart.c - ratios as an SVG: one line a system, a bar from 1 and a dot for each series, on a
 * logarithmic scale; above them the geometric means.  One file without scripts, fonts or links. */
#include <math.h>
#include <stdlib.h>

#include "bench.h"
#include "files.h"
#include "output.h"
#include "picture.h"

enum { LEFT = 300, WIDTH = 1000, RIGHT = 40, TOP = 150, BAR = 6, GAP = 8, BOTTOM = 60 };

static const char style_sheet[] =
    "<style>\n"
    "text{font-family:system-ui,-apple-system,'Segoe UI','DejaVu Sans',Helvetica,Arial,sans-serif;"
    "fill:#24292f;font-size:12px}\n"
    ".title{font-size:21px;font-weight:600}.note{fill:#57606a}.legend{font-size:13px}\n"
    ".grid{stroke:#eaeef2}.one{stroke:#57606a}.band{fill:#f6f8fa}\n"
    ".s0{fill:#1c5f9f;stroke:#1c5f9f}.s1{fill:#d9722f;stroke:#d9722f}"
    ".s2{fill:#949ca6;stroke:#949ca6}.s3{fill:#424a53;stroke:#424a53}"
    ".s4{fill:#1a7f37;stroke:#1a7f37}.s5{fill:#8250df;stroke:#8250df}"
    ".s6{fill:#bf3989;stroke:#bf3989}.s7{fill:#9a6700;stroke:#9a6700}\n"
    "path[class^=s]{stroke-width:2;stroke-opacity:.5}\n"
    "</style>\n";

int bench_chart_open(bench_chart *chart, int64_t rows) {
  size_t cells = (size_t)(rows * chart->series);
  chart->rows = rows;
  chart->label = calloc((size_t)rows + 1, sizeof *chart->label);
  chart->value = malloc((cells + 1) * sizeof *chart->value);
  if (!chart->label || !chart->value) {
    bench_chart_close(chart);
    return leave_memory((double)cells * sizeof *chart->value, "the chart");
  }
  for (size_t i = 0; i < cells; i++) chart->value[i] = NAN;
  return -1;
}

void bench_chart_close(bench_chart *chart) {
  free(chart->label);
  free(chart->value);
}

typedef struct scale {
  double low, high, step, height; /* step: pixels of a line's height */
} scale;

static double place_of(const scale *s, double value) {
  return LEFT + (WIDTH - LEFT - RIGHT) * log(value / s->low) / log(s->high / s->low);
}

/* Ratios from the smallest to the largest, 1 and a tenth more always inside. */
static scale scale_of(const bench_chart *chart) {
  scale s = {.low = 1 / 1.25, .high = 1.25, .step = BAR * chart->series + GAP};
  for (int64_t i = 0; i < chart->rows * chart->series; i++) {
    double v = chart->value[i];
    if (!(v > 0) || isinf(v)) continue;
    s.low = fmin(s.low, v / 1.1);
    s.high = fmax(s.high, v * 1.1);
  }
  s.height = TOP + s.step * (double)chart->rows;
  return s;
}

static void text(FILE *svg, const char *class, double x, double y, const char *anchor,
                 const char *words) {
  fprintf(svg, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", class, x, y, anchor);
  svg_escape(svg, words);
  fprintf(svg, "</text>\n");
}

static void draw_head(FILE *svg, const bench_chart *chart, const scale *s) {
  double height = s->height + BOTTOM;
  fprintf(svg,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %d "
          "%.0f\" role=\"img\">\n<title>%s</title>\n%s<rect width=\"%d\" height=\"%.0f\" "
          "fill=\"#fff\"/>\n",
          WIDTH, height, WIDTH, height, chart->title, style_sheet, WIDTH, height);
  text(svg, "title", 32, 44, "start", chart->title);
  text(svg, "note", 32, 68, "start", chart->subtitle);
  text(svg, "note", (LEFT + WIDTH - RIGHT) / 2.0, s->height + 44, "middle", chart->axis);
}

static void draw_tick(FILE *svg, const scale *s, double value) {
  char words[32];
  if (value < s->low || value > s->high) return;
  double x = place_of(s, value);
  snprintf(words, sizeof words, "%.4g", value);
  fprintf(svg, "<path class=\"%s\" d=\"M%.1f %dV%.1f\"/>\n", value == 1 ? "one" : "grid", x,
          TOP - 8, s->height);
  text(svg, "note", x, s->height + 20, "middle", words);
}

/* 1, 2 and 5 times the powers of ten; where the range is small, steps of a tenth as well. */
static void draw_axis(FILE *svg, const scale *s) {
  static const double shares[] = {1, 2, 5};
  bool narrow = s->high / s->low < 3;
  for (double power = 1e-6; power < 1e7; power *= 10)
    for (int i = 0; i < 3; i++)
      if (!narrow || shares[i] * power != 1) draw_tick(svg, s, shares[i] * power);
  for (int tenth = 4; narrow && tenth < 30; tenth++)
    if (tenth != 5 && tenth != 20) draw_tick(svg, s, tenth / 10.0);
}

static void draw_band(FILE *svg, const scale *s, int64_t row) {
  double top = TOP + s->step * (double)row;
  if (row % 2 == 0)
    fprintf(svg, "<rect class=\"band\" x=\"0\" y=\"%.1f\" width=\"%d\" height=\"%.1f\"/>\n", top,
            WIDTH, s->step);
}

static void draw_values(FILE *svg, const bench_chart *chart, const scale *s, int64_t row) {
  double top = TOP + s->step * (double)row, one = place_of(s, 1);
  text(svg, "label", LEFT - 14, top + s->step / 2 + 4, "end", chart->label[row]);
  for (int k = 0; k < chart->series; k++) {
    double v = chart->value[row * chart->series + k], y = top + GAP / 2.0 + BAR * (k + 0.5);
    if (!(v > 0) || isinf(v)) continue;
    double x = place_of(s, v);
    fprintf(svg, "<path class=\"s%d\" d=\"M%.1f %.1fH%.1f\"/>", k, one, y, x);
    fprintf(svg, "<circle class=\"s%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"2.6\"/>\n", k, x, y);
  }
}

/* The series' names with their means, and a diamond where each mean stands. */
static void draw_legend(FILE *svg, const bench_chart *chart, const scale *s) {
  double x = 32;
  for (int k = 0; k < chart->series; k++) {
    char words[96];
    bench_mean mean = {0};
    for (int64_t i = 0; i < chart->rows; i++)
      bench_mean_add(&mean, chart->value[i * chart->series + k], i);
    if (!mean.count) continue;
    double value = bench_mean_value(&mean), at = place_of(s, value);
    int length = snprintf(words, sizeof words, "%s  %s", chart->name[k], human_times(value).s);
    fprintf(svg, "<circle class=\"s%d\" cx=\"%.1f\" cy=\"96\" r=\"5\"/>\n", k, x + 5);
    text(svg, "legend", x + 18, 101, "start", words);
    fprintf(svg, "<path class=\"s%d\" d=\"M%.1f %dl6 7l-6 7l-6 -7z\"/>\n", k, at, TOP - 24);
    x += 48 + 7.5 * length;
  }
  text(svg, "note", x, 101, "start", "geometric means");
}

int bench_chart_write(const bench_chart *chart, const char *path) {
  text_file file;
  scale s = scale_of(chart);
  int code = text_file_open(&file, path);
  if (code >= 0) return code;
  draw_head(file.stream, chart, &s);
  for (int64_t i = 0; i < chart->rows; i++) draw_band(file.stream, &s, i);
  draw_axis(file.stream, &s);
  for (int64_t i = 0; i < chart->rows; i++) draw_values(file.stream, chart, &s, i);
  draw_legend(file.stream, chart, &s);
  fprintf(file.stream, "</svg>\n");
  return text_file_close(&file);
}
