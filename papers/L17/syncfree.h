/* syncfree.h - arguments of the kernels of L17's synchronization-free methods.  C and CUDA C++.
 *
 * The system is stored by columns.  A solved component adds its products to the left_sum of the
 * components below it and counts itself in their met.  A component is solved once met equals its
 * in-degree.  The paper counts in-degrees down, and so has to restore them before each solve; met
 * counts up, so that one clearing prepares a solve. */
#ifndef TRS_L17_SYNCFREE_H
#define TRS_L17_SYNCFREE_H

#include "device/device.h"
#include "device/fault.h"
#include "solve/cuda/columns.h"
#include "trireme.h"

typedef struct trs_syncfree {
  int64_t n, nnz;
  trs_scalar scalar;
  bool lower, unit, has_diagonal; /* as in trs_system */
  const int64_t *ptr;             /* n + 1 */
  const int32_t *idx;             /* nnz, ascending within a column */
  const void *val;                /* nnz */
  int32_t *in_degree; /* n: off-diagonal entries of each row; written by trs_syncfree_count only */

  /* Zero before a solve. */
  uint32_t *ticket; /* 1: blocks of threads that have begun */
  int32_t *met;     /* n */
  void *left_sum;   /* n; for several right-hand sides n x width */
  trs_fault *fault;
} trs_syncfree;

/* The distribution of a component's products over the lanes of a warp (Algorithm 4). */
typedef enum trs_syncfree_lanes {
  TRS_SYNCFREE_ADAPTIVE,
  TRS_SYNCFREE_RHS, /* one lane per right-hand side, over all entries of the column */
  TRS_SYNCFREE_NNZ  /* one lane per entry, over all right-hand sides */
} trs_syncfree_lanes;

typedef struct trs_syncfree_strategy {
  trs_syncfree_lanes lanes;
  int64_t p, q; /* of the adaptive choice, see syncfree_csc_rhs.cu */
} trs_syncfree_strategy;

#ifdef __cplusplus
extern "C" {
#endif

/* Counts into in_degree, which is zero. */
trs_status trs_syncfree_count(const trs_syncfree *s, trs_stream stream);

/* Algorithm 3 for one right-hand side.  warps: per block, at most 32; with warps of 64
 * lanes at most 16. */
trs_status trs_syncfree_sweep(const trs_syncfree *s, const trs_gpu_columns *rhs, int warps,
                              bool scratchpad, trs_stream stream);

/* Algorithm 4. */
trs_status trs_syncfree_sweep_rhs(const trs_syncfree *s, const trs_gpu_columns *rhs,
                                  const trs_syncfree_strategy *strategy, trs_stream stream);

#ifdef __cplusplus
}
#endif
#endif
