/* push_stand_in.h - `push` without GPUs: its kernels by threads of the host, one a member, which
 * push, wait, empty and count as those do, for doubles; and plans as plan.c makes them. */
#ifndef TRS_TEST_PUSH_STAND_IN_H
#define TRS_TEST_PUSH_STAND_IN_H

#include "plan/plan.h"
#include "solve/multigpu/push.h"

extern const trs_method trs_method_push;

/* To be called once, before the first plan. */
void push_stand_in_begin(void);

trs_status push_plan(trs_plan *plan, trs_context *context, trs_matrix *A, trs_uplo uplo,
                     const trs_options *options, const char *parameters);

extern int64_t push_launches[4]; /* so far, by whom they wait for (trs_push_waits) */
extern int64_t push_fails_after; /* so many launches more, then one fails; negative: never */
extern bool push_keeps;          /* damage: nothing is emptied */

/* What analysis hears of the engine on one GPU and then of each race against it; negative: there is
 * no memory for it.  An entry is used once. */
extern const double *push_seconds;

#endif
