/* move.h - moves right-hand sides from the application's ranks to the ranks that own their
 * supernodes, and solutions back.
 *
 * Each rank has a contiguous range of rows of b and x; all rows on rank 0 is one such partition.
 * The owner of a supernode is the process of its diagonal block on its smallest grid. */
#ifndef TRS_SOLVE_GRID3D_MOVE_H
#define TRS_SOLVE_GRID3D_MOVE_H

#include "matrix/rhs.h"
#include "solve/grid3d/input.h"

/* The application's rows on this rank, by owner; and the rows that this rank owns, by the rank that
 * has them in the application.  Both ascend in the application's rows. */
typedef struct trs_row_move {
  int64_t *outer_ptr, *inner_ptr; /* ranks + 1 */
  int32_t *outer;                 /* rows, relative to this rank's first row */
  int32_t *inner;                 /* positions in the list of owned rows */
} trs_row_move;

typedef struct trs_row_moves {
  int64_t *first; /* ranks + 1: the partition */
  trs_row_move b, x;
  int64_t nowned;         /* rows */
  int64_t *at_sum, *at_x; /* in bytes from the part's base */
  int64_t nrhs;           /* right-hand sides that these offsets are valid for */
  char *outer, *inner;    /* packed messages */
  int64_t outer_bytes, inner_bytes;
} trs_row_moves;

/* Sets the rows of this rank: `rows` from `first` on.  Collective, like all functions below.
 * TRS_ERROR_ARGUMENT: the ranks' rows are not contiguous, or not n in total. */
trs_status trs_row_moves_create(trs_row_moves *moves, const trs_rank_part *part,
                                const trs_grid_maps *maps, trs_ranks *ranks, int64_t first,
                                int64_t rows);
void trs_row_moves_destroy(trs_row_moves *moves);

/* Allocates for as many right-hand sides as the part is laid out for.  Not collective; like
 * trs_part_reserve it can fail only if this number has grown. */
trs_status trs_row_moves_reserve(trs_row_moves *moves, const trs_rank_part *part, trs_ranks *ranks);

/* Moves b to the sums, which must be zero, and x from the part.  rhs: from this rank's first row
 * on. */
trs_status trs_row_moves_take(trs_row_moves *moves, const trs_rank_part *part,
                              const trs_grid_maps *maps, trs_ranks *ranks, const trs_rhs *rhs);
trs_status trs_row_moves_put(trs_row_moves *moves, const trs_rank_part *part,
                             const trs_grid_maps *maps, trs_ranks *ranks, const trs_rhs *rhs);

#endif
