/* bilu0.c - incomplete LU of block rows without fill of blocks (Saad 2003, section 10.3 with blocks
 * for entries), and DILU, which changes diagonal blocks alone (Pommerell 1992).  With the factors
 * P_i^T l_i u_i of a diagonal block:
 *
 *     for each k < i of row i:  L_ik = A_ik u_k^-1;  A_ij = A_ij - L_ik U_kj  (DILU: for j = i
 * alone) P_i A_ii = l_i u_i;  U_ij = l_i^-1 P_i A_ij for j > i
 *
 * Block IC(0) has u_i = l_i^T and no exchanges.  O(sum over blocks (i, k) below the diagonal of the
 * blocks in row k of U, times block^3). */
#include "factor/bilu0.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "factor/kinds.h"

/* ---- Blocks.  b is a literal for small blocks. ---- */

#define INLINE static inline __attribute__((always_inline))

/* a = a u^-1, with u the upper triangle of d. */
INLINE void divide(double *restrict a, const double *restrict d, int b) {
  for (int c = 0; c < b; c++) {
    for (int m = 0; m < c; m++)
      for (int r = 0; r < b; r++) a[c * b + r] -= a[m * b + r] * d[c * b + m];
    const double inverse = 1 / d[c * b + c];
    for (int r = 0; r < b; r++) a[c * b + r] *= inverse;
  }
}

/* a -= l u */
INLINE void subtract(double *restrict a, const double *restrict l, const double *restrict u,
                     int b) {
  for (int c = 0; c < b; c++)
    for (int m = 0; m < b; m++)
      for (int r = 0; r < b; r++) a[c * b + r] -= l[m * b + r] * u[c * b + m];
}

/* a = l^-1 P a, with l the lower triangle of d; unit: with ones on its diagonal. */
INLINE void substitute(double *restrict a, const double *restrict d, const uint8_t *pivot,
                       bool unit, int b) {
  double x[TRS_RELAX_MOST_BLOCK];
  for (int c = 0; c < b; c++) {
    for (int r = 0; r < b; r++) x[r] = a[c * b + pivot[r]];
    for (int m = 0; m < b; m++) {
      if (!unit) x[m] /= d[m * b + m];
      for (int r = m + 1; r < b; r++) x[r] -= d[m * b + r] * x[m];
    }
    for (int r = 0; r < b; r++) a[c * b + r] = x[r];
  }
}

static void exchange(double *d, uint8_t *pivot, int k, int best, int b) {
  const uint8_t kept = pivot[k];
  pivot[k] = pivot[best];
  pivot[best] = kept;
  for (int c = 0; c < b; c++) {
    const double value = d[c * b + k];
    d[c * b + k] = d[c * b + best];
    d[c * b + best] = value;
  }
}

/* d = l u in place, with row exchanges; returns the column without a pivot, or b. */
INLINE int factor_lu(double *d, uint8_t *pivot, double threshold, int b) {
  for (int k = 0; k < b; k++) {
    int best = k;
    for (int r = k + 1; r < b; r++)
      if (fabs(d[k * b + r]) > fabs(d[k * b + best])) best = r;
    if (fabs(d[k * b + k]) >= threshold * fabs(d[k * b + best]) && d[k * b + k] != 0) best = k;
    if (!(fabs(d[k * b + best]) > 0)) return k;
    if (best != k) exchange(d, pivot, k, best, b);
    const double inverse = 1 / d[k * b + k];
    for (int r = k + 1; r < b; r++) d[k * b + r] *= inverse;
    for (int c = k + 1; c < b; c++)
      for (int r = k + 1; r < b; r++) d[c * b + r] -= d[k * b + r] * d[c * b + k];
  }
  return b;
}

/* d = c c^T in place, from its lower triangle; returns the column without a pivot, or b. */
INLINE int factor_cholesky(double *d, int b) {
  for (int k = 0; k < b; k++) {
    if (!(d[k * b + k] > 0)) return k;
    d[k * b + k] = sqrt(d[k * b + k]);
    for (int r = k + 1; r < b; r++) d[r * b + k] = d[k * b + r] /= d[k * b + k];
    for (int c = k + 1; c < b; c++)
      for (int r = c; r < b; r++) d[c * b + r] -= d[k * b + r] * d[k * b + c];
  }
  return b;
}

static bool is_finite(const double *d, int count) {
  double sum = 0; /* of zeros, or NaN */
  for (int e = 0; e < count; e++) sum += 0 * d[e];
  return sum == 0;
}

/* ---- Rows ---- */

/* A_ij -= L_ik U_kj for row i's blocks behind column k, whose L_ik is at own. */
INLINE void update_row(const trs_bilu0 *w, int64_t i, int64_t own, const int64_t *position, int b) {
  const int64_t k = w->idx[own], size = (int64_t)b * b, end = w->ptr[k + 1];
  int64_t q = w->diagonal[k] + 1;
  if (w->kind == TRS_FACTOR_DILU) {
    q = trs_factor_seek(w->idx, q, end, (int32_t)i);
    if (q < end && w->idx[q] == i)
      subtract(w->val + w->diagonal[i] * size, w->val + own * size, w->val + q * size, b);
    return;
  }
  if ((end - q) / TRS_FACTOR_LONG > w->ptr[i + 1] - own) {
    for (int64_t at = own + 1; at < w->ptr[i + 1]; at++) {
      q = trs_factor_seek(w->idx, q, end, w->idx[at]);
      if (q < end && w->idx[q] == w->idx[at])
        subtract(w->val + at * size, w->val + own * size, w->val + q * size, b);
    }
    return;
  }
  for (; q < end; q++) {
    const int64_t at = position[w->idx[q]];
    if (at >= w->ptr[i] && at < w->ptr[i + 1])
      subtract(w->val + at * size, w->val + own * size, w->val + q * size, b);
  }
}

INLINE bool eliminate(const trs_bilu0 *w, int64_t i, int64_t *position, int *column, int b) {
  const int64_t size = (int64_t)b * b;
  double *d = w->val + w->diagonal[i] * size;
  uint8_t *pivot = w->pivot + i * b;
  for (int64_t p = w->ptr[i]; p < w->ptr[i + 1]; p++) position[w->idx[p]] = p;
  for (int64_t p = w->ptr[i]; p < w->diagonal[i]; p++) {
    divide(w->val + p * size, w->val + w->diagonal[w->idx[p]] * size, b);
    update_row(w, i, p, position, b);
  }
  for (int r = 0; r < b; r++) pivot[r] = (uint8_t)r;
  *column = -1;
  if (!is_finite(d, b * b)) return false;
  const bool unit = w->kind != TRS_FACTOR_BIC0;
  *column = unit ? factor_lu(d, pivot, w->threshold, b) : factor_cholesky(d, b);
  if (*column < b) return false;
  for (int64_t p = w->diagonal[i] + 1; p < w->ptr[i + 1]; p++)
    substitute(w->val + p * size, d, pivot, unit, b);
  *column = -1;
  return is_finite(d, b * b);
}

bool trs_bilu0_eliminate(const trs_bilu0 *w, int64_t i, int64_t *position, int *column) {
  return TRS_BY_BLOCK(w->block, eliminate, w, i, position, column);
}

/* ---- Pattern and values ---- */

/* Row i: its neighbours, ascending, with the diagonal block among them. */
static void take_row(trs_bilu0 *w, const trs_block_pattern *P, int64_t i) {
  int32_t *to = w->idx + w->ptr[i];
  const int64_t count = P->ptr[i + 1] - P->ptr[i];
  if (count) memcpy(to, P->idx + P->ptr[i], (size_t)count * sizeof *to);
  to[count] = (int32_t)i;
  qsort(to, (size_t)count + 1, sizeof *to, trs_compare_int32);
  w->diagonal[i] = trs_factor_seek(w->idx, w->ptr[i], w->ptr[i + 1], (int32_t)i);
}

trs_status trs_bilu0_take_pattern(trs_bilu0 *w, const trs_block_pattern *P) {
  int64_t count, n = P->n;
  w->n = n;
  TRS_TRY(TRS_ALLOC(&w->ptr, n + 1));
  for (int64_t i = 0; i <= n; i++) w->ptr[i] = P->ptr[i] + i;
  TRS_TRY(TRS_ALLOC(&w->idx, w->ptr[n]));
  TRS_TRY(TRS_ALLOC(&w->diagonal, n));
  for (int64_t i = 0; i < n; i++) take_row(w, P, i);
  if (__builtin_mul_overflow(w->ptr[n], (int64_t)w->block * w->block, &count))
    return trs_fail(TRS_ERROR_MEMORY, -1,
                    "out of memory: %lld blocks of %d x %d values exceed 2^63 bytes",
                    (long long)w->ptr[n], w->block, w->block);
  TRS_TRY(TRS_ALLOC(&w->val, count));
  return TRS_ALLOC(&w->pivot, n * w->block);
}

void trs_bilu0_free(trs_bilu0 *w) { TRS_FREE_ALL(w->ptr, w->idx, w->diagonal, w->val, w->pivot); }

trs_status trs_bilu0_read(const trs_bilu0 *w, const trs_block_source *source, const int32_t *own,
                          int64_t i, int32_t *slot) {
  const int64_t from = w->ptr[i], size = (int64_t)w->block * w->block;
  double *values = w->val + from * size;
  memset(values, 0, (size_t)((w->ptr[i + 1] - from) * size) * sizeof *values);
  for (int64_t p = from; p < w->ptr[i + 1]; p++)
    slot[own ? own[w->idx[p]] : w->idx[p]] = (int32_t)(p - from);
  trs_status status = trs_block_source_row(source, own ? own[i] : i, slot, values);
  for (int64_t p = from; p < w->ptr[i + 1]; p++) slot[own ? own[w->idx[p]] : w->idx[p]] = -1;
  return status;
}
