/* push_break.h - a plan of `push` in which rows wait forever. */
#ifndef TRS_TEST_PUSH_BREAK_H
#define TRS_TEST_PUSH_BREAK_H

#include "plan/plan.h"

/* The rows of every member's first slice never become ready, and the limit of waits is short. */
trs_status push_break(trs_plan *plan);

#endif
