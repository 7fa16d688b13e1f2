/* unified.h - arguments of the kernel of X20's Algorithm 2.  C and CUDA C++. */
#ifndef TRS_X20_UNIFIED_H
#define TRS_X20_UNIFIED_H

#include "X20/component.h"

/* s.in_degree starts with a component's full in-degree.  Other members decrement it, the
 * component's own member counts in d.in_degree.  When both are equal the component can be solved.
 */
typedef struct trs_unified {
  trs_component_launch part;
  int32_t *s_in_degree; /* n, managed memory */
  void *s_left_sum;     /* n rows of width, managed memory */
  int32_t *d_in_degree; /* n, the member's device memory */
  void *d_left_sum;     /* n rows of width, the member's device memory */
} trs_unified;

#ifdef __cplusplus
extern "C" {
#endif

trs_status trs_unified_sweep(const trs_unified *s, trs_stream stream);

/* Loads the kernel in advance: a load while another member's kernel waits could block until that
 * kernel ends. */
trs_status trs_unified_load(trs_scalar scalar);

#ifdef __cplusplus
}
#endif
#endif
