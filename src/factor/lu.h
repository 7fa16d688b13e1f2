/* lu.h - what the ways to eliminate in complete LU share: in this process, row by row with pivots
 * on the diagonal (lu_diagonal.c) or column by column (lu_columns.c), and SuperLU in a worker
 * process (lu_worker.c). */
#ifndef TRS_FACTOR_LU_H
#define TRS_FACTOR_LU_H

#include "factor/kinds.h"

typedef struct lu_work {
  const trs_factor_input *input;
  int64_t n;
  size_t size;        /* of a value in bytes */
  int32_t *ptr, *idx; /* the scaled matrix by columns */
  void *val;
  int32_t *perm_r; /* row i of B becomes row perm_r[i] */
} lu_work;

/* The most columns of a supernode: SuperLU's, worker/programs/superlu.c. */
enum { TRS_LU_WIDEST = 200 };

/* Where an elimination in this process stops. */
typedef struct lu_limits {
  double entries;    /* of L and U */
  double operations; /* multiplications and subtractions */
} lu_limits;

/* Each sets perm_r and the supernodes, L and U of parts. */

/* *stopped: a pivot would leave the diagonal, the fill is not known, or entries lack a mirror, and
 * nothing is set.  parts has scales in the order of B. */
trs_status trs_lu_diagonal(trs_factors *parts, lu_work *w, bool *stopped);

/* *stopped: the limits were reached, and nothing is set. */
trs_status trs_lu_columns(trs_factors *parts, lu_work *w, lu_limits limits, bool *stopped);

/* Frees the matrix by columns once it is sent. */
trs_status trs_lu_worker(trs_factors *parts, lu_work *w);

/* The scaled matrix by columns, or its pattern alone.  parts has scales in the order of B. */
trs_status trs_lu_make_columns(lu_work *w, const trs_factors *parts, bool values);
void trs_lu_free_columns(lu_work *w);

/* L without its diagonal, or U (upper), by rows in order.  Takes ownership of the arrays. */
trs_status trs_lu_adopt(trs_matrix **T, const lu_work *w, bool upper, int64_t *ptr, int32_t *idx,
                        void *val);

/* The error of a matrix whose column has no pivot. */
trs_status trs_lu_singular(const lu_work *w, int64_t column);

#endif
