/* rhs.h - right-hand sides and solutions: dense arrays of any layout. */
#ifndef TRS_MATRIX_RHS_H
#define TRS_MATRIX_RHS_H

#include "base/scalar.h"
#include "base/status.h"

/* The rows of an array in the order of a sweep: row i is row perm[i] of the array, times
 * scale[perm[i]]. */
typedef struct trs_row_order {
  const int32_t *perm; /* n; NULL: identity */
  const double *scale; /* n; NULL: ones */
} trs_row_order;

static inline bool trs_reorders(const trs_row_order *order) { return order->perm || order->scale; }

/* Right-hand sides and solutions with any layout: element (i, r) of b is b[i * b_row + r * b_col].
 * x and b are the same array or do not overlap. */
typedef struct trs_rhs {
  void *x;
  const void *b;
  int64_t nrhs;
  int64_t x_row, x_col, b_row, b_col; /* in elements */
  int64_t x_next, b_next;             /* of a batch: from one system to the next */
  /* Sweeps over factors, for methods in host memory and those that reorder on a GPU: the orders of
   * b and x, and whether b is a workspace that the sweep may overwrite.  It is one if x is
   * reordered. */
  trs_row_order b_order, x_order;
  bool spare_b;
  /* For vectors distributed over a group: the arrays of each member that this process runs, in that
   * member's memory, instead of x and b.  Only for methods with a share. */
  void *const *x_of;
  const void *const *b_of;
  /* Where x and b lie, for solves on GPUs: asked once for a call (trs_rhs_locate). */
  bool located, there; /* there: in memory that kernels can read */
  int x_gpu, b_gpu;    /* the ordinals of the GPUs that own it; -1: host or managed memory */
} trs_rhs;

/* Checks the dense arguments and turns leading dimensions into strides. */
TRS_API trs_status trs_rhs_make(trs_rhs *rhs, int64_t n, trs_scalar scalar, void *x, int64_t ldx,
                                const void *b, int64_t ldb, int64_t nrhs, trs_layout layout);

/* Columns of n values without gaps. */
static inline trs_rhs trs_rhs_by_columns(void *x, const void *b, int64_t n, int64_t nrhs) {
  return (trs_rhs){.x = x, .b = b, .nrhs = nrhs, .x_row = 1, .x_col = n, .b_row = 1, .b_col = n};
}

/* Finds where x and b lie, unless that is known. */
TRS_API void trs_rhs_locate(trs_rhs *rhs);
TRS_API bool trs_rhs_is_there(const trs_rhs *rhs);

/* x and b of member k of this process, if they are distributed. */
static inline trs_rhs trs_rhs_of_member(const trs_rhs *rhs, int k) {
  trs_rhs own = *rhs;
  if (!rhs->x_of) return own;
  own.x = rhs->x_of[k];
  own.b = rhs->b_of[k];
  own.x_of = NULL;
  own.b_of = NULL;
  own.located = false;
  return own;
}

/* x and b from column first on: `most` columns, or as many as there are. */
trs_rhs trs_rhs_columns(const trs_rhs *rhs, trs_scalar scalar, int64_t first, int64_t most);

#endif
