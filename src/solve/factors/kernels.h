/* kernels.h - permutation and scaling of right-hand sides before the sweeps and of solutions after
 * them, for each element type: kernels.c, compiled for each level of instructions (base/cpu.h). */
#ifndef TRS_SOLVE_FACTORS_KERNELS_H
#define TRS_SOLVE_FACTORS_KERNELS_H

#include "base/cpu.h"
#include "plan/mover.h"

typedef struct trs_move_job {
  const trs_moves *moves;
  const trs_rhs *rhs;
  void *work;
  int64_t n, first;
  int width; /* right-hand sides in the tile */
} trs_move_job;

/* Functions of a team's run: b into work, work into x. */
typedef struct trs_move_kernels {
  void (*gather[TRS_NSCALARS])(void *job, int rank, int size);
  void (*scatter[TRS_NSCALARS])(void *job, int rank, int size);
} trs_move_kernels;

extern const trs_move_kernels trs_move_kernels_baseline, trs_move_kernels_avx2,
    trs_move_kernels_avx512;

#endif
