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

/* Blocks of 1 and 2 are too small for vectors. */
TRS_INLINE void NAME(small_row)(const trs_relaxation *R, int64_t p, const X *x, SUM *y, int b) {
  for (int64_t k = R->ptr[p]; k < R->ptr[p + 1]; k++) {
    const OFF *a = (const OFF *)R->off + k * b * b;
    const X *xk = x + (int64_t)R->idx[k] * b;
    const SUM factor = SCALED ? (SUM)R->scale[k] * (SUM)FACTOR : 1;
    for (int j = 0; j < b; j++)
      for (int i = 0; i < b; i++) y[i] += (SUM)DECODE(a[j * b + i]) * (factor * (SUM)xk[j]);
  }
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

/* z = D^-1 y for blocks of at most 8, with b a literal.  Element by element and unrolled, so that z
 * stays in registers: by columns, compilers form vectors and load them before their stores
 * complete. */
TRS_INLINE void NAME(small_solve)(const trs_relaxation *R, int64_t p, const SUM *y, SUM *z, int b) {
  const SUM *d = (const SUM *)R->diagonal + p * b * b;
  const uint8_t *pivot = R->pivot + p * b;
  TRS_UNROLL
  for (int i = 0; i < b; i++) {
    z[i] = y[pivot[i]];
    TRS_UNROLL
    for (int j = 0; j < i; j++) z[i] -= d[j * b + i] * z[j];
  }
  TRS_UNROLL
  for (int i = b - 1; i >= 0; i--) {
    TRS_UNROLL
    for (int j = b - 1; j > i; j--) z[i] -= d[j * b + i] * z[j];
    z[i] *= d[i * b + i];
  }
}

/* The same for blocks of any size, column by column. */
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

static void NAME(relax_any)(const trs_relax_work *w, int64_t begin, int64_t end) {
  NAME(relax)(w, begin, end, w->R->block);
}
static void NAME(relax_1)(const trs_relax_work *w, int64_t begin, int64_t end) {
  NAME(relax)(w, begin, end, 1);
}
static void NAME(relax_2)(const trs_relax_work *w, int64_t begin, int64_t end) {
  NAME(relax)(w, begin, end, 2);
}
static void NAME(relax_3)(const trs_relax_work *w, int64_t begin, int64_t end) {
  NAME(relax)(w, begin, end, 3);
}
static void NAME(relax_4)(const trs_relax_work *w, int64_t begin, int64_t end) {
  NAME(relax)(w, begin, end, 4);
}
static void NAME(relax_5)(const trs_relax_work *w, int64_t begin, int64_t end) {
  NAME(relax)(w, begin, end, 5);
}
static void NAME(relax_6)(const trs_relax_work *w, int64_t begin, int64_t end) {
  NAME(relax)(w, begin, end, 6);
}
static void NAME(relax_7)(const trs_relax_work *w, int64_t begin, int64_t end) {
  NAME(relax)(w, begin, end, 7);
}
static void NAME(relax_8)(const trs_relax_work *w, int64_t begin, int64_t end) {
  NAME(relax)(w, begin, end, 8);
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

/* The row of the caller's array that is row i of the sweep, and its factor (trs_row_order). */
TRS_INLINE int64_t NAME(ordered)(const trs_row_order *order, int64_t i, double *scale) {
  const int64_t row = order->perm ? order->perm[i] : i;
  *scale = order->scale ? order->scale[row] : 1;
  return row;
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
        int64_t from = (int64_t)place[p] * b + i;
        double scale;
        int64_t b_at = NAME(ordered)(&rhs->b_order, from, &scale) * rhs->b_row + c * rhs->b_col,
                x_at = from * rhs->x_row + c * rhs->x_col;
        const double value =
            (wide ? ((const double *)rhs->b)[b_at] : (double)((const float *)rhs->b)[b_at]) * scale;
        r[p * b + i] = (SUM)value;
        most = NAME(farther)(most, value);
        x[p * b + i] = !keep  ? 0
                       : wide ? (X)((const double *)rhs->x)[x_at]
                              : (X)((const float *)rhs->x)[x_at];
      }
    NAME(note)(&R->most[2 * c], most);
  }
}

static void NAME(unload)(const trs_relax_work *w, int64_t begin, int64_t end) {
  const trs_relaxation *R = w->R;
  const trs_rhs *rhs = w->rhs;
  const int32_t *place = R->place ? R->place : R->row;
  const int b = R->block;
  const bool wide = R->scalar == TRS_DOUBLE;
  for (int64_t c = 0; c < rhs->nrhs; c++) {
    const X *x = (const X *)R->x + c * (R->nrows + R->nhalo) * b;
    double most = 0;
    for (int64_t p = begin; p < end; p++)
      for (int i = 0; i < b; i++) {
        double scale;
        const int64_t to = NAME(ordered)(&rhs->x_order, (int64_t)place[p] * b + i, &scale);
        const int64_t at = to * rhs->x_row + c * rhs->x_col;
        if (wide)
          ((double *)rhs->x)[at] = (double)x[p * b + i] * scale;
        else
          ((float *)rhs->x)[at] = (float)((double)x[p * b + i] * scale);
        most = NAME(farther)(most, (double)x[p * b + i]);
      }
    NAME(note)(&R->most[2 * c + 1], most);
  }
}

static const trs_relax_kernels NAME(kernels) = {
    .off_size = sizeof(OFF),
    .x_size = sizeof(X),
    .r_size = sizeof(SUM),
    .scaled = SCALED,
    .put = NAME(put),
    .load = NAME(load),
    .unload = NAME(unload),
    .relax = {NAME(relax_any), NAME(relax_1), NAME(relax_2), NAME(relax_3), NAME(relax_4),
              NAME(relax_5), NAME(relax_6), NAME(relax_7), NAME(relax_8)},
    .residual = NAME(residual)};
#undef ROOM
