/* ops.h - the operations of a rank on blocks of numbers, as a table of functions; this one is for
 * the CPU.
 *
 * Right-hand sides are stored by rows: number j of row i at i * n + j for n of them, so that a list
 * addresses a block's rows without a copy.
 *
 * A panel is m x k; a list names its rows.  A panel of L is stored in tiles of trs_tile_rows rows,
 * each by columns; the last tile has the remaining rows.  A panel of U, transposed, is stored by
 * rows. A triangle is stored in tiles without the columns in which a tile is zero.  Products write
 * past a row's end, where they leave the numbers unchanged: the TRS_SLACK bytes behind every array
 * of values or right-hand sides must be readable and writable. */
#ifndef TRS_SOLVE_GRID3D_OPS_H
#define TRS_SOLVE_GRID3D_OPS_H

#include "base/cpu.h"
#include "base/scalar.h"
#include "base/status.h"
#include "matrix/look.h"

enum { TRS_SLACK = 64 };

/* A supernode whose panels of L or U are on this rank. */
typedef struct trs_local_node {
  int64_t values; /* offset of the diagonal block, in most cases inverted, followed by the panel */
  int64_t list;   /* the panel's rows */
  int32_t row;    /* its first row */
  int32_t width, length;
  bool solved; /* the diagonal block is not inverted */
} trs_local_node;

/* Panels store negated numbers, so that products are added. */
typedef struct trs_block_ops {
  /* L: y[list[i]] += A[i, c] x[c];  U: y[c] += A[i, c] x[list[i]];  n right-hand sides */
  void (*push)(int64_t m, int64_t k, int64_t n, const void *A, const void *x, const int32_t *list,
               void *y);
  void (*pull)(int64_t m, int64_t k, int64_t n, const void *A, const void *x, const int32_t *list,
               void *y);
  /* y = D x */
  void (*triangle)(int64_t width, bool upper, int64_t n, const void *D, const void *x, void *y);
  /* x = D^-1 x, by substitution */
  void (*solve)(int64_t width, bool upper, int64_t n, const void *D, void *x);
  /* All of these operations for nodes from <= i < to, forwards for L and backwards for U; spare has
   * room for the widest. */
  void (*sweep)(const trs_local_node *node, int64_t from, int64_t to, bool upper, int64_t n,
                const void *values, const int32_t *list, void *x, void *spare);
  /* Stores a panel in tiles, or by rows (turn); number (i, c) lies at first + i * down + c *
   * across. */
  void (*tile_panel)(int64_t m, int64_t k, const void *values, int64_t first, int64_t down,
                     int64_t across, void *to);
  void (*turn_panel)(int64_t m, int64_t k, const void *values, int64_t first, int64_t down,
                     int64_t across, void *to);
  /* The same by rows and negated, to offset `at` of `to`. */
  void (*negate)(int64_t m, int64_t k, const void *values, int64_t first, int64_t down,
                 int64_t across, void *to, int64_t at);
  void (*tile_triangle)(int64_t width, bool upper, const void *values, int64_t first, int64_t down,
                        int64_t across, void *to);
  /* Rows from .. from + rows of the inverse of T, width x width by columns: number k of row
   * from + r at k * rows + r of N. */
  void (*invert_rows)(int64_t width, bool upper, const void *T, int64_t from, int64_t rows,
                      void *N);
  void (*add)(int64_t count, const void *from, void *to);
  void (*set_unit)(int64_t width, void *D); /* ones on the diagonal */
  /* out[at[i]] = in[i] where at[i] >= 0 */
  void (*scatter)(int64_t count, const int64_t *at, const void *in, bool conjugate, void *out);
  /* The first diagonal entry of D (width x width) that is not a good pivot, or -1. */
  int64_t (*bad_diagonal)(int64_t width, const void *D, trs_pivot *pivot);
  /* Rows of out = scale[rows[i]] * the caller's rows[i], and the reverse; scale may be NULL.
   * Element (i, j) of the caller's is [i * row + j * col].  The other rows are packed, or
   * (position) row i is at[position[i]] bytes from the beginning.  Rows ascend, for speed alone. */
  void (*take)(int64_t count, int64_t n, const int32_t *rows, const double *scale, const void *in,
               int64_t row, int64_t col, const int32_t *position, const int64_t *at, void *out);
  void (*put)(int64_t count, int64_t n, const int32_t *rows, const double *scale,
              const int32_t *position, const int64_t *at, const void *in, void *out, int64_t row,
              int64_t col);
} trs_block_ops;

typedef const trs_block_ops *trs_block_tables[TRS_NSCALARS];
extern const trs_block_tables trs_block_tables_baseline, trs_block_tables_avx2,
    trs_block_tables_avx512;

const trs_block_ops *trs_block_ops_of(trs_scalar scalar, trs_isa isa);

/* The rows of a tile; the numbers that a triangle stored in tiles has. */
static inline int64_t trs_tile_rows(trs_scalar scalar) {
  static const int8_t rows[TRS_NSCALARS] = {
      [TRS_FLOAT] = 16, [TRS_DOUBLE] = 8, [TRS_SCOMPLEX] = 8, [TRS_DCOMPLEX] = 4};
  return rows[scalar];
}
static inline int64_t trs_triangle_values(int64_t width, int64_t tile) {
  int64_t whole = width / tile, rest = width % tile;
  return tile * tile * whole * (whole + 1) / 2 + rest * width;
}

#endif
