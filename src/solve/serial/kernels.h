/* kernels.h - substitution for each element type: kernels.c, compiled for each level of
 * instructions (base/cpu.h). */
#ifndef TRS_SOLVE_SERIAL_KERNELS_H
#define TRS_SOLVE_SERIAL_KERNELS_H

#include "base/cpu.h"
#include "plan/plan.h"
#include "solve/serial/once.h"

typedef struct trs_serial_kernels {
  /* chained: rows are short and need the x computed just before. */
  void (*by_rows[TRS_NSCALARS])(const trs_system *S, const trs_rhs *rhs, bool chained);
  void (*by_columns[TRS_NSCALARS])(const trs_system *S, const trs_rhs *rhs);
  void (*once_by_rows[TRS_NSCALARS])(trs_once *o, void *x, const void *b);
  void (*once_by_columns[TRS_NSCALARS])(trs_once *o, void *x, const void *b);
} trs_serial_kernels;

extern const trs_serial_kernels trs_serial_kernels_baseline, trs_serial_kernels_avx2,
    trs_serial_kernels_avx512;

#endif
