/* mpi_structs.h - the structures of trireme_mpi.h, for libtrireme, which is compiled without MPI.
 */
#ifndef TRS_COMM_MPI_STRUCTS_H
#define TRS_COMM_MPI_STRUCTS_H

#ifdef TRIREME_WITHOUT_MPI_H /* functions with these are in libtrireme_mpi */
typedef void *MPI_Comm;
typedef int MPI_Fint;
#endif

#include "trireme_mpi.h"

#endif
