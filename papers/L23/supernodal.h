/* supernodal.h - arguments of the kernels of supernodal.  C and CUDA C++. */
#ifndef TRS_L23_SUPERNODAL_H
#define TRS_L23_SUPERNODAL_H

#include "device/device.h"
#include "analysis/panels.h"
#include "device/fault.h"

enum {
  TRS_SUPERNODAL_WIDEST = 128,       /* columns per supernode */
  TRS_SUPERNODAL_MOST_THREADS = 256, /* per block; a power of two, at least 32 */
  TRS_SUPERNODAL_MOST_TILE = 32,     /* right-hand sides per block */
  /* Many right-hand sides: a block's threads are LANES right-hand sides by rows.  Each thread has
   * EACH rows and passes DEPTH columns of them through shared memory. */
  TRS_SUPERNODAL_LANES = 8,
  TRS_SUPERNODAL_EACH = 4,
  TRS_SUPERNODAL_DEPTH = 8
};

/* The panels of analysis/panels.h in device memory, with inverted diagonal blocks. */
typedef struct trs_supernodal {
  trs_scalar scalar;
  bool by_rows, backward;
  int32_t widest;
  int32_t threads, most_blocks; /* per block; per launch */
  int64_t n, count;
  const trs_panel *panel;
  const trs_panel_block *block; /* NULL for panels by columns */
  const int32_t *list, *line;
  const void *values;
  trs_fault *fault;
} trs_supernodal;

/* One launch.  x and b point at place 0; their strides lead from place to place, in a backward
 * sweep backwards through the arrays.  ticket, added and lsum are zero. */
typedef struct trs_supernodal_job {
  void *x;
  const void *b;
  int64_t nrhs, x_row, x_col, b_row, b_col;
  int32_t tile;               /* right-hand sides per block: 1, 8, 16 or 32 */
  int64_t tiles;              /* of nrhs */
  unsigned long long *ticket; /* next pair of a supernode and a tile; supernodes are outermost */
  int32_t *added;             /* count x tiles: blocks added to each pair; ready at `sources` */
  void *lsum;                 /* n x nrhs */
} trs_supernodal_job;

/* Bytes of shared memory per block. */
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
