/* alone.h - the engine on one GPU of a group, and the time of its solves. */
#ifndef TRS_SOLVE_MULTIGPU_ALONE_H
#define TRS_SOLVE_MULTIGPU_ALONE_H

#include "comm/group.h"
#include "plan/plan.h"
#include "solve/cuda/gpu.h"

/* The engine's plan for plan's system on the given GPU and stream; nrhs is a hint.  plan outlives
 * it.  keeps_system: for trs_alone_take. */
trs_status trs_alone_create(trs_plan **alone, trs_plan *plan, trs_device *device, trs_stream stream,
                            int64_t nrhs, bool keeps_system);

/* Gives it the new values of plan. */
trs_status trs_alone_update(trs_plan *alone, const trs_plan *plan);

/* The system by rows in device memory, which the plan's analysis has kept for this call: gpu gets
 * its arrays and frees them (trs_gpu_unload).  Call once. */
void trs_alone_take(trs_plan *alone, trs_gpu *gpu);

/* The levels of its rows; 0: unknown. */
int32_t trs_alone_levels(const trs_plan *alone);
/* The levels of the joint system that it solves; 0: it substitutes no row. */
int32_t trs_alone_joint_levels(const trs_plan *alone);

/* True if the engine's analysis of the whole system has room on each of the first `members` GPUs,
 * as far as their memory is known.  The same in all processes. */
bool trs_alone_fits(const trs_plan *plan, int members);

/* Location of b and x: in the memory of the only device, or spread, with all of both at each member
 * that this process runs. */
typedef struct trs_alone_arrays {
  trs_device *device[TRS_MOST_MEMBERS];
  int count;
  bool spread;
} trs_alone_arrays;

/* Seconds of a solve with the given number of right-hand sides, the best of several.  For a plan
 * that a group shares, all processes of the group call it. */
trs_status trs_alone_time(trs_plan *plan, const trs_alone_arrays *where, int64_t nrhs,
                          double *seconds);

/* Entries of the table of a method for groups, whose functions have these names in its file. */
#define TRS_GROUP_METHOD \
  .backend = &trs_backend_cuda_group, .parameters = true, .share = share, .wait = wait

#endif
