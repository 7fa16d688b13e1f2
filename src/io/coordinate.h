/* coordinate.h - a coordinate file on its way into the arrays of a CSR matrix; shared by
 * coordinate.c and its templates. */
#ifndef TRS_IO_COORDINATE_H
#define TRS_IO_COORDINATE_H

#include <stdatomic.h>

#include "io/body.h"

typedef struct trs_coordinate {
  const trs_body *body;
  int64_t nrows, ncols, nnz; /* nnz of the full matrix, repeats included */
  bool nonfinite;            /* such values are welcome */
  const trs_selection *only; /* or NULL: everything, by rows */

  /* next[group * nrows + row]: first a count of entries, then where the next one goes.  A group is
   * a run of members that share a row of counters; there are as many groups as memory allows, at
   * best one a member. */
  int groups;
  int64_t *next;
  int64_t *partial;  /* size: each member's entries (counting), then those of its rows */
  int64_t *bad_sums; /* size: each member's first row with an overflowing sum, or -1 */
  double from, to;   /* of this pass, the share that lies before and behind the lines at hand */
  int64_t *ptr;      /* the matrix */
  int32_t *idx;
  void *val;
  atomic_bool failed;       /* some line is bad */
  atomic_bool above, below; /* a symmetric file has an entry there: it may hold one triangle */
  atomic_bool repeats;      /* some row has become shorter: its new length is in next */
} trs_coordinate;

static inline int trs_coordinate_group(const trs_coordinate *c, int rank) {
  return (int)((int64_t)rank * c->groups / c->body->size);
}

/* Is entry (i, j) wanted?  Then *i becomes its vector, *j its index. */
static inline bool trs_coordinate_takes(const trs_coordinate *c, int64_t *i, int64_t *j) {
  const trs_selection *only = c->only;
  if (!only) return true;
  if (only->uplo != TRS_GENERAL && *i != *j && (only->uplo == TRS_LOWER) != (*i > *j)) return false;
  if (only->format == TRS_CSC) {
    int64_t column = *j;
    *j = *i;
    *i = column;
  }
  return !only->wanted || only->wanted[*i];
}

/* Counts or takes a place in a row; alone: no other member uses these counters. */
static inline int64_t trs_take_place(int64_t *next, int64_t row, bool alone) {
  if (alone) return next[row]++;
  return atomic_fetch_add_explicit((_Atomic int64_t *)&next[row], 1, memory_order_relaxed);
}

/* Rows of which member rank takes care, about as many entries as any other's. */
void trs_coordinate_rows(const trs_coordinate *c, int rank, int64_t *begin, int64_t *end);

#endif
