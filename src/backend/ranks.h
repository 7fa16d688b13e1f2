/* ranks.h - contexts of ranks, and the assignment of GPUs to ranks. */
#ifndef TRS_BACKEND_RANKS_H
#define TRS_BACKEND_RANKS_H

#include "backend/context.h"
#include "comm/ranks.h"

/* The first two count over all ranks. */
typedef struct trs_ranks_gpus {
  int count;   /* GPUs in use */
  int sharing; /* the largest number of ranks that share one GPU */
  int machine; /* of this rank: the same number on all ranks of its machine */
} trs_ranks_gpus;

/* Collective; where has the syntax of trs_mpi_context_create. */
TRS_API trs_status trs_ranks_open_context(trs_ranks *ranks, trs_context **ctx, const char *where);

/* Collective: the GPUs of the ranks' contexts, all of which have one or none. */
trs_status trs_ranks_count_gpus(trs_ranks *ranks, const trs_context *ctx, trs_ranks_gpus *gpus);

/* The same, and *kept is ctx with a further reference. */
TRS_API trs_status trs_ranks_keep_context(trs_ranks *ranks, trs_context **kept, trs_context *ctx,
                                          trs_ranks_gpus *gpus);

#endif
