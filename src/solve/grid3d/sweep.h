/* sweep.h - one message-driven sweep inside a grid (L23, Algorithm 1's counts): the senders and
 * receivers of x(K) and of sums, and the number of contributions that each row waits for.
 *
 * The solve is  x(I) = D(I)^-1 (b(I) - sum over K of T(I,K) x(K)).  x(K) goes down a tree over the
 * processes that multiply it: those with blocks in K's column, and homes of supernodes below.  Sums
 * of row I go up a tree over the processes with blocks in I's row, and homes.  The root of both
 * trees is the process of the diagonal block.  Supernodes at home on a rank need no messages: L's
 * are solved before all others, U's after all x have arrived. */
#ifndef TRS_SOLVE_GRID3D_SWEEP_H
#define TRS_SOLVE_GRID3D_SWEEP_H

#include "comm/ranks.h"
#include "solve/grid3d/part.h"

/* The roles of a supernode in a sweep. */
enum {
  TRS_ROLE_SOLVE = 1,  /* its x is computed here */
  TRS_ROLE_COLUMN = 2, /* its x is multiplied here; if not computed here it is known before */
  TRS_ROLE_ROW = 4,    /* products are added to its sum */
  TRS_ROLE_ADDS = 8,   /* as a column it may have added to sums, now or earlier */
  TRS_ROLE_ALL = 15
};

/* A role depends on the height of a supernode's node, on this grid and on other grids. */
typedef struct trs_roles {
  int8_t here[TRS_MOST_HEIGHT], elsewhere[TRS_MOST_HEIGHT];
} trs_roles;

typedef struct trs_sweep_column {
  int32_t slot;
  int32_t first_child, nchildren; /* first index in child, and count */
} trs_sweep_column;

typedef struct trs_sweep_row {
  int32_t I, slot;
  int32_t parent;      /* rank to send the sum to; -1: solve */
  int32_t index;       /* in the tree of its row, */
  int32_t first_child; /* and the index of its first child */
  int32_t nchildren;
  int64_t items; /* offset of its products in item; L23's fmod and bmod count the remaining products
                    and sums */
  int64_t columns; /* rows of the preceding rows, each counted once per child */
} trs_sweep_row;

typedef struct trs_sweep {
  bool upper; /* U, not L */
  trs_roles role;
  int32_t *column_of, *row_of; /* by slot: index in the lists below, or -1 */
  trs_sweep_column *column;
  trs_sweep_row *row;
  int32_t *child; /* ranks */
  int64_t ncolumns, nrows, nchildren;
  int64_t receives, sends;
  int tree_sends;               /* the most sends in one tree */
  int64_t tree_steps;           /* sum over this rank's trees of log2 of the members, rounded up */
  int64_t local_from, local_to; /* range of the part's own supernodes that are solved */
  double local_flops;           /* for one right-hand side */
  int64_t *item;                /* blocks of this rank by row, in the order of addition */
  int32_t *item_column;
  int64_t nitems, child_columns;

  /* During a sweep. */
  int64_t *done;  /* nrows: products and children's sums added */
  int32_t *ready; /* nrows */
  bool *arrived;  /* ncolumns: x has arrived */
  int32_t *open;  /* ncolumns: columns whose x has arrived but is not multiplied with all blocks, */
  int64_t *used;  /* ncolumns: and the number of blocks that are done */
  bool *came;     /* by row and child: a child's sum has arrived */
  int64_t *came_at; /* nrows */
} trs_sweep;

/* Products and sums of other ranks are added in a fixed order, independent of their arrival.  The
 * grids that share an ancestor must compute the same bits of its x; otherwise x differs between
 * grids (docs/experiments/ranks.md). */
trs_status trs_sweep_create(trs_sweep *s, const trs_rank_part *part, bool upper,
                            const trs_roles *role, trs_tree_shape shape);
void trs_sweep_destroy(trs_sweep *s);

typedef struct trs_sweep_times {
  double flop_s, intra_s; /* seconds of products; of sending to and waiting for ranks of the grid */
  double flops;           /* multiplications and additions */
  int64_t messages, bytes; /* sent */
} trs_sweep_times;

/* Runs the sweep.  Sums hold right-hand sides minus earlier contributions; x holds the columns that
 * are not solved here.  Every rank of the grid passes the same tag. */
trs_status trs_sweep_run(const trs_sweep *s, trs_rank_part *part, trs_ranks *ranks, int tag,
                         trs_sweep_times *times);

#endif
