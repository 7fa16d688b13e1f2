/* vectors.h - solves and refinement for the caller's b and x, on the host or in device memory. */
#ifndef TRS_SOLVE_GRID3D_VECTORS_H
#define TRS_SOLVE_GRID3D_VECTORS_H

#include "matrix/matrix.h"
#include "matrix/rhs.h"
#include "solve/grid3d/grid3d.h"

/* rhs: the caller's arrays, this rank's rows.  With a GPU they may lie in device memory, and the
 * work of the solver's stream is done first. */

/* Collective.  status: the outcome of this rank's checks; the failure of one rank becomes that of
 * all. */
TRS_API trs_status trs_grid_vectors_solve(trs_grid_solver *solver, trs_status status,
                                          const trs_rhs *rhs);

/* refine.h. */
TRS_API trs_status trs_grid_vectors_refine(trs_grid_solver *solver, trs_status status,
                                           const trs_rhs *rhs, const trs_matrix *rows, int steps,
                                           double *error, int *taken);

#endif
