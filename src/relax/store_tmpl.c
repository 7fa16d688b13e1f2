/* store_tmpl.c - a row of blocks into the arrays of a trs_relaxation: off-diagonal blocks in their
 * format, the diagonal block as L and U with rows exchanged inside it. */

static trs_status NAME(refuse)(const trs_relaxation *R, int64_t p, double value) {
  if (isfinite(value))
    return trs_fail(TRS_ERROR_UNSUPPORTED, R->row[p],
                    "block row %d has the value %g, too large to be stored as a float: store as "
                    "double",
                    R->row[p], value);
  return trs_fail(TRS_ERROR_NOT_FINITE, R->row[p], "block row %d has a value that is %s", R->row[p],
                  isnan(value) ? "NaN" : "infinite");
}

TRS_INLINE double NAME(largest)(const double *values, int64_t count) {
  double most = 0;
  for (int64_t e = 0; e < count; e++) most = fabs(values[e]) > most ? fabs(values[e]) : most;
  return most;
}

/* The power of two by which a block is divided, so that its largest element is just below
 * 2^MARGIN. */
TRS_INLINE float NAME(factor_of)(const double *values, int64_t count) {
  double most = NAME(largest)(values, count);
  int power;
  if (most == 0) return 1;
  frexp(most, &power);
  power -= MARGIN;
  return (float)ldexp(1, power < -126 ? -126 : power > 127 ? 127 : power);
}

static trs_status NAME(too_far)(const trs_relaxation *R, int64_t p, const char *what) {
  return trs_fail(TRS_ERROR_UNSUPPORTED, R->row[p], "the diagonal block of block row %d %s: %s",
                  R->row[p], what,
                  sizeof(SUM) == sizeof(float) ? "store as double" : "scale the matrix");
}

/* Elements that are no larger than what rounding may have left of a sum that is zero become zero;
 * size: of the numbers added for each.  The place of the largest, b where one is not finite. */
static int NAME(find_pivot)(SUM *column, const double *size, int k, int b) {
  const double lost = b * (sizeof(SUM) == sizeof(float) ? FLT_EPSILON : DBL_EPSILON);
  int best = k;
  for (int i = 0; i < b; i++)
    if (!isfinite(column[i]) || !isfinite(size[i])) return b;
  for (int i = k; i < b; i++) {
    if (fabs((double)column[i]) <= lost * size[i]) column[i] = 0;
    if (fabs((double)column[i]) > fabs((double)column[best])) best = i;
  }
  return best;
}

/* Step k of LU, on column j: a row less l times the pivot's. */
TRS_INLINE void NAME(eliminate)(const SUM *l, SUM *column, double *size, int k, int b) {
  const SUM u = column[k];
  for (int i = k + 1; i < b; i++) {
    size[i] += fabs((double)l[i] * (double)u);
    column[i] -= l[i] * u;
  }
}

static void NAME(exchange)(SUM *d, double *size, uint8_t *pivot, int k, int best, int b) {
  for (int j = 0; best != k && j < b; j++) {
    SUM kept = d[j * b + k];
    double kept_size = size[j * b + k];
    d[j * b + k] = d[j * b + best];
    d[j * b + best] = kept;
    size[j * b + k] = size[j * b + best];
    size[j * b + best] = kept_size;
  }
  uint8_t kept = pivot[k];
  pivot[k] = pivot[best];
  pivot[best] = kept;
}

/* LU with the largest element of each column as pivot, in place; the diagonal becomes its inverse.
 * Row by row and column by column an element is judged by its own sum alone, so that rows and
 * columns may be scaled as they like. */
static trs_status NAME(factor)(const trs_relaxation *R, int64_t p, SUM *d) {
  int b = R->block;
  uint8_t *pivot = R->pivot + p * b;
  double size[TRS_RELAX_MOST_BLOCK * TRS_RELAX_MOST_BLOCK];
  for (int i = 0; i < b; i++) pivot[i] = (uint8_t)i;
  for (int e = 0; e < b * b; e++) size[e] = fabs((double)d[e]);
  for (int k = 0; k < b; k++) {
    int best = NAME(find_pivot)(d + k * b, size + k * b, k, b);
    if (best == b) return NAME(too_far)(R, p, "overflows when factored");
    if (d[k * b + best] == 0)
      return trs_fail(TRS_ERROR_ZERO_PIVOT, R->row[p],
                      "the diagonal block of block row %d is singular%s: no pivot in its column %d",
                      R->row[p], sizeof(SUM) == sizeof(float) ? " as floats" : "", k);
    SUM inverse = 1 / d[k * b + best];
    if (!isfinite(inverse)) return NAME(too_far)(R, p, "has a pivot too small to be inverted");
    NAME(exchange)(d, size, pivot, k, best, b);
    for (int i = k + 1; i < b; i++) d[k * b + i] *= inverse;
    for (int j = k + 1; j < b; j++) NAME(eliminate)(d + k * b, d + j * b, size + j * b, k, b);
    d[k * b + k] = inverse;
  }
  return TRS_SUCCESS;
}

TRS_INLINE void NAME(count)(double value, double stored, double unit, double squares[2]) {
  double size = unit * value, lost = unit * (value - stored);
  squares[0] += size * size;
  squares[1] += lost * lost;
}

/* result: squares of the row's elements and of what storing them loses. */
static trs_status NAME(store)(const trs_relaxation *R, int64_t p, const double *values, double unit,
                              double result[2]) {
  int64_t size = (int64_t)R->block * R->block, count = R->ptr[p + 1] - R->ptr[p];
  OFF *off = (OFF *)R->off + R->ptr[p] * size;
  SUM *diagonal = (SUM *)R->diagonal + p * size;
  double squares[2] = {0, 0};
  for (int64_t k = 0; k < count; k++) {
    double factor = 1;
#if SCALED
    R->scale[R->ptr[p] + k] = NAME(factor_of)(values + k * size, size);
    factor = R->scale[R->ptr[p] + k];
#endif
    for (int64_t e = k * size; e < (k + 1) * size; e++) {
      if (!isfinite(values[e]) || !isfinite((X)values[e])) return NAME(refuse)(R, p, values[e]);
      off[e] = ENCODE(values[e] / factor);
      NAME(count)(values[e], DECODE(off[e]) * (FACTOR * factor), unit, squares);
    }
  }
  values += count * size;
  for (int64_t e = 0; e < size; e++) {
    if (!isfinite(values[e]) || !isfinite((SUM)values[e])) return NAME(refuse)(R, p, values[e]);
    diagonal[e] = (SUM)values[e];
    NAME(count)(values[e], diagonal[e], unit, squares);
  }
  memcpy(result, squares, sizeof squares);
  return TRS_SUCCESS;
}

static trs_status NAME(put)(trs_relaxation *R, int64_t p, double *values, double norms[2]) {
  int64_t size = (int64_t)R->block * R->block, count = R->ptr[p + 1] - R->ptr[p];
  double squares[2];
  int power = 0;
  TRS_TRY(NAME(store)(R, p, values, 1, squares));
  if (!(squares[0] >= 0x1p-900 && squares[0] <= 0x1p900)) { /* again, in a unit of the row's */
    frexp(NAME(largest)(values, (count + 1) * size), &power);
    if (power < -1000) power = -1000;
    TRS_TRY(NAME(store)(R, p, values, ldexp(1, -power), squares));
  }
  for (int k = 0; k < 2; k++) norms[k] = hypot(norms[k], ldexp(sqrt(squares[k]), power));
  return NAME(factor)(R, p, (SUM *)R->diagonal + p * size);
}
