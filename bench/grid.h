/* grid.h - tables of short texts. */
#ifndef TRIREME_BENCH_GRID_H
#define TRIREME_BENCH_GRID_H

#include <stdbool.h>
#include <stdint.h>

#include "output.h"
#include "row.h"

/* A table that is filled cell by cell, row by row; the first row is its head, unless it is bare. */
typedef struct bench_grid {
  int columns;
  bool text_last; /* the last column is text, like the first */
  bool bare;
  int64_t cells, room;
  char (*cell)[64];
} bench_grid;

/* Adds a cell, as given or formatted; or a cell of the head, which also counts the columns. */
void bench_grid_add(bench_grid *grid, const char *text);
void bench_grid_put(bench_grid *grid, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void bench_grid_head(bench_grid *grid, const char *const *heads, int count);
/* Several cells of the same kind. */
void bench_grid_milliseconds(bench_grid *grid, const double *seconds, int count);
void bench_grid_ratios(bench_grid *grid, const double *values, int count);
/* Prints the table, aligned or as Markdown, if it has more than a head, and empties it.  title
 * NULL: none. */
void bench_grid_print(bench_grid *grid, const char *title, bool markdown);

/* A table of times: the first column in milliseconds, the others as speed relative to the first,
 * and their geometric means. */
typedef struct bench_gains {
  int systems, columns;
  const bench_row *const *system;
  char (*name)[96];
  double *seconds; /* systems x columns, NAN: no value */
} bench_gains;

/* Returns -1, or the exit code. */
int bench_gains_open(bench_gains *gains);
/* Prints it and closes it. */
void bench_gains_print(bench_gains *gains, const char *title, bool markdown);

short_text bench_milliseconds(double seconds); /* with four digits */
short_text bench_ratio(double value);

#endif
