/* random.h - counter-based random numbers: value i of a stream is a function of (seed, i) alone.
 * Any thread can compute any part, and the result does not depend on the number of threads. */
#ifndef TRS_BASE_RANDOM_H
#define TRS_BASE_RANDOM_H

#include <stdint.h>

/* splitmix64's output function (Steele, Lea, Flood 2014) at position i of stream `seed`. */
static inline uint64_t trs_random(uint64_t seed, uint64_t i) {
  uint64_t z = seed * 0xD1342543DE82EF95u + (i + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/* Uniform in [0, 1), a multiple of 2^-53. */
static inline double trs_random_unit(uint64_t seed, uint64_t i) {
  return (double)(trs_random(seed, i) >> 11) * 0x1p-53;
}

/* Uniform in [-1, 1). */
static inline double trs_random_signed(uint64_t seed, uint64_t i) {
  return 2 * trs_random_unit(seed, i) - 1;
}

/* Uniform in [0, bound), bound < 2^32. */
static inline uint64_t trs_random_below(uint64_t seed, uint64_t i, uint64_t bound) {
  return ((trs_random(seed, i) >> 32) * bound) >> 32;
}

#endif
