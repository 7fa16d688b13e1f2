/* layout.h - which supernode lies on which grids (L23, section 3): the 3D layout without ranks.
 *
 * Pz grids, a power of two.  The separator tree is cut so that every grid has a leaf, which may be
 * empty, and an ancestor is replicated over the 2^height grids, aligned, of the leaves below it.
 * Supernodes, found in L and cut where the tree's nodes end, are the blocks of L's columns and of
 * U's rows and columns.  Block (I, K) lies on process (I mod Px, K mod Py) of each grid that has
 * both supernodes, but for supernodes that have a home: one process of their grid has all of L's
 * columns and U's rows of these.
 *
 * A run of supernodes that wait for each other may have its triangles inverted as one (Raghavan's
 * selective inversion).  Each of its supernodes K is two then, with identities on the diagonal:
 * a(K), which meets what lies below, and b(K), which meets what lies above; between them, from
 * every a(K) to every b(I) with I >= K, stands the inverse.  In L, a(K) collects and b(K) is the
 * solution; in U the other way round.  A run is numbered a(K) ..., b(K) ...; n is not changed, and
 * right-hand sides and solutions are those of the a(K). */
#ifndef TRS_SOLVE_GRID3D_LAYOUT_H
#define TRS_SOLVE_GRID3D_LAYOUT_H

#include "factor/factors.h"
#include "analysis/panels.h"

#undef I /* complex.h's; here a block is T(I,K) */

typedef struct trs_grid_shape {
  int x, y, z;
} trs_grid_shape;

/* L: below the diagonal block of supernode K, the rows in which any of its columns has an entry.
 * U: to the right of it, the columns in which any of its rows has one.  Ascending. */
typedef struct trs_grid_lists {
  int64_t *ptr; /* count + 1 */
  int32_t *idx;
} trs_grid_lists;

/* Blocks (I, K) off the diagonal, by K then I, both in the order of the columns. */
typedef struct trs_grid_blocks {
  int64_t *ptr;  /* count + 1 */
  int32_t *row;  /* I */
  int32_t *rows; /* L: rows of I that it has; U: columns of K */
  int64_t *list; /* where these begin in L's list of K or U's of I; NULL where there are no lists */
} trs_grid_blocks;

/* Supernodes from <= K < to; their other halves follow. */
typedef struct trs_grid_run {
  int64_t from, to;
} trs_grid_run;

enum { TRS_MOST_HEIGHT = 31 }; /* levels, and the root's */

typedef struct trs_grid_layout {
  int pz, levels; /* pz = 2^levels */
  int64_t n, count, widest;
  int64_t *first;          /* count + 1: supernode K has the columns first[K] .. first[K + 1] */
  int8_t *height;          /* count: replicated over 2^height grids */
  int32_t *lo;             /* count: the first of them */
  int32_t *home;           /* count: the process that has K alone, x Py + y; -1: block-cyclic */
  trs_grid_lists lists[2]; /* L, U */
  trs_grid_blocks blocks[2];
  int64_t *leaf; /* pz: numbers of L and U in each leaf */
  int8_t *half;  /* count, or NULL: as below; halves' diagonal blocks are not kept */

  /* Runs that are inverted; NULL where none is. */
  int64_t nruns;
  trs_grid_run *run;
  int32_t *run_of; /* count: -1: none */
  int64_t *origin; /* count: K's first column in the factors */
} trs_grid_layout;

/* A run's triangle is inverted on every rank that shares it, so it must not grow without bound. */
enum { TRS_MOST_RUN = 2048 }; /* columns */

/* Which half of a supernode that was doubled. */
enum { TRS_WHOLE = 0, TRS_HALF_BELOW = 1, TRS_HALF_ABOVE = 2 };

typedef enum trs_invert {
  TRS_INVERT_BLOCKS = 0, /* each supernode's triangle */
  TRS_INVERT_RUNS,       /* whole runs */
  TRS_INVERT_DENSE       /* runs whose triangles are nearly full */
} trs_invert;

typedef struct trs_layout_options {
  int64_t width, relax, few; /* of supernodes, as in panels.h */
  int places;                /* processes of a grid, Px Py; 0 for one */
  bool scattered;            /* no homes on grids of several processes, as L23 has it */
  trs_invert invert;
} trs_layout_options;

/* The patterns of L and U and the separator tree, as in trs_factors. */
typedef struct trs_grid_pattern {
  trs_panels_source L, U;
  int64_t tree_nodes;
  const int64_t *tree_ptr;
  const int32_t *tree_parent;
} trs_grid_pattern;

/* Factors without a tree, and with one that pivoting has collapsed to fewer than pz leaves, are cut
 * by their own pattern.  TRS_ERROR_ARGUMENT: pz is no power of two, or larger than the tree. */
trs_status trs_grid_layout_create(trs_grid_layout *layout, const trs_grid_pattern *pattern, int pz,
                                  const trs_layout_options *options);

/* In two steps: supernodes and lists, which are all that patterns are looked at for; and a layout
 * of them and the pattern's tree alone, NULL where there is none.  first and lists are taken, also
 * on failure. */
trs_status trs_grid_layout_lists(const trs_grid_pattern *pattern, int pz,
                                 const trs_layout_options *options, int64_t *count, int64_t **first,
                                 trs_grid_lists lists[2]);
trs_status trs_grid_layout_adopt(trs_grid_layout *layout, int64_t count, int64_t *first,
                                 trs_grid_lists lists[2], const trs_grid_pattern *tree, int pz,
                                 const trs_layout_options *options);
void trs_grid_layout_destroy(trs_grid_layout *layout);

trs_grid_pattern trs_grid_pattern_of(const trs_factors *F);

/* forest.c: sets lo and height from the blocks. */
trs_status trs_forest_spread(trs_grid_layout *layout);

/* Likewise home: on every grid the subtrees at the bottom, so many that each of its processes gets
 * nearly the same work. */
trs_status trs_forest_house(trs_grid_layout *layout, const trs_layout_options *options);

/* Numbers of L and U that belong to each supernode, zeros and whole diagonal blocks included. */
void trs_grid_layout_weigh(const trs_grid_layout *layout, double *weight);

/* Which runs to invert, of a layout without; *runs has room for all. */
trs_status trs_forest_runs(const trs_grid_layout *layout, trs_invert invert, trs_grid_run **runs,
                           int64_t *count);

/* Numbers in its triangles of L and U as supernodes have them. */
double trs_run_numbers(const trs_grid_layout *layout, const trs_grid_run *run);

/* invert.c: `to` is `from` with runs inverted. */
trs_status trs_grid_layout_invert(trs_grid_layout *to, const trs_grid_layout *from,
                                  const trs_grid_run *runs, int64_t count);

/* layout.c: blocks from lists. */
trs_status trs_grid_layout_blocks(trs_grid_layout *layout);

static inline bool trs_on_grid(const trs_grid_layout *l, int64_t K, int z) {
  return z >= l->lo[K] && z < l->lo[K] + (1 << l->height[K]);
}
static inline int trs_half(const trs_grid_layout *l, int64_t K) { return l->half ? l->half[K] : 0; }
static inline int64_t trs_origin(const trs_grid_layout *l, int64_t K) {
  return l->origin ? l->origin[K] : l->first[K];
}
/* Of a supernode that is no upper half: the supernode whose panels have its entries outside of a
 * run. */
static inline int64_t trs_panel_of(const trs_grid_layout *l, int64_t K) {
  if (!l->run_of || l->run_of[K] < 0) return K;
  const trs_grid_run *run = &l->run[l->run_of[K]];
  return K + run->to - run->from;
}
static inline bool trs_in_one_run(const trs_grid_layout *l, int64_t I, int64_t K) {
  return l->run_of && l->run_of[K] >= 0 && l->run_of[I] == l->run_of[K];
}
static inline int64_t trs_width(const trs_grid_layout *l, int64_t K) {
  return l->first[K + 1] - l->first[K];
}

#endif
