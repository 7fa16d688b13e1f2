/* bilu0_block.h - factors of a block, column-major.  b is a literal for small blocks. */
#ifndef TRS_FACTOR_BILU0_BLOCK_H
#define TRS_FACTOR_BILU0_BLOCK_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define TRS_BLOCK_INLINE static inline __attribute__((always_inline))
#define TRS_BLOCK_APART static __attribute__((cold, noinline))

TRS_BLOCK_INLINE void trs_block_exchange(double *d, uint8_t *pivot, int k, int best, int b) {
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
TRS_BLOCK_INLINE int trs_block_lu(double *d, uint8_t *pivot, double threshold, int b) {
  for (int r = 0; r < b; r++) pivot[r] = (uint8_t)r;
  for (int k = 0; k < b; k++) {
    int best = k;
    for (int r = k + 1; r < b; r++)
      if (fabs(d[k * b + r]) > fabs(d[k * b + best])) best = r;
    if (fabs(d[k * b + k]) >= threshold * fabs(d[k * b + best]) && d[k * b + k] != 0) best = k;
    if (!(fabs(d[k * b + best]) > 0)) return k;
    if (best != k) trs_block_exchange(d, pivot, k, best, b);
    const double inverse = 1 / d[k * b + k];
    for (int r = k + 1; r < b; r++) d[k * b + r] *= inverse;
    for (int c = k + 1; c < b; c++)
      for (int r = k + 1; r < b; r++) d[c * b + r] -= d[k * b + r] * d[c * b + k];
  }
  return b;
}

/* d = c c^T in place, from its lower triangle; returns the column without a pivot, or b. */
TRS_BLOCK_INLINE int trs_block_cholesky(double *d, int b) {
  for (int k = 0; k < b; k++) {
    if (!(d[k * b + k] > 0)) return k;
    d[k * b + k] = sqrt(d[k * b + k]);
    for (int r = k + 1; r < b; r++) d[r * b + k] = d[k * b + r] /= d[k * b + k];
    for (int c = k + 1; c < b; c++)
      for (int r = c; r < b; r++) d[c * b + r] -= d[k * b + r] * d[k * b + c];
  }
  return b;
}

#endif
