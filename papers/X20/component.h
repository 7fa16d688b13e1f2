/* component.h - the data of one member for the kernels of X20's algorithms.  C and CUDA
 * C++.
 *
 * A member has only the columns of its own components.  A component, once solved, adds its products
 * to the left_sum of later components and decrements their in_degree.  A component whose in_degree
 * is met is solved.  Counts go down, so they are restored before each solve. */
#ifndef TRS_X20_COMPONENT_H
#define TRS_X20_COMPONENT_H

#include <stdbool.h>

#include "device/device.h"
#include "trireme.h"

enum { TRS_COMPONENT_MEMBERS = 32 }; /* TRS_MOST_MEMBERS */

/* One per member, in symmetric memory. */
typedef struct trs_component_fault {
  uint64_t told;  /* 0, or the wait that exceeded the limit: (member + 1) << 32 | row */
  uint64_t limit; /* limit of a wait in nanoseconds */
} trs_component_fault;

/* One launch: the components begin .. end - 1 of a member. */
typedef struct trs_component_launch {
  int64_t n;
  trs_scalar scalar;
  bool lower, unit, has_diagonal; /* as in trs_system */
  int32_t members, me;
  const int64_t *ptr; /* of the member's own columns, in task order */
  const int32_t *idx; /* components, ascending within a column */
  const void *val;
  int64_t begin, end, local; /* as in trs_component_task */
  const int32_t *owner;      /* member of each task; device memory */
  int64_t task_size;
  uint32_t *ticket;        /* number of this launch's components that are taken; 0 at the start */
  void *x;                 /* b, replaced by x: row k of the member's own at x + k * row */
  int64_t row, col, width; /* strides in elements; right-hand sides */
  int32_t blocks;          /* multiprocessors that the launch may occupy */
  trs_component_fault *fault[TRS_COMPONENT_MEMBERS];
} trs_component_launch;

#ifdef __cplusplus
extern "C" {
#endif

/* Adds 1 to in_degree for each off-diagonal entry in the part's columns.  O(entries). */
trs_status trs_component_count(const trs_component_launch *part, int32_t *in_degree,
                               trs_stream stream);

#ifdef __cplusplus
}
#endif
#endif
