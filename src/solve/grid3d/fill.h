/* fill.h - lists and numbers into a rank's part: entries come in any order, from whoever has them,
 * and go into dense panels; then diagonal blocks and runs' triangles are checked and inverted, and
 * blocks and panels put as ops.h wants them. */
#ifndef TRS_SOLVE_GRID3D_FILL_H
#define TRS_SOLVE_GRID3D_FILL_H

#include "solve/grid3d/part.h"

typedef struct trs_filler {
  trs_part *part;
  int32_t *owner;     /* n: the supernode of a column */
  int64_t *at[2];     /* count: where a dense panel begins, or -1: it is not wanted here */
  int32_t *cursor[2]; /* count: where in its list the last entry stood */
  void *dense[2];     /* width x width by columns, then the list's length x width by rows; behind
                         all panels the triangles of runs, by columns */
  int64_t *run_at[2]; /* nruns: where a run's triangle begins, or -1 */
} trs_filler;

trs_status trs_fill_begin(trs_filler *f, trs_part *part);

/* Where entry (i, j) of L (which 0) or U goes: a place in dense[which]; -1: not to this rank; -2:
 * nowhere, it has no place in the pattern. */
int64_t trs_fill_place(trs_filler *f, int which, int64_t i, int64_t j);

/* Inverts runs' triangles; refused[r] is set where the inverse of run r would lose too many digits
 * here.  Then, and before the end, all ranks have to agree on another layout or on this one. */
trs_status trs_fill_invert(trs_filler *f, const bool unit[2], const int32_t *row_perm,
                           int8_t *refused);

/* Finishes the part, and releases the filler.  TRS_ERROR_ZERO_PIVOT, TRS_ERROR_NOT_FINITE: a
 * diagonal entry; unit: L's diagonal is ones, U's likewise; row_perm: rows' names, or NULL. */
trs_status trs_fill_end(trs_filler *f, const bool unit[2], const int32_t *row_perm);
void trs_fill_abandon(trs_filler *f);

#endif
