/* alone.h - one GPU of a group by itself: the engine's plan there, and what its solves take. */
#ifndef TRS_SOLVE_MULTIGPU_ALONE_H
#define TRS_SOLVE_MULTIGPU_ALONE_H

#include "comm/group.h"
#include "plan/plan.h"

/* The engine's plan for plan's system on that GPU, which works on that stream; nrhs: a hint. */
trs_status trs_alone_create(trs_plan **alone, const trs_plan *plan, trs_device *device,
                            trs_stream stream, int64_t nrhs);

/* Where b and x lie: in memory of the only device, or spread, with each member that this process
 * runs, all of both. */
typedef struct trs_alone_arrays {
  trs_device *device[TRS_MOST_MEMBERS];
  int count;
  bool spread;
} trs_alone_arrays;

/* Seconds of a solve of so many right-hand sides, the best of some.  All processes of a group call
 * it for a plan that they share. */
trs_status trs_alone_time(trs_plan *plan, const trs_alone_arrays *where, int64_t nrhs,
                          double *seconds);

#endif
