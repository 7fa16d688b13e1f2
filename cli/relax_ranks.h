/* relax_ranks.h - trireme relax on the ranks that a launcher started, each with a domain.  Rank 0
 * has the matrix, b and x, and speaks; the others go through the same calls. */
#ifndef TRIREME_CLI_RELAX_RANKS_H
#define TRIREME_CLI_RELAX_RANKS_H

#include <stdbool.h>

#include "trireme.h"

typedef struct relax_ranks relax_ranks;

/* Whether a launcher started this process as the first of several. */
bool ranks_first_of_several(void);

/* Whether there are others, or may be, as far as the launcher tells. */
bool is_among_ranks(void);

/* Whether the last failure was that of a rank that does not answer: MPI's own calls would wait for
 * it without end.  Then this process ends here with the whole program. */
bool ranks_are_lost(void);
void ranks_abort_if_lost(int rank, int code);

/* *ranks stays NULL where this process is alone.  Returns -1, or how to leave. */
int ranks_join(relax_ranks **ranks);
/* Returns how this process leaves: with rank 0's code, or, another rank, as solved. */
int ranks_leave(relax_ranks *ranks, int code);

/* All of these take NULL for a process that is alone. */
bool ranks_speaks(const relax_ranks *ranks);           /* whether it is rank 0, or alone */
int ranks_agree(const relax_ranks *ranks, int code);   /* rank 0's */
bool ranks_any(const relax_ranks *ranks, bool failed); /* of all ranks */
trs_status ranks_status(const relax_ranks *ranks, trs_status status); /* the first failure */
int64_t ranks_share(const relax_ranks *ranks, int64_t count);         /* rank 0's */

/* The backend unless one is named: the node's cores, dealt to its ranks. */
void ranks_backend(const relax_ranks *ranks, char *text, size_t size);

/* A GPU for each rank: trs_mpi_context_create. */
trs_status ranks_context(const relax_ranks *ranks, trs_context **ctx, const char *where);

/* As trs_relax_*, of ranks that are not NULL. */
trs_status ranks_create(relax_ranks *ranks, trs_context *ctx, const trs_matrix *A, int block_size,
                        const trs_relax_options *options);
trs_status ranks_update(relax_ranks *ranks, const trs_matrix *A);
trs_status ranks_sweep(relax_ranks *ranks, void *x, const void *b, int64_t n, int64_t nrhs,
                       const trs_sweep_options *options);
trs_status ranks_info(relax_ranks *ranks, trs_relax_info *whole);

/* "by METIS", and what else partition in trs_relax_info means. */
const char *how_dealt(const char *partition);

/* Minimum, mean and maximum over the ranks as path.min, path.mean and path.max. */
struct trs_mpi_spread;
void ranks_report_spread(const char *path, const struct trs_mpi_spread *s);

/* What is told of them, as of the last ranks_info. */
void ranks_print(const relax_ranks *ranks);
void ranks_report(const relax_ranks *ranks);

#endif
