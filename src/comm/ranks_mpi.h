/* ranks_mpi.h - ranks over an MPI communicator. */
#ifndef TRS_COMM_RANKS_MPI_H
#define TRS_COMM_RANKS_MPI_H

#include <mpi.h>

#include "comm/ranks.h"

/* Collective.  Works on a duplicate of the communicator, whose errors are returned.  On failure
 * *ranks may be closed all the same.  limit: the most seconds that a rank waits for the others; 0:
 * those of the environment variable TRIREME_TIMEOUT, or none; below 0: none. */
trs_status trs_ranks_open_mpi(trs_ranks *ranks, MPI_Comm comm, double limit);

/* Not in a forked child. */
trs_status trs_mpi_usable(const trs_ranks *ranks);

/* Waits for a request within the ranks' limit; status may be MPI_STATUS_IGNORE. */
trs_status trs_mpi_await(const trs_ranks *ranks, MPI_Request *request, MPI_Status *status,
                         const char *call);

/* The duplicate, for messages with tags from TRS_TAG_FREE on. */
MPI_Comm trs_ranks_mpi_comm(const trs_ranks *ranks);

/* Collective: the first rank of this one's machine, and how many ranks before this one are there.
 */
trs_status trs_mpi_neighbours(trs_ranks *ranks, int *machine, int *turn);

/* Whether MPI says of itself that it takes addresses of a GPU's memory. */
bool trs_mpi_reads_device(void);

/* After a call of MPI that gave this code. */
trs_status trs_mpi_check(int code, const char *call);

#endif
