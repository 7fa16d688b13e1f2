/* process.h - distinguishes a process from its forked children. */
#ifndef TRS_BASE_PROCESS_H
#define TRS_BASE_PROCESS_H

#include "trireme.h"

/* A number that differs between a process and its forked children.  Threads, MPI and CUDA do not
 * survive a fork; objects that depend on them store the number at their creation. */
TRS_API unsigned trs_process(void);

#endif
