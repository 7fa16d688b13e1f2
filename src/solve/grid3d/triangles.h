/* triangles.h - a rank's own supernodes of L and U as triangular matrices.
 *
 * Rows are those of the part's array of rows.  Its supernodes are sorted by height, so the rows
 * that grids share come last, and all ancestors of a row come after it.  At the end are the rows of
 * other ranks' supernodes that the panels touch, with ones on the diagonal: in L they collect sums,
 * in U their x is known.  L is one lower triangle.
 *
 * U is split by height.  Each grid must compute the same bits of x of a shared ancestor, and the
 * order of a row's sum depends on the matrix that contains the row.  The triangle of height h has
 * the rows of that height, and the rows above, whose x is known, with ones on the diagonal.  It is
 * the same on all grids that share these rows. */
#ifndef TRS_SOLVE_GRID3D_TRIANGLES_H
#define TRS_SOLVE_GRID3D_TRIANGLES_H

#include "solve/grid3d/fill.h"

typedef struct trs_grid_triangle {
  bool upper;       /* U, by rows; else L, by columns */
  int height;       /* U */
  int64_t from, to; /* number of the part's supernodes in it; all rows behind them have ones on the
                       diagonal */
  int64_t first_row, n; /* its rows: the part's rows first_row .. first_row + n */
  bool unit;            /* the diagonal is not stored */
} trs_grid_triangle;

/* Selects the triangle; height is for U only. */
trs_grid_triangle trs_grid_triangle_of(const trs_rank_part *part, bool upper, int height,
                                       bool unit);

/* Diagonal entries as in trs_fill_check; sets those of a unit diagonal. */
trs_status trs_grid_triangles_check(const trs_filler *f, const bool unit[2],
                                    const int32_t *row_perm);

/* The matrix without its zeros, from entries that are filled in and not inverted.  O(numbers of the
 * dense panels). */
trs_status trs_grid_triangle_take(const trs_filler *f, const trs_grid_triangle *T, trs_matrix **A);

#endif
