/* cpu.h - instruction levels.  A portable build for x86-64 compiles each kernels.c three times: for
 * the baseline, for AVX2 and for AVX-512.  The highest level of the processor runs.
 *
 *     extern const trs_x trs_x_baseline, trs_x_avx2, trs_x_avx512;          kernels.h
 *     const trs_x TRS_ISA_NAME(trs_x) = {...};                              kernels.c
 *     TRS_ISA_OF(trs_x, trs_isa_now())->...                                 the caller
 *
 * Every function in a kernels.c is inlined or has its level in its name (NAME, base/instantiate.h).
 * The linker therefore never mixes levels, and a test can distinguish them.  Builds for one
 * processor (TRIREME_ARCH) or for another architecture have one level, named baseline. */
#ifndef TRS_BASE_CPU_H
#define TRS_BASE_CPU_H

#include "base/status.h"

typedef enum trs_isa { TRS_ISA_BASELINE, TRS_ISA_AVX2, TRS_ISA_AVX512 } trs_isa;

/* TRS_ISA: the level that a kernels.c is compiled for.  Such a file does not depend on config.h, so
 * that builds with other features take its object from ccache. */
#ifdef TRS_ISA
#define TRS_ISA_JOIN_(f, isa) f##_##isa
#define TRS_ISA_JOIN(f, isa) TRS_ISA_JOIN_(f, isa)
#define TRS_ISA_NAME(f) TRS_ISA_JOIN(f, TRS_ISA)
#else
#include "base/config.h"
#if TRS_ISA_LEVELS > 1
#define TRS_ISA_OF(f, isa) \
  ((__typeof__(&f##_baseline))trs_isa_pick(isa, &f##_baseline, &f##_avx2, &f##_avx512))
#else
#define TRS_ISA_OF(f, isa) ((void)(isa), &f##_baseline)
#endif

static inline const void *trs_isa_pick(trs_isa isa, const void *baseline, const void *avx2,
                                       const void *avx512) {
  return isa == TRS_ISA_AVX512 ? avx512 : isa == TRS_ISA_AVX2 ? avx2 : baseline;
}
#endif

/* The level in use: the processor's highest, or the lower one that the environment variable
 * TRIREME_ISA names.  It does not change during the life of the process. */
trs_isa trs_isa_now(void);

/* Fails if TRIREME_ISA names no level, or one that the build or the processor lacks. */
trs_status trs_isa_check(void);

/* "avx512, of baseline, avx2 and avx512" */
const char *trs_isa_text(void);

#endif
