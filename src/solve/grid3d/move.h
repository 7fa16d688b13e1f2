/* move.h - right-hand sides from where the application has them to the ranks that own their
 * supernodes, and solutions back.
 *
 * Each rank has a run of rows of b and x; all of them on rank 0 is one such partition.  The owner
 * of a supernode is the process of its diagonal block on its smallest grid. */
#ifndef TRS_SOLVE_GRID3D_MOVE_H
#define TRS_SOLVE_GRID3D_MOVE_H

#include "comm/ranks.h"
#include "solve/grid3d/part.h"

/* Where the rows of L and U come from: L U = P_r D_r A D_c P_c^T, arrays of n or NULL. */
typedef struct trs_grid_maps {
  int32_t *row_perm, *col_perm;
  double *row_scale, *col_scale;
} trs_grid_maps;

/* Rows of the application's, by owner, and rows that this rank owns, by the rank that has them in
 * the application: both in the order of L's rows. */
typedef struct trs_move {
  int64_t *outer_ptr, *inner_ptr; /* ranks + 1 */
  int32_t *outer;                 /* rows, from this rank's first on */
  int32_t *inner;                 /* places in the list of owned rows */
} trs_move;

typedef struct trs_moves {
  int64_t *first; /* ranks + 1: the partition */
  trs_move b, x;
  int64_t nowned;         /* rows */
  int64_t *at_sum, *at_x; /* bytes from the part's base */
  int64_t nrhs;           /* that they are for */
  char *outer, *inner;    /* what is packed */
  int64_t outer_bytes, inner_bytes;
} trs_moves;

/* The rows of this rank are `rows` from `first` on; collective, like all that follow.
 * TRS_ERROR_ARGUMENT: ranks' rows do not follow each other, or are not n. */
trs_status trs_moves_create(trs_moves *moves, const trs_part *part, const trs_grid_maps *maps,
                            trs_ranks *ranks, int64_t first, int64_t rows);
void trs_moves_destroy(trs_moves *moves);

/* For as many right-hand sides as the part is laid out for; not collective, and like the part's it
 * can fail only where they are more than before. */
trs_status trs_moves_reserve(trs_moves *moves, const trs_part *part);

/* b to sums, which were zero; x from the part.  b and x by columns, from this rank's first row. */
trs_status trs_moves_take(trs_moves *moves, const trs_part *part, const trs_grid_maps *maps,
                          trs_ranks *ranks, const void *b, int64_t ldb);
trs_status trs_moves_put(trs_moves *moves, const trs_part *part, const trs_grid_maps *maps,
                         trs_ranks *ranks, void *x, int64_t ldx);

#endif
