/* transpose.h - squares of numbers transposed in vector registers: V vectors of V numbers in
 * log2(V) steps (Eklundh 1972), each a shuffle of two vectors.  For a kernels.c (base/cpu.h). */
#ifndef TRS_SOLVE_BATCH_TRANSPOSE_H
#define TRS_SOLVE_BATCH_TRANSPOSE_H

#include "plan/wide.h"

typedef float trs_float_vector
    __attribute__((vector_size(TRS_VECTOR_BYTES), aligned(sizeof(float)), __may_alias__));
typedef double trs_double_vector
    __attribute__((vector_size(TRS_VECTOR_BYTES), aligned(sizeof(double)), __may_alias__));

#if !defined(__has_builtin)
#define TRS_TRANSPOSES 0
#elif __has_builtin(__builtin_shufflevector)
#define TRS_TRANSPOSES 1
#else
#define TRS_TRANSPOSES 0
#endif

#if TRS_TRANSPOSES

/* Number j of vectors i and i + h after the step that exchanges blocks of h numbers. */
#define TRS_LOW(V, h, j) ((j) & (h) ? (V) + (j) - (h) : (j))
#define TRS_HIGH(V, h, j) ((j) & (h) ? (V) + (j) : (j) + (h))
#define TRS_2(M, V, h, j) M(V, h, j), M(V, h, j + 1)
#define TRS_4(M, V, h, j) TRS_2(M, V, h, j), TRS_2(M, V, h, j + 2)
#define TRS_8(M, V, h, j) TRS_4(M, V, h, j), TRS_4(M, V, h, j + 4)
#define TRS_16(M, V, h, j) TRS_8(M, V, h, j), TRS_8(M, V, h, j + 8)

/* The shuffles' numbers must be constants, which only a macro can pass on. */
#define TRS_STEP(VECTOR, V, h)                                              \
  for (int i = 0; i < V; i++)                                               \
    if (!(i & h)) {                                                         \
      const VECTOR a = r[i], b = r[i + h];                                  \
      r[i] = __builtin_shufflevector(a, b, TRS_##V(TRS_LOW, V, h, 0));      \
      r[i + h] = __builtin_shufflevector(a, b, TRS_##V(TRS_HIGH, V, h, 0)); \
    }

static inline __attribute__((always_inline)) void trs_transpose_double(trs_double_vector *r) {
#if defined(__AVX512F__)
  TRS_STEP(trs_double_vector, 8, 1)
  TRS_STEP(trs_double_vector, 8, 2)
  TRS_STEP(trs_double_vector, 8, 4)
#elif defined(__AVX__)
  TRS_STEP(trs_double_vector, 4, 1)
  TRS_STEP(trs_double_vector, 4, 2)
#else
  TRS_STEP(trs_double_vector, 2, 1)
#endif
}

static inline __attribute__((always_inline)) void trs_transpose_float(trs_float_vector *r) {
#if defined(__AVX512F__)
  TRS_STEP(trs_float_vector, 16, 1)
  TRS_STEP(trs_float_vector, 16, 2)
  TRS_STEP(trs_float_vector, 16, 4)
  TRS_STEP(trs_float_vector, 16, 8)
#elif defined(__AVX__)
  TRS_STEP(trs_float_vector, 8, 1)
  TRS_STEP(trs_float_vector, 8, 2)
  TRS_STEP(trs_float_vector, 8, 4)
#else
  TRS_STEP(trs_float_vector, 4, 1)
  TRS_STEP(trs_float_vector, 4, 2)
#endif
}

#undef TRS_STEP
#undef TRS_LOW
#undef TRS_HIGH
#undef TRS_2
#undef TRS_4
#undef TRS_8
#undef TRS_16

#else

static inline void trs_transpose_double(trs_double_vector *r) { (void)r; }
static inline void trs_transpose_float(trs_float_vector *r) { (void)r; }

#endif
#endif
