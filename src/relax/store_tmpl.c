/* store_tmpl.c - stores a row of blocks in the arrays of a trs_relaxation: off-diagonal blocks in
 * their format, the diagonal block as L and U with row exchanges inside it. */

TRS_RARE trs_status NAME(refuse)(const trs_relaxation *R, int64_t p, double value) {
  if (isfinite(value))
    return trs_fail(
        TRS_ERROR_UNSUPPORTED, R->row[p],
        "block row %d (0-based) has the value %g, too large to be stored as a float: store as "
        "double",
        R->row[p], value);
  return trs_fail(TRS_ERROR_NOT_FINITE, R->row[p], "block row %d (0-based) has a value that is %s",
                  R->row[p], isnan(value) ? "NaN" : "infinite");
}

/* A scalar row whose largest value is below this one loses digits, relative to that value, where it
 * is stored as floats: these are multiples of 2^-149. */
#define LEAST 0x1p-102

TRS_INLINE bool NAME(is_tiny)(double value, size_t size) {
  return size == sizeof(float) && value != 0 && fabs(value) < 0x1p-126;
}

/* Refuses a row that loses digits below the range of floats.  Values that are small beside others
 * of their row lose nothing that these keep. */
TRS_RARE trs_status NAME(check_small)(const trs_relaxation *R, int64_t p, const double *values) {
  const int b = R->block;
  const int64_t columns = (R->ptr[p + 1] - R->ptr[p] + 1) * b;
  for (int i = 0; i < b; i++) {
    double most = 0, least = INFINITY;
    for (int64_t j = 0; j < columns; j++) {
      const double value = fabs(values[j * b + i]);
      most = value > most ? value : most;
      least = value > 0 && value < least ? value : least;
    }
    if (most < LEAST && least < 0x1p-126)
      return trs_fail(TRS_ERROR_UNSUPPORTED, R->row[p],
                      "block row %d (0-based) has the value %g, too small to be stored as a float: "
                      "store as double",
                      R->row[p], least);
  }
  return TRS_SUCCESS;
}

/* Number of independent lanes of sums and maxima, which need not wait for each other. */
enum { TRS_CONCAT(SUMS, STORE) = 8 };
#define SUMS TRS_CONCAT(SUMS, STORE)

/* NaN is ignored. */
TRS_INLINE double NAME(largest)(const double *values, int64_t count) {
  double lane[SUMS] = {0}, most = 0;
  int64_t e = 0;
  for (; e + SUMS <= count; e += SUMS)
    for (int l = 0; l < SUMS; l++)
      lane[l] = fabs(values[e + l]) > lane[l] ? fabs(values[e + l]) : lane[l];
  for (; e < count; e++) most = fabs(values[e]) > most ? fabs(values[e]) : most;
  for (int l = 0; l < SUMS; l++) most = lane[l] > most ? lane[l] : most;
  return most;
}

/* The power of two by which a block is divided, so that its largest element is just below 2^MARGIN;
 * it is representable as a float. */
TRS_INLINE float NAME(factor_of)(const double *values, int64_t count) {
  const double most = NAME(largest)(values, count);
  uint64_t bits;
  memcpy(&bits, &most, sizeof bits);
  const int power = (int)(bits >> 52) - 1022 - MARGIN; /* frexp's, but for what is tiny */
  if (most == 0) return 1;
  return trs_bits_float((uint32_t)((power < -126 ? -126 : power > 127 ? 127 : power) + 127) << 23);
}

TRS_RARE trs_status NAME(too_far)(const trs_relaxation *R, int64_t p, const char *what) {
  return trs_fail(TRS_ERROR_UNSUPPORTED, R->row[p],
                  "the diagonal block of block row %d (0-based) %s: %s", R->row[p], what,
                  sizeof(SUM) == sizeof(float) ? "store as double" : "scale the matrix");
}

/* Relative to a sum of magnitudes: the residue that rounding may leave if the exact result is zero.
 */
TRS_INLINE double NAME(lost)(int b) {
  return b * (sizeof(SUM) == sizeof(float) ? FLT_EPSILON : DBL_EPSILON);
}

/* The sum of magnitudes for element i of column j: the block's own element and the products
 * subtracted from it. */
static double NAME(added)(const SUM *d, const double *values, const uint8_t *pivot, int i, int j,
                          int b) {
  double sum = fabs((double)(SUM)values[j * b + pivot[i]]);
  for (int k = 0; k < i && k < j; k++) sum += fabs((double)d[k * b + i] * (double)d[j * b + k]);
  return sum;
}

/* Sets to zero the elements of column k, from row k on, that are within the rounding error of an
 * exact zero.  Returns the row of the largest element, or b if it or its sum is not finite.  A sum
 * is at most that of its column in the block and in U, because L has no element above 1. */
TRS_RARE int NAME(judge)(SUM *d, const double *values, const uint8_t *pivot, int k, int b) {
  SUM *column = d + k * b;
  double bound = 0;
  int best = k;
  for (int i = 0; i < b; i++) bound += fabs(values[k * b + i]) + fabs((double)column[i]);
  for (int i = 0; i < b; i++) {
    if (bound < DBL_MAX / 4 && (i < k || fabs((double)column[i]) > 4 * NAME(lost)(b) * bound))
      continue;
    double sum = NAME(added)(d, values, pivot, i, k, b);
    if (!isfinite(column[i]) || !isfinite(sum)) return b;
    if (i >= k && fabs((double)column[i]) <= NAME(lost)(b) * sum) column[i] = 0;
  }
  for (int i = k; i < b; i++)
    if (fabs((double)column[i]) > fabs((double)column[best])) best = i;
  return best;
}

/* The row of column k's largest element from row k on, or b if one is not finite.  sum bounds the
 * sum of magnitudes of every element; an element well above the rounding error of that bound needs
 * no call of judge. */
TRS_INLINE int NAME(find_pivot)(SUM *d, const double *values, const uint8_t *pivot, double sum,
                                int k, int b) {
  const SUM *column = d + k * b;
  const double small = 4 * NAME(lost)(b) * sum;
  int best = k, doubts = 0;
  for (int i = k + 1; i < b; i++)
    if (fabs((double)column[i]) > fabs((double)column[best])) best = i;
  if (k == 0) return best; /* no products have been added yet */
  for (int i = k; i < b; i++)
    doubts |= (fabs((double)column[i]) <= small) & (fabs((double)column[i]) > 0);
  if (!doubts && small < INFINITY && isfinite(column[best])) return best;
  return NAME(judge)(d, values, pivot, k, b);
}

static void NAME(exchange)(SUM *d, uint8_t *pivot, int k, int best, int b) {
  for (int j = 0; best != k && j < b; j++) {
    SUM kept = d[j * b + k];
    d[j * b + k] = d[j * b + best];
    d[j * b + best] = kept;
  }
  uint8_t kept = pivot[k];
  pivot[k] = pivot[best];
  pivot[best] = kept;
}

/* LU with the largest element of each column as pivot, in place; values has the original block. The
 * diagonal becomes its inverse.  Each element is compared with its own sum of magnitudes only, so
 * that any scaling of rows and columns is allowed. */
static trs_status NAME(factor)(const trs_relaxation *R, int64_t p, const double *values,
                               double square, SUM *d) {
  int b = R->block;
  double most = b > 1 ? sqrt(square) : 0;
  uint8_t *pivot = R->pivot + p * b;
  for (int i = 0; i < b; i++) pivot[i] = (uint8_t)i;
  for (int k = 0; k < b; k++) {
    int best = NAME(find_pivot)(d, values, pivot, (k + 1) * most, k, b);
    if (best == b) return NAME(too_far)(R, p, "overflows when factored");
    if (d[k * b + best] == 0)
      return trs_fail(
          TRS_ERROR_ZERO_PIVOT, R->row[p],
          "the diagonal block of block row %d (0-based) is singular%s: no pivot in its column %d",
          R->row[p], sizeof(SUM) == sizeof(float) ? " as floats" : "", k);
    SUM inverse = 1 / d[k * b + best];
    if (!isfinite(inverse)) return NAME(too_far)(R, p, "has a pivot too small to be inverted");
    NAME(exchange)(d, pivot, k, best, b);
    for (int i = k + 1; i < b; i++) d[k * b + i] *= inverse;
    for (int j = k + 1; j < b; j++) {
      const SUM u = d[j * b + k];
      most = fabs((double)u) > most ? fabs((double)u) : most;
      for (int i = k + 1; i < b; i++) d[j * b + i] -= d[k * b + i] * u;
    }
    d[k * b + k] = inverse;
  }
  return TRS_SUCCESS;
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

/* The inverse of a triangle's diagonal block in place of its factors, unless it has a large
 * condition number (analysis/growth.h).  One bit says so. */
static void NAME(invert)(const trs_relaxation *R, int64_t p, const double *values, SUM *d) {
  static const double MOST_GROWTH = 1000;
  SUM inverse[8 * 8], unit[8];
  const int b = R->block;
  double most = 0;
  if (b > 8) return;
  for (int j = 0; j < b; j++) {
    for (int i = 0; i < b; i++) unit[i] = i == j;
    NAME(small_solve)(R, p, unit, inverse + j * b, b);
  }
  for (int i = 0; i < b; i++) {
    double growth = 0;
    for (int k = 0; k < b; k++) {
      double row = 0;
      for (int j = 0; j < b; j++) row += fabs(values[j * b + k]);
      growth += fabs((double)inverse[k * b + i]) * row;
    }
    most = growth > most ? growth : most;
  }
  if (!(most < MOST_GROWTH)) return;
  memcpy(d, inverse, (size_t)(b * b) * sizeof *d);
  R->pivot[p * b] |= TRS_BLOCK_INVERTED;
}

/* Adds the magnitudes of the row's elements and of their storage loss to norms[2], each scaled
 * separately.  Called before the diagonal block is factored. */
TRS_RARE void NAME(join)(const trs_relaxation *R, int64_t p, const double *values,
                         double norms[2]) {
  int64_t size = (int64_t)R->block * R->block, count = R->ptr[p + 1] - R->ptr[p];
  const OFF *off = (const OFF *)R->off + R->ptr[p] * size;
  const SUM *diagonal = (const SUM *)R->diagonal + p * size;
  double square = 0, lost = 0;
  int power;
  frexp(NAME(largest)(values, (count + 1) * size), &power);
  if (power < -1000) power = -1000;
  const double unit = ldexp(1, -power);
  for (int64_t e = 0; e < (count + 1) * size; e++) {
    double factor = FACTOR, stored;
#if SCALED
    if (e < count * size) factor *= R->scale[R->ptr[p] + e / size];
#endif
    stored = e < count * size ? DECODE(off[e]) * factor : (double)diagonal[e - count * size];
    double value = unit * values[e], error = unit * (values[e] - stored);
    square += value * value;
    lost += error * error;
  }
  norms[0] = hypot(norms[0], ldexp(sqrt(square), power));
  norms[1] = hypot(norms[1], ldexp(sqrt(lost), power));
}

/* The squares of some elements, and of their storage loss. */
typedef struct NAME(sums) {
  double square[SUMS], lost[SUMS];
  int tiny; /* one is below the normal floats */
} NAME(sums);

/* True if the value is finite, also when stored in the given number of bytes. */
TRS_INLINE bool NAME(fits)(double value, size_t size) {
  return fabs(value) < (size == sizeof(float) ? 0x1.ffffffp127 : INFINITY);
}

TRS_INLINE void NAME(add_up)(NAME(sums) * sums, int lane, double value, double stored) {
  const double error = value - stored;
  sums->square[lane] += value * value;
  sums->lost[lane] += error * error;
}

/* Stores elements divided by their factor; returns whether all fit.  The sums have a separate pass:
 * in a common pass, gcc 12 at -O3 uses value for (double)(float)value in some lanes. */
TRS_INLINE bool NAME(store_off)(OFF *to, const double *values, int64_t count, double factor,
                                NAME(sums) * sums) {
  const double inverse = 1 / factor, unit = FACTOR * factor;
  int64_t e = 0;
  int fit = 1, tiny = 0;
  for (int64_t k = 0; k < count; k++) to[k] = ENCODE(values[k] * inverse);
  for (int64_t k = 0; k < count; k++) fit &= NAME(fits)(values[k], sizeof(X));
  for (int64_t k = 0; k < count; k++) tiny |= NAME(is_tiny)(values[k], sizeof(X));
  sums->tiny |= tiny;
  for (; e + SUMS <= count; e += SUMS)
    for (int lane = 0; lane < SUMS; lane++)
      NAME(add_up)(sums, lane, values[e + lane], DECODE(to[e + lane]) * unit);
  for (; e < count; e++) NAME(add_up)(sums, 0, values[e], DECODE(to[e]) * unit);
  return fit;
}

TRS_INLINE bool NAME(store_diagonal)(SUM *to, const double *values, int64_t count,
                                     NAME(sums) * sums) {
  int fit = 1, tiny = 0;
  for (int64_t k = 0; k < count; k++) to[k] = (SUM)values[k];
  for (int64_t k = 0; k < count; k++) fit &= NAME(fits)(values[k], sizeof(SUM));
  for (int64_t k = 0; k < count; k++) tiny |= NAME(is_tiny)(values[k], sizeof(SUM));
  sums->tiny |= tiny;
  for (int64_t k = 0; k < count; k++) NAME(add_up)(sums, (int)(k % SUMS), values[k], (double)to[k]);
  return fit;
}

/* Reports the first element that does not fit. */
TRS_RARE trs_status NAME(refuse_row)(const trs_relaxation *R, int64_t p, const double *values) {
  int64_t size = (int64_t)R->block * R->block, off = (R->ptr[p + 1] - R->ptr[p]) * size, e = 0;
  while (NAME(fits)(values[e], e < off ? sizeof(X) : sizeof(SUM))) e++;
  return NAME(refuse)(R, p, values[e]);
}

/* Stores the row; result: squares of its elements and of their storage loss. */
static trs_status NAME(store)(const trs_relaxation *R, int64_t p, const double *values,
                              double result[2]) {
  const int64_t size = (int64_t)R->block * R->block, count = R->ptr[p + 1] - R->ptr[p];
  OFF *off = (OFF *)R->off + R->ptr[p] * size;
  NAME(sums) sums = {0};
  bool fit = true;
#if SCALED
  for (int64_t k = 0; k < count; k++) {
    const float factor = NAME(factor_of)(values + k * size, size);
    R->scale[R->ptr[p] + k] = factor;
    fit &= NAME(store_off)(off + k * size, values + k * size, size, factor, &sums);
  }
#else
  fit &= NAME(store_off)(off, values, count * size, 1, &sums);
#endif
  fit &= NAME(store_diagonal)((SUM *)R->diagonal + p * size, values + count * size, size, &sums);
  if (!fit) return NAME(refuse_row)(R, p, values);
  if (sums.tiny) TRS_TRY(NAME(check_small)(R, p, values));
  result[0] = result[1] = 0;
  for (int lane = 0; lane < SUMS; lane++) {
    result[0] += sums.square[lane];
    result[1] += sums.lost[lane];
  }
  return TRS_SUCCESS;
}

static trs_status NAME(put)(trs_relaxation *R, int64_t p, double *values,
                            trs_relax_lengths *lengths) {
  int64_t size = (int64_t)R->block * R->block, count = R->ptr[p + 1] - R->ptr[p];
  double squares[2] = {0, 0};
  TRS_TRY(NAME(store)(R, p, values, squares));
  if (count > 0 && (lengths->least == 0 || squares[0] < lengths->least))
    lengths->least = squares[0];
  if (squares[0] >= 0x1p-900 && squares[0] <= 0x1p900) {
    lengths->squares[0] += squares[0];
    lengths->squares[1] += squares[1];
  } else {
    NAME(join)(R, p, values, lengths->norms);
    squares[0] = INFINITY;
  }
  SUM *d = (SUM *)R->diagonal + p * size;
  TRS_TRY(NAME(factor)(R, p, values + count * size, squares[0], d));
  if (R->triangle && !R->plan->context->backend->gpu) NAME(invert)(R, p, values + count * size, d);
  return TRS_SUCCESS;
}
#undef LEAST
#undef SUMS
