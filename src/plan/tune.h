/* tune.h - auto's choice by trial. */
#ifndef TRS_PLAN_TUNE_H
#define TRS_PLAN_TUNE_H

#include "plan/plan.h"

/* After the analysis.  Does nothing unless trs_options.tune is set, auto chose, and the solve is on
 * a CPU.  The other methods' analyses and a few solves of each are its cost. */
trs_status trs_plan_tune(trs_plan *plan);

#endif
