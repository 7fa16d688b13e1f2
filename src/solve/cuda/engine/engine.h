/* engine.h - arguments of the engine's kernels.  C and CUDA C++. */
#ifndef TRS_SOLVE_CUDA_ENGINE_ENGINE_H
#define TRS_SOLVE_CUDA_ENGINE_ENGINE_H

#include <stdbool.h>

#include "analysis/slices.h"
#include "base/config.h"
#include "device/device.h"
#include "device/fault.h"

/* True in builds with HIP, whose engine has the warp-per-slice kernel, and no other and no
 * substitution (left_out.c). */
enum { TRS_ENGINE_WARP_SLICE_ALONE = TRS_HAVE_HIP };

/* A launch range is a run of levels that one launch solves. */
typedef enum trs_launch_kind {
  TRS_LAUNCH_WARP_SLICE,   /* warp_slice.cuh: one warp per slice, every multiprocessor */
  TRS_LAUNCH_SINGLE_BLOCK, /* shared_x.cu: one block of threads, x in its shared memory */
  TRS_LAUNCH_CLUSTER,      /* shared_x.cu: a cluster of blocks, x in the shared memory of each */
  TRS_LAUNCH_KINDS
} trs_launch_kind;

/* Limits of the single-block and the cluster kernel: mean entries per lane; slices and rows per
 * level.  They take no heavy slices. */
#define TRS_SHARED_X_WIDTH 4
#define TRS_SHARED_X_ROWS(scalar_size) ((scalar_size) == 16 ? 512 : 2048)
#define TRS_SINGLE_BLOCK_SLICES 64
#define TRS_CLUSTER_BLOCKS 8 /* the largest portable cluster */

typedef struct trs_launch_range {
  trs_launch_kind kind;
  int32_t level, level_end;
  int32_t slice, slice_end;
  int32_t chunk, chunk_end;
  int64_t entries; /* elements of idx and val */
  int64_t rows;
  int32_t heavy;   /* has heavy slices */
  int32_t settled; /* one large level: earlier launches have solved all that it needs */
} trs_launch_range;

/* State in device memory between solves. */
typedef struct trs_engine_counters {
  uint32_t parity;    /* buffer of work that this solve writes; it clears the other */
  uint32_t finished;  /* blocks of the last range that have ended; wraps to 0 */
  uint32_t ticket[1]; /* one per range; wraps to 0.  Several right-hand sides together, whose
                         launches do not overlap, use the first */
} trs_engine_counters;

typedef struct trs_engine_args {
  trs_slices slices;    /* device arrays; row: of b and x */
  int64_t n;            /* rows of b and x: slices.n, or fewer in a joint system (substitute.h) */
  int32_t chains;       /* blocks are chains of rows, not full diagonal blocks */
  int32_t boxes;        /* blocks are boxes (analysis/boxes.h) */
  int32_t float_values; /* val is float although the system is double */
  int32_t buffers; /* of work and parts.  2, a double buffer: a solve uses one and clears the other
                      for the next solve.  1, if two do not stay in the cache: cleared before each
                      solve */
  int32_t work_shift; /* x of neighbouring positions are 2^work_shift elements apart */
  void *work;         /* buffers x slices.n << work_shift: x by position; all bits set: pending */
  void *parts;        /* buffers x nparts x lanes of a slice: sums of parts, likewise */
  const int32_t *level_slice; /* nlevels + 1: first slice of each */
  int32_t lanes;              /* of a slice: a warp */
  int32_t overlaps;           /* the device can start a kernel before its predecessor ends */
  int32_t multiprocessors;    /* of the device */
  trs_engine_counters *counters;
  trs_fault *fault;
  /* One solve.  columns: right-hand sides of a batch, each with its own work and parts; buffers is
   * 1 if there are several. */
  int32_t columns;
  void *x;
  const void *b;
  int64_t x_row, x_col, b_row, b_col, nrhs;
  void *many_rhs_work; /* slices.n x many_rhs: x by position; all bits set: pending */
  int32_t many_rhs;    /* right-hand sides solved together */
  int32_t in_place;    /* rows wait for x itself, n x many_rhs, instead of many_rhs_work */
  int32_t *system_idx; /* slices.entries: idx as rows of the system, for in_place; or NULL.  Not of
                          joint systems */
} trs_engine_args;

#ifdef __cplusplus
extern "C" {
#endif

/* Solve one right-hand side in one range.  number: of the range; last: the last range of the
 * solve. */
trs_status trs_engine_warp_slice(const trs_engine_args *args, trs_scalar scalar,
                                 const trs_launch_range *range, int32_t number, int32_t last,
                                 trs_stream stream);
trs_status trs_engine_shared_x(const trs_engine_args *args, trs_scalar scalar,
                               const trs_launch_range *range, int32_t last, trs_stream stream);
/* Before the first trs_engine_shared_x on the current device.  *clusters: clusters of the cluster
 * kernel that the device runs at once; 0 without `overlaps` of trs_engine_args. */
trs_status trs_engine_prepare_shared_x(trs_scalar scalar, int32_t float_values, int32_t overlaps,
                                       int32_t *clusters);
/* Solves the first `width` right-hand sides together in one range of trs_many_rhs_ranges.  The
 * caller has set all bits of many_rhs_work where rows wait, or of x with in_place. */
trs_status trs_engine_many_rhs(const trs_engine_args *args, trs_scalar scalar,
                               const trs_launch_range *range, int32_t width, trs_stream stream);

/* The same without heavy slices, for blocks of at most TRS_EXACT_BLOCK rows, for rows of b and x
 * whose values are adjacent and fill whole packs.  Rows that begin at 16-byte addresses
 * (trs_engine_whole_packs) move faster.
 * shared_bytes: the largest shared memory of a block of threads. */
trs_status trs_engine_row_groups(const trs_engine_args *args, trs_scalar scalar,
                                 const trs_launch_range *range, int32_t width, int64_t shared_bytes,
                                 trs_stream stream);
/* Fills system_idx of trs_engine_args. */
trs_status trs_engine_map_idx(int32_t *system_idx, const trs_slices *slices, trs_stream stream);
/* True if the rows of a dense matrix of `width` columns begin at 16-byte addresses and are whole
 * packs of 16 bytes (pack.cuh).  first: its first element; row, column: strides in elements. */
bool trs_engine_whole_packs(const void *first, int64_t row, int64_t column, int32_t width,
                            trs_scalar scalar);

#ifdef __cplusplus
}
#endif
#endif
