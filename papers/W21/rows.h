/* rows.h - W21's kernels and how a variant of them runs.  Shared by C and CUDA C++. */
#ifndef TRS_W21_ROWS_H
#define TRS_W21_ROWS_H

#include "relax/cuda/args.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum trs_w21_by {
  TRS_W21_BY_THREAD,      /* a thread per row */
  TRS_W21_BY_TWO_KERNELS, /* a warp per row for the product; D is solved in a second launch */
  TRS_W21_BY_WARP,        /* a warp per row for both */
  TRS_W21_BY_SIX          /* a warp for as many rows as fit its lanes */
} trs_w21_by;

/* Copies to shared memory, of the two last kinds. */
typedef enum trs_w21_copies {
  TRS_W21_COPY_NOTHING,
  TRS_W21_COPY_DIAGONAL, /* D's LU, during the product */
  TRS_W21_COPY_X         /* x of a row's next block; of TRS_W21_BY_SIX */
} trs_w21_copies;

typedef struct trs_w21_how {
  trs_w21_by by;
  trs_w21_copies copies;
  void *y;             /* in device memory, r - O x like r; of TRS_W21_BY_TWO_KERNELS */
  int64_t window;      /* bytes of x to keep in L2; 0: none */
  double window_share; /* the fraction of the window that fits */
  int aside;           /* 1 + the GPU's ordinal, where L2 is set aside */
} trs_w21_how;

/* how: a trs_w21_how.  Otherwise as trs_relax_rows_run. */
trs_status trs_w21_rows_run(const trs_relax_args *a, const void *how, int64_t begin, int64_t end,
                            trs_stream stream);

/* Sets aside as much L2 of the current GPU as possible, for a window of x of at most these bytes.
 * Each call needs a trs_w21_give_l2_back; the last one restores the L2. */
void trs_w21_take_l2(trs_w21_how *how, int64_t bytes, int ordinal);
void trs_w21_give_l2_back(trs_w21_how *how);

#ifdef __cplusplus
}
#endif
#endif
