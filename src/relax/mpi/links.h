/* links.h - exchanges a domain's x with the other ranks of a communicator. */
#ifndef TRS_RELAX_MPI_LINKS_H
#define TRS_RELAX_MPI_LINKS_H

#include "relax/domains.h"

/* For R, whose domains are the ranks; sets R->links, also after a failure; R must outlive them.
 * row: bytes per row of x.  Local. */
trs_status trs_mpi_links_create(trs_relaxation *R, trs_ranks *ranks, int64_t row);

#endif
