/* chart.c - rows per level as a stepped area: the mean over the levels of each cell, and behind it,
 * in a paler colour, their maximum. */
#include <math.h>
#include <stdio.h>

#include "output.h"
#include "picture.h"
#include "widths.h"

double nice_step(double range, int count) {
  double raw = range / count, power = pow(10, floor(log10(raw > 0 ? raw : 1)));
  double share = raw / power;
  double step = (share <= 1 ? 1 : share <= 2 ? 2 : share <= 5 ? 5 : 10) * power;
  return step < 1 ? 1 : step;
}

static void draw_area(FILE *svg, const widths *w, const double *value, place at,
                      const char *class) {
  double step = at.width / w->cells, floor = at.y + at.height;
  fprintf(svg, "<path class=\"%s\" d=\"M%.1f %.1f", class, at.x, floor);
  for (int c = 0; c < w->cells; c++)
    fprintf(svg, "V%.1fH%.1f", floor - widths_height(w, value[c]) * at.height,
            at.x + (c + 1) * step);
  fprintf(svg, "V%.1fz\"/>\n", floor);
}

static void draw_row_tick(FILE *svg, const widths *w, double value, place at) {
  double y = at.y + at.height * (1 - widths_height(w, value));
  fprintf(svg, "<path class=\"grid\" d=\"M%.1f %.1fh%.1f\"/>", at.x, y, at.width);
  fprintf(svg, "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
          at.x - 8, y + 4, human_count((int64_t)value).s);
}

static void draw_rows_axis(FILE *svg, const widths *w, place at) {
  if (w->logarithmic) {
    for (double v = 1; v <= w->largest; v *= 10) draw_row_tick(svg, w, v, at);
    return;
  }
  double step = nice_step(w->largest, 4);
  for (double v = 0; v <= w->largest; v += step) draw_row_tick(svg, w, v, at);
}

static void draw_levels_axis(FILE *svg, int64_t levels, place at) {
  double step = nice_step((double)levels, 4);
  for (double v = 0; v <= (double)levels; v += step) {
    double x = at.x + at.width * v / (double)levels;
    fprintf(svg, "<path class=\"axis\" d=\"M%.1f %.1fv5\"/>", x, at.y + at.height);
    fprintf(svg, "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n", x,
            at.y + at.height + 19, human_count((int64_t)v).s);
  }
}

void chart_draw(FILE *svg, const picture_levels *l, place at, const char *colour) {
  widths w = widths_of(l->rows, l->levels, (int)at.width);
  char class[16];
  fprintf(svg, "<text class=\"head\" x=\"%g\" y=\"%g\">Levels of the %s</text>\n", at.x, at.y - 32,
          l->name);
  fprintf(svg, "<text class=\"note\" x=\"%g\" y=\"%g\">%s, %s rows per level%s</text>\n", at.x,
          at.y - 14, human_things(l->levels, "level", "levels").s,
          human_real(l->levels ? (double)l->n / (double)l->levels : 0).s,
          w.logarithmic ? ", logarithmic scale" : "");
  if (!w.cells) return;
  draw_rows_axis(svg, &w, at);
  bool gathered = l->levels > w.cells;
  snprintf(class, sizeof class, "%s1", colour);
  if (gathered) draw_area(svg, &w, w.most, at, class);
  snprintf(class, sizeof class, "%s3", colour);
  draw_area(svg, &w, w.mean, at, class);
  draw_levels_axis(svg, l->levels, at);
  fprintf(svg, "<path class=\"axis\" d=\"M%g %gv%gh%g\"/>\n", at.x, at.y, at.height, at.width);
  fprintf(svg, "<text class=\"label\" x=\"%g\" y=\"%g\" text-anchor=\"middle\">level</text>\n",
          at.x + at.width / 2, at.y + at.height + 38);
  fprintf(svg,
          "<text class=\"label\" text-anchor=\"middle\" transform=\"translate(%g %g) "
          "rotate(-90)\">rows in the level%s</text>\n",
          at.x - 62, at.y + at.height / 2, gathered ? " (mean; pale: most)" : "");
}
