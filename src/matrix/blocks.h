/* blocks.h - the caller's matrix as rows of blocks, independent of its storage. */
#ifndef TRS_MATRIX_BLOCKS_H
#define TRS_MATRIX_BLOCKS_H

#include <stdbool.h>

#include "base/memory.h"
#include "base/team.h"
#include "device/device.h"
#include "matrix/matrix.h"

/* Block row i has the entries ptr[i * span] .. ptr[(i + 1) * span]; entry p is in block column
 * idx[p] / span.  In compressed rows, span == block and each entry has one element; blocks have
 * span 1. */
typedef struct trs_block_source {
  trs_scalar scalar; /* TRS_FLOAT or TRS_DOUBLE */
  int block, span;
  int64_t nrows;      /* number of block rows provided, and */
  int64_t ncols;      /* of those of the system */
  const int32_t *row; /* row number in the system, ascending; NULL: all rows are provided */
  trs_layout layout;  /* order of the elements of a block */
  const int64_t *ptr;
  const int32_t *idx;
  const void *val;
  bool matrix;  /* the arrays are those of a trs_matrix */
  int indexing; /* of ptr and idx: TRS_PTR32, ...; 0 but for a caller's blocks before
                   trs_block_source_take */
  /* Rows of elements in place of the arrays, for new values alone: as trs_block_source_row. */
  void (*give)(const void *user, int64_t i, const int32_t *slot, double *values);
  const void *user;
} trs_block_source;

/* The caller's description of blocks, in the library's version of the structure.  No array is
 * read. */
TRS_API trs_status trs_blocks_take(trs_blocks *own, const trs_blocks *given);

/* The same for new values: what is left open is filled in, and what is said must be the same. */
TRS_API trs_status trs_blocks_take_like(trs_blocks *own, const trs_blocks *given, trs_scalar scalar,
                                        int64_t nrows, int64_t ncols, int block_size);

/* f(..., block), with a block size of 1 to 8 as a constant: f is always inlined.  Where kernels of
 * better levels stand beside, one loop for all sizes is enough. */
#ifdef TRS_BLOCKS_OF_ANY_SIZE
#define TRS_BY_BLOCK(block, f, ...) f(__VA_ARGS__, block)
#else
#define TRS_BY_BLOCK(block, f, ...)   \
  ((block) == 1   ? f(__VA_ARGS__, 1) \
   : (block) == 2 ? f(__VA_ARGS__, 2) \
   : (block) == 3 ? f(__VA_ARGS__, 3) \
   : (block) == 4 ? f(__VA_ARGS__, 4) \
   : (block) == 5 ? f(__VA_ARGS__, 5) \
   : (block) == 6 ? f(__VA_ARGS__, 6) \
   : (block) == 7 ? f(__VA_ARGS__, 7) \
   : (block) == 8 ? f(__VA_ARGS__, 8) \
                  : f(__VA_ARGS__, block))
#endif

/* In pivot[0] of a diagonal block: it is the inverse. */
enum { TRS_BLOCK_INVERTED = 0x80 };

enum { TRS_BLOCKS_PAST = 32 }; /* zeros behind columns, for code that reads ahead */

/* Arrays of entries by rows; the block size divides nrows and ncols. */
static inline trs_block_source trs_block_source_by_entries(trs_scalar scalar, int64_t nrows,
                                                           int64_t ncols, const int64_t *ptr,
                                                           const int32_t *idx, const void *val,
                                                           int block) {
  return (trs_block_source){.scalar = scalar,
                            .block = block,
                            .span = block,
                            .nrows = nrows / block,
                            .ncols = ncols / block,
                            .ptr = ptr,
                            .idx = idx,
                            .val = val,
                            .matrix = true};
}

/* Of a matrix in host memory by rows: its blocks if it was made of blocks of this size, else its
 * entries, which trs_matrix_need_host has provided. */
trs_block_source trs_block_source_of(const trs_matrix *A, int block);

/* True if trs_block_source_of needs no entries. */
bool trs_matrix_has_blocks(const trs_matrix *A, int block);

/* Copies those of the source's arrays that are in device memory to the host, after earlier work in
 * the device's stream.  copies[3] are the copies, which the caller frees, also after a failure.
 * device: NULL is the current one. */
trs_status trs_block_source_fetch(trs_block_source *source, void *copies[3], trs_device *device,
                                  trs_stream stream);

/* Converts ptr and idx from any index type to those above; *taken are copies that the caller frees,
 * or NULL. */
trs_status trs_block_source_take(trs_block_source *source, void *taken[2]);

/* Row i's number in the system. */
static inline int64_t trs_block_source_name(const trs_block_source *source, int64_t i) {
  return source->row ? source->row[i] : i;
}

/* The block graph: row i reads the blocks idx[ptr[i] .. ptr[i + 1]), without duplicates and without
 * itself. */
typedef struct trs_block_pattern {
  int64_t n;
  int64_t *ptr;
  int32_t *idx;
  bool ascends; /* known to, in each row */
} trs_block_pattern;

/* Checks the arrays of a caller's blocks.  Matrices were checked before. */
trs_status trs_block_source_check(const trs_block_source *source);

/* Checks the source, and that every diagonal block exists. */
trs_status trs_block_pattern_build(trs_block_pattern *pattern, const trs_block_source *source,
                                   trs_team *team);
/* The pattern of the transpose. */
trs_status trs_block_pattern_transpose(trs_block_pattern *transposed,
                                       const trs_block_pattern *pattern);
void trs_block_pattern_free(trs_block_pattern *pattern);

/* Adds up the elements of the source's row i: block column j goes to values[slot[j] * block^2 ..],
 * column-major.  A block whose slot is negative is an error. */
trs_status trs_block_source_row(const trs_block_source *source, int64_t i, const int32_t *slot,
                                double *values);

/* Prefetches the elements of row i, the next row; they may lie anywhere in memory. */
void trs_block_source_ahead(const trs_block_source *source, int64_t i);

#endif
