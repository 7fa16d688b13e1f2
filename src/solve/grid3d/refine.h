/* refine.h - iterative refinement (Wilkinson): x += A^-1 (b - A x), residuals in higher precision.
 */
#ifndef TRS_SOLVE_GRID3D_REFINE_H
#define TRS_SOLVE_GRID3D_REFINE_H

#include "solve/grid3d/grid3d.h"

/* Collective.  rows: this rank's rows of A, with all columns; NULL if it has none.  Takes at most
 * `steps` solves.  Ends when the componentwise backward error, *error, no longer halves or has
 * reached the rounding of one operation.  *taken: steps whose x was kept. */
trs_status trs_grid_refine(trs_grid_solver *solver, const trs_matrix *rows, const trs_rhs *rhs,
                           int steps, double *error, int *taken);

#endif
