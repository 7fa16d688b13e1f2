/* sweep_tmpl.c - the rows of a colour: x = x + omega (D^-1 (r - O x) - x), block row by block row,
 * with sums in SUM; all formats except double multiply in single precision.  b, the block size, is
 * a literal in the functions for 1 to 8. */

enum { TRS_CONCAT(ROOM, STORE) = 2 * TRS_RELAX_MOST_BLOCK };
#define ROOM TRS_CONCAT(ROOM, STORE)

#define TILE(f) TRS_CONCAT(NAME(f), WIDTH)
#define WIDTH 4
#include "relax/tile_tmpl.c"
#undef WIDTH
#if LANES == 8
#define WIDTH 8
#include "relax/tile_tmpl.c"
#undef WIDTH
#endif
#undef TILE

typedef SUM NAME(quad) __attribute__((vector_size(4 * sizeof(SUM))));
#define QUAD NAME(quad)

/* Blocks of 1, and of 2, whose four elements are a vector. */
TRS_INLINE void NAME(small_row)(const trs_relaxation *R, int64_t p, const X *x, SUM *y, int b) {
  QUAD s = {0};
  for (int64_t k = R->ptr[p]; k < R->ptr[p + 1]; k++) {
    const OFF *a = (const OFF *)R->off + k * b * b;
    const X *xk = x + (int64_t)R->idx[k] * b;
    const SUM factor = SCALED ? (SUM)R->scale[k] * (SUM)FACTOR : 1, first = factor * (SUM)xk[0];
    if (b == 1) {
      y[0] += (SUM)DECODE(a[0]) * first;
      continue;
    }
    const SUM second = factor * (SUM)xk[1];
    const QUAD v = {(SUM)DECODE(a[0]), (SUM)DECODE(a[1]), (SUM)DECODE(a[2]), (SUM)DECODE(a[3])};
    s += v * (QUAD){first, first, second, second};
  }
  y[0] += s[0] + s[2];
  if (b == 2) y[1] += s[1] + s[3];
}

/* y = (O x) of the row at position p. */
TRS_INLINE void NAME(row)(const trs_relaxation *R, int64_t p, const X *x, SUM *y, int b) {
  for (int i = 0; i < (b + 7) / 8 * 8; i++) y[i] = 0;
  if (b <= 2)
    NAME(small_row)(R, p, x, y, b);
  else if (b > 8)
    TRS_CONCAT(NAME(long_row), LANES)(R, p, x, y, b);
  else
    for (int i = 0; i < b; i += b <= 4 ? 4 : LANES)
      (b <= 4 ? TRS_CONCAT(NAME(row), 4) : TRS_CONCAT(NAME(row), LANES))(R, p, x, y + i, b, i);
}

/* z = D^-1 y for blocks of any size, column by column. */
TRS_INLINE void NAME(long_solve)(const trs_relaxation *R, int64_t p, const SUM *y, SUM *z, int b) {
  const SUM *d = (const SUM *)R->diagonal + p * b * b;
  const uint8_t *pivot = R->pivot + p * b;
  for (int i = 0; i < b; i++) z[i] = y[pivot[i]];
  for (int j = 0; j < b; j++)
    for (int i = j + 1; i < b; i++) z[i] -= d[j * b + i] * z[j];
  for (int j = b - 1; j >= 0; j--) {
    z[j] *= d[j * b + j];
    for (int i = 0; i < j; i++) z[i] -= d[j * b + i] * z[j];
  }
}

/* The row of the caller's array that is row i of the sweep, and its factor (trs_row_order). */
TRS_INLINE int64_t NAME(ordered)(const trs_row_order *order, int64_t i, double *scale) {
  const int64_t row = order->perm ? order->perm[i] : i;
  *scale = order->scale ? order->scale[row] : 1;
  return row;
}

TRS_INLINE double NAME(get)(const trs_relaxation *R, const trs_rhs *rhs, int64_t i, int64_t c) {
  double scale;
  const int64_t at = NAME(ordered)(&rhs->b_order, i, &scale) * rhs->b_row + c * rhs->b_col;
  return (R->scalar == TRS_DOUBLE ? ((const double *)rhs->b)[at]
                                  : (double)((const float *)rhs->b)[at]) *
         scale;
}

TRS_INLINE void NAME(set)(const trs_relaxation *R, const trs_rhs *rhs, int64_t i, int64_t c,
                          double x) {
  double scale;
  const int64_t at = NAME(ordered)(&rhs->x_order, i, &scale) * rhs->x_row + c * rhs->x_col;
  if (R->scalar == TRS_DOUBLE)
    ((double *)rhs->x)[at] = x * scale;
  else
    ((float *)rhs->x)[at] = (float)(x * scale);
}

/* Notes the largest |value| of a column: NaN as the largest of all. */
TRS_INLINE void NAME(note)(_Atomic uint64_t *most, double value) {
  uint64_t bits, before = atomic_load_explicit(most, memory_order_relaxed);
  memcpy(&bits, &value, sizeof bits);
  while (bits > before && !atomic_compare_exchange_weak_explicit(
                              most, &before, bits, memory_order_relaxed, memory_order_relaxed))
    continue;
}

/* The larger magnitude; NaN is larger than all. */
TRS_INLINE double NAME(farther)(double most, double value) {
  return fabs(value) <= most ? most : fabs(value);
}

/* Notes the largest |b| of some rows of a triangle, or of their x. */
static void NAME(note_range)(const trs_relax_work *w, int64_t begin, int64_t end, bool of_x) {
  const trs_relaxation *R = w->R;
  const int b = R->block;
  for (int64_t c = 0; c < w->rhs->nrhs; c++) {
    const X *x = (const X *)R->x + c * R->nrows * b;
    double most = 0;
    for (int64_t p = begin * b; p < end * b; p++)
      most = NAME(farther)(most, of_x ? (double)x[p] : NAME(get)(R, w->rhs, p, c));
    NAME(note)(&R->most[3 * c + of_x], most);
  }
}

/* True if there is one right-hand side, and a block row of b, and of x, is some adjacent SUM. */
TRS_INLINE bool NAME(is_plain)(const trs_relaxation *R, const trs_rhs *rhs) {
  return rhs->nrhs == 1 && rhs->b_row == 1 && rhs->x_row == 1 && !trs_reorders(&rhs->b_order) &&
         !trs_reorders(&rhs->x_order) && trs_scalar_size(R->scalar) == sizeof(SUM);
}

/* What few rows need, out of line, so that the loop over rows keeps its registers. */
TRS_RARE void NAME(solve_by_factors)(const trs_relaxation *R, int64_t p, SUM *y) {
  SUM z[TRS_RELAX_MOST_BLOCK];
  NAME(long_solve)(R, p, y, z, R->block);
  memcpy(y, z, (size_t)R->block * sizeof *y);
}
TRS_APART void NAME(get_row)(const trs_relax_work *w, int64_t p, int64_t c, SUM *y) {
  const int b = w->R->block;
  for (int i = 0; i < b; i++) y[i] = (SUM)NAME(get)(w->R, w->rhs, (int64_t)w->R->row[p] * b + i, c);
}
TRS_APART void NAME(set_row)(const trs_relax_work *w, int64_t p, int64_t c, const X *x) {
  const int b = w->R->block;
  for (int i = 0; i < b; i++)
    NAME(set)(w->R, w->rhs, (int64_t)w->R->row[p] * b + i, c, (double)x[i]);
}

#define TILE(f) TRS_CONCAT(NAME(f), WIDTH)
#define WIDTH 2
#include "relax/solve_tmpl.c"
#undef WIDTH
#define WIDTH 4
#include "relax/solve_tmpl.c"
#undef WIDTH
#undef TILE

TRS_INLINE void NAME(solve)(const trs_relax_work *w, int64_t begin, int64_t end, bool plain,
                            int b) {
  if (__builtin_constant_p(b) && b <= 2)
    TRS_CONCAT(NAME(solve), 2)(w, begin, end, plain, b);
  else
    TRS_CONCAT(NAME(solve), 4)(w, begin, end, plain, b);
}

TRS_INLINE void NAME(relax)(const trs_relax_work *w, int64_t begin, int64_t end, int b) {
  const trs_relaxation *R = w->R;
  const int64_t x_stride = (R->nrows + R->nhalo) * b, r_stride = R->nrows * b, nrhs = w->rhs->nrhs;
  const SUM omega = (SUM)w->options->omega;
  SUM y[ROOM], z[TRS_RELAX_MOST_BLOCK];
  for (int64_t p = begin; p < end; p++)
    for (int64_t c = 0; c < nrhs; c++) {
      X *x = (X *)R->x + c * x_stride;
      const SUM *r = (const SUM *)R->r + c * r_stride + p * b;
      NAME(row)(R, p, x, y, b);
      for (int i = 0; i < b; i++) y[i] = r[i] - y[i];
      (b <= 8 ? NAME(small_solve) : NAME(long_solve))(R, p, y, z, b);
      x += p * b;
      if (omega == 1)
        for (int i = 0; i < b; i++) x[i] = (X)z[i];
      else
        for (int i = 0; i < b; i++) x[i] = (X)(x[i] + omega * (z[i] - x[i]));
    }
}

static void NAME(relax_rows)(const trs_relax_work *w, int64_t begin, int64_t end) {
  TRS_BY_BLOCK(w->R->block, NAME(relax), w, begin, end);
}
static void NAME(solve_rows)(const trs_relax_work *w, int64_t begin, int64_t end) {
  if (NAME(is_plain)(w->R, w->rhs))
    TRS_BY_BLOCK(w->R->block, NAME(solve), w, begin, end, true);
  else
    TRS_BY_BLOCK(w->R->block, NAME(solve), w, begin, end, false);
}

/* z = D x, from the factors. */
static void NAME(multiply)(const trs_relaxation *R, int64_t p, const X *x, SUM *z) {
  int b = R->block;
  const SUM *d = (const SUM *)R->diagonal + p * b * b;
  SUM u[TRS_RELAX_MOST_BLOCK];
  for (int i = 0; i < b; i++) {
    u[i] = (SUM)x[i] / d[i * b + i];
    for (int j = i + 1; j < b; j++) u[i] += d[j * b + i] * (SUM)x[j];
  }
  for (int i = 0; i < b; i++) {
    SUM sum = u[i];
    for (int j = 0; j < i; j++) sum += d[j * b + i] * u[j];
    z[R->pivot[p * b + i]] = sum;
  }
}

static double NAME(residual)(const trs_relax_work *w, int64_t c, int64_t begin, int64_t end) {
  const trs_relaxation *R = w->R;
  const int b = R->block;
  const X *x = (const X *)R->x + c * (R->nrows + R->nhalo) * b;
  SUM y[ROOM], z[TRS_RELAX_MOST_BLOCK];
  double sum = 0;
  for (int64_t p = begin; p < end; p++) {
    const SUM *r = (const SUM *)R->r + (c * R->nrows + p) * b;
    NAME(row)(R, p, x, y, b);
    NAME(multiply)(R, p, x + p * b, z);
    for (int i = 0; i < b; i++) {
      const double e = (double)r[i] - y[i] - z[i];
      sum += e * e;
      if (sum == 0 && e != 0) sum = TRS_EXACT_LEAST;
    }
  }
  return sum;
}

static void NAME(load)(const trs_relax_work *w, int64_t begin, int64_t end) {
  const trs_relaxation *R = w->R;
  const trs_rhs *rhs = w->rhs;
  const int32_t *place = R->place ? R->place : R->row;
  const int b = R->block;
  const bool wide = R->scalar == TRS_DOUBLE, keep = w->options->keep_x;
  for (int64_t c = 0; c < rhs->nrhs; c++) {
    SUM *r = (SUM *)R->r + c * R->nrows * b;
    X *x = (X *)R->x + c * (R->nrows + R->nhalo) * b;
    double most = 0;
    for (int64_t p = begin; p < end; p++)
      for (int i = 0; i < b; i++) {
        const int64_t from = (int64_t)place[p] * b + i, at = from * rhs->x_row + c * rhs->x_col;
        const double value = NAME(get)(R, rhs, from, c);
        r[p * b + i] = (SUM)value;
        most = NAME(farther)(most, value);
        const double old = !keep  ? 0
                           : wide ? ((const double *)rhs->x)[at]
                                  : (double)((const float *)rhs->x)[at];
        if (!isfinite(old)) most = INFINITY;
        x[p * b + i] = (X)old;
      }
    NAME(note)(&R->most[3 * c], most);
  }
}

/* The largest |b| of a block row whose x should not be 0, and is below the range of floats; else 0.
 */
TRS_RARE double NAME(vanished)(const trs_relaxation *R, int64_t p, const X *x, const SUM *r) {
  const int b = R->block;
  SUM y[ROOM], z[TRS_RELAX_MOST_BLOCK];
  double most = 0, rest = 0, next = 0;
  for (int i = 0; i < b; i++) most = NAME(farther)(most, (double)r[i]);
  if (most == 0) return 0;
  NAME(row)(R, p, x, y, b);
  for (int i = 0; i < b; i++) y[i] = r[i] - y[i];
  NAME(long_solve)(R, p, y, z, b);
  for (int i = 0; i < b; i++) {
    rest = NAME(farther)(rest, (double)y[i]);
    next = NAME(farther)(next, (double)z[i]);
  }
  return rest > 0 && next < 0x1p-126 ? most : 0;
}

static void NAME(unload)(const trs_relax_work *w, int64_t begin, int64_t end) {
  const trs_relaxation *R = w->R;
  const int32_t *place = R->place ? R->place : R->row;
  const int b = R->block;
  for (int64_t c = 0; c < w->rhs->nrhs; c++) {
    const X *x = (const X *)R->x + c * (R->nrows + R->nhalo) * b;
    const SUM *r = (const SUM *)R->r + c * R->nrows * b;
    double most = 0, part = 0;
    for (int64_t p = begin; p < end; p++) {
      double row = 0;
      for (int i = 0; i < b; i++) {
        NAME(set)(R, w->rhs, (int64_t)place[p] * b + i, c, (double)x[p * b + i]);
        row = NAME(farther)(row, (double)x[p * b + i]);
      }
      most = NAME(farther)(most, row);
      if (sizeof(X) == sizeof(float) && row < 0x1p-126)
        part = NAME(farther)(part, NAME(vanished)(R, p, x, r + p * b));
    }
    NAME(note)(&R->most[3 * c + 1], most);
    NAME(note)(&R->most[3 * c + 2], part);
  }
}

static const trs_relax_kernels NAME(kernels) = {.off_size = sizeof(OFF),
                                                .x_size = sizeof(X),
                                                .r_size = sizeof(SUM),
                                                .scaled = SCALED,
                                                .put = NAME(put),
                                                .load = NAME(load),
                                                .unload = NAME(unload),
                                                .relax = NAME(relax_rows),
                                                .solve = NAME(solve_rows),
                                                .note_range = NAME(note_range),
                                                .residual = NAME(residual)};
#undef ROOM
#undef QUAD
