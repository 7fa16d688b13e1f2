/* gpu.h - batches on one GPU: what the host part gives the kernels of gpu.cu.  C and CUDA C++.
 *
 * Systems stand in groups of 2^log_systems, and every number of a group is interleaved: that of
 * system s of entry p is at p * systems + s.  Each thread works on one system, and adds a row's
 * products one after the other, the farthest dependency first; a long row is a tree of sums that
 * depends on the pattern alone (pattern.h).  All kernels and all groups thus give the same bits. */
#ifndef TRS_SOLVE_BATCH_GPU_H
#define TRS_SOLVE_BATCH_GPU_H

#include "device/device.h"

enum {
  TRS_BATCH_CHUNK = 4,         /* entries that `lanes` takes at a time */
  TRS_BATCH_CHUNKS = 8,        /* in flight */
  TRS_BATCH_NARROW = 4,        /* `lanes` with rows of at most so many entries off the diagonal */
  TRS_BATCH_NARROW_ROWS = 4,   /* takes so many rows at a time */
  TRS_BATCH_ROWS = 32,         /* rows of b and x that `lanes` moves at a time */
  TRS_BATCH_STAGES = 4,        /* packets that `levels` has in shared memory at a time */
  TRS_BATCH_PIECES = 32,       /* pieces of a packet, at most */
  TRS_BATCH_LOG_MOST = 5,      /* a group has up to 32 systems */
  TRS_BATCH_MOST_THREADS = 256 /* of a block */
};

/* How a batch is solved. */
typedef struct trs_batch_way {
  bool lanes; /* a warp sweeps over a group's rows in natural order, a system in each lane; else
                 a block goes through the levels, its threads side by side on rows and systems.
                 Systems with long rows have no lanes */
  int log_systems; /* lanes: 5 */
  int threads;     /* of a block */
  bool shared;     /* levels: x in shared memory, else in global memory */
  int depth;       /* levels: of a band, with substitution (analysis/substitute.h); 0: without */
  int width;       /* levels: right-hand sides at a time in solves with several, 1 or 4 */
  int room;        /* levels: entries of a packet at most, an even number; 0: as suits */
  int window;      /* lanes: rows of x in shared memory, a power of two */
  int narrow;      /* lanes: the entries off the diagonal of every row, of which shorter ones are
                      filled up, so that no instruction depends on a row's length; 0: rows as they
                      are; in trs_batch_prefer below zero: never narrow */
} trs_batch_way;

/* Levels: some rows of one level.  Entry u of row r of the piece is number entry + u * rows + r of
 * its packet, rows with fewer than `width` entries are filled with zeros, and the diagonal entries
 * are u = width. */
typedef struct trs_batch_piece {
  int32_t entry, width, rows;
  int32_t row; /* the number of the first row */
} trs_batch_piece;

/* Pieces that follow each other, and their entries, which are copied together. */
typedef struct trs_batch_packet {
  int32_t entry, entries; /* of the program; both even */
  int32_t piece, pieces;
} trs_batch_packet;

/* Sources of an entry that is none of the caller's, and the negative of stored entry p. */
enum { TRS_BATCH_ONE = -1, TRS_BATCH_MINUS_ONE = -2, TRS_BATCH_ZERO = -3, TRS_BATCH_LESS = -4 };
#define TRS_BATCH_MINUS(p) (TRS_BATCH_LESS - (p))

/* Taking the values of groups first .. first + groups - 1. */
typedef struct trs_batch_values {
  int64_t count; /* systems of the batch */
  int64_t first, groups, entries;
  int log_systems;
  bool conj;
  const int64_t *source;          /* entries: the stored entry, or one of the above */
  const int32_t *pivot_row;       /* entries: the row of a diagonal entry; else -1 */
  const int64_t *from_ptr, *from; /* trs_batch_source; NULL: entries stand as stored */
  const void *val;                /* of system first << log_systems */
  int64_t stride;
  void *to;        /* entries of all groups; on the diagonal reciprocals */
  uint64_t *fault; /* per system: the first row without a usable pivot, times 4, and the pivot; all
                      bits set: none */
} trs_batch_values;

/* The values of the joint system, in groups first .. first + groups - 1 whose own values are there;
 * the lists are those of trs_batch_substitution. */
typedef struct trs_batch_joint {
  int64_t count, first, groups, entries, n;
  int log_systems, steps;
  const int64_t *step_entry, *step_row, *ptr, *l_ptr, *column_ptr, *m_ptr;
  const int32_t *row, *to, *a, *inverse, *m, *l_at, *l_col, *column_at, *column_row, *m_at, *m_col,
      *diagonal;
  void *val;
  double *room;   /* 3 n numbers per system of all groups */
  uint8_t *plain; /* per system: becomes 1 if a row loses too many digits */
  double most_growth;
} trs_batch_joint;

/* Solving groups first .. first + groups - 1. */
typedef struct trs_batch_sweep {
  int64_t n, entries, count, first, groups;
  int log_systems;
  bool lower, unit;
  const void *val;
  const uint64_t *fault;
  const uint8_t *plain; /* NULL, or only systems for which it is `takes_plain` are solved */
  bool takes_plain;
  bool has_rest; /* x of the others comes from another launch; else it becomes NaN, so that a graph
                    whose plain systems are not those of the last update is no silent error */

  const int32_t *distance; /* lanes: entries: rows back to the dependency; 0: the diagonal entry,
                              which ends a row; -1: none.  Narrow rows: the place of the dependency
                              in the window, whose place `window` is a zero */
  int window, narrow;
  const int32_t *b_at, *x_at; /* lanes: n: the row of b, of x, of each row of the sweep; NULL: the
                                 rows as they are.  With one of them x is not b */

  const trs_batch_packet *packet; /* levels, and those below: see trs_batch_program */
  const trs_batch_piece *piece;
  const int32_t *col, *zero;
  const int32_t *b_to, *x_from; /* n: by the rows of b and of x */
  int64_t rows, packets, pieces, zeros;
  int threads, room;
  int64_t stage_bytes;
  int64_t pitch; /* numbers from one row of x to the next */
  void *work;    /* x of all groups, rows + 1 each; NULL: in shared memory */

  const double *b_scale, *x_scale; /* n: factors of the rows of b and of x; NULL: ones */

  void *x; /* of system first << log_systems */
  const void *b;
  int64_t nrhs, x_next, x_row, x_col, b_next, b_row, b_col; /* in elements */
} trs_batch_sweep;

#ifdef __cplusplus
extern "C" {
#endif

/* Lets the kernels of this type take `bytes` of shared memory. */
trs_status trs_batch_prepare(trs_scalar scalar, int64_t bytes);
trs_status trs_batch_take_values(const trs_batch_values *v, trs_scalar scalar, trs_stream stream);
trs_status trs_batch_take_joint(const trs_batch_joint *v, trs_scalar scalar, trs_stream stream);
trs_status trs_batch_lanes_sweep(const trs_batch_sweep *a, trs_scalar scalar, trs_stream stream);
/* bytes: of shared memory. */
trs_status trs_batch_levels_sweep(const trs_batch_sweep *a, int width, int64_t bytes,
                                  trs_scalar scalar, trs_stream stream);

/* Shared memory of a block. */
int64_t trs_batch_lanes_bytes(int64_t size, int window, int narrow);
/* Entries that `lanes` takes at a time. */
int trs_batch_chunk(int narrow);
int64_t trs_batch_levels_bytes(int64_t size, int64_t rows, const trs_batch_way *way, int width);
/* Of these the part for the stages, before x. */
int64_t trs_batch_stage_bytes(int64_t size, const trs_batch_way *way);
/* Numbers from one row of x to the next. */
int64_t trs_batch_pitch(int log_systems, int width, bool shared);

/* For tests: batches that are made from now on are solved this way if it is possible, with a depth
 * below zero as deep as suits; NULL: as chosen. */
void trs_batch_prefer(const trs_batch_way *way);

#ifdef __cplusplus
}
#endif
#endif
