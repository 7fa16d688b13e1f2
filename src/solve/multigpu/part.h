/* part.h - what the kernels of one member see of the system, in both of X20's algorithms.  C and
 * CUDA C++.
 *
 * A member has the columns of its components, and nothing of the others'.  A component, once
 * solved, adds its products to the left_sum of those below it and takes itself off their in_degree;
 * whose in_degree is met is solved.  Counts go down, so they are restored before each solve. */
#ifndef TRS_SOLVE_MULTIGPU_PART_H
#define TRS_SOLVE_MULTIGPU_PART_H

#include <stdbool.h>

#include "device/device.h"
#include "trireme.h"

enum { TRS_PART_MEMBERS = 32 }; /* TRS_MOST_MEMBERS */

/* One at each member, in symmetric memory. */
typedef struct trs_part_fault {
  uint64_t told;  /* 0, or whose wait passed the limit: (member + 1) << 32 | row */
  uint64_t limit; /* nanoseconds a wait may last */
} trs_part_fault;

/* One launch: the components begin .. end - 1 of a member. */
typedef struct trs_part {
  int64_t n;
  trs_scalar scalar;
  bool lower, unit, has_diagonal; /* as in trs_system */
  int32_t members, me;
  const int64_t *ptr; /* of the member's own columns, in the order of its tasks */
  const int32_t *idx; /* components, ascending within a column */
  const void *val;
  int64_t begin, end, local; /* as in trs_task */
  uint32_t *ticket;          /* 0: of this launch's components, how many are taken */
  void *x;                   /* b before, x after: row k of the member's own at x + k * row */
  int64_t row, col, width;   /* in elements; right-hand sides */
  int32_t blocks;            /* multiprocessors the launch may fill */
  trs_part_fault *fault[TRS_PART_MEMBERS];
} trs_part;

#ifdef __cplusplus
extern "C" {
#endif

/* Adds 1 to in_degree for each off-diagonal entry in the part's columns.  O(entries). */
trs_status trs_part_count(const trs_part *part, int32_t *in_degree, trs_stream stream);

#ifdef __cplusplus
}
#endif
#endif
