/* alone.h - one GPU of a group by itself: the engine's plan there, and what its solves take. */
#ifndef TRS_SOLVE_MULTIGPU_ALONE_H
#define TRS_SOLVE_MULTIGPU_ALONE_H

#include "plan/plan.h"

/* The engine's plan for plan's system on that GPU, which works on that stream; nrhs: a hint. */
trs_status trs_alone_create(trs_plan **alone, const trs_plan *plan, trs_device *device,
                            trs_stream stream, int64_t nrhs);

/* Seconds of a solve of so many right-hand sides, in device memory of the device, the best of some.
 * All processes of a group call it for a plan that they share: with spread set b and x are theirs
 * each. */
trs_status trs_alone_time(trs_plan *plan, trs_device *device, int64_t nrhs, bool spread,
                          double *seconds);

#endif
