/* timing.h - the time of a plan's solves, and auto's choice by trial. */
#ifndef TRS_PLAN_TIMING_H
#define TRS_PLAN_TIMING_H

#include "plan/plan.h"

/* After a first solve come rounds of solves.  Each round ends when its solves are complete. */
typedef struct trs_timing {
  int rounds, more; /* more rounds follow until `seconds` have passed */
  int solves;       /* per round */
  double seconds;
} trs_timing;

/* Seconds of a solve of these right-hand sides, in the fastest round. */
trs_status trs_plan_time_rhs(trs_plan *plan, const trs_rhs *rhs, const trs_timing *how,
                             double *seconds);

/* The same for nrhs right-hand sides of zeros, in the memory of the plan's GPU or on the host: the
 * time does not depend on values. */
TRS_API trs_status trs_plan_time(trs_plan *plan, int64_t nrhs, trs_layout layout,
                                 const trs_timing *how, double *seconds);

/* After the analysis.  Does nothing unless trs_options.tune is set, auto chose, and the solve is on
 * a CPU.  The other methods' analyses and a few solves of each are its cost. */
trs_status trs_plan_tune(trs_plan *plan);

#endif
