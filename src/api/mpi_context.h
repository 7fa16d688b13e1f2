/* mpi_context.h - contexts of ranks, and the assignment of GPUs to ranks. */
#ifndef TRS_API_MPI_CONTEXT_H
#define TRS_API_MPI_CONTEXT_H

#include "comm/ranks.h"
#include "backend/context.h"

/* The first two count over all ranks. */
typedef struct trs_mpi_gpus {
  int count;   /* GPUs in use */
  int sharing; /* the largest number of ranks that share one GPU */
  int machine; /* of this rank: the same number on all ranks of its machine */
} trs_mpi_gpus;

/* Collective; where has the syntax of trs_mpi_context_create.  gpus may be NULL. */
trs_status trs_mpi_open_context(trs_ranks *ranks, trs_context **ctx, const char *where,
                                trs_mpi_gpus *gpus);

#endif
