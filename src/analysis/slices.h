/* slices.h - the form in which the GPU engine reads a triangular system: rows in level order, cut
 * in slices that a warp reads with full-width loads, entries renumbered to positions.
 *
 * A block is a run of rows of the sweep whose diagonal block is inverted.  The rows of a block are
 * solved together, so levels are levels of blocks.  Chains are cut into blocks from their first
 * rows on, so that the blocks of the lines of a grid stand side by side, whatever the length of a
 * line. Full blocks begin with a window of rows.  A class is the number of lanes that share a row,
 * which follows from the row's length, and the size of the block.  The blocks of one level and
 * class are cut in slices of 32 / lanes rows (64 / lanes for GPUs whose warps have 64), whole
 * blocks only.  Positions number the rows in this order.
 *
 * Lane l of a slice with lanes = 2^log_lanes works on row r = l >> log_lanes of the slice, at
 * position first + r.  Its entry k is element entries + k trs_slice_stride + l.  idx is the
 * position that the entry reads; -1 behind the row's last entry, where it is skipped, since
 * padding must not meet a NaN.  The inverse of the diagonal blocks is stored by distance from the
 * diagonal: coefficient d of row r, at inverse + trs_inverse_at, multiplies the residual of row r
 * - d.
 *
 * The entries of a row are in the order of the sweep, so those that are known last come last.  A
 * block with long rows is heavy: it has slices of its own, each for a whole block of threads, of
 * TRS_PART_WIDTH entries per lane.  All slices of a heavy block but the last are parts: they store
 * their sums, by lane, and the last adds these to its own.
 *
 * solve/cuda/engine/analysis.cu builds the same arrays on the GPU.  slice.c is the plain version
 * that tests compare with it.  C and CUDA C++. */
#ifndef TRS_ANALYSIS_SLICES_H
#define TRS_ANALYSIS_SLICES_H

#include <stdint.h>

#ifdef __cplusplus
#define TRS_SLICES_INLINE __host__ __device__ static inline
#else
#define TRS_SLICES_INLINE static inline
#endif

enum {
  TRS_SLICE_LANES = 32,   /* a warp; twice as many with trs_slice_rules.wide */
  TRS_CHUNK_SLICES = 8,   /* slices per block of threads */
  TRS_MOST_BLOCK = 32,    /* rows in a block */
  TRS_BLOCK_CLASSES = 8,  /* sizes up to 1, 2, 3, 4, 6, 8, 16, 32 */
  TRS_LANE_CLASSES = 7,   /* 1, 2, 4, 8, 16, 32 lanes per row; heavy */
  TRS_HEAVY = 6,          /* the most lanes per row that the block's size leaves */
  TRS_CLASSES = 56,       /* lane class * TRS_BLOCK_CLASSES + block class */
  TRS_LIGHT_BLOCK = 8,    /* rows of the largest block that need not be heavy */
  TRS_EXACT_BLOCK = 4,    /* rows up to which all blocks of a class have one size */
  TRS_PART_WIDTH = 64,    /* entries per lane in a part */
  TRS_BLOCK_WINDOW = 256, /* rows of a window; no full block crosses its ends */
  TRS_CHAIN_LOOK = 4096   /* rows before a window among which the begin of a chain is looked for */
};

typedef struct trs_slice {
  int64_t entries, inverse; /* offsets of its first elements */
  int32_t first;            /* position of its first row */
  int32_t width;            /* entries per lane */
  int32_t early_poll;       /* position some levels up to poll before the slice's entries, or -1 */
  int32_t part;             /* heavy: number of its (first) part */
  int32_t parts;            /* parts to add; -1: this slice is a part */
  int32_t level;
  uint8_t rows, log_lanes, block, heavy; /* block: rows of its largest block; 0 in a part */
} trs_slice;

/* Rules that turn rows into blocks and lanes.  solve/cuda/engine/choice.c chooses them. */
typedef struct trs_slice_rules {
  int32_t most_block;  /* rows in a block: 1 to TRS_MOST_BLOCK */
  int32_t dense;       /* 1: diagonal blocks must be full; 0: a chain from row to row suffices */
  int32_t lane_length; /* most entries per lane: a row gets the fewest lanes that keep to it */
  int32_t large_level_lane_length; /* the same in large levels, where throughput limits the time */
  int32_t large_level_rows;        /* from this number of rows on a level is large */
  int32_t small_level_heavy_width; /* a block with more entries per lane is heavy: in levels of
                                      fewer than small_level_rows rows; */
  int32_t other_heavy_width;       /* in the other levels */
  int32_t small_level_rows;
  int32_t early_poll; /* levels from a slice up to the position it polls; 0: no early poll */
  int32_t wide;  /* 1: a slice has 64 lanes, for warps of 64; a row has at most 32 all the same */
  int32_t loose; /* 1, with dense 0: rows of a block need not depend on each other; a block ends
                    where block_starts begins another */
} trs_slice_rules;

/* The begin of a level. */
typedef struct trs_slice_level {
  int64_t entries; /* elements of idx and val before the level */
  int32_t slice, chunk, position;
  int32_t heavy; /* slices of heavy blocks; they come first in the level */
} trs_slice_level;

/* Arrays on the host (slice.c) or on the device (solve/cuda/engine/analysis.cu). */
typedef struct trs_slices {
  int64_t n;
  int32_t nblocks, nslices, nchunks, nlevels, nparts;
  int32_t longest;           /* most entries of one row outside its block */
  int64_t entries, inverses; /* elements of idx and val, of inverse */
  trs_slice *slice;          /* nslices */
  int32_t *chunk;            /* nchunks + 1: first slice of each */
  trs_slice_level *level;    /* nlevels + 1 */
  int32_t *row;              /* n: the row at each position */
  int32_t *idx;              /* entries: positions, or -1 */
  void *val;                 /* entries: system's scalar, or float */
  void *inverse;             /* inverses: system's scalar; all bits set: no coefficient */
} trs_slices;

/* What the row of a position reads and writes.  0 and above: b and x of that row of the system.  Of
 * a joint system (substitute.h), which has more rows than b and x: TRS_ROW_OF_Y + i, b of row i and
 * no x; TRS_ROW_BEHIND_Y + i, x of row i and no b.  -1 is no row. */
#define TRS_ROW_OF_Y INT32_MIN
#define TRS_ROW_BEHIND_Y (INT32_MIN / 2)
enum { TRS_MOST_JOINT_ROWS = (1 << 30) - 1 }; /* of a system whose joint system is made */
TRS_SLICES_INLINE int32_t trs_row_number(int32_t of) {
  return of < 0 ? of & TRS_MOST_JOINT_ROWS : of;
}
TRS_SLICES_INLINE int32_t trs_row_has_b(int32_t of) { return of >= 0 || of < TRS_ROW_BEHIND_Y; }
TRS_SLICES_INLINE int32_t trs_row_has_x(int32_t of) { return of >= TRS_ROW_BEHIND_Y; }

/* Block class of a number of rows, and the most rows of a class. */
TRS_SLICES_INLINE int32_t trs_block_class(int32_t rows) {
  return rows <= 4 ? rows - 1 : rows <= 6 ? 4 : rows <= 8 ? 5 : rows <= 16 ? 6 : 7;
}
TRS_SLICES_INLINE int32_t trs_block_class_rows(int32_t block_class) {
  return block_class < 4 ? block_class + 1 : block_class == 4 ? 6 : 8 << (block_class - 5);
}

/* The most lanes per row of a block, as a power of two. */
TRS_SLICES_INLINE int32_t trs_most_lanes(int32_t block_class) {
  int32_t rows = trs_block_class_rows(block_class), lanes = 5;
  while ((TRS_SLICE_LANES >> lanes) < rows) lanes--;
  return lanes;
}

/* Class of a block from its rows, the entries of its longest row outside the block, and the rows
 * of its level.  The longest rows come first, since the rows that depend on them wait longest. */
TRS_SLICES_INLINE int32_t trs_class_of(trs_slice_rules rules, int32_t rows, int32_t length,
                                       int32_t level_rows) {
  int32_t block_class = trs_block_class(rows), lanes = 0, most = trs_most_lanes(block_class);
  int32_t each =
      level_rows >= rules.large_level_rows ? rules.large_level_lane_length : rules.lane_length;
  int32_t width =
      level_rows < rules.small_level_rows ? rules.small_level_heavy_width : rules.other_heavy_width;
  if (rows > TRS_LIGHT_BLOCK || length > width << most)
    lanes = TRS_HEAVY;
  else
    while (lanes < most && each << lanes < length) lanes++;
  return (TRS_LANE_CLASSES - 1 - lanes) * TRS_BLOCK_CLASSES + block_class;
}
TRS_SLICES_INLINE int32_t trs_class_heavy(int32_t number) { return number < TRS_BLOCK_CLASSES; }
TRS_SLICES_INLINE int32_t trs_class_lanes(int32_t number) {
  return trs_class_heavy(number) ? trs_most_lanes(number % TRS_BLOCK_CLASSES)
                                 : TRS_LANE_CLASSES - 1 - number / TRS_BLOCK_CLASSES;
}
/* Blocks of a class per slice. */
TRS_SLICES_INLINE int32_t trs_class_blocks(int32_t number, int32_t wide) {
  return trs_class_heavy(number) ? 1
                                 : (TRS_SLICE_LANES << wide >> trs_class_lanes(number)) /
                                       trs_block_class_rows(number % TRS_BLOCK_CLASSES);
}
/* Lanes with a row, and so the distance between a lane's entries. */
TRS_SLICES_INLINE int32_t trs_slice_stride(const trs_slice *h) { return h->rows << h->log_lanes; }

/* r / h->block, for r up to 64 and blocks of up to TRS_EXACT_BLOCK rows. */
TRS_SLICES_INLINE int32_t trs_blocks_before(const trs_slice *h, int32_t r) {
  return h->block == 3 ? r * 43 >> 7 : r >> (h->block >> 1);
}
/* Offset of coefficient d of row r.  Packed triangles, by distance, if all blocks of the slice
 * have one size; else rectangles.  -1 if the row's block does not reach back d rows.  d = 0 is at
 * r. */
TRS_SLICES_INLINE int32_t trs_inverse_at(const trs_slice *h, int32_t r, int32_t d) {
  int32_t size = h->block;
  if (d == 0) return r;
  if (size > TRS_EXACT_BLOCK && !h->heavy) return d < size ? d * h->rows + r : -1;
  if (d >= size) return -1;
  int32_t block = h->heavy ? 0 : trs_blocks_before(h, r), place = r - block * size;
  int32_t blocks = h->heavy ? 1 : trs_blocks_before(h, h->rows);
  if (d > place) return -1;
  return blocks * (d * size - d * (d - 1) / 2) + block * (size - d) + place - d;
}
/* Number of coefficients of a slice. */
TRS_SLICES_INLINE int32_t trs_slice_inverses(const trs_slice *h) {
  int32_t size = h->block;
  if (size <= 1) return size * h->rows;
  if (size > TRS_EXACT_BLOCK && !h->heavy) return size * h->rows;
  return (h->heavy ? 1 : trs_blocks_before(h, h->rows)) * (size * (size + 1) / 2);
}

/* 1 if the slice only stores sums for the last slice of its heavy block. */
TRS_SLICES_INLINE int32_t trs_slice_is_part(const trs_slice *h) { return h->parts < 0; }

/* Number of slices of a heavy block of that width. */
TRS_SLICES_INLINE int32_t trs_heavy_slices(int32_t width) {
  return width > 0 ? (width + TRS_PART_WIDTH - 1) / TRS_PART_WIDTH : 1;
}

#endif
