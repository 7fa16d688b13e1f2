/* mpi.h - what the functions of trireme_mpi.h share. */
#ifndef TRS_API_MPI_H
#define TRS_API_MPI_H

#include "trireme_mpi.h"

trs_status trs_mpi_over_check(trs_mpi_over over);

#endif
