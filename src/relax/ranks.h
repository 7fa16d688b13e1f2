/* ranks.h - one relaxation on ranks, one domain per rank: the state of a trs_mpi_plan.  All
 * functions are collective, and all ranks report the failure of the first rank that has one. */
#ifndef TRS_RELAX_RANKS_H
#define TRS_RELAX_RANKS_H

#include "comm/mpi_structs.h"
#include "relax/domains.h"

/* Sets R->links, also after a failure; R must outlive them.  row: bytes per row of x.  Local. */
typedef trs_status (*trs_link_ranks)(trs_relaxation *R, trs_ranks *ranks, int64_t row);

typedef struct trs_ranks_relaxation {
  trs_ranks *ranks;
  trs_link_ranks link;
  trs_relaxation *R; /* this rank's domain; NULL: there is none */
  bool dealt; /* rank 0 provides the matrix, b and x, and distributes them; else each rank provides
                 its rows */
  int64_t nrows; /* of this rank, ascending: */
  int32_t *row;  /* nrows + nothing else: their numbers in the system */
  const char *partition;
  int64_t *count;     /* rows of every rank */
  int32_t *dealing;   /* rank 0, if distributed: the rows of rank 0, of rank 1, ... */
  void *b, *x, *pack; /* if distributed: own columns; on rank 0 also those of another rank */
  int64_t columns;    /* right-hand sides that these hold */
  double create_seconds, update_seconds;
} trs_ranks_relaxation;

/* source: the whole rows that this rank provides, from row (sum of nrows of the ranks before) on;
 * ncols and row are filled in.  dealt: rank 0 provides all rows; the others' sources are set.
 * scalar (of the sources that are given), block and options are the same on all ranks, except that
 * options->colour has the colours of this rank's rows.  Q has ranks, which must be open, and link;
 * the caller frees Q, also after a failure, before it closes them. */
TRS_API trs_status trs_ranks_relaxation_create(trs_ranks_relaxation *Q, trs_context *context,
                                               trs_block_source *source, bool dealt,
                                               const trs_relax_options *options);
TRS_API trs_status trs_ranks_relaxation_update(trs_ranks_relaxation *Q, trs_block_source *source);

/* rhs: of the rows that this rank provides.  status: the outcome of this rank's checks; the failure
 * of one rank becomes that of all. */
TRS_API trs_status trs_ranks_relaxation_sweep(trs_ranks_relaxation *Q, trs_status status,
                                              const trs_rhs *rhs, const trs_sweep_options *options);
TRS_API void trs_ranks_relaxation_free(trs_ranks_relaxation *Q);

/* ranks_info.c: as trs_mpi_relax_get_info. */
TRS_API trs_status trs_ranks_relaxation_info(trs_ranks_relaxation *Q, trs_relax_info *whole,
                                             trs_mpi_relax_info *info, trs_mpi_over over);

#endif
