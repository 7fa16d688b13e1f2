/* gpu.h - batches on one GPU: what the host part gives the kernels of gpu.cu.  C and CUDA C++.
 *
 * Systems stand in groups of 2^log_systems, and every number of a group is interleaved: that of
 * system s of entry p is at p * systems + s.  Each thread works on one system, and adds a row's
 * products one after the other, the farthest dependency first.  All kernels and all groups thus
 * give the same bits. */
#ifndef TRS_SOLVE_BATCH_GPU_H
#define TRS_SOLVE_BATCH_GPU_H

#include "device/device.h"

enum {
  TRS_BATCH_CHUNK = 4,         /* entries that `lanes` takes at a time */
  TRS_BATCH_CHUNKS = 8,        /* in flight */
  TRS_BATCH_ROWS = 32,         /* rows of b and x that `lanes` moves at a time */
  TRS_BATCH_LOG_MOST = 5,      /* a group has up to 32 systems */
  TRS_BATCH_MOST_THREADS = 512 /* of a block */
};

/* How a batch is solved. */
typedef struct trs_batch_way {
  bool lanes; /* a warp sweeps over a group's rows in natural order, a system in each lane; else
                 a block goes through the levels, its threads side by side on rows and systems */
  int log_systems; /* lanes: 5 */
  int threads;     /* of a block */
  bool shared;     /* levels: x in shared memory, else in global memory */
  int width;       /* levels: right-hand sides at a time in solves with several, 1 or 4 */
  int window;      /* lanes: rows of x in shared memory, a power of two */
} trs_batch_way;

/* Sources of an entry that is none of the caller's. */
enum { TRS_BATCH_ONE = -1, TRS_BATCH_ZERO = -2 };

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

/* Solving groups first .. first + groups - 1. */
typedef struct trs_batch_sweep {
  int64_t n, entries, count, first, groups;
  int log_systems;
  bool lower, unit;
  const void *val;
  const uint64_t *fault;

  const int32_t *distance; /* lanes: entries: rows back to the dependency; 0: the diagonal entry,
                              which ends a row; -1: none */
  int window;

  const int64_t *ptr; /* levels: rows in the order of levels; a row's last entry is the diagonal */
  const int32_t *col, *row, *level_ptr;
  int levels, threads;
  int64_t pitch; /* numbers from one row of x to the next */
  int64_t ahead; /* entries ahead that are fetched into the second-level cache; 0: none */
  void *work;    /* x of all groups; NULL: in shared memory */

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
trs_status trs_batch_lanes_sweep(const trs_batch_sweep *a, trs_scalar scalar, trs_stream stream);
trs_status trs_batch_levels_sweep(const trs_batch_sweep *a, int width, trs_scalar scalar,
                                  trs_stream stream);

/* Shared memory of a block. */
int64_t trs_batch_lanes_bytes(int64_t size, int window);
int64_t trs_batch_levels_bytes(int64_t size, int64_t n, int log_systems, int width);
/* Numbers from one row of x to the next. */
int64_t trs_batch_pitch(int log_systems, int width, bool shared);

/* For tests: batches that are made from now on are solved this way if it is possible; NULL: as
 * chosen. */
void trs_batch_prefer(const trs_batch_way *way);

#ifdef __cplusplus
}
#endif
#endif
