/* layout.h - which supernode lies on which grids (L23, section 3): the 3D layout without ranks.
 *
 * Pz grids, a power of two.  The separator tree is cut so that every grid has a leaf, which may be
 * empty, and an ancestor is replicated over the 2^height grids, aligned, of the leaves below it.
 * Supernodes, found in L and cut where the tree's nodes end, are the blocks of L's columns and of
 * U's rows and columns.  Block (I, K) lies on process (I mod Px, K mod Py) of each grid that has
 * both supernodes. */
#ifndef TRS_SOLVE_GRID3D_LAYOUT_H
#define TRS_SOLVE_GRID3D_LAYOUT_H

#include "factor/factors.h"
#include "factor/panels.h"

#undef I /* complex.h's; here a block is T(I,K) */

typedef struct trs_grid_shape {
  int x, y, z;
} trs_grid_shape;

/* Blocks (I, K) off the diagonal, by K then I, both in the order of the columns. */
typedef struct trs_grid_blocks {
  int64_t *ptr;    /* count + 1 */
  int32_t *row;    /* I */
  int64_t *source; /* L: where its rows begin in the panels' list; U: the panels' block */
} trs_grid_blocks;

typedef struct trs_grid_layout {
  int pz, levels; /* pz = 2^levels */
  int64_t n, count;
  int64_t *first;       /* count + 1: supernode K has the columns first[K] .. first[K + 1] */
  int8_t *height;       /* count: replicated over 2^height grids */
  int32_t *lo;          /* count: the first of them */
  trs_panels panels[2]; /* L by columns, U by rows */
  trs_grid_blocks blocks[2];
  int64_t *leaf; /* pz: entries of L and U in each leaf */
} trs_grid_layout;

typedef struct trs_layout_options {
  int64_t width, relax; /* of supernodes, as in panels.h */
} trs_layout_options;

/* Factors without a tree, and with one that pivoting has collapsed to fewer than pz leaves, are cut
 * by their own pattern.  TRS_ERROR_ARGUMENT: pz is no power of two, or larger than the tree. */
trs_status trs_grid_layout_create(trs_grid_layout *layout, const trs_factors *F, int pz,
                                  const trs_layout_options *options);
void trs_grid_layout_destroy(trs_grid_layout *layout);

/* forest.c: sets lo and height from the blocks. */
trs_status trs_forest_spread(trs_grid_layout *layout);

/* The view in which the panels see L and U. */
trs_panels_source trs_grid_source(const trs_matrix *T, bool lower);

static inline bool trs_on_grid(const trs_grid_layout *l, int64_t K, int z) {
  return z >= l->lo[K] && z < l->lo[K] + (1 << l->height[K]);
}
static inline int64_t trs_width(const trs_grid_layout *l, int64_t K) {
  return l->first[K + 1] - l->first[K];
}

#endif
