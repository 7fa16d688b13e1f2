/* exact.h - sums of squares that do not depend on the order of addition: every number is split into
 * digits of 32 bits at fixed positions, the digits are added as integers, and only the final result
 * is rounded.  C and CUDA C++. */
#ifndef TRS_RELAX_EXACT_H
#define TRS_RELAX_EXACT_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__CUDACC__) || defined(__HIPCC__)
#define TRS_EXACT static __host__ __device__ inline
#else
#define TRS_EXACT static inline
#endif

/* Digit k counts 2^(32 k - 1074): the smallest double is 1 in digit 0.  Behind the digits are the
 * counts of infinities and of NaNs, and two words that stay zero.  Capacity: 2^31 numbers. */
enum { TRS_EXACT_DIGITS = 67, TRS_EXACT_WORDS = TRS_EXACT_DIGITS + 4 };
enum { TRS_RELAX_PART = 1024 }; /* rows per sum */

/* The digits of a number >= 0, to be added to three words from the returned index on. */
TRS_EXACT int trs_exact_digits(double number, uint64_t low[3]) {
  uint64_t bits;
  memcpy(&bits, &number, sizeof bits);
  int exponent = (int)(bits >> 52 & 0x7ff);
  uint64_t mantissa = bits & 0xfffffffffffffu;
  low[0] = 1;
  low[1] = low[2] = 0;
  if (exponent == 0x7ff) return mantissa ? TRS_EXACT_DIGITS + 1 : TRS_EXACT_DIGITS;
  if (exponent) mantissa |= (uint64_t)1 << 52;
  int place = exponent ? exponent - 1 : 0, shift = place % 32;
  uint64_t first = (mantissa & 0xffffffffu) << shift, rest = (mantissa >> 32) << shift;
  low[0] = first & 0xffffffffu;
  rest += first >> 32;
  low[1] = rest & 0xffffffffu;
  low[2] = rest >> 32;
  return place / 32;
}

/* The result for squares that underflow: larger than zero. */
#define TRS_EXACT_LEAST 0x1p-1074

/* The norm for a sum of squares.  Below 2^-480 the rounding of the squares matters; the result is
 * then NaN, so that only zero gives zero. */
TRS_EXACT double trs_exact_norm(double square) {
  return square > 0 && square < 0x1p-960 ? (double)NAN : sqrt(square);
}

/* The norm of the sum, with the sum rounded once to nearest. */
TRS_EXACT double trs_exact_root(const uint64_t *words) {
  uint32_t digit[TRS_EXACT_DIGITS];
  uint64_t carry = 0, top = 0, below = 0;
  int k, shift = 0;
  if (words[TRS_EXACT_DIGITS + 1]) return (double)NAN;
  if (words[TRS_EXACT_DIGITS]) return (double)INFINITY;
  for (k = 0; k < TRS_EXACT_DIGITS; k++) {
    carry += words[k];
    digit[k] = (uint32_t)carry;
    carry >>= 32;
  }
  for (k = TRS_EXACT_DIGITS - 1; k > 2 && digit[k] == 0; k--) continue;
  top = (uint64_t)digit[k] << 32 | digit[k - 1];
  below = digit[k - 2];
  for (; shift < 32 && !(top >> 63); shift++) {
    top = top << 1 | (below >> 31 & 1);
    below = below << 1 & 0xffffffffu;
  }
  for (int j = 0; j < k - 2; j++) below |= digit[j];
  if (below) top |= 1; /* more or less than half, so not a tie */
  return trs_exact_norm(ldexp((double)top, 32 * (k - 1) - shift - 1074));
}

#undef TRS_EXACT
#endif
