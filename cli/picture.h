/* picture.h - a matrix as an SVG: its pattern and the widths of its levels. */
#ifndef TRIREME_CLI_PICTURE_H
#define TRIREME_CLI_PICTURE_H

#include <stdbool.h>
#include <stdio.h>

#include "trireme.h"

/* The level sets of one triangle. */
typedef struct picture_levels {
  const char *name; /* "lower triangle"; NULL: absent */
  const int64_t *rows;
  int64_t levels;
  int64_t n;
} picture_levels;

typedef struct picture {
  const char *title, *subtitle;
  const trs_matrix *part[2]; /* drawn into one square: A and NULL, or L and U */
  picture_levels sweep[2];   /* of the lower triangle, of the upper triangle */
  const int64_t *tree_ptr;   /* column ranges of the separator tree, or NULL */
  int64_t tree_nodes;
} picture;

/* Returns -1, or the exit code. */
int picture_write(const picture *p, const char *path);

/* The parts: raster.c draws the pattern into a square of `side` pixels, chart.c the levels. */
typedef struct place {
  double x, y, width, height;
} place;

typedef struct raster_scale {
  int64_t span;  /* rows and columns along one side of the square */
  int cells;     /* cells along it */
  int64_t most;  /* entries in the fullest cell */
  double pixels; /* of one row or column */
  bool drawn[3]; /* entries below the diagonal, above, on it */
} raster_scale;

enum { RASTER_CLASSES = 6, RASTER_CELLS = 240 };

int raster_draw(FILE *svg, const picture *p, place where, raster_scale *scale);
void chart_draw(FILE *svg, const picture_levels *l, place where, const char *colour);

/* A step of 1, 2 or 5 times a power of ten that divides range into about count parts. */
double nice_step(double range, int count);

#endif
