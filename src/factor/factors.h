/* factors.h - the pair of triangles inside the opaque trs_factors. */
#ifndef TRS_FACTOR_FACTORS_H
#define TRS_FACTOR_FACTORS_H

#include "base/guard.h"
#include "matrix/matrix.h"

/* What refactorisation keeps between calls: refactor.c. */
typedef struct trs_refactoring trs_refactoring;
void trs_refactoring_destroy(trs_refactoring *r);

/* What it keeps on a GPU: gpu.c. */
typedef struct trs_incomplete_gpu trs_incomplete_gpu;

/* The options of trs_factor that new values meet again; zeros if unknown. */
typedef struct trs_factor_recipe {
  trs_uplo uplo;
  bool add_diagonal;
  double shift; /* the first one */
} trs_factor_recipe;

/* L U = P_r D_r A D_c P_c^T, as trireme.h defines it.  Arrays come from trs_alloc; unknown ones are
 * NULL. Both matrices are n x n, of one scalar type and of either format.  Their diagonals are
 * stored unless unit. */
struct trs_factors {
  atomic_int references;
  trs_factor_kind kind;
  trs_order order;
  char choice[160];  /* of LU's order and rows, and its reason; "" */
  trs_scalar scalar; /* set by trs_factors_adopt from L */
  int64_t n;         /* set by trs_factors_adopt from L */
  trs_matrix *L, *U; /* one reference each */
  bool lent;         /* L and U are the caller's: refactorisation makes copies first */
  trs_diag diag_L, diag_U;
  double shift;                  /* finite, not negative; L U are factors of A + shift diag(A) */
  int32_t *row_perm, *col_perm;  /* n */
  double *row_scale, *col_scale; /* n */
  int64_t nsupernodes;           /* 0: not known */
  int64_t *supernode_ptr;        /* nsupernodes + 1 */
  int64_t tree_nodes;            /* 0: no tree */
  int64_t *tree_ptr;             /* tree_nodes + 1, in postorder: children before parents, */
  int32_t *tree_parent;          /* tree_nodes        a subtree's columns contiguous */
  int32_t *inside; /* of each row of L, the first column of its diagonal block, where its entries
                      are to be compared with pivots; NULL: all are */
  bool is_checked; /* complete LU of this process: adoption finds no fault */
  trs_factor_recipe recipe;
  int levels;      /* of fill, of ILU and IC */
  uint64_t source; /* of these: number of a matrix whose pattern, of IC with its symmetry, is known
                      to be theirs, or 0 */
  trs_refactoring *refactoring; /* of LU; NULL until trs_factors_refactor */
  trs_incomplete_gpu *gpu;      /* of ILU(0) and IC(0); NULL until they are refactored on one */
  trs_matrix *L_here, *U_here;  /* then: L and U as they were in host memory; else NULL */
  trs_guard guard;              /* of refactorisation */
};

/* Creates factors that take ownership of everything in *parts; parts->references, scalar and n are
 * not read.  On failure *parts is released.  Checks everything but what is_checked, so that a
 * damaged file does no harm: shapes and triangles of L and U, permutations, scalings (finite and
 * not zero), supernodes and the separator tree (partitions of the columns), no entry of L or U
 * between two subtrees.  O(n
 * + nnz). */
trs_status trs_factors_adopt(trs_factors **F, const trs_factors *parts);
trs_status trs_factors_check_parts(const trs_factors *parts);

/* Fails unless scale[n] is NULL or finite and not zero.  The name goes into the message. */
trs_status trs_scaling_check(const double *scale, int64_t n, const char *name);

/* Releases the content of *parts, not the struct itself, when there is no adoption. */
void trs_factors_release_parts(const trs_factors *parts);

/* As trs_factor and trs_factors_refactor, which guard the factors and the thread. */
trs_status trs_factor_run(trs_factors **F, const trs_matrix *A, const trs_factor_options *options);
trs_status trs_refactor_run(trs_factors *F, trs_pivots *pivots, trs_context *ctx,
                            const trs_matrix *A);

/* Fails if factors of this kind are never refactored. */
trs_status trs_refactor_kind_check(const trs_factors *F);

/* Fails if the last refactorisation did: what reads L and U for the user calls it first. */
static inline trs_status trs_factors_check(const trs_factors *F) {
  return trs_refusal_check(&F->guard.refusal, "factorisation");
}

/* The same, and trs_matrix_need_host for L and U. */
trs_status trs_factors_need_host(const trs_factors *F, const char *what);

/* Adds a reference; destroy releases one. */
trs_factors *trs_factors_retain(const trs_factors *F);

#endif
