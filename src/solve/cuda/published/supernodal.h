/* supernodal.h - what the supernodal method's host part tells its kernels.  C and CUDA C++. */
#ifndef TRS_SOLVE_CUDA_PUBLISHED_SUPERNODAL_H
#define TRS_SOLVE_CUDA_PUBLISHED_SUPERNODAL_H

#include "device/device.h"
#include "factor/panels.h"
#include "device/fault.h"

enum {
  TRS_SUPERNODAL_WIDEST = 128,       /* columns in a supernode */
  TRS_SUPERNODAL_MOST_THREADS = 256, /* of a block; a power of two from 32 on */
  TRS_SUPERNODAL_MOST_TILE = 32,     /* right-hand sides that a block solves for at once */
  /* Many right-hand sides: a block's threads are LANES right-hand sides by rows; each has EACH rows
   * and passes DEPTH columns of them through shared memory. */
  TRS_SUPERNODAL_LANES = 8,
  TRS_SUPERNODAL_EACH = 4,
  TRS_SUPERNODAL_DEPTH = 8
};

/* The panels in device memory, as factor/panels.h has them, diagonal blocks inverted. */
typedef struct trs_supernodal {
  trs_scalar scalar;
  bool by_rows, backward;
  int32_t widest;
  int32_t threads, most_blocks; /* of a launch */
  int64_t n, count;
  const trs_panel *panel;
  const trs_panel_block *block; /* NULL by columns */
  const int32_t *list, *line;
  const void *values;
  trs_fault *fault;
} trs_supernodal;

/* One launch.  x and b point at place 0 and their strides lead from place to place, backwards
 * through the arrays in a backward sweep.  ticket, told and lsum are zero. */
typedef struct trs_supernodal_job {
  void *x;
  const void *b;
  int64_t nrhs, x_row, x_col, b_row, b_col;
  int32_t tile;               /* right-hand sides a block solves for at once: 1, 8, 16 or 32 */
  int64_t tiles;              /* that make up nrhs */
  unsigned long long *ticket; /* the next pair of a supernode and a tile, supernodes outermost */
  int32_t *added;             /* count x tiles: blocks added to each pair; at sources: ready */
  void *lsum;                 /* n x nrhs */
} trs_supernodal_job;

/* Shared memory of a block, bytes. */
static inline int64_t trs_supernodal_shared(int64_t widest, int64_t threads, int64_t tile,
                                            int64_t scalar_size) {
  int64_t rows = threads / TRS_SUPERNODAL_LANES * TRS_SUPERNODAL_EACH;
  int64_t values = tile == 1 ? 2 * widest + threads : widest * tile + rows * TRS_SUPERNODAL_DEPTH;
  return values * scalar_size;
}

#ifdef __cplusplus
extern "C" {
#endif

trs_status trs_supernodal_launch(const trs_supernodal *panels, const trs_supernodal_job *job,
                                 trs_stream stream);

#ifdef __cplusplus
}
#endif
#endif
