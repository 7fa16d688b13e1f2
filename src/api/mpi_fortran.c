/* mpi_fortran.c - the functions that take a communicator, for communicators of Fortran. */
#include "trireme_mpi.h"

trs_status trs_mpi_context_create_f(MPI_Fint comm, trs_context **ctx, const char *where) {
  return trs_mpi_context_create(MPI_Comm_f2c(comm), ctx, where);
}

trs_status trs_mpi_analyze_f(MPI_Fint comm, trs_mpi_plan **plan, const trs_factors *F,
                             const trs_mpi_options *options) {
  return trs_mpi_analyze(MPI_Comm_f2c(comm), plan, F, options);
}

trs_status trs_mpi_analyze_file_f(MPI_Fint comm, trs_mpi_plan **plan, const char *path,
                                  const trs_mpi_options *options) {
  return trs_mpi_analyze_file(MPI_Comm_f2c(comm), plan, path, options);
}

trs_status trs_mpi_analyze_blocks_f(MPI_Fint comm, trs_mpi_plan **plan,
                                    const trs_mpi_blocks *blocks, const trs_mpi_options *options) {
  return trs_mpi_analyze_blocks(MPI_Comm_f2c(comm), plan, blocks, options);
}

trs_status trs_mpi_relax_create_f(MPI_Fint comm, trs_context *ctx, trs_mpi_relaxation **R,
                                  const trs_matrix *A, int block_size,
                                  const trs_relax_options *options) {
  return trs_mpi_relax_create(MPI_Comm_f2c(comm), ctx, R, A, block_size, options);
}

trs_status trs_mpi_relax_create_bsr_f(MPI_Fint comm, trs_context *ctx, trs_mpi_relaxation **R,
                                      trs_scalar scalar, int64_t nrows, int block_size,
                                      trs_layout layout, int indexing, const void *ptr,
                                      const void *idx, const void *val,
                                      const trs_relax_options *options) {
  return trs_mpi_relax_create_bsr(MPI_Comm_f2c(comm), ctx, R, scalar, nrows, block_size, layout,
                                  indexing, ptr, idx, val, options);
}

trs_status trs_mpi_agree_f(MPI_Fint comm, trs_status status) {
  return trs_mpi_agree(MPI_Comm_f2c(comm), status);
}
