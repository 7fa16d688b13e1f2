/* args.h - what the kernels of relaxation are given.  Shared by C and CUDA C++. */
#ifndef TRS_RELAX_CUDA_ARGS_H
#define TRS_RELAX_CUDA_ARGS_H

#include "device/device.h"
#include "relax/part.h"
#include "solve/cuda/fault.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The arrays of a trs_relaxation in device memory.  Each has TRS_RELAX_READ_PAST bytes behind it
 * that may be read.  Row p of x begins at x + p * pitch. */
enum { TRS_RELAX_READ_PAST = 64 };

typedef struct trs_relax_args {
  int64_t nrows, parts; /* parts: of TRS_RELAX_PART rows */
  int block, store, nrhs, pitch;
  const int64_t *ptr;
  const int32_t *idx, *row;
  const void *off, *diagonal;
  const int8_t *power; /* of two, a block's factor; 16-bit formats only */
  const uint8_t *pivot;
  void *x, *r;
  int64_t x_stride, r_stride; /* elements from a right-hand side to the next */
  double omega;
  double *partial; /* parts for each right-hand side */
} trs_relax_args;

/* The caller's b and x, in device memory. */
typedef struct trs_relax_vectors {
  void *x;
  const void *b;
  int64_t x_row, x_col, b_row, b_col;
  int wide, keep; /* double; start from x */
} trs_relax_vectors;

trs_status trs_relax_load(const trs_relax_args *a, const trs_relax_vectors *v, trs_stream stream);
trs_status trs_relax_unload(const trs_relax_args *a, const trs_relax_vectors *v, trs_stream stream);

/* norms[c] = |r - A x| for each right-hand side. */
trs_status trs_relax_norms(const trs_relax_args *a, double *norms, trs_stream stream);

/* W21's kernels, one launch a colour. */
typedef struct trs_relax_rows_how {
  int six;             /* as many rows as fit a warp, else one */
  int async;           /* asynchronous copies of the blocks */
  int64_t window;      /* bytes of x to be kept in L2; 0: no wish */
  double window_share; /* of the window that fits */
} trs_relax_rows_how;

trs_status trs_relax_rows_run(const trs_relax_args *a, const trs_relax_rows_how *how, int64_t begin,
                              int64_t end, trs_stream stream);

/* ---- The streaming kernel: chunks of whole rows, one warp each at a time. ---- */

typedef struct trs_relax_chunk {
  int64_t block; /* its first one's place in off and idx */
  int32_t row;   /* its first position */
  int32_t reserved;
} trs_relax_chunk;

enum { TRS_RELAX_MOST_STREAMED = 8, TRS_RELAX_STARTS = 64, TRS_RELAX_MOST_STAGES = 4 };

typedef struct trs_relax_stream {
  const trs_relax_chunk *chunks; /* one more than there are */
  const int32_t *starts;         /* ncolours + 1: colour c is chunks starts[c] .. */
  int32_t ncolours;
  int32_t blocks; /* most of a chunk that passes through shared memory; longer rows do not */
  int32_t warps, stages, grid;
  int32_t persistent; /* one launch for all sweeps, else one a colour */
  /* A stage: where its arrays begin, and its size; bytes. */
  int32_t idx_at, power_at, diagonal_at, r_at, ptr_at, pivot_at, stage_bytes;
  int32_t sums_bytes, shared_bytes; /* sums: of a warp; shared: of a block of threads */
  int64_t sweeps;
  int32_t direction;
  uint32_t *arrived; /* blocks of threads that have ended their part of a colour, all in all */
  trs_fault *fault;
} trs_relax_stream;

/* Fills in what depends on the block size, the store and the device; TRS_ERROR_UNSUPPORTED where
 * nothing fits. */
trs_status trs_relax_stream_lay_out(trs_relax_stream *s, const trs_relax_args *a,
                                    const trs_device_facts *facts);
/* All sweeps. */
trs_status trs_relax_stream_run(const trs_relax_args *a, const trs_relax_stream *s,
                                const int32_t *starts_on_host, trs_stream stream);

#ifdef __cplusplus
}
#endif
#endif
