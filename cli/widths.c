/* widths.c - rows per level as the cells of a chart: the mean and the maximum over the levels of
 * each cell.  O(levels). */
#include "widths.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "sort.h"

static double middle(const widths *w) {
  double sorted[WIDTHS_CELLS];
  memcpy(sorted, w->mean, (size_t)w->cells * sizeof *sorted);
  sort_reals(sorted, w->cells);
  return w->cells ? sorted[w->cells / 2] : 0;
}

widths widths_of(const int64_t *rows, int64_t levels, int cells) {
  widths w = {.levels = levels};
  w.cells = (int)(levels < cells ? levels : cells);
  for (int c = 0; c < w.cells; c++) {
    int64_t begin = levels * c / w.cells, end = levels * (c + 1) / w.cells, sum = 0;
    for (int64_t k = begin; k < end; k++) {
      sum += rows[k];
      w.most[c] = fmax(w.most[c], (double)rows[k]);
    }
    w.mean[c] = (double)sum / (double)(end - begin);
    w.largest = fmax(w.largest, w.most[c]);
  }
  w.logarithmic = middle(&w) * 16 < w.largest;
  return w;
}

double widths_height(const widths *w, double value) {
  if (!(w->largest > 0)) return 0;
  return w->logarithmic ? log1p(value) / log1p(w->largest) : value / w->largest;
}

void widths_line(char *text, size_t size, const int64_t *rows, int64_t levels, int cells) {
  static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  static const char *const letters[] = {".", ":", "-", "=", "+", "*", "%", "#"};
  widths w = widths_of(rows, levels, cells < WIDTHS_CELLS ? cells : WIDTHS_CELLS);
  size_t used = 0;
  text[0] = 0;
  double top = 0; /* the maximum over the cells, so that means of many levels still fill the row */
  for (int c = 0; c < w.cells; c++) top = fmax(top, widths_height(&w, w.mean[c]));
  for (int c = 0; c < w.cells && used + 4 < size; c++) {
    int step = (int)(widths_height(&w, w.mean[c]) / top * 7.999);
    const char *block = output_unicode() ? blocks[step] : letters[step];
    memcpy(text + used, block, strlen(block) + 1);
    used += strlen(block);
  }
  if (w.logarithmic && used + 5 < size) memcpy(text + used, " log", 5);
}
