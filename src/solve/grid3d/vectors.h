/* vectors.h - solves and refinement for the caller's b and x, on the host or in device memory. */
#ifndef TRS_SOLVE_GRID3D_VECTORS_H
#define TRS_SOLVE_GRID3D_VECTORS_H

#include "matrix/matrix.h"
#include "solve/grid3d/grid3d.h"

/* Collective.  status: the outcome of this rank's checks; the failure of one rank becomes that of
 * all.  b and x: this rank's rows, by columns.  With a GPU they may lie in device memory, and the
 * work of the solver's stream is done first. */
TRS_API trs_status trs_grid_vectors_solve(trs_grid_solver *solver, trs_status status, void *x,
                                          int64_t ldx, const void *b, int64_t ldb, int64_t nrhs);

/* refine.h. */
TRS_API trs_status trs_grid_vectors_refine(trs_grid_solver *solver, trs_status status,
                                           const trs_matrix *rows, void *x, int64_t ldx,
                                           const void *b, int64_t ldb, int64_t nrhs, int steps,
                                           double *error, int *taken);

#endif
