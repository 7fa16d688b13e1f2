/* multi.h - host code that X20's methods share: distribution of columns to members, launches of
 * tasks in order, transfer of right-hand sides and solutions, and the report of one member's
 * failure to all.
 *
 * A solve is synchronous: it returns when x is complete.  All processes of a group execute the same
 * steps, and agree on the status before each step that needs all of them. */
#ifndef TRS_X20_MULTI_H
#define TRS_X20_MULTI_H

#include "plan/parameters.h"
#include "plan/plan.h"
#include "X20/component.h"
#include "X20/tasks.h"

/* One member of this process. */
typedef struct trs_portion {
  trs_device *device;
  trs_stream stream;
  int64_t nnz;
  int64_t *ptr; /* device memory, these five */
  int32_t *idx;
  void *val;
  uint32_t *ticket;          /* one per task */
  int32_t *owner;            /* member of each task */
  trs_component_fault *told; /* pinned host memory: copy of its fault after the last solve */
} trs_portion;

/* First field of a method's state. */
typedef struct trs_multi {
  trs_group *group;
  trs_tasks tasks;
  int64_t width;       /* right-hand sides solved together */
  trs_symmetric stage; /* each member's own components x width: b, replaced by x */
  trs_symmetric fault; /* trs_component_fault */
  trs_portion portion[TRS_MOST_MEMBERS];
} trs_multi;

/* The tasks that a method deals: each per member, or total in all if that is not 0.  Both 0: one
 * contiguous block of components per member. */
typedef struct trs_multi_tasks {
  int64_t each, total;
} trs_multi_tasks;

/* Reads the parameters `tasks` and `total`; *tasks has the defaults. */
trs_status trs_multi_parameters(const trs_plan *plan, trs_multi_tasks *tasks);

/* plan->state belongs to a method and is zeroed.  Deals tasks, uploads columns, and allocates the
 * memory that all methods need.  The caller calls trs_multi_free afterwards, also after failures.
 */
trs_status trs_multi_open(trs_plan *plan, trs_multi_tasks tasks);
trs_status trs_multi_update(trs_plan *plan);
void trs_multi_free(trs_multi *m);

/* Runs one step per local member, on its stream and device; all processes agree on the status. */
trs_status trs_multi_each(trs_plan *plan, trs_member_step step); /* the step's work is the plan */

/* Adds a member's in-degrees, from its own columns, to in_degree (n). */
trs_status trs_multi_count(trs_plan *plan, int member, int32_t *in_degree);

/* A launch's arguments for a task of a local member, with width right-hand sides stored as rows or
 * columns. */
trs_component_launch trs_multi_launch_of(const trs_plan *plan, int task, int64_t width,
                                         bool row_major);

/* The steps of a method's solve: restore counts and sums at a member; launch a task. */
typedef struct trs_multi_solver {
  trs_status (*restore)(trs_plan *plan, int member, int64_t width);
  trs_status (*launch)(trs_plan *plan, const trs_component_launch *part, trs_stream stream);
} trs_multi_solver;

trs_status trs_multi_solve(trs_plan *plan, const trs_rhs *rhs, const trs_multi_solver *solver);

/* Entries of a method's table, and those that all of these methods share. */
#define TRS_MULTI_METHOD                                                                  \
  .backend = &trs_backend_cuda_group, .analysis_solves = 0.5, .update = trs_multi_update, \
  .share = trs_multi_share
trs_status trs_multi_share(const trs_plan *plan, int member, int64_t nrhs, trs_plan_share *share,
                           int64_t *rows);
int64_t trs_multi_bytes(const trs_multi *m, const trs_system *S); /* of the local members */
void trs_multi_describe(const trs_multi *m, char *text, size_t size);

/* Limit of waits in nanoseconds; for the tests. */
extern uint64_t trs_multi_wait_limit;

#endif
