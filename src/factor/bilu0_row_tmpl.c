/* bilu0_row_tmpl.c - part of bilu0_tmpl.c, compiled for WIDTH 2, for blocks of 1 and 2, and 4:
 * a block row.  The columns of its blocks are whole vectors, filled up with zeros.  b, the block
 * size, is a literal for small blocks. */

#define TILE(f) TRS_ISA_NAME(TRS_BLOCK_JOIN(f, WIDTH))

typedef double TILE(part) __attribute__((vector_size(WIDTH * sizeof(double))));
typedef int64_t TILE(bits) __attribute__((vector_size(WIDTH * sizeof(int64_t))));
#define PART TILE(part)

/* From one column to the next. */
TRS_BLOCK_INLINE int TILE(stride)(int b) { return (b + WIDTH - 1) / WIDTH * WIDTH; }

/* The caller's blocks in whole vectors. */
TRS_BLOCK_INLINE void TILE(take)(double *restrict to, const double *restrict from, int64_t count,
                                 bool by_rows, int b) {
  for (int64_t k = 0; k < count; k++, from += b * b) TRS_BLOCK_UNROLL
  for (int c = 0; c < b; c++)
    for (int h = 0; h < b; h += WIDTH, to += WIDTH) {
      PART v = {0};
      TRS_BLOCK_UNROLL
      for (int r = 0; r < WIDTH; r++)
        if (h + r < b) v[r] = from[by_rows ? (h + r) * b + c : c * b + h + r];
      memcpy(to, &v, sizeof v);
    }
}

/* Blocks in whole vectors to where sweeps read them; NaN joins *check if one is not finite. */
TRS_BLOCK_INLINE void TILE(give)(double *restrict to, const double *restrict from, int64_t count,
                                 double *check, int b) {
  PART sum = {0}, v;
  for (int64_t k = 0; k < count; k++) TRS_BLOCK_UNROLL
  for (int c = 0; c < b; c++, to += b)
    for (int h = 0; h < b; h += WIDTH, from += WIDTH) {
      memcpy(&v, from, sizeof v);
      sum += v * 0;
      memcpy(to + h, &v, (size_t)(b - h < WIDTH ? b - h : WIDTH) * sizeof *to);
    }
  for (int r = 0; r < WIDTH; r++) *check += sum[r];
}

/* a = l u, or a -= l u. */
TRS_BLOCK_INLINE void TILE(multiply)(double *restrict a, const double *restrict l,
                                     const double *restrict u, bool subtract, int b) {
  const int w = TILE(stride)(b);
  TRS_BLOCK_UNROLL
  for (int h = 0; h < b; h += WIDTH) TRS_BLOCK_UNROLL
  for (int c = 0; c < b; c++) {
    PART v = {0}, left;
    if (subtract) memcpy(&v, a + c * w + h, sizeof v);
    TRS_BLOCK_UNROLL
    for (int m = 0; m < b; m++) {
      memcpy(&left, l + m * w + h, sizeof left);
      v = subtract ? v - left * u[c * b + m] : v + left * u[c * b + m];
    }
    memcpy(a + c * w + h, &v, sizeof v);
  }
}

/* values -= L_ik U_kj for the blocks of row i behind column k. */
TRS_BLOCK_INLINE void TILE(update_row)(const trs_bilu0 *w, int64_t i, int64_t at,
                                       double *restrict values, const double *restrict l,
                                       const int32_t *restrict slot, int b) {
  const int64_t size = (int64_t)b * b, step = (int64_t)b * TILE(stride)(b), k = w->idx[at];
  const int64_t begin = w->diagonal[k] + 1, end = w->ptr[k + 1], last = w->ptr[i + 1];
  const double *u = w->sweep[1].val + (w->sweep[1].ptr[k] - begin) * size;
  const bool dilu = w->kind == TRS_FACTOR_DILU;
  if (dilu || (end - begin) / TRS_FACTOR_LONG > last - at) {
    int64_t q = begin;
    for (int64_t p = dilu ? w->diagonal[i] : at + 1; p < (dilu ? w->diagonal[i] + 1 : last); p++) {
      q = trs_factor_seek(w->idx, q, end, w->idx[p]);
      if (q < end && w->idx[q] == w->idx[p])
        TILE(multiply)(values + (p - w->ptr[i]) * step, l, u + q * size, true, b);
    }
    return;
  }
  for (int64_t q = begin; q < end; q++)
    if (slot[w->idx[q]] >= 0)
      TILE(multiply)(values + slot[w->idx[q]] * step, l, u + q * size, true, b);
}

/* d = l u in place without exchanges, and the reciprocals of u's diagonal; false if a pivot is
 * below the threshold times another one of its column. */
TRS_BLOCK_INLINE bool TILE(divide_plain)(double *restrict d, double *restrict inverse,
                                         double threshold, int b) {
  int good = 1;
  TRS_BLOCK_UNROLL
  for (int k = 0; k < b; k++) {
    const double pivot = d[k * b + k];
    double most = 0;
    TRS_BLOCK_UNROLL
    for (int r = k + 1; r < b; r++) most = fabs(d[k * b + r]) > most ? fabs(d[k * b + r]) : most;
    good &= (fabs(pivot) >= threshold * most) & (pivot != 0);
    inverse[k] = 1 / pivot;
    TRS_BLOCK_UNROLL
    for (int r = k + 1; r < b; r++) d[k * b + r] *= inverse[k];
    TRS_BLOCK_UNROLL
    for (int c = k + 1; c < b; c++) TRS_BLOCK_UNROLL
    for (int r = k + 1; r < b; r++) d[c * b + r] -= d[k * b + r] * d[c * b + k];
  }
  return good;
}

/* Adds |from| times a number to *sum. */
TRS_BLOCK_INLINE void TILE(add_magnitude)(PART *sum, const PART *from, double factor) {
  TILE(bits) bits;
  PART v;
  memcpy(&bits, from, sizeof bits);
  bits &= INT64_MAX;
  memcpy(&v, &bits, sizeof v);
  *sum += v * factor;
}

/* X of X D = 1 from the factors of D, columns in vectors; false if D has a large condition number
 * (analysis/growth.h). */
TRS_BLOCK_INLINE bool TILE(invert)(double *restrict inverse, const double *own, const double *d,
                                   const double *reciprocal, const uint8_t *pivot, int b) {
  static const double MOST_GROWTH = 1000;
  const int w = TILE(stride)(b);
  double rows[8 + WIDTH];
  int good = 1;
  TRS_BLOCK_UNROLL
  for (int h = 0; h < b; h += WIDTH) {
    PART sum = {0}, v;
    TRS_BLOCK_UNROLL
    for (int c = 0; c < b; c++) {
      memcpy(&v, own + c * w + h, sizeof v);
      TILE(add_magnitude)(&sum, &v, 1);
    }
    memcpy(rows + h, &sum, sizeof sum);
  }
  TRS_BLOCK_UNROLL
  for (int h = 0; h < b; h += WIDTH) {
    PART x[8], growth = {0};
    TRS_BLOCK_UNROLL
    for (int c = 0; c < b; c++) {
      const PART zero = {0};
      x[c] = zero;
      if (c >= h && c < h + WIDTH) x[c][c & (WIDTH - 1)] = 1;
      TRS_BLOCK_UNROLL
      for (int m = 0; m < c; m++) x[c] -= x[m] * d[c * b + m];
      x[c] *= reciprocal[c];
    }
    TRS_BLOCK_UNROLL
    for (int c = b - 1; c >= 0; c--) {
      TRS_BLOCK_UNROLL
      for (int m = c + 1; m < b; m++) x[c] -= x[m] * d[c * b + m];
      memcpy(inverse + pivot[c] * b + h, &x[c],
             (size_t)(b - h < WIDTH ? b - h : WIDTH) * sizeof *inverse);
      TILE(add_magnitude)(&growth, &x[c], rows[pivot[c]]);
    }
    for (int r = 0; r < WIDTH && h + r < b; r++) good &= growth[r] < MOST_GROWTH;
  }
  return good;
}

/* Stores D and its inverse. */
TRS_BLOCK_INLINE trs_bilu0_fault TILE(finish)(const trs_bilu0 *w, int64_t i, const double *own,
                                              trs_bilu0_outcome *o, int b) {
  const int64_t size = (int64_t)b * b;
  const int stride = TILE(stride)(b);
  const bool cholesky = w->kind == TRS_FACTOR_BIC0;
  double d[TRS_RELAX_MOST_BLOCK * TRS_RELAX_MOST_BLOCK], reciprocal[TRS_RELAX_MOST_BLOCK],
      check = 0;
  double *kept = w->own + i * size, *inverse = w->inverse + i * size;
  uint8_t *pivot = w->pivot + i * b;
  TILE(give)(kept, own, 1, &check, b);
  if (check != 0) return TRS_BILU0_NOT_FINITE;
  if (cholesky && (o->column = TRS_ISA_NAME(find_indefinite)(kept, b)) < b)
    return TRS_BILU0_SINGULAR;
  TRS_BLOCK_UNROLL
  for (int c = 0; c < b; c++)
    for (int r = 0; r < b; r++) d[c * b + r] = own[c * stride + r];
  TRS_BLOCK_UNROLL
  for (int r = 0; r < b; r++) pivot[r] = (uint8_t)r;
  if (!TILE(divide_plain)(d, reciprocal, cholesky ? 0 : w->threshold, b)) {
    o->column = TRS_ISA_NAME(find_pivots)(kept, pivot, cholesky ? 0 : w->threshold, b);
    if (o->column < b) return TRS_BILU0_SINGULAR;
    for (int c = 0; c < b; c++)
      for (int r = 0; r < b; r++) d[c * b + r] = kept[c * b + pivot[r]];
    (void)TILE(divide_plain)(d, reciprocal, 0, b);
  }
  TRS_BLOCK_UNROLL
  for (int c = 0; c < b; c++) {
    check += reciprocal[c] * 0;
    TRS_BLOCK_UNROLL
    for (int r = 0; r < b; r++) check += d[c * b + r] * 0;
  }
  if (check != 0 || w->narrow) {
    double factors[TRS_RELAX_MOST_BLOCK * TRS_RELAX_MOST_BLOCK];
    for (int e = 0; e < b * b; e++) factors[e] = d[e];
    const trs_bilu0_fault fault = TRS_ISA_NAME(judge)(factors, w->narrow, o, b);
    if (fault) return fault;
  }
  if (b <= 8 && TILE(invert)(inverse, own, d, reciprocal, pivot, b)) {
    pivot[0] |= TRS_BLOCK_INVERTED;
    return TRS_BILU0_FINE;
  }
  for (int c = 0; c < b; c++)
    for (int r = 0; r < b; r++) inverse[c * b + r] = r == c ? reciprocal[c] : d[c * b + r];
  return TRS_BILU0_FINE;
}

TRS_BLOCK_INLINE trs_bilu0_fault TILE(row)(const trs_bilu0 *w, int64_t i, const trs_bilu0_row *row,
                                           trs_bilu0_outcome *o, int b) {
  const int64_t size = (int64_t)b * b, step = (int64_t)b * TILE(stride)(b), from = w->ptr[i];
  const int64_t below = w->diagonal[i] - from, above = w->ptr[i + 1] - w->diagonal[i] - 1;
  double *l = w->sweep[0].val + w->sweep[0].ptr[i] * size, check = 0;
  double *u = w->sweep[1].val + w->sweep[1].ptr[i] * size, *values = row->values;
  if (row->by_rows)
    TILE(take)(values, row->from, below + 1 + above, true, b);
  else
    TILE(take)(values, row->from, below + 1 + above, false, b);
  for (int64_t p = 0; p < below; p++) {
    const int64_t k = w->idx[from + p];
    const double *inverse = w->inverse + k * size;
    double *left = row->left + p * step;
    if (b <= 8 && w->pivot[k * b] & TRS_BLOCK_INVERTED)
      TILE(multiply)(left, values + p * step, inverse, false, b);
    else
      TRS_ISA_NAME(divide)(left, values + p * step, TILE(stride)(b), inverse, w->pivot + k * b, b);
    TILE(update_row)(w, i, from + p, values, left, row->slot, b);
  }
  const trs_bilu0_fault fault = TILE(finish)(w, i, values + below * step, o, b);
  if (fault) return fault;
  TILE(give)(l, row->left, below, &check, b);
  TILE(give)(u, values + (below + 1) * step, above, &check, b);
  if (check == 0 && !w->narrow) return TRS_BILU0_FINE;
  return TRS_ISA_NAME(find_overflow)(l, below, u, above, w->narrow, o, b);
}
#undef PART
#undef TILE
