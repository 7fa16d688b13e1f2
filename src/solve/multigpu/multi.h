/* multi.h - what X20's methods share on the host: the columns of each member at it alone, tasks
 * launched in their order, right-hand sides taken to their members and solutions brought back, and
 * a failure of one told to all.
 *
 * A solve is synchronous: it returns when x is there.  All processes of a group go through the same
 * steps, and agree on failures before each step that needs all of them. */
#ifndef TRS_SOLVE_MULTIGPU_MULTI_H
#define TRS_SOLVE_MULTIGPU_MULTI_H

#include "plan/parameters.h"
#include "plan/plan.h"
#include "solve/multigpu/part.h"
#include "solve/multigpu/tasks.h"

/* One member of this process. */
typedef struct trs_portion {
  trs_device *device;
  trs_stream stream;
  int64_t nnz;
  int64_t *ptr; /* device memory, these four */
  int32_t *idx;
  void *val;
  uint32_t *ticket;     /* one for each of its tasks */
  trs_part_fault *told; /* pinned host memory: its fault as of the last solve */
} trs_portion;

/* First in the state of a method. */
typedef struct trs_multi {
  trs_group *group;
  trs_tasks tasks;
  int64_t width;       /* right-hand sides solved together */
  trs_symmetric stage; /* each member's own components x width: b, then x */
  trs_symmetric fault; /* trs_part_fault */
  trs_portion portion[TRS_MOST_MEMBERS];
} trs_multi;

/* NULL where the context has a group.  For a method's refuses. */
const char *trs_multi_refuses(const trs_plan *plan);

/* plan->state is a method's, zeroed: deals tasks (each: as in trs_tasks_create), loads columns,
 * makes room for what all methods need.  Afterwards trs_multi_free, also after failures. */
trs_status trs_multi_open(trs_plan *plan, int64_t each);
trs_status trs_multi_update(trs_plan *plan);
void trs_multi_free(trs_multi *m);

/* One step of each local member, on its stream and its device; all processes agree on how it went.
 */
trs_status trs_multi_each(trs_plan *plan, trs_member_step step); /* the step's work is the plan */

/* A launch's view of a task of a local member; width right-hand sides, lying as rows or columns. */
trs_part trs_multi_part(const trs_plan *plan, int task, int64_t width, bool row_major);

/* What a method does in a solve: restores its counts and sums at a member; launches a task. */
typedef struct trs_multi_solver {
  trs_status (*restore)(trs_plan *plan, int member, int64_t width);
  trs_status (*launch)(trs_plan *plan, const trs_part *part, trs_stream stream);
} trs_multi_solver;

trs_status trs_multi_solve(trs_plan *plan, const trs_rhs *rhs, const trs_multi_solver *solver);

/* For a method's table. */
trs_status trs_multi_share(const trs_plan *plan, int member, int64_t nrhs, trs_plan_share *share,
                           int64_t *rows);
int64_t trs_multi_bytes(const trs_multi *m, const trs_system *S); /* of the members here */
void trs_multi_describe(const trs_multi *m, char *text, size_t size);

/* Nanoseconds a wait may last; for the tests. */
extern uint64_t trs_multi_wait_limit;

#endif
