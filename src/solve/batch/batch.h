/* batch.h - many systems with one pattern: the state of a plan by a method of batches. */
#ifndef TRS_SOLVE_BATCH_BATCH_H
#define TRS_SOLVE_BATCH_BATCH_H

#include "factor/factors.h"
#include "plan/plan.h"
#include "solve/batch/kernels.h"

typedef struct trs_batch_gpu trs_batch_gpu; /* gpu.c */

/* A triangle of all systems. */
typedef struct trs_batch_triangle {
  int64_t *ptr; /* the pattern */
  int32_t *idx;
  trs_system system;        /* of ptr and idx, without values */
  int64_t given;            /* entries of a system in the caller's arrays */
  int64_t *from_ptr, *from; /* trs_batch_source; NULL if the caller's arrays are in order */
  void *val;                /* groups x nnz numbers */
  int64_t *row;             /* groups x lanes: of systems that have no solution, else -1 */
  trs_pivot *pivot;
} trs_batch_triangle;

/* The caller's values of a triangle: those of system s begin at val + s * stride elements. */
typedef struct trs_batch_given {
  const void *val;
  int64_t stride;
} trs_batch_given;

typedef struct trs_batch {
  trs_plan *plan; /* whose state this is; refuses nothing because single systems failed */
  int64_t n;
  trs_scalar scalar;
  int64_t count, groups;
  int width;                    /* right-hand sides of a system that the workspaces have room for */
  int threads;                  /* at most; each has a workspace */
  bool filled;                  /* it has values */
  const trs_batch_given *given; /* of each triangle, during an update */

  trs_batch_triangle triangle[2]; /* in the order of their sweeps */
  int triangles;                  /* 2: of factors */
  int of_L, of_U;                 /* their places in `triangle` */
  bool hermitian;                 /* U = L^H: both take the values of L */
  trs_batch_order b_order, x_order;
  int32_t *b_place, *x_place; /* the arrays of these orders */
  double *b_scale, *x_scale;

  void *work;                  /* threads x n x width numbers */
  int at_once;                 /* systems of a group */
  char method[120];            /* for trs_batch_info */
  int64_t first_fault, faults; /* the first system that has no solution; how many */

  trs_batch_gpu *gpu; /* of a context with a GPU; else NULL: values and work are there */
} trs_batch;

/* As trs_batch_create, trs_batch_create_factors, trs_batch_update and trs_batch_solve, for
 * arguments that are checked.  given: of each triangle.  rhs: of the first system. */
trs_status trs_batch_make(trs_plan **plan, trs_context *context, const trs_matrix *A, trs_uplo uplo,
                          trs_trans trans, trs_diag diag, int64_t count,
                          const trs_batch_options *options);
trs_status trs_batch_make_factors(trs_plan **plan, trs_context *context, const trs_factors *F,
                                  trs_trans trans, int64_t count, const trs_batch_options *options);
trs_status trs_batch_fill(trs_batch *B, const trs_batch_given *given);
trs_status trs_batch_run(trs_batch *B, const trs_rhs *rhs);

/* The method on a GPU, which has no functions in a build without CUDA, and what it shares with that
 * on threads. */
extern const trs_method trs_method_batch_gpu;
static inline trs_batch *trs_batch_of(const trs_plan *plan) { return plan->state; }
int64_t trs_batch_bytes(const trs_plan *plan); /* on the host */
void trs_batch_describe(const trs_plan *plan, char *text, size_t size);
void trs_batch_free(trs_plan *plan);

#endif
