/* syncfree_plan.h - the state and functions of the plans of both synchronization-free methods.
 *
 * The methods' tables contain the functions below.  A method's state begins with a
 * trs_syncfree_plan. */
#ifndef TRS_L17_SYNCFREE_PLAN_H
#define TRS_L17_SYNCFREE_PLAN_H

#include "solve/cuda/gpu.h"
#include "L17/syncfree.h"

/* Seconds of the steps of an analysis, the device idle before and after each.  The paper's
 * preprocessing is in_degrees alone: it takes the system by columns, and memory as there. */
typedef struct trs_syncfree_times {
  double load; /* uploads and transposition; next to nothing if the system lies there by columns */
  double memory, in_degrees;
} trs_syncfree_times;

typedef struct trs_syncfree_plan {
  trs_gpu gpu;
  trs_syncfree_times seconds;
  int32_t *in_degree; /* n, device memory */
  void *workspace;    /* the ticket, met and left_sum, in this order */
  int64_t width;      /* right-hand sides, at most, of left_sum */
} trs_syncfree_plan;

/* Loads the system by columns, counts in-degrees, allocates for `width` right-hand sides. */
trs_status trs_syncfree_analyze(trs_plan *plan, trs_gpu_launch launch, int64_t width);

/* Appends the times of the analysis to a description. */
void trs_syncfree_describe(const trs_syncfree_plan *p, char *text, size_t size);

/* Begins a solve of the columns from `first` on, at most p->width: clears the workspace and sets
 * the kernels' arguments. */
trs_status trs_syncfree_begin(const trs_syncfree_plan *p, trs_syncfree *s, trs_gpu_columns *columns,
                              const trs_rhs *rhs, int64_t first, trs_stream stream);

/* The entries that both tables share. */
#define TRS_SYNCFREE_METHOD                                              \
  TRS_GPU_METHOD, .analysis_solves = 0.1, .update = trs_syncfree_update, \
                  .bytes = trs_syncfree_bytes, .free = trs_syncfree_free

trs_status trs_syncfree_update(trs_plan *plan);
int64_t trs_syncfree_bytes(const trs_plan *plan);
void trs_syncfree_free(trs_plan *plan);

#endif
