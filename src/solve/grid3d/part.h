/* part.h - the data of one rank: its blocks of L^z and U^z, and memory for x and sums.
 *
 * Supernodes whose home is this rank (layout.h) are stored together, with whole panels.  Their x
 * and sums are in one array of rows, in which L's x replaces b and U's x replaces L's.  Behind
 * these rows are those of supernodes elsewhere that the panels touch: sums that leave in L, x that
 * arrives in U.  All other supernodes have blocks on this rank, and slots for x(K) and sums.
 *
 * Per-supernode data exist only for the supernodes of this rank, so they shrink as ranks are added.
 */
#ifndef TRS_SOLVE_GRID3D_PART_H
#define TRS_SOLVE_GRID3D_PART_H

#include "base/search.h"
#include "comm/ranks.h"
#include "solve/grid3d/layout.h"
#include "solve/grid3d/ops.h"

/* Block (I, K), a panel m x k (ops.h).  L: the listed rows of I, all columns of K; U: the listed
 * columns of K, all rows of I. */
typedef struct trs_local_block {
  int64_t values, list; /* offsets of its numbers and its list */
  int32_t row;          /* slot of I */
  int32_t m, k;
} trs_local_block;

/* The blocks of L or U on this rank, by column, then the panels of its own supernodes. */
typedef struct trs_local_side {
  int64_t *ptr; /* nslots + 1 */
  trs_local_block *block;
  int64_t *diagonal;    /* nslots: offset of the diagonal block, or -1 */
  bool *solved;         /* nslots: the diagonal block is not inverted */
  trs_local_node *node; /* nlocal */
  int32_t *list;        /* rows relative to a block's supernode, or (nodes) in the array of rows */
  void *values;
  int64_t nlist, nvalues;
  int64_t nblock_list, nblock_values; /* of these, the blocks', which come first */
} trs_local_side;

/* An alternative to solving a rank's supernodes by their panels on one core, with messages
 * (plans.h).  give reports failures of earlier calls. */
typedef struct trs_rank_part trs_rank_part;
typedef struct trs_local_solver {
  /* Allocates for the right-hand sides that the part is laid out for.  leave, collective, comes
   * before reserve and before destroy, and closes memory that other ranks have mapped; meet,
   * collective, comes after reserve and opens it to them. */
  void (*leave)(trs_rank_part *part, trs_ranks *ranks);
  trs_status (*reserve)(trs_rank_part *part);
  trs_status (*meet)(trs_rank_part *part, trs_ranks *ranks);
  /* take copies rows from the part's base to the solver's memory; give copies them back. */
  void (*take)(trs_rank_part *part);
  trs_status (*give)(trs_rank_part *part);
  /* Solves L, or U if upper, of all supernodes; returns when the solve is complete. */
  void (*sweep)(trs_rank_part *part, bool upper);
  /* The same without an effect on results.  It reactivates a GPU that other ranks have used in the
   * meantime. */
  void (*rehearse)(trs_rank_part *part, bool upper);
  /* The given number of rows that grids share, in descending order of the number of grids.  MPI
   * reads them from *out and writes those of another grid to *in, which add then adds. */
  void (*share)(trs_rank_part *part, int64_t rows, const void **out, void **in);
  void (*add)(trs_rank_part *part, int64_t rows);
  void (*destroy)(trs_rank_part *part);
  int64_t bytes;    /* bytes that it holds, without the rows */
  char methods[64]; /* the methods of its plans */
} trs_local_solver;

struct trs_rank_part {
  const trs_grid_layout *layout;
  trs_grid_shape shape;
  int x, y, z; /* position of this rank */
  trs_scalar scalar;
  const trs_block_ops *ops;
  trs_local_side side[2];   /* L, U */
  trs_local_solver *solver; /* NULL: the part's panels */

  /* Supernodes without a home whose x or sums may pass through this rank, ascending. */
  int64_t nslots;
  int32_t *slot;

  /* local: supernodes at home on this rank, by height, then K; local_to[h] ends those of height at
   * most h.  touched: slots of the supernodes elsewhere that they touch.  Each has the rows from
   * row[i] to row[i + 1]. */
  int64_t nlocal, ntouched;
  int32_t *local, *touched;
  int64_t *local_to;
  int32_t *local_row, *touched_row;
  int64_t rows;

  /* Layout for nrhs right-hand sides, in memory for room >= nrhs: rows, then slots for sums, then
   * slots for x.  x_at and sum_at are bytes from the base to a slot's first number; the 16 bytes
   * before it are the head of its message. */
  int64_t nrhs, room;
  int64_t *x_at, *sum_at; /* nslots */
  char *base;
  int64_t row_bytes, sum_bytes; /* of the rows; of rows and sums */
  int64_t largest;              /* largest message, with its head */
  void *spare;                  /* space for x of one supernode */
  char *message;                /* buffer for a message that arrives */
  char *children;               /* sums of other ranks that arrived before their turn */
  int64_t child_columns;        /* rows that children has space for; set before the first reserve */
};

enum { TRS_HEAD_BYTES = 16 };

/* Creates everything except lists and numbers (fill.h).  rank: its place is (x, y, z) with rank =
 * (z Px + x) Py + y. */
trs_status trs_part_create(trs_rank_part *part, const trs_grid_layout *layout, trs_scalar scalar,
                           trs_isa isa, trs_grid_shape shape, int rank);
void trs_part_destroy(trs_rank_part *part);

/* Lays the part out for nrhs right-hand sides; allocates, and can fail, only if nrhs exceeds
 * earlier calls. */
trs_status trs_part_reserve(trs_rank_part *part, int64_t nrhs);
void trs_part_give_back(trs_rank_part *part);

static inline int trs_rank_at(trs_grid_shape s, int x, int y, int z) {
  return (z * s.x + x) * s.y + y;
}

/* The place of a process is its number x Py + y in its grid.  This is the place that has block (I,
 * K) of L, or of U if upper. */
static inline int trs_place_of(const trs_grid_layout *l, trs_grid_shape s, bool upper, int64_t I,
                               int64_t K) {
  int32_t home = l->home[upper ? I : K];
  return home >= 0 ? home : (int)(I % s.x * s.y + K % s.y);
}
static inline int trs_place_of_block(const trs_rank_part *p, bool upper, int64_t I, int64_t K) {
  return trs_place_of(p->layout, p->shape, upper, I, K);
}
static inline int trs_place(const trs_rank_part *p) { return p->x * p->shape.y + p->y; }
static inline bool trs_is_local(const trs_rank_part *p, int64_t K) {
  return p->layout->home[K] == trs_place(p) && trs_on_grid(p->layout, K, p->z);
}
static inline bool trs_has_diagonal(const trs_rank_part *p, int64_t K) {
  return trs_place_of_block(p, TRS_L, K, K) == trs_place(p) && trs_on_grid(p->layout, K, p->z);
}
static inline bool trs_has_block(const trs_rank_part *p, bool upper, int64_t I, int64_t K) {
  return trs_place_of_block(p, upper, I, K) == trs_place(p) && trs_on_grid(p->layout, I, p->z) &&
         trs_on_grid(p->layout, K, p->z);
}

/* The end of the rows of this rank's own supernodes of at most this height. */
static inline int64_t trs_local_end(const trs_rank_part *p, int height) {
  if (p->local_to[height] < p->nlocal) return p->local_row[p->local_to[height]];
  return p->ntouched ? p->touched_row[0] : p->rows;
}
static inline int64_t trs_slot(const trs_rank_part *p, int64_t K) {
  return trs_find(p->slot, 0, p->nslots, K);
}
static inline int64_t trs_row_bytes(const trs_rank_part *p) {
  return p->nrhs * (int64_t)trs_scalar_size(p->scalar);
}

/* For a supernode at home on this rank. */
static inline void *trs_local_x(const trs_rank_part *p, int64_t K) {
  int height = p->layout->height[K];
  int64_t i = trs_find(p->local, height ? p->local_to[height - 1] : 0, p->local_to[height], K);
  return p->base + p->local_row[i] * trs_row_bytes(p);
}
static inline void *trs_slot_x(const trs_rank_part *p, int64_t s) { return p->base + p->x_at[s]; }
static inline void *trs_slot_sum(const trs_rank_part *p, int64_t s) {
  return p->base + p->sum_at[s];
}
static inline void *trs_x(const trs_rank_part *p, int64_t K) {
  return trs_is_local(p, K) ? trs_local_x(p, K) : trs_slot_x(p, trs_slot(p, K));
}
static inline void *trs_sum(const trs_rank_part *p, int64_t I) {
  return trs_is_local(p, I) ? trs_local_x(p, I) : trs_slot_sum(p, trs_slot(p, I));
}
static inline int64_t trs_slot_bytes(const trs_rank_part *p, int64_t K) {
  return trs_width(p->layout, K) * trs_row_bytes(p);
}

#endif
