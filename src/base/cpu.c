/* cpu.c - selects the instruction level. */
#include "base/cpu.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if TRS_ISA_LEVELS > 1
#include <cpuid.h>
#endif

static const char *const names[] = {"baseline", "avx2", "avx512"};

/* The instructions that CMake's flags for each level allow (cmake/TriremeCompiler.cmake), by the
 * processor's own words: __builtin_cpu_supports is always 0 with some compilers' run-times. */
#if TRS_ISA_LEVELS > 1
typedef struct features {
  unsigned c1, b7;    /* leaf 1, register c; leaf 7, register b */
  uint64_t registers; /* that the system saves: bits 1 and 2 SSE and AVX, 5 to 7 AVX-512 */
} features;

static uint64_t saved_registers(void) {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t)high << 32 | low;
}

static features ask_processor(void) {
  features f = {0};
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &f.c1, &d)) return (features){0};
  if (!__get_cpuid_count(7, 0, &a, &f.b7, &c, &d)) f.b7 = 0;
  if (f.c1 & bit_OSXSAVE) f.registers = saved_registers();
  return f;
}

static bool all_in(uint64_t has, uint64_t wanted) { return (has & wanted) == wanted; }

static bool has_avx2(const features *f) {
  return all_in(f->registers, 0x06) && all_in(f->c1, bit_AVX | bit_FMA | bit_F16C) &&
         all_in(f->b7, bit_AVX2 | bit_BMI | bit_BMI2);
}

static bool has_avx512(const features *f) {
  return all_in(f->registers, 0xe6) &&
         all_in(f->b7, bit_AVX512F | bit_AVX512VL | bit_AVX512BW | bit_AVX512DQ);
}

static trs_isa highest(void) {
  const features f = ask_processor();
  if (!has_avx2(&f)) return TRS_ISA_BASELINE;
  return has_avx512(&f) ? TRS_ISA_AVX512 : TRS_ISA_AVX2;
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
