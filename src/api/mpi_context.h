/* mpi_context.h - contexts of ranks: which GPU each of them works on. */
#ifndef TRS_API_MPI_CONTEXT_H
#define TRS_API_MPI_CONTEXT_H

#include "comm/ranks.h"
#include "backend/context.h"

/* Of all ranks together. */
typedef struct trs_mpi_gpus {
  int count;   /* GPUs that they work on */
  int sharing; /* the most ranks that work on one */
  int machine; /* of this rank: the same number on all of its machine */
} trs_mpi_gpus;

/* Collective; where is as trs_mpi_context_create has it.  gpus may be NULL. */
trs_status trs_mpi_open_context(trs_ranks *ranks, trs_context **ctx, const char *where,
                                trs_mpi_gpus *gpus);

#endif
