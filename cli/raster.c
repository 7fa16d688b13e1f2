/* raster.c - the pattern of a matrix as squares: one per entry if they fit, else cells shaded by
 * the logarithm of their number of entries.  Runs of equal cells become one rectangle, and all
 * rectangles of a shade one path, so that a million entries make a small file.  O(nnz). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "leave.h"
#include "picture.h"

/* Below the diagonal, above, on it: the CSS classes l0 .. l5, u0 .. u5, d0 .. d5. */
static const char side_letter[] = "lud";

static int64_t span_of(const picture *p) {
  trs_matrix_info info = {.struct_size = sizeof info};
  trs_matrix_get_info(p->part[0], &info);
  return info.nrows > info.ncols ? info.nrows : info.ncols;
}

static void count_entries(int64_t *count, const trs_matrix *A, const raster_scale *s) {
  trs_matrix_info info = {.struct_size = sizeof info};
  const int64_t *ptr;
  const int32_t *idx;
  trs_matrix_get_info(A, &info);
  trs_matrix_get_arrays(A, &ptr, &idx, NULL);
  bool rows = info.format == TRS_CSR;
  int64_t vectors = rows ? info.nrows : info.ncols;
  for (int64_t i = 0; i < vectors; i++)
    for (int64_t p = ptr[i]; p < ptr[i + 1]; p++) {
      int64_t r = (rows ? i : idx[p]) * s->cells / s->span;
      int64_t c = (rows ? idx[p] : i) * s->cells / s->span;
      count[r * s->cells + c]++;
    }
}

static int shade_of(int64_t count, const raster_scale *s) {
  if (!count) return -1;
  if (s->most <= 1) return RASTER_CLASSES - 2;
  return (int)(log((double)count) / log((double)s->most) * (RASTER_CLASSES - 1) + 0.5);
}

static int side_of(int row, int column) { return row > column ? 0 : row < column ? 1 : 2; }

/* Draws all cells of one shade on one side as one path, one rectangle per run. */
static void draw_shade(FILE *svg, const int64_t *count, raster_scale *s, int side, int shade) {
  bool any = false;
  for (int r = 0; r < s->cells; r++)
    for (int c = 0; c < s->cells; c++) {
      int run = 0;
      while (c + run < s->cells && side_of(r, c + run) == side &&
             shade_of(count[(int64_t)r * s->cells + c + run], s) == shade)
        run++;
      if (!run) continue;
      if (!any) fprintf(svg, "<path class=\"%c%d\" d=\"", side_letter[side], shade);
      fprintf(svg, "M%d %dh%dv1h-%dz", c, r, run, run);
      any = true;
      c += run;
    }
  if (any) fprintf(svg, "\"/>\n");
  s->drawn[side] |= any;
}

int raster_draw(FILE *svg, const picture *p, place where, raster_scale *s) {
  *s = (raster_scale){.span = span_of(p)};
  s->cells = (int)(s->span < RASTER_CELLS ? s->span : RASTER_CELLS);
  s->pixels = s->span ? where.width / (double)s->span : 0;
  size_t cells = (size_t)s->cells * (size_t)s->cells;
  int64_t *count = calloc(cells + 1, sizeof *count);
  if (!count) return leave_memory((double)cells * sizeof *count, "the picture");
  for (int i = 0; i < 2 && p->part[i]; i++) count_entries(count, p->part[i], s);
  for (size_t c = 0; c < cells; c++)
    if (count[c] > s->most) s->most = count[c];
  if (s->span <= RASTER_CELLS) s->most = s->most > 0; /* L and U may share the diagonal */
  fprintf(svg, "<g transform=\"translate(%g %g) scale(%.9g)\" shape-rendering=\"crispEdges\">\n",
          where.x, where.y, s->cells ? where.width / s->cells : 1);
  for (int side = 0; side < 3; side++)
    for (int shade = 0; shade < RASTER_CLASSES; shade++) draw_shade(svg, count, s, side, shade);
  fprintf(svg, "</g>\n");
  free(count);
  return -1;
}
