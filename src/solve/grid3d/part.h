/* part.h - what one rank keeps: its blocks of L^z and U^z with inverted diagonal blocks, and slots
 * for x(K) and for sums. */
#ifndef TRS_SOLVE_GRID3D_PART_H
#define TRS_SOLVE_GRID3D_PART_H

#include "solve/grid3d/layout.h"
#include "solve/grid3d/ops.h"

/* Block (I, K), negated, by columns.  L: rows of I named in the list, all columns of K; U: all rows
 * of I, columns of K named in the list.  A list of all of them is not used (full). */
typedef struct trs_local_block {
  int64_t values, list; /* where they begin */
  int32_t row;          /* I */
  int32_t m, k;         /* rows and columns */
  bool full;
} trs_local_block;

/* L's or U's blocks at this rank, by column. */
typedef struct trs_local_side {
  int64_t *ptr; /* count + 1: of all supernodes, those elsewhere having none */
  trs_local_block *block;
  int32_t *list;
  void *values;
  int64_t *inverse; /* count: where the inverted diagonal block begins, or -1 */
  int64_t nvalues;
} trs_local_side;

typedef struct trs_part {
  const trs_grid_layout *layout;
  trs_grid_shape shape;
  int x, y, z; /* this rank's place */
  trs_scalar scalar;
  const trs_block_ops *ops;
  trs_local_side side[2]; /* L, U */

  /* Slots, for nrhs right-hand sides: bytes from the base to the first number, or -1.  The 16 bytes
   * before a slot are the head of its message. */
  int64_t nrhs;
  int64_t *x_at, *sum_at; /* count */
  char *x_base, *sum_base;
  int64_t x_bytes, sum_bytes;
  int64_t largest;       /* message, with its head */
  void *spare;           /* a block's product, or what it is a product with */
  char *message;         /* room for one that arrives */
  char *children;        /* sums of other ranks whose turn has not come */
  int64_t child_columns; /* how many rows that has room for; set before the first reserve */
} trs_part;

enum { TRS_HEAD_BYTES = 16 };

/* rank: its place is (x, y, z) with rank = (z Px + x) Py + y. */
trs_status trs_part_create(trs_part *part, const trs_grid_layout *layout, const trs_factors *F,
                           trs_grid_shape shape, int rank);
void trs_part_destroy(trs_part *part);

/* Room for so many right-hand sides at once. */
trs_status trs_part_reserve(trs_part *part, int64_t nrhs);

static inline int trs_rank_at(trs_grid_shape s, int x, int y, int z) {
  return (z * s.x + x) * s.y + y;
}
static inline bool trs_has_row(const trs_part *p, int64_t I) {
  return I % p->shape.x == p->x && trs_on_grid(p->layout, I, p->z);
}
static inline bool trs_has_column(const trs_part *p, int64_t K) {
  return K % p->shape.y == p->y && trs_on_grid(p->layout, K, p->z);
}
static inline bool trs_has_diagonal(const trs_part *p, int64_t K) {
  return trs_has_row(p, K) && trs_has_column(p, K);
}
static inline void *trs_x(const trs_part *p, int64_t K) { return p->x_base + p->x_at[K]; }
static inline void *trs_sum(const trs_part *p, int64_t I) { return p->sum_base + p->sum_at[I]; }
static inline int64_t trs_slot_bytes(const trs_part *p, int64_t K) {
  return trs_width(p->layout, K) * p->nrhs * (int64_t)trs_scalar_size(p->scalar);
}

#endif
