/* factors.h - the pair of triangles inside the opaque trs_factors. */
#ifndef TRS_FACTOR_FACTORS_H
#define TRS_FACTOR_FACTORS_H

#include "matrix/matrix.h"

/* L U = P_r D_r A D_c P_c^T, as trireme.h writes it out.  Arrays come from trs_alloc; those that
 * are not known are NULL.  Both matrices are n x n, of one scalar type and either format; their
 * diagonals are stored unless unit. */
struct trs_factors {
  atomic_int references;
  trs_factor_kind kind;
  trs_order order;
  trs_scalar scalar; /* set by trs_factors_adopt from L */
  int64_t n;         /* likewise */
  trs_matrix *L, *U; /* one reference each */
  trs_diag diag_L, diag_U;
  int32_t *row_perm, *col_perm;  /* n */
  double *row_scale, *col_scale; /* n */
  int64_t nsupernodes;           /* 0 when not known */
  int64_t *supernode_ptr;        /* nsupernodes + 1 */
  int64_t tree_nodes;            /* 0 without a tree */
  int64_t *tree_ptr;             /* tree_nodes + 1, in postorder: children before parents, */
  int32_t *tree_parent;          /* tree_nodes        a subtree's columns contiguous */
};

/* Factors that own everything in *parts, whose references, scalar and n are ignored.  On failure
 * it is released.  Checks all there is to check, so that a damaged file does no harm: shapes and
 * sides of L and U, permutations, scalings finite and not zero, supernodes and the separator tree
 * partitions of the columns, no entry of L or U between two subtrees.  O(n + nnz). */
trs_status trs_factors_adopt(trs_factors **F, const trs_factors *parts);

/* Releases what *parts holds, not the struct itself: for those who give up before adoption. */
void trs_factors_release_parts(const trs_factors *parts);

/* trs_matrix_need_host of L and U. */
TRS_API trs_status trs_factors_need_host(const trs_factors *F, const char *what);

/* A reference more: destroy releases one. */
TRS_API trs_factors *trs_factors_retain(const trs_factors *F);

#endif
