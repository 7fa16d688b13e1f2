/* relax_ranks.h - trireme relax on the ranks that a launcher started, each with one domain.  Rank 0
 * has the matrix, b and x, and prints; the other ranks make the same calls. */
#ifndef TRIREME_CLI_RELAX_RANKS_H
#define TRIREME_CLI_RELAX_RANKS_H

#include <stdbool.h>

#include "trireme.h"

typedef struct relax_ranks relax_ranks;

/* True if a launcher started this process as the first of several. */
bool ranks_first_of_several(void);

/* True if there are or may be other ranks, according to the launcher. */
bool is_among_ranks(void);

/* ranks_are_lost: the last failure was a rank that does not answer.  MPI's own calls would wait for
 * that rank for ever, so ranks_abort_if_lost then ends the whole program. */
bool ranks_are_lost(void);
void ranks_abort_if_lost(int rank, int code);

/* *ranks stays NULL if this process is alone.  Returns -1, or the exit code. */
int ranks_join(relax_ranks **ranks);
/* Returns the exit code of this process: rank 0's code on rank 0, 0 on other ranks. */
int ranks_leave(relax_ranks *ranks, int code);

/* All of these accept NULL for a process that is alone. */
bool ranks_speaks(const relax_ranks *ranks);                  /* true on rank 0, or alone */
int ranks_agree(const relax_ranks *ranks, int code);          /* rank 0's */
bool ranks_any(const relax_ranks *ranks, bool failed);        /* true if any rank failed */
int64_t ranks_share(const relax_ranks *ranks, int64_t count); /* rank 0's */

/* The default backend: the node's cores, divided among its ranks. */
void ranks_backend(const relax_ranks *ranks, char *text, size_t size);

/* A context per rank: trs_mpi_context_create. */
trs_status ranks_context(const relax_ranks *ranks, trs_context **ctx, const char *where);

/* As trs_relax_*, for ranks that are not NULL. */
trs_status ranks_create(relax_ranks *ranks, trs_context *ctx, const trs_matrix *A, int block_size,
                        const trs_relax_options *options);
trs_status ranks_update(relax_ranks *ranks, const trs_matrix *A);
trs_status ranks_sweep(relax_ranks *ranks, void *x, const void *b, int64_t n, int64_t nrhs,
                       const trs_sweep_options *options);
trs_status ranks_info(relax_ranks *ranks, trs_relax_info *whole);

/* "by METIS", or the text for another partition of trs_relax_info. */
const char *how_dealt(const char *partition);

/* Minimum, mean and maximum over the ranks as path.min, path.mean and path.max. */
void ranks_report_over(const char *path, double min, double mean, double max);

/* What is told of them, as of the last ranks_info. */
void ranks_print(const relax_ranks *ranks);
void ranks_report(const relax_ranks *ranks);

#endif
