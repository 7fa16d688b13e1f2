/* chart.h - charts as SVG: performance profiles, ratios, and lines. */
#ifndef TRIREME_BENCH_CHART_H
#define TRIREME_BENCH_CHART_H

#include <stdbool.h>
#include <stdint.h>

enum { BENCH_MOST_PANELS = 12, BENCH_MOST_SERIES = 8, BENCH_MOST_LINES = 12 };

/* Functions that return an int return -1, or the exit code. */

/* Performance profiles: seconds of each method on each system, with the systems grouped into
 * panels. */
typedef struct bench_profile {
  const char *title;
  char subtitle[256];
  int series, panels;
  char name[BENCH_MOST_SERIES][80], label[BENCH_MOST_PANELS][80];
  int64_t rows;
  int *panel;      /* per row */
  double *seconds; /* rows x series, NAN: no value */
} bench_profile;

int bench_profile_open(bench_profile *profile, int64_t rows);
/* The panel with that label; creates it if it does not exist. */
int bench_profile_panel(bench_profile *profile, const char *label);
/* Writes the chart unless it has no rows, and closes it. */
int bench_profile_write(bench_profile *profile, const char *path);

/* Ratios, one line per system. */
typedef struct bench_chart {
  const char *title, *axis;
  char subtitle[256];
  int series;
  char name[BENCH_MOST_SERIES][80];
  int64_t rows;
  char (*label)[64];
  double *value; /* rows x series, NAN: no value */
} bench_chart;

int bench_chart_open(bench_chart *chart, int64_t rows);
int bench_chart_write(bench_chart *chart, const char *path);

/* Panels of lines over a logarithmic axis of powers of two.  The legend has the series that have a
 * value and a name. */
typedef struct bench_lines {
  const char *title, *subtitle, *x_axis;
  int series, points;
  char name[BENCH_MOST_LINES][80];
  int dots[BENCH_MOST_LINES]; /* 0: a line; k: points, in the colour of the series k before */
  double x[16];
  int64_t panels;
  char (*label)[64];
  double *value; /* panels x series x points, NAN: no value */
} bench_lines;

int bench_lines_open(bench_lines *lines, int64_t panels);
int bench_lines_write(const bench_lines *lines, const char *path);
void bench_lines_close(bench_lines *lines);

/* One of several charts: x-rates.svg from "x" and from "x.svg". */
void bench_svg_path(char *path, size_t size, const char *prefix, const char *name);

#endif
