/* zerocopy.h - X20's Algorithm 3 as its kernel sees it.  C and CUDA C++. */
#ifndef TRS_SOLVE_MULTIGPU_ZEROCOPY_H
#define TRS_SOLVE_MULTIGPU_ZEROCOPY_H

#include "solve/multigpu/part.h"

/* s.in_degree[m] counts what the columns of member m have still to add to each component, and
 * s.left_sum[m] is what they have added: written by member m alone, read by all. */
typedef struct trs_zerocopy {
  trs_part part;
  int32_t *in_degree[TRS_PART_MEMBERS]; /* n */
  void *left_sum[TRS_PART_MEMBERS];     /* n rows of width */
} trs_zerocopy;

#ifdef __cplusplus
extern "C" {
#endif

trs_status trs_zerocopy_sweep(const trs_zerocopy *s, trs_stream stream);

/* Loads the kernel: a load while another member's kernel waits could wait for that one's end. */
trs_status trs_zerocopy_load(trs_scalar scalar);

#ifdef __cplusplus
}
#endif
#endif
