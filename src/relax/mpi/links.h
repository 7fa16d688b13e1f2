/* links.h - a domain's x to and from the other ranks of a communicator. */
#ifndef TRS_RELAX_MPI_LINKS_H
#define TRS_RELAX_MPI_LINKS_H

#include "comm/ranks.h"
#include "relax/domains.h"

/* For R, whose domains are the ranks; R->links is set and R lives as long.  Local. */
trs_status trs_mpi_links_create(trs_relaxation *R, trs_ranks *ranks);
/* What has failed since the last call. */
trs_status trs_mpi_links_status(trs_relaxation *R);
void trs_mpi_links_free(trs_relaxation *R); /* none are fine */

#endif
