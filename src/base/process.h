/* process.h - in which process of a line of forks the caller is. */
#ifndef TRS_BASE_PROCESS_H
#define TRS_BASE_PROCESS_H

#include "trireme.h"

/* A number that differs between a process and its forked children.  Threads, MPI and CUDA do not
 * survive a fork: what depends on them notes the number at its creation. */
TRS_API unsigned trs_process(void);

#endif
