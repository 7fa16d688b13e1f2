/* smpi_ops.h - block operations that take time and do nothing else, on the clock of the rank that
 * runs.  Ranks are contexts of one thread: one runs until it calls MPI, and what it has computed
 * goes to SimGrid before that. */
#ifndef TRS_SIMULATE_SMPI_OPS_H
#define TRS_SIMULATE_SMPI_OPS_H

#include "comm/ranks.h"

typedef struct trs_smpi_rank {
  double pending; /* seconds computed that SimGrid does not know of */
} trs_smpi_rank;

/* The rank that runs: whoever comes back from MPI says so. */
void trs_smpi_resume(trs_smpi_rank *rank);

/* Lets them pass. */
void trs_smpi_flush(void);

#endif
