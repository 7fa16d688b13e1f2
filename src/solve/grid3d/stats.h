/* stats.h - statistics of a distributed solve. */
#ifndef TRS_SOLVE_GRID3D_STATS_H
#define TRS_SOLVE_GRID3D_STATS_H

#include "solve/grid3d/grid3d.h"

/* Collective.  Sets all fields except method, invert, backend, gpus and ranks_on_gpu. */
TRS_API trs_status trs_grid_stats(trs_mpi_stats *stats, const trs_grid_solver *solver,
                                  trs_mpi_over over);

#endif
