/* plans.h - solves a rank's own supernodes by plans of the library's methods, on a GPU or on
 * threads (L23, section 3.4: at Px = Py = 1 each grid is one GPU that solves L^z, then U^z).  On
 * grids of several ranks, each with a GPU, gpus.h solves the supernodes distributed over them.
 *
 * Matrices, rows and sums lie in the memory of the context's methods: device memory for a GPU. Only
 * rows that grids share are sent between the sweeps, from device memory if MPI accepts it, else
 * through pinned memory; the device adds them. */
#ifndef TRS_SOLVE_GRID3D_PLANS_H
#define TRS_SOLVE_GRID3D_PLANS_H

#include "backend/context.h"
#include "solve/grid3d/sweep.h"
#include "solve/grid3d/triangles.h"

typedef struct trs_plans_options {
  trs_context *context; /* of one GPU or of the CPU; NULL: no plans, but panels */
  const char *method; /* for L and for the part of U that is not shared; NULL: the context's choice.
                         The shared part always uses that choice: x must have the same bits on all
                         grids, and published methods add in any order */
  int64_t nrhs;       /* expected right-hand sides per solve */
  bool mpi_reads_device; /* MPI accepts device addresses */
  int machine;           /* the same number on all ranks of a machine */
  trs_tree_shape trees;
  bool by_columns; /* grids of several GPUs: L23's Algorithm 5.  Its last bits vary, so if there are
                      several grids U, which they solve redundantly, is swept by rows */
} trs_plans_options;

/* Builds the plans into f->part->solver, instead of trs_fill_end.  Fails as trs_fill_end does, or
 * for lack of memory on the GPU.  Local.  sweep: the part's sweeps of L and U.  Grids of several
 * processes need a GPU. */
trs_status trs_grid_plans_create(trs_filler *f, const bool unit[2], const int32_t *row_perm,
                                 const trs_sweep *const sweep[2], const trs_plans_options *options);

#endif
