/* shapes.h - triangular systems by rows, of many shapes, for tests of patterns: grids, chains,
 * nodes of several unknowns, supernodes, long rows, rows that depend on lanes and warps nearby. */
#ifndef TRS_TEST_SHAPES_H
#define TRS_TEST_SHAPES_H

#include "analysis/slice.h"

typedef enum shape {
  SHAPE_DIAGONAL,
  SHAPE_CHAIN,        /* each row depends on the row before it */
  SHAPE_GRID,         /* 5-point, rows of a warp and a little */
  SHAPE_BOX,          /* 27-point */
  SHAPE_NODES,        /* three unknowns per node, 9-point */
  SHAPE_RANDOM,       /* about four entries per row */
  SHAPE_BAND,         /* most of the seven rows before */
  SHAPE_GAPS,         /* rows that depend on one row two, one a warp and one a block of threads
                         before */
  SHAPE_SUPERNODES,   /* dense blocks of 1 to 40 rows, and some entries before them */
  SHAPE_COMBS,        /* chains that are not dense, a few more entries each */
  SHAPE_FIRST_COLUMN, /* all depend on the first */
  SHAPE_LONG_ROWS,    /* random, and every 61st row depends on half of the rows before it */
  SHAPE_LAST_ROW,     /* a grid, and the last row depends on all */
  SHAPE_DENSE,
  SHAPES
} shape;

const char *shape_name(shape kind);

/* Arrays from malloc; shape_free frees them.  diagonal: true: stored; false: stored in some rows
 * only, and the diagonal is one. */
trs_system shape_system(shape kind, int64_t n, trs_scalar scalar, bool lower, bool diagonal);
void shape_free(trs_system *S);

/* Visits every shape in each of the sizes, both triangles, with a diagonal and without, the types
 * in turn; number counts the visits. */
void shapes_of_sizes(const int64_t *sizes, size_t count,
                     void (*visit)(shape kind, const trs_system *S, int number));

/* Multiplies every 29th pivot of a stored diagonal by 1e-9 (1e-6 in float), so that inverses of
 * blocks lose digits. */
void shape_weaken(trs_system *S);

/* Slices of a system stored by rows, values included, on one thread. */
trs_status shape_slices(trs_slices *slices, const trs_system *S, const trs_slice_rules *rules);
/* The same; blocks begin where block_starts (n, or NULL) says so.  Where their inverses lose
 * digits, `cut` (n, or NULL) is set.  *refused: the number of these blocks. */
trs_status shape_slices_cut(trs_slices *slices, const trs_system *S, const trs_slice_rules *rules,
                            const uint8_t *block_starts, uint8_t *cut, int64_t *refused);

/* Rules of many kinds: most_block, dense; lane_length, large_level_lane_length, large_level_rows;
 * small_level_heavy_width, other_heavy_width, small_level_rows; early_poll. */
enum { SHAPE_RULES = 12 };
extern const trs_slice_rules shape_rules[SHAPE_RULES];

#endif
