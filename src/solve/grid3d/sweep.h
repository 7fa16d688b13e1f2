/* sweep.h - one message-driven sweep inside a grid (L23, Algorithm 1's counts): who sends x(K)
 * and sums to whom, and how much each row waits for.
 *
 * Solving is  x(I) = D(I)^-1 (b(I) - sum over K of T(I,K) x(K)).  x(K) goes down a tree over the
 * processes that have blocks to multiply it with, of K's column or homes of supernodes below; sums
 * of row I come together in a tree over those of I's row that have any, and homes.  Both are rooted
 * at the process of the diagonal block.  Supernodes at home here need no messages: L's are solved
 * before anything else, U's when all x have come. */
#ifndef TRS_SOLVE_GRID3D_SWEEP_H
#define TRS_SOLVE_GRID3D_SWEEP_H

#include "comm/ranks.h"
#include "solve/grid3d/part.h"

/* What a supernode is to a sweep. */
enum {
  TRS_ROLE_SOLVE = 1,  /* its x is found here */
  TRS_ROLE_COLUMN = 2, /* its x is multiplied here; if it is not found here it is there before */
  TRS_ROLE_ROW = 4,    /* products are added to its sum */
  TRS_ROLE_ADDS = 8    /* as a column it may have added to sums, now or before */
};

/* Roles go by the height of a supernode's node, on this grid and elsewhere. */
typedef struct trs_roles {
  int8_t here[TRS_MOST_HEIGHT], elsewhere[TRS_MOST_HEIGHT];
} trs_roles;

typedef struct trs_sweep_column {
  int32_t slot;
  int32_t first_child, nchildren; /* in child */
} trs_sweep_column;

typedef struct trs_sweep_row {
  int32_t I, slot;
  int32_t parent;      /* rank to send the sum to; -1: solve */
  int32_t place;       /* in the tree of its row, */
  int32_t first_child; /* and its children's */
  int32_t nchildren;
  int64_t items;   /* where its products begin in item; L23's fmod, bmod is what is left of both */
  int64_t columns; /* of rows before it, as often as those have children */
} trs_sweep_row;

typedef struct trs_sweep {
  int which; /* 0: L, 1: U */
  trs_roles role;
  int32_t *column_of, *row_of; /* by slot: place in the lists below, or -1 */
  trs_sweep_column *column;
  trs_sweep_row *row;
  int32_t *child; /* ranks */
  int64_t ncolumns, nrows, nchildren;
  int64_t receives, sends;
  int tree_sends;     /* the most in one tree */
  int64_t tree_steps; /* log2 of the members of each tree that this rank is in, rounded up */
  int64_t local_from, local_to; /* of the part's own supernodes, those that are solved */
  double local_flops;           /* for one right-hand side */
  int64_t *item; /* blocks of this rank by row, in the order in which they are added */
  int32_t *item_column;
  int64_t nitems, child_columns;

  /* During a sweep. */
  int64_t *done;    /* nrows: products and children's sums added */
  int32_t *ready;   /* nrows */
  bool *arrived;    /* ncolumns: x is here */
  int32_t *open;    /* ncolumns: those whose x is here and not multiplied with all yet, */
  int64_t *used;    /* ncolumns: and with how many blocks it is */
  bool *came;       /* children's sums: by row and child */
  int64_t *came_at; /* nrows */
} trs_sweep;

/* Products and sums of others are added in a fixed order, whatever came first: the grids that share
 * an ancestor must find the same bits for its x, or x on one grid would not go with x on another
 * (docs/experiments.md). */
trs_status trs_sweep_create(trs_sweep *s, const trs_part *part, int which, const trs_roles *role,
                            trs_tree_shape shape);
void trs_sweep_destroy(trs_sweep *s);

typedef struct trs_sweep_times {
  double flop_s, intra_s;  /* seconds in products; sending to and waiting for ranks of the grid */
  double flops;            /* multiplications and additions */
  int64_t messages, bytes; /* sent */
} trs_sweep_times;

/* Runs it: sums hold right-hand sides (less what was added before), x that of columns that are not
 * solved here.  Every rank of the grid calls it with the same tag. */
trs_status trs_sweep_run(const trs_sweep *s, trs_part *part, trs_ranks *ranks, int tag,
                         trs_sweep_times *times);

#endif
