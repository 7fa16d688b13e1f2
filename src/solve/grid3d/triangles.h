/* triangles.h - what a rank's own supernodes have of L and U, as triangular matrices.
 *
 * Rows are those of the part's array of rows: its supernodes by height, so that the rows which
 * grids share stand last, and what stands above a row stands behind it; behind all stand the rows
 * of supernodes that are not its own and that its panels touch, ones on the diagonal: in L they
 * gather sums, in U their x is known.  L is one lower triangle.
 * U is cut by height, for each grid must find the same bits for x of a shared ancestor, and how a
 * row is added up goes by the matrix that it stands in: the triangle of height h has the rows of
 * that height, and as ones on the diagonal the rows above, whose x is known.  It is the same on all
 * grids that share these rows. */
#ifndef TRS_SOLVE_GRID3D_TRIANGLES_H
#define TRS_SOLVE_GRID3D_TRIANGLES_H

#include "solve/grid3d/fill.h"

typedef struct trs_grid_triangle {
  int which;            /* 0: L, by columns; 1: U, by rows */
  int height;           /* U */
  int64_t from, to;     /* supernodes of the part that it has; all rows behind them are ones */
  int64_t first_row, n; /* its rows: first_row .. first_row + n of the part's */
  bool unit;            /* the diagonal is not stored */
} trs_grid_triangle;

/* Which triangle; height is U's alone. */
trs_grid_triangle trs_grid_triangle_of(const trs_part *part, int which, int height, bool unit);

/* Diagonal entries as trs_fill_check has them; sets those of a unit diagonal. */
trs_status trs_grid_triangles_check(const trs_filler *f, const bool unit[2],
                                    const int32_t *row_perm);

/* The matrix, from entries that are filled in and not inverted, without those that are zero.
 * O(numbers of the dense panels). */
trs_status trs_grid_triangle_take(const trs_filler *f, const trs_grid_triangle *T, trs_matrix **A);

#endif
