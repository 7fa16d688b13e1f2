/* fill.h - lists and numbers into a rank's part: entries come in any order, from whoever has them,
 * and go into dense panels; then diagonal blocks and runs' triangles are checked and inverted, and
 * blocks and panels put as ops.h wants them. */
#ifndef TRS_SOLVE_GRID3D_FILL_H
#define TRS_SOLVE_GRID3D_FILL_H

#include "comm/ranks.h"
#include "solve/grid3d/part.h"

typedef struct trs_filler {
  trs_part *part;
  int32_t *owner;     /* n: the supernode of a column */
  int64_t *at[2];     /* count: where a dense panel begins, or -1: it is not wanted here */
  int32_t *cursor[2]; /* count: where in its list the last entry stood */
  void *dense[2];     /* width x width by columns, then the list's length x width by rows; entries
                         of a run's triangle stand where those of its inverse will */
  bool *solved[2];    /* count: the diagonal block is here and stays as it is */
} trs_filler;

/* The process that keeps the entries of L or U in rows of I and columns of K, which are no upper
 * halves. */
static inline int trs_fill_owner(const trs_part *p, int which, int64_t I, int64_t K) {
  const trs_grid_layout *l = p->layout;
  bool turned = trs_in_one_run(l, I, K);
  int64_t row = turned == !which ? trs_panel_of(l, I) : I;
  int64_t column = turned == !!which ? trs_panel_of(l, K) : K;
  return trs_place_of_block(p, which, row, column);
}

trs_status trs_fill_begin(trs_filler *f, trs_part *part);

/* Where entry (i, j) of L (which 0) or U goes: a place in dense[which]; -1: not to this rank; -2:
 * nowhere, it has no place in the pattern. */
int64_t trs_fill_place(trs_filler *f, int which, int64_t i, int64_t j);

/* runs.c, collective: inverts runs' triangles; refused[r] is set where the inverse of run r would
 * lose too many digits here.  Then, and before the end, all ranks have to agree on another layout
 * or on this one. */
trs_status trs_fill_invert(trs_filler *f, trs_ranks *ranks, const bool unit[2],
                           const int32_t *row_perm, int8_t *refused);

/* Diagonal entries of D, width x width by columns, from column `first` of the factors on: zero or
 * not finite is a failure, of the row that row_perm names. */
trs_status trs_fill_check(const trs_filler *f, int which, int64_t first, int64_t width,
                          const void *D, const int32_t *row_perm);

/* Finishes the part, and releases the filler.  Triangles whose inverse would lose too many digits
 * are not inverted.  TRS_ERROR_ZERO_PIVOT, TRS_ERROR_NOT_FINITE: a
 * diagonal entry; unit: L's diagonal is ones, U's likewise; row_perm: rows' names, or NULL. */
trs_status trs_fill_end(trs_filler *f, const bool unit[2], const int32_t *row_perm);
void trs_fill_abandon(trs_filler *f);

#endif
