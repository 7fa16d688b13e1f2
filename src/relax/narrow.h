/* narrow.h - the 16-bit formats as integers: binary16 and the upper half of a float. */
#ifndef TRS_RELAX_NARROW_H
#define TRS_RELAX_NARROW_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* The bits of a half, moved to their place in a float, make a float that is 2^112 times smaller. */
#define TRS_HALF_FACTOR 0x1p112

static inline uint32_t trs_float_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static inline float trs_bits_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* To nearest, ties to even; |value| <= 2^15.  Branch-free, so that compilers vectorise it: below
 * 2^-14 halves are multiples of 2^-24, like floats from 1/2 on. */
static inline uint16_t trs_half_from(float value) {
  const uint32_t all = trs_float_bits(value), sign = all >> 16 & 0x8000, bits = all & 0x7fffffff;
  const uint32_t small = trs_float_bits(trs_bits_float(bits) + 0.5f) - 0x3f000000;
  const uint32_t large = (bits + 0xfff + (bits >> 13 & 1) - 0x38000000) >> 13;
  return (uint16_t)(sign | (bits < 0x38800000 ? small : large));
}

/* The half's value divided by TRS_HALF_FACTOR. */
static inline float trs_half_small(uint16_t half) {
  return trs_bits_float((half & 0x7fffu) << 13 | (half & 0x8000u) << 16);
}

static inline uint16_t trs_bfloat_from(float value) {
  uint32_t bits = trs_float_bits(value);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static inline float trs_bfloat_value(uint16_t bfloat) {
  return trs_bits_float((uint32_t)bfloat << 16);
}

#endif
