/* mpi.h - a plan of ranks, and what the functions of trireme_mpi.h share. */
#ifndef TRS_API_MPI_H
#define TRS_API_MPI_H

#include "trireme_mpi.h"

#include "backend/ranks.h"
#include "base/guard.h"
#include "relax/ranks.h"
#include "solve/grid3d/grid3d.h"

/* Of factors, or of relaxation: relaxation.R is then set. */
struct trs_mpi_plan {
  trs_guard guard;
  trs_ranks ranks;
  trs_grid_solver solver;
  const char *method;
  trs_context *context; /* the caller's, or NULL */
  trs_ranks_gpus gpus;
  trs_ranks_relaxation relaxation;
};

/* A plan with its ranks, on all ranks or on none.  limit: of waits, in seconds.  wrong: this rank's
 * failure before, if it has one. */
trs_status trs_mpi_open(trs_mpi_plan **plan, MPI_Comm comm, double limit, const trs_failure *wrong);

/* After creation, which failed or not. */
trs_status trs_mpi_finish(trs_mpi_plan **plan, trs_status status);

/* Before a call for plans of factors, or of relaxation, which trs_guard_leave ends.  The ranks
 * agree on whether it is cancelled. */
trs_status trs_mpi_enter(trs_mpi_plan *plan, bool relaxes);

trs_status trs_mpi_over_check(trs_mpi_over over);

#endif
