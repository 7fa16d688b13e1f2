/* group.h - relaxation on several GPUs, a domain each (group.c); for the tests. */
#ifndef TRS_RELAX_CUDA_GROUP_H
#define TRS_RELAX_CUDA_GROUP_H

#include <stdint.h>

/* Nanoseconds that a wait may last. */
extern uint64_t trs_relax_group_wait_limit;

#endif
