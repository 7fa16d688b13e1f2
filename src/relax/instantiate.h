/* instantiate.h - compiles TRS_TEMPLATE once per storage format (trs_store):
 *
 *     OFF     element of an off-diagonal block      ENCODE(a), DECODE(a) to OFF and back
 *     X       element of dq                         HALF, BFLOAT: OFF is one of the 16-bit formats
 *     SUM     element of D and r, and of all sums   SCALED: blocks have a factor; MARGIN: its power
 *     PRODUCT  type of some blocks' products and of their sums; LANES of them are 32 bytes
 *     NAME(f) f_mixed, f_double, ..., and the level of instructions (base/cpu.h) */
#ifndef TRS_INLINE
#include "base/cpu.h"

#define TRS_CONCAT_(f, letter) f##_##letter
#define TRS_CONCAT(f, letter) TRS_CONCAT_(f, letter)
#define TRS_INLINE static inline __attribute__((always_inline))
#if defined(__clang__) || !defined(__OPTIMIZE__)
#define TRS_UNROLL /* clang does, and gcc warns that it cannot without -O */
#else
#define TRS_UNROLL _Pragma("GCC unroll 8")
#endif
#define TRS_APART static __attribute__((noinline))
#define TRS_RARE static __attribute__((cold, noinline))
#endif
#define NAME(f) TRS_ISA_NAME(TRS_CONCAT(f, STORE))

#define HALF 0
#define BFLOAT 0
#define SCALED 0
#define FACTOR 1
#define MARGIN 0

#define PRODUCT double
#define LANES 4
#define STORE double
#define OFF double
#define X double
#define SUM double
#define ENCODE(a) (a)
#define DECODE(a) (a)
#include TRS_TEMPLATE
#undef STORE
#undef OFF
#undef X
#undef ENCODE
#undef DECODE

#define OFF float
#define X float
#define ENCODE(a) ((float)(a))
#define DECODE(a) (a)
#undef PRODUCT
#undef LANES
#define PRODUCT float
#define LANES 8
#define STORE mixed
#include TRS_TEMPLATE
#undef STORE
#undef SUM

#define STORE float
#define SUM float
#include TRS_TEMPLATE
#undef STORE
#undef SUM
#undef OFF
#undef ENCODE
#undef DECODE

#undef SCALED
#define SCALED 1
#define OFF uint16_t
#define SUM double

#undef HALF
#undef FACTOR
#undef MARGIN
#define HALF 1
#define FACTOR TRS_HALF_FACTOR
#define MARGIN 15
#define STORE half
#define ENCODE(a) trs_half_from((float)(a))
#define DECODE(a) trs_half_small(a)
#include TRS_TEMPLATE
#undef STORE
#undef ENCODE
#undef DECODE
#undef HALF
#undef FACTOR
#undef MARGIN

#undef BFLOAT
#define HALF 0
#define BFLOAT 1
#define FACTOR 1
#define MARGIN 0
#define STORE bfloat
#define ENCODE(a) trs_bfloat_from((float)(a))
#define DECODE(a) trs_bfloat_value(a)
#include TRS_TEMPLATE
#undef STORE
#undef ENCODE
#undef DECODE
#undef OFF
#undef X
#undef SUM
#undef HALF
#undef BFLOAT
#undef SCALED
#undef PRODUCT
#undef LANES
#undef FACTOR
#undef MARGIN

#undef NAME
#undef TRS_TEMPLATE
