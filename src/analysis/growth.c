/* growth.c - the growth of inverses, and smaller blocks where it is too large. */
#include "analysis/growth.h"

#include <float.h>
#include <math.h>

#define TRS_TEMPLATE "analysis/growth_tmpl.c"
#include "base/instantiate.h"

typedef double (*growth_function)(int64_t, const void *, int64_t, int64_t, int64_t, int64_t,
                                  const void *, int64_t, double *);
static const growth_function growth_of[] = TRS_TABLE(growth);

double trs_growth(trs_scalar scalar, int64_t width, const void *T, int64_t from, int64_t rows,
                  const void *N, double *room) {
  return growth_of[scalar](width, T, width, 0, from, rows, N, rows, room);
}

typedef struct cutter {
  trs_scalar scalar;
  int64_t width;
  const void *T, *N;
  double *room;
  uint8_t *begins;
} cutter;

/* Rows at .. at + size, or as many of them as there are. */
static void cut(const cutter *c, int64_t at, int64_t size) {
  const int64_t left = c->width - at, rows = left < size ? left : size;
  if (rows <= 0) return;
  if (rows == 1 || growth_of[c->scalar](rows, c->T, c->width, at, 0, rows, c->N, c->width,
                                        c->room) <= TRS_MOST_GROWTH) {
    if (at > 0) c->begins[at] = 1;
    return;
  }
  cut(c, at, size / 2);
  cut(c, at + size / 2, size / 2);
}

bool trs_growth_cut(trs_scalar scalar, int64_t width, const void *T, const void *N, double *room,
                    uint8_t *begins) {
  const cutter c = {scalar, width, T, N, room, begins};
  int64_t size = 1;
  if (width == 1 || trs_growth(scalar, width, T, 0, width, N, room) <= TRS_MOST_GROWTH)
    return false;
  while (2 * size < width) size *= 2;
  cut(&c, 0, size);
  cut(&c, size, size);
  return true;
}
