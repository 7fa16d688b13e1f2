/* pull.h - arguments of the kernel of pull.  C and CUDA C++. */
#ifndef TRS_SOLVE_CUDA_PULL_H
#define TRS_SOLVE_CUDA_PULL_H

#include "analysis/triangle.h"
#include "device/fault.h"

/* Entries that a lane waits for at once. */
#define TRS_PULL_BATCH 4

typedef struct trs_pull {
  trs_system system; /* by rows, in device memory */
  /* All bits are set before a solve. */
  void *known;      /* n: x by row */
  uint32_t *ticket; /* 1: blocks of threads that have begun, less one */
  trs_fault *fault;
  /* one right-hand side */
  void *x;
  const void *b;
  int64_t x_row, b_row; /* in elements */
} trs_pull;

#ifdef __cplusplus
extern "C" {
#endif

/* lanes per row: 1, 4, 8 or 32. */
trs_status trs_pull_sweep(const trs_pull *pull, int lanes, trs_stream stream);

#ifdef __cplusplus
}
#endif
#endif
