/* layout.h - the assignment of supernodes to grids (L23, section 3): the 3D layout, independent of
 * ranks.
 *
 * Pz, the number of grids, is a power of two.  The separator tree is cut so that every grid has a
 * leaf, which may be empty; an ancestor is replicated over the aligned 2^height grids of the leaves
 * below it.  Supernodes, found in L and cut where the tree's nodes end, are the blocks of L's
 * columns and of U's rows and columns.  Block (I, K) lies on process (I mod Px, K mod Py) of each
 * grid that has both supernodes.  Supernodes with a home are an exception: one process of their
 * grid has all of their columns of L and rows of U.
 *
 * The triangles of a run of supernodes, each dependent on the one before, may be inverted as one
 * (Raghavan's selective inversion).  Each supernode K of a run is then split in two, with
 * identities on the diagonal: a(K), which couples to supernodes below, and b(K), which couples to
 * supernodes above.  The inverse lies between them, from every a(K) to every b(I) with I >= K.  In
 * L, a(K) collects sums and b(K) is the solution; in U the roles are reversed.  A run is numbered
 * a(K) ..., b(K) ...; n is unchanged, and right-hand sides and solutions belong to the a(K). */
#ifndef TRS_SOLVE_GRID3D_LAYOUT_H
#define TRS_SOLVE_GRID3D_LAYOUT_H

#include "factor/factors.h"
#include "analysis/panels.h"

#undef I /* complex.h defines I; here a block is T(I,K) */

typedef struct trs_grid_shape {
  int x, y, z;
} trs_grid_shape;

/* The shape for `size` ranks and a separator tree of so many leaves; flat: one grid. */
trs_grid_shape trs_grid_shape_for(int size, int64_t leaves, bool flat);

/* L: the rows below the diagonal block of supernode K in which any of its columns has an entry.  U:
 * the columns to the right of it in which any of its rows has one.  Ascending. */
typedef struct trs_grid_lists {
  int64_t *ptr; /* count + 1 */
  int32_t *idx;
} trs_grid_lists;

/* Blocks (I, K) off the diagonal, sorted by K, then I, both in the order of the columns. */
typedef struct trs_grid_blocks {
  int64_t *ptr;  /* count + 1 */
  int32_t *row;  /* I */
  int32_t *rows; /* L: number of its rows of I; U: of its columns of K */
  int64_t *list; /* offset of these in L's list of K or U's list of I; NULL without lists */
} trs_grid_blocks;

/* Supernodes from <= K < to; their other halves follow them. */
typedef struct trs_grid_run {
  int64_t from, to;
} trs_grid_run;

/* L or U: an index, and the value of an argument `upper`. */
enum { TRS_L = 0, TRS_U = 1 };

enum { TRS_MOST_HEIGHT = 31 }; /* levels, and the root's */

typedef struct trs_grid_layout {
  int pz, levels; /* pz = 2^levels */
  int64_t n, count, widest;
  int64_t *first;          /* count + 1: supernode K has the columns first[K] .. first[K + 1] */
  int8_t *height;          /* count: replicated over 2^height grids */
  int32_t *lo;             /* count: the first of these grids */
  int32_t *home;           /* count: the process that has K alone, x Py + y; -1: block-cyclic */
  trs_grid_lists lists[2]; /* L, U */
  trs_grid_blocks blocks[2];
  int64_t *leaf; /* pz: numbers of L and U in each leaf */
  int8_t *half;  /* count, or NULL: TRS_HALF_*; halves keep no diagonal blocks */

  /* Inverted runs; NULL if none. */
  int64_t nruns;
  trs_grid_run *run;
  int32_t *run_of; /* count: -1: none */
  int64_t *origin; /* count: K's first column in the factors */
} trs_grid_layout;

/* Every rank that shares a run inverts its triangle, so the size is limited. */
enum { TRS_MOST_RUN = 2048 }; /* columns */

/* The half of a supernode that was split. */
enum { TRS_WHOLE = 0, TRS_HALF_BELOW = 1, TRS_HALF_ABOVE = 2 };

typedef enum trs_invert {
  TRS_INVERT_BLOCKS = 0, /* each supernode's triangle */
  TRS_INVERT_RUNS,       /* whole runs */
  TRS_INVERT_DENSE       /* runs whose triangles are nearly full */
} trs_invert;

typedef struct trs_layout_options {
  int64_t width, relax, few; /* of supernodes, as in panels.h */
  int places;                /* processes of a grid, Px Py; 0 counts as one */
  bool scattered;            /* no homes on grids of several processes, as in L23 */
  trs_invert invert;
} trs_layout_options;

/* The patterns of L and U and the separator tree, as in trs_factors. */
typedef struct trs_grid_pattern {
  trs_panels_source L, U;
  int64_t tree_nodes;
  const int64_t *tree_ptr;
  const int32_t *tree_parent;
} trs_grid_pattern;

/* Factors without a tree, or with a tree that pivoting has collapsed to fewer than pz leaves, are
 * cut by their own pattern.  TRS_ERROR_ARGUMENT: pz is not a power of two, or larger than the tree.
 */
trs_status trs_grid_layout_create(trs_grid_layout *layout, const trs_grid_pattern *pattern, int pz,
                                  const trs_layout_options *options);

/* The same in two steps: first supernodes and lists, the only step that reads the patterns; then a
 * layout from them and the pattern's tree, NULL without one.  The layout takes ownership of first
 * and lists, also on failure. */
trs_status trs_grid_layout_lists(const trs_grid_pattern *pattern, int pz,
                                 const trs_layout_options *options, int64_t *count, int64_t **first,
                                 trs_grid_lists lists[2]);
trs_status trs_grid_layout_adopt(trs_grid_layout *layout, int64_t count, int64_t *first,
                                 trs_grid_lists lists[2], const trs_grid_pattern *tree, int pz,
                                 const trs_layout_options *options);
/* Allocates lo, height and home, and leaf with zeros. */
trs_status trs_grid_layout_allocate(trs_grid_layout *layout);
void trs_grid_layout_destroy(trs_grid_layout *layout);

trs_grid_pattern trs_grid_pattern_of(const trs_factors *F);

/* forest.c: sets lo and height from the blocks. */
trs_status trs_forest_assign(trs_grid_layout *layout);

/* forest.c: sets home.  On every grid, processes get subtrees at the bottom, enough of them that
 * each process has nearly the same work. */
trs_status trs_forest_house(trs_grid_layout *layout, const trs_layout_options *options);

/* Numbers of L and U that belong to each supernode, including zeros and whole diagonal blocks. */
void trs_grid_layout_weigh(const trs_grid_layout *layout, double *weight);

/* The runs to invert, of a layout without inverted runs; *runs has room for all. */
trs_status trs_forest_runs(const trs_grid_layout *layout, trs_invert invert, trs_grid_run **runs,
                           int64_t *count);

/* Numbers in the triangles of L and U of a run, as supernodes store them. */
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
/* For a supernode that is not an upper half: the supernode whose panels have its entries outside of
 * a run. */
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
