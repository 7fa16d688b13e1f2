/* ranks_mpi.h - ranks over an MPI communicator. */
#ifndef TRS_COMM_RANKS_MPI_H
#define TRS_COMM_RANKS_MPI_H

#include <mpi.h>

#include "comm/ranks.h"

/* Collective.  Works on a duplicate of the communicator, whose errors are returned.  After a
 * failure *ranks may be closed.  limit: the longest wait of a rank for the others in seconds; 0:
 * the environment variable TRIREME_TIMEOUT, or no limit; below 0: no limit. */
trs_status trs_ranks_open_mpi(trs_ranks *ranks, MPI_Comm comm, double limit);

/* Fails in a forked child. */
trs_status trs_mpi_usable(const trs_ranks *ranks);

/* Waits for a request within the ranks' limit.  status may be MPI_STATUS_IGNORE. */
trs_status trs_mpi_await(const trs_ranks *ranks, MPI_Request *request, MPI_Status *status,
                         const char *call);

/* The duplicate communicator, for messages with tags from TRS_TAG_FREE on. */
MPI_Comm trs_ranks_mpi_comm(const trs_ranks *ranks);

/* True if MPI reports that it accepts addresses of GPU memory. */
bool trs_mpi_reads_device(void);

/* Converts the code that a call of MPI returned. */
trs_status trs_mpi_check(int code, const char *call);

#endif
