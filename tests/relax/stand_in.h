/* stand_in.h - host memory in the place of GPUs. */
#ifndef TRS_TEST_STAND_IN_H
#define TRS_TEST_STAND_IN_H

#include <stdbool.h>
#include <stdint.h>

/* One thread launches for all members, as where they share a GPU. */
extern bool stand_in_one_thread;
int64_t stand_in_held(void); /* allocations */

#endif
