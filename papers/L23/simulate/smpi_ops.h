/* smpi_ops.h - block operations that only consume time, on the clock of the running rank.  Ranks
 * are contexts of one thread: one rank runs until it calls MPI, and before that its computed time
 * is passed to SimGrid. */
#ifndef TRS_SIMULATE_SMPI_OPS_H
#define TRS_SIMULATE_SMPI_OPS_H

#include "comm/ranks.h"

typedef struct trs_smpi_rank {
  double pending; /* computed seconds not yet passed to SimGrid */
} trs_smpi_rank;

/* The running rank: set by each rank that returns from MPI. */
void trs_smpi_resume(trs_smpi_rank *rank);

/* Passes these seconds to SimGrid. */
void trs_smpi_flush(void);

#endif
