/* trireme_mpi.h - A x = b from LU factors spread over the ranks of an MPI communicator
 * (libtrireme_mpi, which is built where CMake finds MPI).
 *
 * Px x Py x Pz ranks solve as L23 describes (docs/references.md): Pz grids have a subtree of the
 * separator tree each and a copy of what stands above it; inside a grid blocks lie block-cyclic on
 * Px x Py processes.  Rank r is process (x, y) of grid z with r = (z Px + x) Py + y.
 *
 *   Conventions are those of trireme.h.  Every call here is collective over the communicator, and a
 * failure is the same on all ranks: the first rank's that failed, "rank 3: ..." before its message.
 * MPI itself is initialised and finalised by the caller; one thread calls. */
#ifndef TRIREME_MPI_H
#define TRIREME_MPI_H

#include <mpi.h>

#include "trireme.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct trs_mpi_plan trs_mpi_plan;

typedef struct trs_mpi_options {
  const char *method; /* NULL or "grid3d"; "grid3d-baseline": level by level over the separator
                         tree; "grid2d": one grid */
  int px, py, pz;     /* all 0: a shape is chosen; pz is a power of two */
  int flat_trees;     /* 1: whoever has something sends it to all itself */
  int64_t width;      /* most columns of a supernode; 0: 128 */
  int64_t relax;      /* percent of zeros that joining supernodes may bring; 0: 20, -1: none */
  char reserved[64];
} trs_mpi_options;

/* Takes its part of the factors, which every rank has whole; they are kept alive.
 * TRS_ERROR_ARGUMENT: the shape does not fit the ranks, pz is no power of two or larger than the
 * separator tree. */
TRS_API trs_status trs_mpi_analyze(MPI_Comm comm, trs_mpi_plan **plan, const trs_factors *F,
                                   const trs_mpi_options *options);

/* A x = b with nrhs right-hand sides by columns.  b and x lie on rank 0; others may pass NULL. */
TRS_API trs_status trs_mpi_solve(trs_mpi_plan *plan, void *x, int64_t ldx, const void *b,
                                 int64_t ldb, int64_t nrhs);
TRS_API void trs_mpi_plan_destroy(trs_mpi_plan *plan);

/* Over the ranks. */
typedef struct trs_mpi_spread {
  double min, mean, max;
} trs_mpi_spread;

/* Of the last solve, without handing out b and collecting x.  Seconds; L- and U-solve apart. */
typedef struct trs_mpi_stats {
  const char *method;
  int px, py, pz;
  int64_t supernodes;
  trs_mpi_spread solve_s;
  trs_mpi_spread inter_s[2]; /* between grids: before the U-solve, within it */
  trs_mpi_spread intra_s[2]; /* inside a grid: sending and waiting, L and U */
  trs_mpi_spread flop_s[2];  /* products, L and U */
  trs_mpi_spread flops;      /* additions and multiplications */
  trs_mpi_spread inter_messages, inter_bytes, intra_messages, intra_bytes; /* sent */
  trs_mpi_spread leaf_entries; /* over grids: entries of L and U in the leaves */
  trs_mpi_spread bytes;        /* of a rank's blocks */
  double replicated;           /* blocks on all ranks over blocks on one */
} trs_mpi_stats;

TRS_API trs_status trs_mpi_get_stats(trs_mpi_plan *plan, trs_mpi_stats *stats);

/* Makes a failure of any rank one of all: for what ranks do apart before a collective call, such as
 * reading files. */
TRS_API trs_status trs_mpi_agree(MPI_Comm comm, trs_status status);

#ifdef __cplusplus
}
#endif
#endif
