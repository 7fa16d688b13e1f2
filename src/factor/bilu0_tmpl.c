/* bilu0_tmpl.c - a block row of incomplete factors without fill of blocks (Saad 2003, section 10.3
 * with blocks for entries), and of DILU, which changes diagonal blocks alone (Pommerell 1992):
 *
 *     for each k < i of row i:  L_ik = A_ik D_k^-1;  A_ij = A_ij - L_ik U_kj  (DILU: for j = i
 *     alone);  D_i = A_ii;  U_ij = A_ij for j > i
 *
 * O(sum over blocks (i, k) below the diagonal of the blocks in row k of U, times block^3). */

/* l = a D^-1 */
TRS_BLOCK_INLINE void multiply(double *restrict l, const double *restrict a,
                               const double *restrict inverse, int b) {
  for (int c = 0; c < b; c++) {
    for (int r = 0; r < b; r++) l[c * b + r] = a[r] * inverse[c * b];
    for (int m = 1; m < b; m++)
      for (int r = 0; r < b; r++) l[c * b + r] += a[m * b + r] * inverse[c * b + m];
  }
}

/* The same from factors of D. */
static void TRS_ISA_NAME(divide)(double *restrict l, double *restrict a, const double *d,
                                 const uint8_t *pivot, int b) {
  for (int c = 0; c < b; c++) {
    for (int m = 0; m < c; m++)
      for (int r = 0; r < b; r++) a[c * b + r] -= a[m * b + r] * d[c * b + m];
    for (int r = 0; r < b; r++) a[c * b + r] *= d[c * b + c];
  }
  for (int c = b - 1; c >= 0; c--) {
    for (int m = c + 1; m < b; m++)
      for (int r = 0; r < b; r++) a[c * b + r] -= a[m * b + r] * d[c * b + m];
    memcpy(l + (pivot[c] & ~TRS_BLOCK_INVERTED) * b, a + c * b, (size_t)b * sizeof *l);
  }
}

/* a -= l u */
TRS_BLOCK_INLINE void subtract(double *restrict a, const double *restrict l,
                               const double *restrict u, int b) {
  for (int c = 0; c < b; c++)
    for (int m = 0; m < b; m++)
      for (int r = 0; r < b; r++) a[c * b + r] -= l[m * b + r] * u[c * b + m];
}

/* values -= L_ik U_kj for the blocks of row i behind column k. */
TRS_BLOCK_INLINE void update_row(const trs_bilu0 *w, int64_t i, int64_t at, const double *l,
                                 const trs_bilu0_row *row, int b) {
  const int64_t size = (int64_t)b * b, k = w->idx[at], begin = w->diagonal[k] + 1;
  const int64_t end = w->ptr[k + 1], last = w->ptr[i + 1];
  const double *u = w->sweep[1].val + (w->sweep[1].ptr[w->n - 1 - k] - begin) * size;
  const bool dilu = w->kind == TRS_FACTOR_DILU;
  if (dilu || (end - begin) / TRS_FACTOR_LONG > last - at) {
    int64_t q = begin;
    for (int64_t p = dilu ? w->diagonal[i] : at + 1; p < (dilu ? w->diagonal[i] + 1 : last); p++) {
      q = trs_factor_seek(w->idx, q, end, w->idx[p]);
      if (q < end && w->idx[q] == w->idx[p])
        subtract(row->values + (p - w->ptr[i]) * size, l, u + q * size, b);
    }
    return;
  }
  for (int64_t q = begin; q < end; q++) {
    const int32_t slot = row->slot[w->idx[q]];
    if (slot >= 0) subtract(row->values + slot * size, l, u + q * size, b);
  }
}

/* True if all are numbers, which a float holds too if narrow. */
TRS_BLOCK_INLINE bool fit(const double *values, int64_t count, bool narrow) {
  const double most = narrow ? 0x1.ffffffp127 : INFINITY;
  int fits = 1;
  for (int64_t e = 0; e < count; e++) fits &= fabs(values[e]) < most;
  return fits;
}

/* As an analysis judges pivots (analysis/pivot_tmpl.c). */
TRS_BLOCK_INLINE bool is_usable(double pivot, double inverse, bool narrow) {
  if (narrow) return isfinite((float)pivot) && isfinite(1 / (float)pivot);
  return isfinite(inverse);
}

/* The inverse from the factors d of D, with inverses of U's diagonal; false if D has a large
 * condition number (analysis/growth.h). */
TRS_BLOCK_INLINE bool invert(double *inverse, const double *own, const double *d,
                             const uint8_t *pivot, int b) {
  static const double MOST_GROWTH = 1000;
  double most = 0, z[8];
  for (int j = 0; j < b; j++) {
    for (int i = 0; i < b; i++) {
      z[i] = pivot[i] == j;
      for (int m = 0; m < i; m++) z[i] -= d[m * b + i] * z[m];
    }
    for (int i = b - 1; i >= 0; i--) {
      for (int m = b - 1; m > i; m--) z[i] -= d[m * b + i] * z[m];
      z[i] *= d[i * b + i];
    }
    for (int i = 0; i < b; i++) inverse[j * b + i] = z[i];
  }
  double sum[8] = {0};
  for (int j = 0; j < b; j++)
    for (int i = 0; i < b; i++) sum[i] += fabs(own[j * b + i]);
  for (int i = 0; i < b; i++) {
    double growth = 0;
    for (int k = 0; k < b; k++) growth += fabs(inverse[k * b + i]) * sum[k];
    most = growth > most ? growth : most;
  }
  return most < MOST_GROWTH;
}

/* Stores D and its inverse. */
TRS_BLOCK_INLINE trs_bilu0_fault finish(const trs_bilu0 *w, int64_t i, const double *own,
                                        trs_bilu0_outcome *o, int b) {
  const int64_t p = w->n - 1 - i, size = (int64_t)b * b;
  const bool cholesky = w->kind == TRS_FACTOR_BIC0;
  double d[TRS_RELAX_MOST_BLOCK * TRS_RELAX_MOST_BLOCK], *inverse = w->inverse + p * size;
  uint8_t *pivot = w->pivot + p * b;
  if (!fit(own, size, false)) return TRS_BILU0_NOT_FINITE;
  memcpy(w->own + p * size, own, (size_t)size * sizeof *d);
  if (cholesky) {
    memcpy(d, own, (size_t)size * sizeof *d);
    o->column = trs_block_cholesky(d, b);
    if (o->column < b) return TRS_BILU0_SINGULAR;
  }
  memcpy(d, own, (size_t)size * sizeof *d);
  o->column = trs_block_lu(d, pivot, cholesky ? 0 : w->threshold, b);
  if (o->column < b) return TRS_BILU0_SINGULAR;
  if (!fit(d, size, w->narrow)) return TRS_BILU0_NOT_FINITE;
  for (int k = 0; k < b; k++) {
    const double of_u = d[k * b + k];
    d[k * b + k] = 1 / of_u;
    if (is_usable(of_u, d[k * b + k], w->narrow)) continue;
    o->column = k;
    o->pivot = of_u;
    return TRS_BILU0_SMALL;
  }
  if (b <= 8 && invert(inverse, own, d, pivot, b))
    pivot[0] |= TRS_BLOCK_INVERTED;
  else
    memcpy(inverse, d, (size_t)size * sizeof *d);
  return TRS_BILU0_FINE;
}

/* The first scalar row with a value that does not fit. */
static int TRS_ISA_NAME(find_overflow)(const double *values, int64_t blocks, bool narrow, int b) {
  for (int r = 0; r < b; r++)
    for (int64_t e = 0; e < blocks * b; e++)
      if (!fit(values + e * b + r, 1, narrow)) return r;
  return 0;
}

TRS_BLOCK_INLINE trs_bilu0_fault row_of(const trs_bilu0 *w, int64_t i, trs_bilu0_row *row,
                                        trs_bilu0_outcome *o, int b) {
  const int64_t size = (int64_t)b * b, from = w->ptr[i], n = w->n;
  const int64_t below = w->diagonal[i] - from, above = w->ptr[i + 1] - w->diagonal[i] - 1;
  double *l = w->sweep[0].val + w->sweep[0].ptr[i] * size;
  double *u = w->sweep[1].val + w->sweep[1].ptr[n - 1 - i] * size;
  for (int64_t p = 0; p < below; p++) {
    const int64_t k = n - 1 - w->idx[from + p];
    const double *inverse = w->inverse + k * size;
    if (b <= 8 && w->pivot[k * b] & TRS_BLOCK_INVERTED)
      multiply(l + p * size, row->values + p * size, inverse, b);
    else
      TRS_ISA_NAME(divide)(l + p * size, row->values + p * size, inverse, w->pivot + k * b, b);
    update_row(w, i, from + p, l + p * size, row, b);
  }
  const trs_bilu0_fault fault = finish(w, i, row->values + below * size, o, b);
  if (fault) return fault;
  const double *rest = row->values + (below + 1) * size;
  memcpy(u, rest, (size_t)(above * size) * sizeof *u);
  const bool fits = fit(l, below * size, w->narrow);
  if (fits && fit(rest, above * size, w->narrow)) return TRS_BILU0_FINE;
  o->column = fits ? TRS_ISA_NAME(find_overflow)(rest, above, w->narrow, b)
                   : TRS_ISA_NAME(find_overflow)(l, below, w->narrow, b);
  return TRS_BILU0_OVERFLOW;
}

static trs_bilu0_fault TRS_ISA_NAME(bilu0_row)(const trs_bilu0 *w, int64_t i, trs_bilu0_row *row,
                                               trs_bilu0_outcome *o) {
  return TRS_BY_BLOCK(w->block, row_of, w, i, row, o);
}
