/* push_stand_in.h - `push` without GPUs: host threads, one per member, which push, wait, empty and
 * count as its kernels do, for doubles; and plans as plan.c makes them. */
#ifndef TRS_TEST_PUSH_STAND_IN_H
#define TRS_TEST_PUSH_STAND_IN_H

#include "plan/choice.h"
#include "solve/multigpu/push.h"

extern const trs_method trs_method_push;

/* Called once, before the first plan. */
int push_stand_in_begin(void **state);

/* Without a method's name, as if auto chose push. */
trs_status push_plan(trs_plan *plan, trs_context *context, trs_matrix *A, trs_uplo uplo,
                     const trs_options *options, const char *parameters);

extern trs_verdict push_verdict; /* of the last push_plan */
extern trs_plan *push_made;      /* what the next push_plan finds as the plan of one GPU that was
                                    timed; NULL: none, or it was destroyed to make room */

extern int64_t push_launches[4]; /* number so far, by the kind of rows that they wait for
                                    (trs_push_waits) */
extern int64_t push_fails_after; /* number of further launches before one fails; negative: none
                                    fails */
extern bool push_keeps;          /* damage: nothing is emptied */

/* The times that the analysis measures for the engine on one GPU and then for each comparison;
 * negative: out of memory. Each entry is used once. */
extern const double *push_seconds;
extern int32_t push_joint_levels; /* what trs_alone_joint_levels says */

#endif
