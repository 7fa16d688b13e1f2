/* widths.h - rows per level, gathered into the cells of a chart. */
#ifndef TRIREME_CLI_WIDTHS_H
#define TRIREME_CLI_WIDTHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WIDTHS_CELLS = 400 };

typedef struct widths {
  int cells;                                     /* at most WIDTHS_CELLS */
  int64_t levels;                                /* in all */
  double mean[WIDTHS_CELLS], most[WIDTHS_CELLS]; /* rows per level in each cell */
  double largest;                                /* of most */
  bool logarithmic; /* half the cells would hardly show on a linear scale */
} widths;

widths widths_of(const int64_t *rows, int64_t levels, int cells);

/* Where value stands between the chart's floor, 0, and its top, 1. */
double widths_height(const widths *w, double value);

/* One row of block characters (or ASCII), at most cells wide, and " log" if that is its scale. */
void widths_line(char *text, size_t size, const int64_t *rows, int64_t levels, int cells);

#endif
