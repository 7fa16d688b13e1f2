/* structure.h - a rank's plan of a distributed solve without numbers: the layout and the parts of
 * grid3d, created from a symbolic factorisation.  The sweeps over them are grid3d's own, and send
 * messages of the right size; x, sums and messages of a rank share a few buffers. */
#ifndef TRS_SIMULATE_STRUCTURE_H
#define TRS_SIMULATE_STRUCTURE_H

#include "simulate/symbolic.h"
#include "solve/grid3d/grid3d.h"

/* TRS_ERROR_ARGUMENT: pz is not a power of two, or larger than the tree. */
trs_status trs_structure_layout(trs_grid_layout *layout, const trs_symbolic *s,
                                trs_grid_shape shape, bool scattered);

/* A solver for nrhs right-hand sides whose layout belongs to the caller; sends no messages.  The
 * function below must free it, because trs_grid_solver_destroy would free the layout too. */
trs_status trs_structure_solver(trs_grid_solver *solver, trs_ranks *ranks,
                                const trs_grid_layout *layout, const trs_grid_options *options);
void trs_structure_release(trs_grid_solver *solver);

/* Numbers in L and U, and multiplications and additions per right-hand side, on a single rank. */
typedef struct trs_structure_size {
  double values, flops;
} trs_structure_size;
trs_structure_size trs_structure_sizes(const trs_grid_layout *layout);

#endif
