/* kernels.h - the sweep over panels for each real element type: kernels.c, compiled for each level
 * of instructions (base/cpu.h). */
#ifndef TRS_SOLVE_PANELS_KERNELS_H
#define TRS_SOLVE_PANELS_KERNELS_H

#include "analysis/panels.h"
#include "base/cpu.h"
#include "plan/plan.h"
#include "plan/wide.h"

typedef struct trs_panels_state {
  trs_panels panels;
  void
      *values; /* the diagonal of each diagonal block is inverted; a vector may be read past them */
  int spaces;  /* workspaces */
  void *work;  /* spaces x (n x TRS_WIDE, by place, of which one right-hand side uses the first n,
                  and  TRS_PANELS_LINES products) */
  int32_t *row; /* n: the row at each place of a backward sweep; NULL in a forward sweep */
} trs_panels_state;

/* The rows of a panel whose products are computed before they are subtracted. */
enum { TRS_PANELS_LINES = 512 };

typedef struct trs_panels_kernels {
  /* Right-hand sides r .. r + width - 1, in one of the workspaces; NULL for complex types. */
  void (*sweep[TRS_NSCALARS])(const trs_panels_state *state, const trs_rhs *rhs, int64_t r,
                              int width, int space);
  /* Replaces the diagonal by its reciprocals. */
  void (*prepare[TRS_NSCALARS])(const trs_panels_state *state);
} trs_panels_kernels;

extern const trs_panels_kernels trs_panels_kernels_baseline, trs_panels_kernels_avx2,
    trs_panels_kernels_avx512;

#endif
