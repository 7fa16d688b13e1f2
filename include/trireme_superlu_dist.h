/* trireme_superlu_dist.h - passes factors of SuperLU_DIST to trs_mpi_analyze_blocks in place.
 * Include it after SuperLU_DIST's own superlu_ddefs.h, superlu_sdefs.h or superlu_zdefs.h.  The
 * library itself contains nothing of SuperLU_DIST.
 *
 *     trs_mpi_blocks blocks = trs_superlu_dist_d(n, &LUstruct, &ScalePermstruct, &grid);
 *     trs_mpi_analyze_blocks(&plan, grid.comm, NULL, &blocks, TRS_NO_TRANS, NULL);
 *
 * The communicator's first ranks are those of the grid, in its order.  With factors of pdgssvx3d,
 * which solves on layer 0, pass grid3d.comm, and &grid3d.grid2d for the grid; ranks of the other
 * layers pass their structures too, which are not read.  With SUPERLU_RANKORDER=XY its first ranks
 * are not layer 0: split it with grid3d.zscp.Iam * nprow * npcol + grid3d.grid2d.iam as key. */
#ifndef TRIREME_SUPERLU_DIST_H
#define TRIREME_SUPERLU_DIST_H

#include <string.h>

#include "trireme_mpi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The fields that do not depend on the element type. */
static inline trs_mpi_blocks trs_superlu_dist(trs_scalar scalar, int64_t n,
                                              const Glu_persist_t *persist, const void *perm_r,
                                              const void *perm_c, const gridinfo_t *grid) {
  trs_mpi_blocks b;
  memset(&b, 0, sizeof b); /* C and C++ have no common initialiser without warnings */
  b.struct_size = sizeof b;
  b.scalar = scalar;
  b.index_bytes = (int)sizeof(int_t);
  b.scale_bytes = scalar == TRS_FLOAT ? 4 : 8;
  b.px = (int)grid->nprow;
  b.py = (int)grid->npcol;
  b.n = n;
  b.nsupers = n > 0 ? (int64_t)persist->supno[n - 1] + 1 : 0;
  b.xsup = persist->xsup;
  b.perm_r = perm_r;
  b.perm_c = perm_c;
  return b;
}

#ifdef __SUPERLU_DDEFS
static inline trs_mpi_blocks trs_superlu_dist_d(int64_t n, const dLUstruct_t *LU,
                                                const dScalePermstruct_t *P,
                                                const gridinfo_t *grid) {
  trs_mpi_blocks b = trs_superlu_dist(TRS_DOUBLE, n, LU->Glu_persist, P->perm_r, P->perm_c, grid);
  b.R = P->DiagScale == ROW || P->DiagScale == BOTH ? P->R : NULL;
  b.C = P->DiagScale == COL || P->DiagScale == BOTH ? P->C : NULL;
  b.L_index = (const void *const *)LU->Llu->Lrowind_bc_ptr;
  b.L_values = (const void *const *)LU->Llu->Lnzval_bc_ptr;
  b.U_index = (const void *const *)LU->Llu->Ufstnz_br_ptr;
  b.U_values = (const void *const *)LU->Llu->Unzval_br_ptr;
  return b;
}
#endif

#ifdef __SUPERLU_SDEFS
static inline trs_mpi_blocks trs_superlu_dist_s(int64_t n, const sLUstruct_t *LU,
                                                const sScalePermstruct_t *P,
                                                const gridinfo_t *grid) {
  trs_mpi_blocks b = trs_superlu_dist(TRS_FLOAT, n, LU->Glu_persist, P->perm_r, P->perm_c, grid);
  b.R = P->DiagScale == ROW || P->DiagScale == BOTH ? P->R : NULL;
  b.C = P->DiagScale == COL || P->DiagScale == BOTH ? P->C : NULL;
  b.L_index = (const void *const *)LU->Llu->Lrowind_bc_ptr;
  b.L_values = (const void *const *)LU->Llu->Lnzval_bc_ptr;
  b.U_index = (const void *const *)LU->Llu->Ufstnz_br_ptr;
  b.U_values = (const void *const *)LU->Llu->Unzval_br_ptr;
  return b;
}
#endif

#ifdef __SUPERLU_ZDEFS
static inline trs_mpi_blocks trs_superlu_dist_z(int64_t n, const zLUstruct_t *LU,
                                                const zScalePermstruct_t *P,
                                                const gridinfo_t *grid) {
  trs_mpi_blocks b = trs_superlu_dist(TRS_DCOMPLEX, n, LU->Glu_persist, P->perm_r, P->perm_c, grid);
  b.R = P->DiagScale == ROW || P->DiagScale == BOTH ? P->R : NULL;
  b.C = P->DiagScale == COL || P->DiagScale == BOTH ? P->C : NULL;
  b.L_index = (const void *const *)LU->Llu->Lrowind_bc_ptr;
  b.L_values = (const void *const *)LU->Llu->Lnzval_bc_ptr;
  b.U_index = (const void *const *)LU->Llu->Ufstnz_br_ptr;
  b.U_values = (const void *const *)LU->Llu->Unzval_br_ptr;
  return b;
}
#endif

#ifdef __cplusplus
}
#endif
#endif
