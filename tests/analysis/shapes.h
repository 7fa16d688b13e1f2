/* shapes.h - triangular systems by rows of many shapes, for what looks at patterns: grids, chains,
 * nodes of several unknowns, supernodes, long rows, rows that depend on lanes and warps nearby. */
#ifndef TRS_TEST_SHAPES_H
#define TRS_TEST_SHAPES_H

#include "analysis/system.h"

typedef enum shape {
  SHAPE_DIAGONAL,
  SHAPE_CHAIN,        /* each row needs the one before */
  SHAPE_GRID,         /* 5-point, rows of a warp and a little */
  SHAPE_BOX,          /* 27-point */
  SHAPE_NODES,        /* three unknowns a node, 9-point */
  SHAPE_RANDOM,       /* about four entries a row */
  SHAPE_BAND,         /* most of the seven rows before */
  SHAPE_GAPS,         /* rows that need one two, one a warp and one a block of threads before */
  SHAPE_SUPERNODES,   /* dense blocks of 1 to 40 rows, and some entries before them */
  SHAPE_COMBS,        /* chains that are not dense, a few more entries each */
  SHAPE_FIRST_COLUMN, /* all need the first */
  SHAPE_LONG_ROWS,    /* random, and every 61st row needs half of those before */
  SHAPE_LAST_ROW,     /* a grid, and the last row needs all */
  SHAPE_DENSE,
  SHAPES
} shape;

const char *shape_name(shape kind);

/* Arrays from malloc, freed by shape_free.  diagonal: 1 stored, 0 stored in some rows only, and the
 * diagonal is one. */
trs_system shape_system(shape kind, int64_t n, trs_scalar scalar, bool lower, bool diagonal);
void shape_free(trs_system *S);

#endif
