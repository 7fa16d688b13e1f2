/* get_update_put.h - arguments of the kernels of X20's Get-Update-Put (IV-B).  C and CUDA C++. */
#ifndef TRS_X20_GET_UPDATE_PUT_H
#define TRS_X20_GET_UPDATE_PUT_H

#include "X20/component.h"

/* Arrays have n entries, so that a component is found by its number.  What a member holds in
 * s.in_degree and s.left_sum is of its own components: other members read it, update it and write
 * it back.  d.in_degree and d.left_sum are what it adds to its own components itself.  Counts go
 * down to zero. */
typedef struct trs_get_update_put {
  trs_component_launch part;
  int32_t *s_in_degree[TRS_COMPONENT_MEMBERS];
  void *s_left_sum[TRS_COMPONENT_MEMBERS]; /* rows of width */
  int32_t *d_in_degree;                    /* device memory */
  void *d_left_sum;
  /* 1 while one warp of all members has s. of that member for itself; and, in device memory, per
   * member, while one warp of this member has it or waits for it. */
  uint32_t *lock[TRS_COMPONENT_MEMBERS], *turn;
} trs_get_update_put;

/* What the in-degrees of a member's components are without its own columns: the sum of what all
 * others count. */
typedef struct trs_get_update_put_counts {
  trs_component_launch part;
  const int32_t *counted[TRS_COMPONENT_MEMBERS]; /* n: in-degrees from that member's columns */
  int32_t *others;                               /* n: the result, for components of the part */
} trs_get_update_put_counts;

#ifdef __cplusplus
extern "C" {
#endif

trs_status trs_get_update_put_gather(const trs_get_update_put_counts *c, trs_stream stream);
trs_status trs_get_update_put_sweep(const trs_get_update_put *s, trs_stream stream);

/* Loads the kernel in advance: a load while another member's kernel waits could block until that
 * kernel ends. */
trs_status trs_get_update_put_load(trs_scalar scalar);

#ifdef __cplusplus
}
#endif
#endif
