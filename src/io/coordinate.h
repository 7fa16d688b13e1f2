/* coordinate.h - the state of reading a coordinate file into a CSR matrix; shared by coordinate.c
 * and its templates. */
#ifndef TRS_IO_COORDINATE_H
#define TRS_IO_COORDINATE_H

#include <stdatomic.h>

#include "io/body.h"
#include "matrix/matrix.h"

typedef struct trs_coordinate {
  const trs_body *body;
  int64_t nrows, ncols, nnz; /* nnz: of the full matrix, with repeats */
  bool nonfinite;            /* such values are allowed */
  const trs_selection *only; /* NULL: everything, by rows */

  /* next[group * nrows + row]: first a count of entries, then the position of the next one.  A
   * group is a range of members that share a row of counters.  There are as many groups as memory
   * allows, at most one per member. */
  int groups;
  int64_t *next;
  int64_t *partial;  /* size: each member's entries during the count, then those of its rows */
  int64_t *bad_sums; /* size: each member's first row with an overflowing sum, or -1 */
  double from, to;   /* the fractions of this pass before and after the current lines */
  int64_t *ptr;      /* the matrix */
  int32_t *idx;
  void *val;
  atomic_bool failed;       /* a line is bad */
  atomic_bool above, below; /* a symmetric file has an entry there; it may hold one triangle only */
  atomic_bool repeats;      /* a row has become shorter; its new length is in next */
} trs_coordinate;

static inline int trs_coordinate_group(const trs_coordinate *c, int rank) {
  return (int)((int64_t)rank * c->groups / c->body->size);
}

/* True if entry (i, j) is selected; then *i becomes its vector and *j its index. */
static inline bool trs_coordinate_selects(const trs_coordinate *c, int64_t *i, int64_t *j) {
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

/* Counts an entry of a row, or reserves its position.  alone: no other member uses these
 * counters. */
static inline int64_t trs_next_place(int64_t *next, int64_t row, bool alone) {
  if (alone) return next[row]++;
  return atomic_fetch_add_explicit((_Atomic int64_t *)&next[row], 1, memory_order_relaxed);
}

/* The values of a pattern that was read into a CSR matrix, as those of a Matrix Market file. */
void trs_pattern_values(trs_matrix *A, bool symmetric, const trs_reading *reading);

/* The rows of member rank, with about as many entries as any other member's. */
void trs_coordinate_rows(const trs_coordinate *c, int rank, int64_t *begin, int64_t *end);

#endif
