/* links.h - exchanges a domain's x with the other ranks of a communicator. */
#ifndef TRS_RELAX_MPI_LINKS_H
#define TRS_RELAX_MPI_LINKS_H

#include "comm/ranks.h"
#include "relax/domains.h"

/* For R, whose domains are the ranks; sets R->links; R must outlive the links.  Local. */
trs_status trs_mpi_links_create(trs_relaxation *R, trs_ranks *ranks);
/* The first failure since the last call. */
trs_status trs_mpi_links_status(trs_relaxation *R);
void trs_mpi_links_free(trs_relaxation *R); /* NULL is allowed */

#endif
