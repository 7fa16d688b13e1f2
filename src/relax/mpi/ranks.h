/* ranks.h - one relaxation on the ranks of a communicator, a domain each.  All functions are
 * collective, and a failure is that of the first rank that has one, on all. */
#ifndef TRS_RELAX_MPI_RANKS_H
#define TRS_RELAX_MPI_RANKS_H

#include "comm/ranks.h"
#include "relax/domains.h"

typedef struct trs_ranks_relaxation {
  trs_ranks ranks;
  trs_relaxation *R; /* this rank's domain */
  bool dealt; /* rank 0 has the matrix, b and x, and deals them; else each rank brings its rows */
  int64_t nrows; /* of this rank, ascending: */
  int32_t *row;  /* nrows + nothing else: their numbers in the system */
  const char *partition;
  int64_t *count;     /* rows of every rank */
  int32_t *dealing;   /* rank 0, dealt: the rows of rank 0, of rank 1, ... */
  void *b, *x, *pack; /* dealt: own columns; rank 0: those of another rank */
  int64_t columns;    /* that they have room for */
  double create_seconds, update_seconds;
} trs_ranks_relaxation;

/* source: what this rank brings, whole rows from row (sum of nrows of the ranks before) on; ncols
 * and row are filled in.  scalar, block and options are the same on all ranks, but
 * options->colour, which has the colours of the rows brought.  Opened ranks, also on failure
 * closed by trs_ranks_relaxation_free. */
trs_status trs_ranks_relaxation_create(trs_ranks_relaxation *Q, trs_context *context,
                                       trs_block_source *source, bool dealt,
                                       const trs_relax_options *options);
trs_status trs_ranks_relaxation_update(trs_ranks_relaxation *Q, trs_block_source *source);

/* rhs: of the rows brought. */
trs_status trs_ranks_relaxation_sweep(trs_ranks_relaxation *Q, const trs_rhs *rhs,
                                      const trs_sweep_options *options);
void trs_ranks_relaxation_free(trs_ranks_relaxation *Q);

#endif
