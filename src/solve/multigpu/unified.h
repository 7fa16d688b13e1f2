/* unified.h - X20's Algorithm 2 as its kernel sees it.  C and CUDA C++. */
#ifndef TRS_SOLVE_MULTIGPU_UNIFIED_H
#define TRS_SOLVE_MULTIGPU_UNIFIED_H

#include "solve/multigpu/part.h"

/* s.in_degree begins with all a component waits for; what other members add is taken off it, what
 * its own member adds is counted in d.in_degree, and where both are equal it is met. */
typedef struct trs_unified {
  trs_part part;
  int32_t *s_in_degree; /* n, managed memory */
  void *s_left_sum;     /* n rows of width, managed memory */
  int32_t *d_in_degree; /* n, the member's device memory */
  void *d_left_sum;     /* n rows of width, the member's device memory */
  const int32_t *owner; /* member of each task; device memory */
  int64_t task_size;
} trs_unified;

#ifdef __cplusplus
extern "C" {
#endif

trs_status trs_unified_sweep(const trs_unified *s, trs_stream stream);

/* Loads the kernel: a load while another member's kernel waits could wait for that one's end. */
trs_status trs_unified_load(trs_scalar scalar);

#ifdef __cplusplus
}
#endif
#endif
