/* cpu.c - selects the instruction level. */
#include "base/cpu.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if TRS_ISA_LEVELS > 1
#include <cpuid.h>
#endif

static const char *const names[] = {"baseline", "avx2", "avx512"};

/* The instructions that CMake's flags for each level allow (cmake/TriremeCompiler.cmake). */
#if TRS_ISA_LEVELS > 1
static bool has_f16c(void) { /* older compilers have no name for it in __builtin_cpu_supports */
  unsigned a, b, c, d;
  return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

static bool has_avx2(void) {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && has_f16c();
}

static bool has_avx512(void) {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
}

static trs_isa highest(void) {
  if (!has_avx2()) return TRS_ISA_BASELINE;
  return has_avx512() ? TRS_ISA_AVX512 : TRS_ISA_AVX2;
}
#else
static trs_isa highest(void) { return TRS_ISA_BASELINE; }
#endif

/* The level that TRIREME_ISA names, or -1. */
static int named(void) {
  const char *text = getenv("TRIREME_ISA");
  for (int isa = 0; text && isa < TRS_ISA_LEVELS; isa++)
    if (strcmp(text, names[isa]) == 0) return isa;
  return -1;
}

trs_isa trs_isa_now(void) {
  static _Atomic int now = -1;
  int isa = atomic_load_explicit(&now, memory_order_relaxed);
  if (isa >= 0) return (trs_isa)isa;
  int most = (int)highest(), wanted = named();
  isa = wanted >= 0 && wanted < most ? wanted : most;
  atomic_store_explicit(&now, isa, memory_order_relaxed);
  return (trs_isa)isa;
}

trs_status trs_isa_check(void) {
  const char *text = getenv("TRIREME_ISA");
  if (!text || !*text) return TRS_SUCCESS;
  if (named() > (int)highest())
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "TRIREME_ISA is %s, which this processor does not have: its highest level is "
                    "%s",
                    text, names[highest()]);
  if (named() >= 0) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_ARGUMENT, -1, "TRIREME_ISA is \"%.40s\"; this build has the level%s",
                  text, TRS_ISA_LEVELS > 1 ? "s baseline, avx2 and avx512" : " baseline alone");
}

static char shown[64];

static void write_text(void) {
  if (TRS_ISA_LEVELS > 1)
    snprintf(shown, sizeof shown, "%s, of baseline, avx2 and avx512", names[trs_isa_now()]);
  else
    snprintf(shown, sizeof shown, "baseline alone, compiled for %s",
             *TRS_ARCH ? TRS_ARCH : "the compiler's default");
}

const char *trs_isa_text(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  const char *asked = getenv("TRIREME_ISA");
  if (asked && *asked && (named() < 0 || named() > (int)highest()))
    return "not available: TRIREME_ISA names no level of this build and processor";
  pthread_once(&once, write_text);
  return shown;
}
