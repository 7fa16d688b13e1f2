/* engine.h - what the engine's kernels are told.  C and CUDA C++. */
#ifndef TRS_SOLVE_CUDA_ENGINE_ENGINE_H
#define TRS_SOLVE_CUDA_ENGINE_ENGINE_H

#include "analysis/slices.h"
#include "device/device.h"
#include "device/fault.h"

/* Runs of levels, each solved by one launch. */
typedef enum trs_launch_kind {
  TRS_LAUNCH_WARP_SLICE,  /* wide.cuh: every multiprocessor, a warp a slice */
  TRS_LAUNCH_SINGLE_BLOCK /* narrow.cuh: one block of threads, x in its shared memory */
} trs_launch_kind;

/* What the narrow kernel takes: few entries a lane, so many slices and rows a level, none heavy. */
#define TRS_SINGLE_BLOCK_WIDTH 4
#define TRS_SINGLE_BLOCK_SLICES 64
#define TRS_SINGLE_BLOCK_ROWS(scalar_size) ((scalar_size) == 16 ? 512 : 2048)

typedef struct trs_launch_range {
  trs_launch_kind kind;
  int32_t level, level_end;
  int32_t slice, slice_end;
  int32_t chunk, chunk_end;
  int64_t entries;   /* elements of idx and val */
  int32_t most_rows; /* in one level */
  int32_t heavy;     /* has heavy slices */
  int32_t settled;   /* one large level, which has a launch of its own for many right-hand sides
                        too: all it needs was solved by earlier launches */
} trs_launch_range;

/* State in device memory that outlives a solve. */
typedef struct trs_engine_counters {
  uint32_t parity;    /* which half of work this solve writes; the other is being cleared */
  uint32_t finished;  /* blocks of the last range that are done: wraps to 0 */
  uint32_t ticket[1]; /* one a range: wraps to 0 */
} trs_engine_counters;

typedef struct trs_engine_args {
  trs_slices slices;    /* device arrays */
  int32_t float_values; /* val is float where the system is double */
  int32_t buffers; /* of work and parts.  2: a solve uses one and empties the other for the next;
                     1, where two would not stay in the cache: emptied before each solve */
  void *work;      /* buffers x n: x by position; all bits set where not solved yet */
  void *parts;     /* buffers x nparts x TRS_SLICE_LANES: sums of parts, likewise */
  const int32_t *level_slice; /* nlevels + 1: first slice of each */
  int32_t overlaps;           /* the device can start a kernel before the one before it has ended */
  trs_engine_counters *counters;
  trs_fault *fault;
  /* one solve; columns: right-hand sides beside each other, each as if alone, with its own work and
     parts (buffers is 1 where there are several) */
  int32_t columns;
  void *x;
  const void *b;
  int64_t x_row, x_col, b_row, b_col, nrhs;
  void *many_rhs_work; /* n x tile, many right-hand sides */
  int32_t many_rhs;    /* right-hand sides solved together */
} trs_engine_args;

#ifdef __cplusplus
extern "C" {
#endif

/* One right-hand side through one range; last: of the solve. */
trs_status trs_engine_warp_slice(const trs_engine_args *args, trs_scalar scalar,
                                 const trs_launch_range *range, int32_t number, int32_t last,
                                 trs_stream stream);
trs_status trs_engine_single_block(const trs_engine_args *args, trs_scalar scalar,
                                   const trs_launch_range *range, int32_t last, trs_stream stream);
/* The first `width` right-hand sides as a tile through one range of either kind, whose work is
 * empty. */
trs_status trs_engine_many_rhs(const trs_engine_args *args, trs_scalar scalar,
                               const trs_launch_range *range, int32_t number, int32_t width,
                               trs_stream stream);

/* Tests: the rows of the first slice of a wide range never become ready, and the limit of waits is
 * short. */
struct trs_plan;
trs_status trs_engine_break(struct trs_plan *plan);

#ifdef __cplusplus
}
#endif
#endif
