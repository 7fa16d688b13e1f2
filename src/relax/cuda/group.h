/* group.h - relaxation on several GPUs, one domain each (group.c); for the tests. */
#ifndef TRS_RELAX_CUDA_GROUP_H
#define TRS_RELAX_CUDA_GROUP_H

#include <stdint.h>

/* Sets the limit of a wait in nanoseconds. */
extern uint64_t trs_relax_group_wait_limit;

#endif
