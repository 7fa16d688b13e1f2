/* svg.h - the parts that all charts of trireme bench share: the page with its head and legend, the
 * positions of panels, text, and ticks on a logarithmic axis. */
#ifndef TRIREME_BENCH_SVG_H
#define TRIREME_BENCH_SVG_H

#include <stdint.h>
#include <stdio.h>

enum { SVG_WIDTH = 900, SVG_MARGIN = 24, SVG_MOST_HEIGHT = 700 };

typedef struct svg_page {
  const char *title, *subtitle, *note; /* note: behind the legend, or NULL */
  int series;
  const char (*name)[80]; /* "": not in the legend */
  double body;            /* height below the head */
} svg_page;

/* Allocates values, which are NAN, or NULL; and labels.  Returns -1, or the exit code; then nothing
 * is allocated. */
double *svg_values(size_t count);
int svg_room(int64_t labels, char (**label)[64], size_t values, double **value);

/* The height of title, subtitle and legend. */
double svg_head_height(const svg_page *page);
void svg_head(FILE *svg, const svg_page *page);

/* The plot area of a panel, its axes' labels outside. */
typedef struct svg_panel {
  double x, y, width, height; /* the corner at the top left */
} svg_panel;

/* The total height of panels below a head; the position of one of them. */
double svg_panels_height(int64_t panels, double head);
svg_panel svg_panel_at(int64_t panels, int64_t at, double head);

void svg_text(FILE *svg, const char *class, double x, double y, const char *anchor,
              const char *words);
/* Lines across a panel, with their numbers on its left, and along its bottom. */
void svg_tick_left(FILE *svg, const svg_panel *p, double y, const char *words);
void svg_tick_below(FILE *svg, const svg_panel *p, double x, const char *words);
void svg_frame(FILE *svg, const svg_panel *p, const char *label, const char *x_axis);

/* The next round number above value on an axis from low to high of the given length in pixels. */
double svg_next_tick(double value, double low, double high, double pixels);

#endif
