/* part.h - what one rank keeps: its blocks of L^z and U^z, and room for x and sums.
 *
 * Supernodes whose home this rank is (layout.h) lie together, whole panels, with x and sums in one
 * array of rows, where L's x takes the place of b and U's x that of L's.  Behind these rows are
 * those of supernodes elsewhere that the panels touch: sums on the way out of L, x on the way into
 * U.  All other supernodes have blocks here, and slots for x(K) and sums.
 *   What is kept for each supernode is kept for those of this rank alone, so that it shrinks as
 * ranks are added. */
#ifndef TRS_SOLVE_GRID3D_PART_H
#define TRS_SOLVE_GRID3D_PART_H

#include "comm/ranks.h"
#include "solve/grid3d/layout.h"
#include "solve/grid3d/ops.h"

/* Block (I, K), a panel m x k (ops.h).  L: rows of I named in the list, all columns of K; U:
 * columns of K named in the list, all rows of I. */
typedef struct trs_local_block {
  int64_t values, list; /* where they begin */
  int32_t row;          /* I's slot */
  int32_t m, k;
} trs_local_block;

/* L's or U's blocks at this rank, by column, then the panels of its own supernodes. */
typedef struct trs_local_side {
  int64_t *ptr; /* nslots + 1 */
  trs_local_block *block;
  int64_t *diagonal;    /* nslots: where the diagonal block begins, or -1 */
  bool *solved;         /* nslots: it is not inverted */
  trs_local_node *node; /* nlocal */
  int32_t *list;        /* rows of the blocks' supernodes, or of the array of rows (nodes) */
  void *values;
  int64_t nlist, nvalues;
  int64_t spread_list, spread_values; /* of these the blocks', which come first */
} trs_local_side;

/* Another way to solve a rank's supernodes than by their panels on this core and messages
 * (plans.h).  What fails is kept until give tells it. */
typedef struct trs_part trs_part;
typedef struct trs_local_solver {
  /* Room for the right-hand sides that the part is laid out for; before it, and before destroy,
   * collectively: what others can reach is given up; behind it: it is opened to them. */
  void (*leave)(trs_part *part, trs_ranks *ranks);
  trs_status (*reserve)(trs_part *part);
  trs_status (*meet)(trs_part *part, trs_ranks *ranks);
  /* Rows from the part's base to where they are solved, and back. */
  void (*take)(trs_part *part);
  trs_status (*give)(trs_part *part);
  /* L (which 0) or U of all, returns when it is done. */
  void (*sweep)(trs_part *part, int which);
  /* The same, to no effect but that a GPU that others used meanwhile is at work for this one. */
  void (*rehearse)(trs_part *part, int which);
  /* So many rows that grids share, those that most share first: where MPI can read them, and write
   * those of another grid, which are then added. */
  void (*share)(trs_part *part, int64_t rows, const void **out, void **in);
  void (*add)(trs_part *part, int64_t rows);
  void (*destroy)(trs_part *part);
  int64_t bytes;    /* that it holds, beside the rows */
  char methods[64]; /* with which it solves */
} trs_local_solver;

struct trs_part {
  const trs_grid_layout *layout;
  trs_grid_shape shape;
  int x, y, z; /* this rank's place */
  trs_scalar scalar;
  const trs_block_ops *ops;
  trs_local_side side[2];   /* L, U */
  trs_local_solver *solver; /* NULL: panels */

  /* Supernodes without a home of which x or sums may pass here, ascending. */
  int64_t nslots;
  int32_t *slot;

  /* Supernodes at home here, by height, then K: local_to[h] of height h at most.  Supernodes
   * elsewhere that they touch, by slot.  Each has its rows, from row[i] to row[i + 1]. */
  int64_t nlocal, ntouched;
  int32_t *local, *touched;
  int64_t *local_to;
  int32_t *local_row, *touched_row;
  int64_t rows;

  /* Laid out for nrhs right-hand sides, in the room of as many or more: rows, then slots for sums,
   * then those for x.  Bytes from the base to a slot's first number; the 16 bytes before it are the
   * head of its message. */
  int64_t nrhs, room;
  int64_t *x_at, *sum_at; /* nslots */
  char *base;
  int64_t row_bytes, sum_bytes; /* rows; rows and sums */
  int64_t largest;              /* message, with its head */
  void *spare;                  /* a supernode's x */
  char *message;                /* room for one that arrives */
  char *children;               /* sums of other ranks whose turn has not come */
  int64_t child_columns;        /* how many rows that has room for; set before the first reserve */
};

enum { TRS_HEAD_BYTES = 16 };

/* All but lists and numbers (fill.h).  rank: its place is (x, y, z) with rank = (z Px + x) Py + y.
 */
trs_status trs_part_create(trs_part *part, const trs_grid_layout *layout, trs_scalar scalar,
                           trs_isa isa, trs_grid_shape shape, int rank);
void trs_part_destroy(trs_part *part);

/* Room for so many right-hand sides at once, laid out for them; allocates, and can fail, only where
 * they are more than before. */
trs_status trs_part_reserve(trs_part *part, int64_t nrhs);
void trs_part_give_back(trs_part *part);

static inline int trs_rank_at(trs_grid_shape s, int x, int y, int z) {
  return (z * s.x + x) * s.y + y;
}

/* The process of its grid that has block (I, K) of L (which 0) or U. */
static inline int trs_place_of(const trs_grid_layout *l, trs_grid_shape s, int which, int64_t I,
                               int64_t K) {
  int32_t home = l->home[which ? I : K];
  return home >= 0 ? home : (int)(I % s.x * s.y + K % s.y);
}
static inline int trs_place_of_block(const trs_part *p, int which, int64_t I, int64_t K) {
  return trs_place_of(p->layout, p->shape, which, I, K);
}
static inline int trs_place(const trs_part *p) { return p->x * p->shape.y + p->y; }
static inline bool trs_is_local(const trs_part *p, int64_t K) {
  return p->layout->home[K] == trs_place(p) && trs_on_grid(p->layout, K, p->z);
}
static inline bool trs_has_diagonal(const trs_part *p, int64_t K) {
  return trs_place_of_block(p, 0, K, K) == trs_place(p) && trs_on_grid(p->layout, K, p->z);
}
static inline bool trs_has_block(const trs_part *p, int which, int64_t I, int64_t K) {
  return trs_place_of_block(p, which, I, K) == trs_place(p) && trs_on_grid(p->layout, I, p->z) &&
         trs_on_grid(p->layout, K, p->z);
}

/* The place of K in an ascending list, or -1. */
static inline int64_t trs_find(const int32_t *list, int64_t from, int64_t to, int64_t K) {
  while (to - from > 1) {
    int64_t middle = (from + to) / 2;
    if (list[middle] <= K)
      from = middle;
    else
      to = middle;
  }
  return from < to && list[from] == K ? from : -1;
}
/* The end of the rows of this rank's own supernodes of this height at most. */
static inline int64_t trs_local_end(const trs_part *p, int height) {
  if (p->local_to[height] < p->nlocal) return p->local_row[p->local_to[height]];
  return p->ntouched ? p->touched_row[0] : p->rows;
}
static inline int64_t trs_slot(const trs_part *p, int64_t K) {
  return trs_find(p->slot, 0, p->nslots, K);
}
static inline int64_t trs_row_bytes(const trs_part *p) {
  return p->nrhs * (int64_t)trs_scalar_size(p->scalar);
}

/* Of a supernode at home here. */
static inline void *trs_local_x(const trs_part *p, int64_t K) {
  int height = p->layout->height[K];
  int64_t i = trs_find(p->local, height ? p->local_to[height - 1] : 0, p->local_to[height], K);
  return p->base + p->local_row[i] * trs_row_bytes(p);
}
static inline void *trs_slot_x(const trs_part *p, int64_t s) { return p->base + p->x_at[s]; }
static inline void *trs_slot_sum(const trs_part *p, int64_t s) { return p->base + p->sum_at[s]; }
static inline void *trs_x(const trs_part *p, int64_t K) {
  return trs_is_local(p, K) ? trs_local_x(p, K) : trs_slot_x(p, trs_slot(p, K));
}
static inline void *trs_sum(const trs_part *p, int64_t I) {
  return trs_is_local(p, I) ? trs_local_x(p, I) : trs_slot_sum(p, trs_slot(p, I));
}
static inline int64_t trs_slot_bytes(const trs_part *p, int64_t K) {
  return trs_width(p->layout, K) * trs_row_bytes(p);
}

#endif
