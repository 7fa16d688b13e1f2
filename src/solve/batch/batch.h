/* batch.h - many systems with one pattern: the object inside the opaque trs_batch. */
#ifndef TRS_SOLVE_BATCH_BATCH_H
#define TRS_SOLVE_BATCH_BATCH_H

#include "backend/context.h"
#include "base/guard.h"
#include "factor/factors.h"
#include "matrix/rhs.h"
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

struct trs_batch {
  trs_guard guard; /* refuses nothing because single systems failed */
  trs_context *context;
  int64_t n;
  trs_scalar scalar;
  int64_t count, groups;
  int width;   /* right-hand sides of a system that the workspaces have room for */
  int threads; /* at most; each has a workspace */
  bool filled; /* it has values */

  trs_batch_triangle triangle[2]; /* in the order of their sweeps */
  int triangles;                  /* 2: of factors */
  int of_L, of_U;                 /* their places in `triangle` */
  bool hermitian;                 /* U = L^H: both take the values of L */
  trs_batch_order b_order, x_order;
  int32_t *b_place, *x_place; /* the arrays of these orders */
  double *b_scale, *x_scale;

  void *work;                  /* threads x n x width numbers */
  int64_t first_fault, faults; /* the first system that has no solution; how many */

  trs_batch_gpu *gpu; /* of a context with a GPU; else NULL: values and work are there */
};

/* The caller's values of a triangle: those of system s begin at val + s * stride elements. */
typedef struct trs_batch_given {
  const void *val;
  int64_t stride;
} trs_batch_given;

/* As trs_batch_create, trs_batch_create_factors, trs_batch_update and trs_batch_solve, for
 * arguments that are checked.  given: of each triangle. */
trs_status trs_batch_make(trs_batch **B, trs_context *context, const trs_matrix *A, trs_uplo uplo,
                          trs_trans trans, trs_diag diag, int64_t count,
                          const trs_batch_options *options);
trs_status trs_batch_make_factors(trs_batch **B, trs_context *context, const trs_factors *F,
                                  trs_trans trans, int64_t count, const trs_batch_options *options);
trs_status trs_batch_fill(trs_batch *B, const trs_batch_given *given);

/* rhs: of the first system; b_next and x_next: elements from one system to the next. */
trs_status trs_batch_run(trs_batch *B, const trs_rhs *rhs, int64_t b_next, int64_t x_next);

/* What the context's GPU does for the functions above. */
trs_status trs_batch_gpu_make(trs_batch *B, int64_t nrhs);
bool trs_batch_gpu_keeps_pattern(const trs_batch *B, int triangle);
void trs_batch_gpu_drop(trs_batch *B); /* gpu may be NULL or incomplete */
trs_status trs_batch_gpu_fill(trs_batch *B, const trs_batch_given *given);
trs_status trs_batch_gpu_run(trs_batch *B, const trs_rhs *rhs, int64_t b_next, int64_t x_next);
trs_status trs_batch_gpu_use_stream(trs_batch *B, trs_stream stream);
void trs_batch_gpu_info(const trs_batch *B, trs_batch_info *info);

int64_t trs_batch_bytes(const trs_batch *B);

#endif
