/* columns.h - solves of columns without gaps. */
#ifndef TRS_TEST_MPI_COLUMNS_H
#define TRS_TEST_MPI_COLUMNS_H

#include "solve/grid3d/grid3d.h"

static inline trs_status solve_columns(trs_grid_solver *solver, void *x, const void *b, int64_t n,
                                       int64_t nrhs) {
  const trs_rhs rhs = trs_rhs_by_columns(x, b, n, nrhs);
  return trs_grid_solver_solve(solver, &rhs);
}

#endif
