/* stand_in.h - plain loops in place of relaxation's kernels. */
#ifndef TRS_TEST_STAND_IN_H
#define TRS_TEST_STAND_IN_H

#include <stdbool.h>

/* One thread launches for all members, as if they shared a GPU. */
extern bool stand_in_one_thread;

/* Launches of this process that stored x in other members' memory. */
extern int stand_in_pushes;

#endif
