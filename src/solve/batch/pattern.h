/* pattern.h - the rows of a batch's triangle in the order of the sweep, and the pieces in which a
 * block of a GPU takes them. */
#ifndef TRS_SOLVE_BATCH_PATTERN_H
#define TRS_SOLVE_BATCH_PATTERN_H

#include "analysis/triangle.h"
#include "solve/batch/gpu.h"

/* The off-diagonal entries that a row of a piece has at most.  A longer row becomes several. */
enum { TRS_BATCH_LONGEST = 16 };

/* Rows in an order in which each follows those that it depends on.  Row k solves
 *   x_k = (start_k - sum of val[source] x_to) * val[diagonal_k]
 * where start_k is b of row b_k of the sweep, or zero. */
typedef struct trs_batch_rows {
  int64_t count, entries; /* off-diagonal ones */
  int64_t *ptr;           /* count + 1 */
  int32_t *to;            /* of a row the farthest first */
  int64_t *source;        /* of each entry: see trs_batch_values */
  int64_t *diagonal;      /* the same of the diagonal entry */
  int64_t *id, *own_id;   /* numbers of entries and of diagonal ones, which they keep when the row
                             is split; -1: none */
  int64_t ids;
  int32_t *b, *x; /* the row of the sweep whose b it starts from, whose x it is; -1: none */
  int32_t *level; /* above those that it depends on */
  int32_t levels;
} trs_batch_rows;

/* Room for rows and entries; `ptr` is zero. */
trs_status trs_batch_rows_allocate(trs_batch_rows *rows, int64_t count, int64_t entries);

/* The rows of op(T), as they are. */
trs_status trs_batch_rows_of(trs_batch_rows *rows, const trs_system *S);

/* Rows of more than TRS_BATCH_LONGEST entries become a tree of sums, which are rows of their own:
 * they start from zero, and their diagonal entry is one.  The sums of dependencies that are known
 * early are ready by the time that the last ones are.  O(entries). */
trs_status trs_batch_rows_split(trs_batch_rows *rows);
void trs_batch_rows_drop(trs_batch_rows *rows);

bool trs_batch_rows_are_long(const trs_batch_rows *rows);
int64_t trs_batch_rows_farthest(const trs_batch_rows *rows); /* rows back to a dependency */

/* The rows by levels, in pieces of one level: see trs_batch_piece.  Rows are numbered in the order
 * of pieces; number `rows` is a zero that entries without a value refer to. */
typedef struct trs_batch_program {
  int64_t rows, entries, pieces, packets;
  trs_batch_packet *packet; /* packets, and TRS_BATCH_STAGES empty ones */
  trs_batch_piece *piece;   /* pieces, and an empty one */
  int32_t *col;             /* entries: the row that an entry multiplies */
  int64_t *source;          /* entries: as in trs_batch_rows */
  int32_t *pivot_row;       /* entries: of a diagonal entry of the triangle its row of T; else -1 */
  int32_t *b, *x;           /* n, by rows of T: where its b goes, where its x is */
  int32_t *zero;            /* zeros: rows that start from zero */
  int32_t *at;              /* ids: where the entry of that number is */
  int64_t zeros;
  int32_t levels;
} trs_batch_program;

/* room: entries of a packet at most, at least TRS_BATCH_LONGEST + 2; slots: rows that a block takes
 * side by side. */
trs_status trs_batch_program_make(trs_batch_program *program, const trs_batch_rows *rows,
                                  const trs_system *S, int64_t room, int64_t slots);
void trs_batch_program_drop(trs_batch_program *program);

#endif
