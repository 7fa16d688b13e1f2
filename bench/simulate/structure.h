/* structure.h - a rank's plan of a distributed solve without any numbers: the layout and the parts
 * of grid3d made from a symbolic factorisation.  The sweeps over them are grid3d's own, and send
 * messages of the right size; x, sums and messages of a rank all share a few buffers. */
#ifndef TRS_SIMULATE_STRUCTURE_H
#define TRS_SIMULATE_STRUCTURE_H

#include "simulate/symbolic.h"
#include "solve/grid3d/grid3d.h"

/* TRS_ERROR_ARGUMENT: pz is no power of two, or larger than the tree. */
trs_status trs_structure_layout(trs_grid_layout *layout, const trs_symbolic *s,
                                trs_grid_shape shape, bool scattered);

/* A solver whose layout is the caller's, for nrhs right-hand sides; nothing is sent.  It is to be
 * released by the function below, for trs_grid_solver_destroy would take the layout with it. */
trs_status trs_structure_solver(trs_grid_solver *solver, trs_ranks *ranks,
                                const trs_grid_layout *layout, const trs_grid_options *options);
void trs_structure_release(trs_grid_solver *solver);

/* Numbers in L and U, and multiplications and additions for a right-hand side, of one rank alone.
 */
typedef struct trs_structure_size {
  double values, flops;
} trs_structure_size;
trs_structure_size trs_structure_sizes(const trs_grid_layout *layout);

#endif
