/* zerocopy.h - arguments of the kernel of X20's Algorithm 3.  C and CUDA C++. */
#ifndef TRS_X20_ZEROCOPY_H
#define TRS_X20_ZEROCOPY_H

#include "X20/component.h"

/* s.in_degree[m] counts the entries of member m's columns that are still to be added to each
 * component, and s.left_sum[m] is their sum so far: only member m writes them, all members read
 * them. */
typedef struct trs_zerocopy {
  trs_component_launch part;
  int32_t lanes; /* of a warp that read a sum of each member; a power of two */
  int32_t *in_degree[TRS_COMPONENT_MEMBERS]; /* n */
  void *left_sum[TRS_COMPONENT_MEMBERS];     /* n rows of width */
} trs_zerocopy;

#ifdef __cplusplus
extern "C" {
#endif

trs_status trs_zerocopy_sweep(const trs_zerocopy *s, trs_stream stream);

/* Loads the kernel in advance: a load while another member's kernel waits could block until that
 * kernel ends. */
trs_status trs_zerocopy_load(trs_scalar scalar);

#ifdef __cplusplus
}
#endif
#endif
