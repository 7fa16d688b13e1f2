/* stand_in.h - plain loops in the place of relaxation's kernels. */
#ifndef TRS_TEST_STAND_IN_H
#define TRS_TEST_STAND_IN_H

#include <stdbool.h>

/* One thread launches for all members, as where they share a GPU. */
extern bool stand_in_one_thread;

#endif
