/* widths.h - rows per level, combined into the cells of a chart. */
#ifndef TRIREME_CLI_WIDTHS_H
#define TRIREME_CLI_WIDTHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WIDTHS_CELLS = 400 };

typedef struct widths {
  int cells;                                     /* at most WIDTHS_CELLS */
  int64_t levels;                                /* total number of levels */
  double mean[WIDTHS_CELLS], most[WIDTHS_CELLS]; /* rows per level in each cell */
  double largest;                                /* the maximum of most */
  bool logarithmic; /* on a linear scale half the cells would hardly be visible */
} widths;

widths widths_of(const int64_t *rows, int64_t levels, int cells);

/* The height of value between the chart's floor, 0, and its top, 1. */
double widths_height(const widths *w, double value);

/* One row of block characters (or ASCII), at most `cells` wide, followed by " log" for that
 * scale. */
void widths_line(char *text, size_t size, const int64_t *rows, int64_t levels, int cells);

#endif
