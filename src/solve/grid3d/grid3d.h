/* grid3d.h - A x = b from LU factors on Px x Py x Pz ranks, by three algorithms:
 *   grid3d           L23, Algorithm 1: L-solve on every grid, one sparse allreduce, U-solve
 *   grid3d-baseline  L23, section 2.2: level by level over the separator tree, grids meeting in
 *                    pairs between levels; fewer and fewer grids work
 *   grid2d           Pz = 1 */
#ifndef TRS_SOLVE_GRID3D_GRID3D_H
#define TRS_SOLVE_GRID3D_GRID3D_H

#include "solve/grid3d/exchange.h"
#include "solve/grid3d/sweep.h"

typedef enum trs_grid_algorithm { TRS_GRID3D = 0, TRS_GRID3D_BASELINE = 1 } trs_grid_algorithm;

typedef struct trs_grid_options {
  trs_grid_algorithm algorithm;
  trs_tree_shape trees;
  trs_grid_shape shape;
  trs_layout_options supernodes;
  int64_t nrhs; /* most right-hand sides that go through together */
} trs_grid_options;

/* Of one solve at one rank. */
typedef struct trs_grid_times {
  trs_sweep_times sweep[2];       /* L, U */
  trs_exchange_times exchange[2]; /* before the U-solve, and within it */
  double total_s;
  int64_t messages, bytes; /* sent, in all */
} trs_grid_times;

typedef struct trs_grid_solver {
  trs_ranks *ranks;
  trs_factors *F;
  trs_grid_options set;
  trs_grid_layout layout;
  trs_part part;
  int nphases;           /* of each sweep: 1, or the tree's levels + 1 */
  trs_sweep *phase[2];   /* L, U */
  trs_slot_list *shared; /* levels: x that 2^(k+1) grids share */
  trs_slot_list *sums;   /* levels: sums that cross in step k; empty for grids that do not */
  void *buffer;          /* what is packed */
  int64_t buffer_bytes;
  int32_t *owned;       /* supernodes by rank that owns their x; on rank 0 those of all */
  int64_t *owned_ptr;   /* size + 1 */
  uint32_t phases_run;  /* for the tags */
  trs_grid_times times; /* of the last solve */
} trs_grid_solver;

/* Collective, and so are all that follow; whatever happens, it happens to all ranks.  F is the same
 * on every rank and kept alive. */
trs_status trs_grid_solver_create(trs_grid_solver *solver, trs_ranks *ranks, const trs_factors *F,
                                  const trs_grid_options *options);
void trs_grid_solver_destroy(trs_grid_solver *solver);

/* b and x count on rank 0 alone: n x nrhs by columns. */
trs_status trs_grid_solver_solve(trs_grid_solver *solver, void *x, int64_t ldx, const void *b,
                                 int64_t ldb, int64_t nrhs);

#endif
