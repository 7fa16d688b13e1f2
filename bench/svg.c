/* svg.c - the parts that all charts share.  Each chart is one file without scripts, fonts or links;
 * widths of text are estimates, because only the viewer knows the font. */
#include "svg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chart.h"
#include "leave.h"
#include "output.h"

enum { LINE = 20, TITLE_SIZE = 18, SAMPLE = 20 };
enum { LABEL_LEFT = 54, LABEL_RIGHT = 16, LABEL_TOP = 28, LABEL_BELOW = 46, TALLEST = 330 };
static const double LETTER = 6.9;       /* pixels of a letter at 12 pixels */
static const double TITLE_LETTER = 0.6; /* of the size of the title */

static const char style_sheet[] =
    "<style>\n"
    "text{font-family:system-ui,-apple-system,'Segoe UI','DejaVu Sans',Helvetica,Arial,sans-serif;"
    "fill:#24292f;font-size:12px}\n"
    ".title{font-weight:600}.note{fill:#57606a}.tick{fill:#57606a;font-size:11px}"
    ".head{font-weight:600}\n"
    ".grid{stroke:#eaeef2;fill:none}.axis{stroke:#57606a;fill:none}.band{fill:#f6f8fa}\n"
    "polyline{fill:none;stroke-width:2}\n"
    ".s0{stroke:#1c5f9f}.s1{stroke:#d9722f}.s2{stroke:#1a7f37}.s3{stroke:#949ca6}"
    ".s4{stroke:#8250df}.s5{stroke:#bf3989}.s6{stroke:#9a6700}.s7{stroke:#424a53}"
    ".s8{stroke:#0a7ea4}.s9{stroke:#cf222e}.s10{stroke:#6e9e3a}.s11{stroke:#c08bff}\n"
    ".d0{fill:#1c5f9f}.d1{fill:#d9722f}.d2{fill:#1a7f37}.d3{fill:#949ca6}"
    ".d4{fill:#8250df}.d5{fill:#bf3989}.d6{fill:#9a6700}.d7{fill:#424a53}"
    ".d8{fill:#0a7ea4}.d9{fill:#cf222e}.d10{fill:#6e9e3a}.d11{fill:#c08bff}\n"
    "</style>\n";

void svg_text(FILE *svg, const char *class, double x, double y, const char *anchor,
              const char *words) {
  fprintf(svg, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", class, x, y, anchor);
  svg_escape(svg, words);
  fprintf(svg, "</text>\n");
}

double *svg_values(size_t count) {
  double *value = malloc((count + 1) * sizeof *value);
  for (size_t i = 0; value && i < count; i++) value[i] = NAN;
  return value;
}

int svg_room(int64_t labels, char (**label)[64], size_t values, double **value) {
  *label = calloc((size_t)labels + 1, sizeof **label);
  *value = svg_values(values);
  if (*label && *value) return -1;
  free(*label);
  free(*value);
  *label = NULL;
  *value = NULL;
  return leave_memory((double)values * sizeof **value, "the chart");
}

void bench_svg_path(char *path, size_t size, const char *prefix, const char *name) {
  size_t length = strlen(prefix);
  if (length > 4 && !strcmp(prefix + length - 4, ".svg")) length -= 4;
  snprintf(path, size, "%.*s-%s.svg", (int)length, prefix, name);
}

/* ---- The head ---- */

/* Moves to the next line if this one has less than width left. */
static void flow(double *x, double *y, double width) {
  if (*x > SVG_MARGIN && *x + width > SVG_WIDTH - SVG_MARGIN) {
    *x = SVG_MARGIN;
    *y += LINE;
  }
}

static void draw_sample(FILE *svg, int series, double x, double y) {
  fprintf(svg, "<polyline class=\"s%d\" points=\"%.1f,%.1f %.1f,%.1f\"/>", series, x, y - 4,
          x + SAMPLE, y - 4);
  fprintf(svg, "<circle class=\"d%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>\n", series,
          x + SAMPLE / 2.0, y - 4);
}

/* Draws the legend from y on, or only measures it (svg NULL); returns its last line. */
static double draw_legend(FILE *svg, const svg_page *page, double y) {
  double x = SVG_MARGIN;
  for (int s = 0; s < page->series; s++) {
    if (!*page->name[s]) continue;
    double width = SAMPLE + 8 + LETTER * (double)strlen(page->name[s]);
    flow(&x, &y, width);
    if (svg) {
      draw_sample(svg, s, x, y);
      svg_text(svg, "legend", x + SAMPLE + 8, y, "start", page->name[s]);
    }
    x += width + 20;
  }
  if (page->note) {
    flow(&x, &y, LETTER * (double)strlen(page->note));
    if (svg) svg_text(svg, "note", x, y, "start", page->note);
  }
  return y;
}

/* Draws the subtitle in as many lines as needed, or measures it; returns the next line. */
static double draw_subtitle(FILE *svg, const char *words, double y) {
  enum { MOST = 132 }; /* letters of a line */
  while (*words) {
    char line[MOST + 1];
    size_t length = strlen(words);
    if (length > MOST) {
      length = MOST;
      while (length > 1 && words[length] != ' ') length--;
    }
    snprintf(line, sizeof line, "%.*s", (int)length, words);
    if (svg) svg_text(svg, "note", SVG_MARGIN, y, "start", line);
    words += length;
    words += *words == ' ';
    y += LINE;
  }
  return y;
}

double svg_head_height(const svg_page *page) {
  return draw_legend(NULL, page, draw_subtitle(NULL, page->subtitle, 56)) + 16;
}

void svg_head(FILE *svg, const svg_page *page) {
  double height = svg_head_height(page) + page->body;
  double size = fmin(TITLE_SIZE, (SVG_WIDTH - 2 * SVG_MARGIN) /
                                     (TITLE_LETTER * (double)(strlen(page->title) + 1)));
  fprintf(svg,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %d "
          "%.0f\" role=\"img\">\n<title>",
          SVG_WIDTH, height, SVG_WIDTH, height);
  svg_escape(svg, page->title);
  fprintf(svg, "</title>\n%s<rect width=\"%d\" height=\"%.0f\" fill=\"#fff\"/>\n", style_sheet,
          SVG_WIDTH, height);
  fprintf(svg, "<text class=\"title\" style=\"font-size:%.1fpx\" x=\"%d\" y=\"34\">", size,
          SVG_MARGIN);
  svg_escape(svg, page->title);
  fprintf(svg, "</text>\n");
  draw_legend(svg, page, draw_subtitle(svg, page->subtitle, 56));
}

/* ---- Panels ---- */

static int across_of(int64_t panels) {
  return panels <= 1 ? 1 : panels <= 4 ? 2 : panels <= 9 ? 3 : 4;
}

static double panel_height(int64_t panels, double head) {
  double down = ceil((double)panels / across_of(panels));
  return fmin(TALLEST, (SVG_MOST_HEIGHT - head) / fmax(down, 1));
}

double svg_panels_height(int64_t panels, double head) {
  return panel_height(panels, head) * ceil((double)panels / across_of(panels));
}

svg_panel svg_panel_at(int64_t panels, int64_t at, double head) {
  int across = across_of(panels);
  double width = (double)SVG_WIDTH / across, height = panel_height(panels, head);
  return (svg_panel){.x = (double)(at % across) * width + LABEL_LEFT,
                     .y = head + (double)(at / across) * height + LABEL_TOP,
                     .width = width - LABEL_LEFT - LABEL_RIGHT,
                     .height = height - LABEL_TOP - LABEL_BELOW};
}

void svg_tick_left(FILE *svg, const svg_panel *p, double y, const char *words) {
  fprintf(svg, "<path class=\"grid\" d=\"M%.1f %.1fh%.1f\"/>", p->x, y, p->width);
  svg_text(svg, "tick", p->x - 6, y + 4, "end", words);
}

void svg_tick_below(FILE *svg, const svg_panel *p, double x, const char *words) {
  fprintf(svg, "<path class=\"grid\" d=\"M%.1f %.1fv%.1f\"/>", x, p->y, p->height);
  svg_text(svg, "tick", x, p->y + p->height + 16, "middle", words);
}

void svg_frame(FILE *svg, const svg_panel *p, const char *label, const char *x_axis) {
  svg_text(svg, "head", p->x, p->y - 10, "start", label);
  fprintf(svg, "<path class=\"axis\" d=\"M%.1f %.1fv%.1fh%.1f\"/>\n", p->x, p->y, p->height,
          p->width);
  svg_text(svg, "note", p->x + p->width / 2, p->y + p->height + 34, "middle", x_axis);
}

/* ---- Ticks ---- */

/* As many numbers of a decade as the axis has space for; 0 ends them. */
static const double *numbers_of(double low, double high, double pixels) {
  static const double tenths[] = {1,   1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2,
                                  2.2, 2.4, 2.6, 2.8, 3,   3.2, 3.5, 3.8, 4,   4.4, 4.8,
                                  5,   5.5, 6,   6.5, 7,   7.5, 8,   8.5, 9,   9.5, 0},
                      many[] = {1, 1.5, 2, 3, 4, 5, 7, 0}, few[] = {1, 2, 5, 0}, one[] = {1, 0};
  double decade = pixels / log10(high / low);
  return decade < 60 ? one : high / low < 1.7 ? tenths : high / low < 4 ? many : few;
}

double svg_next_tick(double value, double low, double high, double pixels) {
  const double *numbers = numbers_of(low, high, pixels);
  double power = pow(10, floor(log10(value)) - 1);
  for (;; power *= 10)
    for (int k = 0; numbers[k] > 0; k++)
      if (numbers[k] * power > value * (1 + 1e-9)) return numbers[k] * power;
}
