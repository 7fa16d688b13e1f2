/* instantiate.h - compiles one template file for each element type:
 *
 *     #define TRS_TEMPLATE "solve/serial/sweep_tmpl.c"
 *     #include "base/instantiate.h"
 *
 * The template is ordinary C that uses
 *     SCALAR          float, double, float complex, double complex
 *     REAL            float, double, float, double
 *     WIDE, WIDE_REAL a type of higher precision to accumulate residuals in
 *     NAME(f)         f_s, f_d, f_c, f_z; in a kernels.c (base/cpu.h) f_s_avx2, ...
 *     MUL(a, b)       the product, without the NaN correction of C's complex product
 *     DIV(a, b)       the quotient, likewise
 *     CONJ(a), ABS(a), IS_COMPLEX, LETTER
 *     TRS_INLINE      replaces static inline where literal arguments must reach the loops
 *     TRS_ROLLED      before a loop over the entries of a row, whose number varies: unrolled, as
 *                     clang does it, it has one more branch that the processor guesses wrong
 * TRS_TABLE(f) collects the four instances of f in a table indexed by trs_scalar. */
#include "base/scalar.h"

#ifndef TRS_TABLE
#define TRS_CONCAT_(f, letter) f##_##letter
#define TRS_CONCAT(f, letter) TRS_CONCAT_(f, letter)
#ifndef TRS_ISA
#define TRS_ISA_NAME(f) f
#endif
#define TRS_TABLE(f)                                                           \
  {                                                                            \
    [TRS_FLOAT] = TRS_ISA_NAME(f##_s), [TRS_DOUBLE] = TRS_ISA_NAME(f##_d),     \
    [TRS_SCOMPLEX] = TRS_ISA_NAME(f##_c), [TRS_DCOMPLEX] = TRS_ISA_NAME(f##_z) \
  }
#define TRS_INLINE static inline __attribute__((always_inline))
#ifdef __clang__
#define TRS_ROLLED _Pragma("clang loop unroll(disable)")
#else
#define TRS_ROLLED
#endif
#endif

#define NAME(f) TRS_ISA_NAME(TRS_CONCAT(f, LETTER))

#define LETTER s
#define SCALAR float
#define REAL float
#define WIDE double
#define WIDE_REAL double
#define IS_COMPLEX 0
#define MUL(a, b) ((a) * (b))
#define DIV(a, b) ((a) / (b))
#define CONJ(a) (a)
#define ABS(a) fabsf(a)
#include "base/instance.h"

#define LETTER d
#define SCALAR double
#define REAL double
#define WIDE long double
#define WIDE_REAL long double
#define IS_COMPLEX 0
#define MUL(a, b) ((a) * (b))
#define DIV(a, b) ((a) / (b))
#define CONJ(a) (a)
#define ABS(a) fabs(a)
#include "base/instance.h"

#define LETTER c
#define SCALAR float complex
#define REAL float
#define WIDE double complex
#define WIDE_REAL double
#define IS_COMPLEX 1
#define MUL(a, b) trs_mul_c(a, b)
#define DIV(a, b) trs_div_c(a, b)
#define CONJ(a) conjf(a)
#define ABS(a) cabsf(a)
#include "base/instance.h"

#define LETTER z
#define SCALAR double complex
#define REAL double
#define WIDE long double complex
#define WIDE_REAL long double
#define IS_COMPLEX 1
#define MUL(a, b) trs_mul_z(a, b)
#define DIV(a, b) trs_div_z(a, b)
#define CONJ(a) conj(a)
#define ABS(a) cabs(a)
#include "base/instance.h"

#undef NAME
#undef TRS_TEMPLATE
