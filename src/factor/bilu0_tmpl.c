/* bilu0_tmpl.c - a block row of incomplete factors without fill of blocks (Saad 2003, section 10.3
 * with blocks for entries), and of DILU, which changes diagonal blocks alone (Pommerell 1992):
 *
 *     for each k < i of row i:  L_ik = A_ik D_k^-1;  A_ij = A_ij - L_ik U_kj  (DILU: for j = i
 *     alone);  D_i = A_ii;  U_ij = A_ij for j > i
 *
 * O(sum over blocks (i, k) below the diagonal of the blocks in row k of U, times block^3). */

/* l = a D^-1 from factors of D; columns of a and l are a stride apart. */
TRS_BLOCK_APART void TRS_ISA_NAME(divide)(double *restrict l, const double *restrict a, int stride,
                                          const double *d, const uint8_t *pivot, int b) {
  double own[TRS_RELAX_MOST_BLOCK * TRS_RELAX_MOST_BLOCK];
  for (int c = 0; c < b; c++)
    for (int r = 0; r < b; r++) own[c * b + r] = a[c * stride + r];
  for (int c = 0; c < b; c++) {
    for (int m = 0; m < c; m++)
      for (int r = 0; r < b; r++) own[c * b + r] -= own[m * b + r] * d[c * b + m];
    for (int r = 0; r < b; r++) own[c * b + r] *= d[c * b + c];
  }
  for (int c = b - 1; c >= 0; c--) {
    for (int m = c + 1; m < b; m++)
      for (int r = 0; r < b; r++) own[c * b + r] -= own[m * b + r] * d[c * b + m];
    double *to = l + (pivot[c] & ~TRS_BLOCK_INVERTED) * stride;
    for (int r = 0; r < stride; r++) to[r] = r < b ? own[c * b + r] : 0;
  }
}

/* True if all are numbers, which a float holds too if narrow. */
TRS_BLOCK_INLINE bool fit(const double *values, int64_t count, bool narrow) {
  const double most = narrow ? 0x1.ffffffp127 : INFINITY;
  int fits = 1;
  for (int64_t e = 0; e < count; e++) fits &= fabs(values[e]) < most;
  return fits;
}

/* The column of a block that is not positive definite, or b. */
TRS_BLOCK_APART int TRS_ISA_NAME(find_indefinite)(const double *own, int b) {
  double d[TRS_RELAX_MOST_BLOCK * TRS_RELAX_MOST_BLOCK];
  memcpy(d, own, (size_t)(b * b) * sizeof *d);
  return trs_block_cholesky(d, b);
}

/* The order of a block's rows; returns the column without a pivot, or b. */
TRS_BLOCK_APART int TRS_ISA_NAME(find_pivots)(const double *own, uint8_t *pivot, double threshold,
                                              int b) {
  double d[TRS_RELAX_MOST_BLOCK * TRS_RELAX_MOST_BLOCK];
  memcpy(d, own, (size_t)(b * b) * sizeof *d);
  return trs_block_lu(d, pivot, threshold, b);
}

/* The fault of a diagonal block's factors, if any: pivots as an analysis judges them
 * (analysis/pivot_tmpl.c). */
TRS_BLOCK_APART trs_bilu0_fault TRS_ISA_NAME(judge)(const double *d, bool narrow,
                                                    trs_bilu0_outcome *o, int b) {
  if (!fit(d, (int64_t)b * b, narrow)) return TRS_BILU0_NOT_FINITE;
  for (int k = 0; k < b; k++) {
    const double pivot = d[k * b + k];
    if (narrow ? isfinite((float)pivot) && isfinite(1 / (float)pivot) : isfinite(1 / pivot))
      continue;
    o->column = k;
    o->pivot = pivot;
    return TRS_BILU0_SMALL;
  }
  return TRS_BILU0_FINE;
}

/* The first scalar row of L, or of U, with a value that does not fit. */
TRS_BLOCK_APART trs_bilu0_fault TRS_ISA_NAME(find_overflow)(const double *l, int64_t below,
                                                            const double *u, int64_t above,
                                                            bool narrow, trs_bilu0_outcome *o,
                                                            int b) {
  const int64_t size = (int64_t)b * b;
  const bool fits = fit(l, below * size, narrow);
  const double *values = fits ? u : l;
  if (fits && fit(u, above * size, narrow)) return TRS_BILU0_FINE;
  for (o->column = 0; o->column < b - 1; o->column++)
    for (int64_t e = 0; e < (fits ? above : below) * b; e++)
      if (!fit(values + e * b + o->column, 1, narrow)) return TRS_BILU0_OVERFLOW;
  return TRS_BILU0_OVERFLOW;
}

#define WIDTH 2
#include "factor/bilu0_row_tmpl.c"
#undef WIDTH
#define WIDTH 4
#include "factor/bilu0_row_tmpl.c"
#undef WIDTH

TRS_BLOCK_INLINE trs_bilu0_fault row_of(const trs_bilu0 *w, int64_t i, const trs_bilu0_row *row,
                                        trs_bilu0_outcome *o, int b) {
  if (__builtin_constant_p(b) && b <= 2) return TRS_ISA_NAME(row_2)(w, i, row, o, b);
  return TRS_ISA_NAME(row_4)(w, i, row, o, b);
}

static trs_bilu0_fault TRS_ISA_NAME(bilu0_row)(const trs_bilu0 *w, int64_t i,
                                               const trs_bilu0_row *row, trs_bilu0_outcome *o) {
  return TRS_BY_BLOCK(w->block, row_of, w, i, row, o);
}
