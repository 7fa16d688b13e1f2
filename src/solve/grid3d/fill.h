/* fill.h - fills a rank's part with lists and numbers.  Entries come in any order from any rank and
 * go into dense panels.  Then diagonal blocks and runs' triangles are checked and inverted, and
 * blocks and panels are stored in the layout of ops.h. */
#ifndef TRS_SOLVE_GRID3D_FILL_H
#define TRS_SOLVE_GRID3D_FILL_H

#include "comm/ranks.h"
#include "solve/grid3d/part.h"

typedef struct trs_filler {
  trs_rank_part *part;
  int32_t *owner;     /* n: the supernode of a column */
  int64_t *at[2];     /* count: offset of a dense panel, or -1: not on this rank */
  int32_t *cursor[2]; /* count: position of the last entry in its list */
  void *dense[2];     /* width x width by columns, then the list's length x width by rows; entries
                         of a run's triangle have the positions of its inverse */
  bool *solved[2];    /* count: the diagonal block is on this rank and is not inverted */
} trs_filler;

/* The process that keeps the entries of L or U in rows of I and columns of K; neither is an upper
 * half. */
static inline int trs_fill_owner(const trs_rank_part *p, bool upper, int64_t I, int64_t K) {
  const trs_grid_layout *l = p->layout;
  bool turned = trs_in_one_run(l, I, K);
  int64_t row = turned == !upper ? trs_panel_of(l, I) : I;
  int64_t column = turned == upper ? trs_panel_of(l, K) : K;
  return trs_place_of_block(p, upper, row, column);
}

trs_status trs_fill_begin(trs_filler *f, trs_rank_part *part);

/* The destination of entry (i, j) of L, or of U if upper: an index into dense[upper]; -1: another
 * rank; -2: none, because the pattern lacks the entry. */
int64_t trs_fill_offset(trs_filler *f, bool upper, int64_t i, int64_t j);

/* runs.c, collective: inverts runs' triangles; sets refused[r] if the inverse of run r would lose
 * too many digits on this rank.  Before the next step or the end, all ranks must agree on another
 * layout or on this one. */
trs_status trs_fill_invert(trs_filler *f, trs_ranks *ranks, const bool unit[2],
                           const int32_t *row_perm, int8_t *refused);

/* Diagonal entries of D, width x width by columns, from column `first` of the factors on.  Zero or
 * not finite is a failure of the row that row_perm names. */
trs_status trs_fill_check(const trs_filler *f, bool upper, int64_t first, int64_t width,
                          const void *D, const int32_t *row_perm);

/* Completes the part and frees the filler.  Triangles whose inverse would lose too many digits are
 * not inverted.  TRS_ERROR_ZERO_PIVOT, TRS_ERROR_NOT_FINITE: a diagonal entry; unit: the diagonal
 * of L, or of U, is ones; row_perm: names of the rows, or NULL. */
trs_status trs_fill_end(trs_filler *f, const bool unit[2], const int32_t *row_perm);
void trs_fill_abandon(trs_filler *f);

#endif
