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

/* The same for trs_grid_refine. */
TRS_API trs_status trs_grid_vectors_refine(trs_grid_solver *solver, trs_status status,
                                           const trs_rhs *rhs, const trs_matrix *rows, int steps,
                                           double *error, int *taken);

/* refine.c, collective: iterative refinement (Wilkinson), x += A^-1 (b - A x), residuals in higher
 * precision.  rows: this rank's rows of A, with all columns; NULL if it has none.  Takes at most
 * `steps` solves.  Ends when the componentwise backward error, *error, no longer halves or has
 * reached the rounding of one operation.  *taken: steps whose x was kept. */
trs_status trs_grid_refine(trs_grid_solver *solver, const trs_matrix *rows, const trs_rhs *rhs,
                           int steps, double *error, int *taken);

#endif
