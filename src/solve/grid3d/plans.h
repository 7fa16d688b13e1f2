/* plans.h - a rank's own supernodes solved by plans of the library's own methods, on a GPU or on
 * threads (L23, section 3.4: at Px = Py = 1 each grid is one GPU that solves L^z, then U^z).  On
 * grids of several ranks, each with a GPU, gpus.h solves those that are spread over them.
 *
 * Matrices, rows and sums lie where the context's methods work: of a GPU in its memory.  Only rows
 * that grids share travel between the sweeps, from device memory where MPI reads that, else by way
 * of pinned memory; they are added on the device. */
#ifndef TRS_SOLVE_GRID3D_PLANS_H
#define TRS_SOLVE_GRID3D_PLANS_H

#include "backend/context.h"
#include "solve/grid3d/sweep.h"
#include "solve/grid3d/triangles.h"

typedef struct trs_plans_options {
  trs_context *context;  /* of one GPU or of the CPU; NULL: panels, no plans */
  const char *method;    /* for L and for what of U is not shared; NULL: the context's choice.  What
                            is shared takes that in any case: x must have the same bits on all grids,
                            and published methods add in any order */
  int64_t nrhs;          /* right-hand sides expected in a solve */
  bool mpi_reads_device; /* MPI takes addresses of device memory */
  int machine;           /* the same number on ranks of the same machine */
  trs_tree_shape trees;
} trs_plans_options;

/* Into f->part->solver, in the place of trs_fill_end; fails as that does, and for want of memory on
 * the GPU.  Local.  sweep: the part's, of L and U.  Grids of several processes need a GPU. */
trs_status trs_grid_plans_create(trs_filler *f, const bool unit[2], const int32_t *row_perm,
                                 const trs_sweep *const sweep[2], const trs_plans_options *options);

#endif
