/* mpi_fortran.c - the functions that take a communicator, for communicators of Fortran. */
#include "trireme_mpi.h"

trs_status trs_mpi_context_create_f(trs_context **ctx, MPI_Fint comm, const char *where) {
  return trs_mpi_context_create(ctx, MPI_Comm_f2c(comm), where);
}

trs_status trs_mpi_analyze_f(trs_mpi_plan **plan, MPI_Fint comm, trs_context *ctx,
                             const trs_factors *F, trs_trans trans,
                             const trs_mpi_options *options) {
  return trs_mpi_analyze(plan, MPI_Comm_f2c(comm), ctx, F, trans, options);
}

trs_status trs_mpi_analyze_file_f(trs_mpi_plan **plan, MPI_Fint comm, trs_context *ctx,
                                  const char *path, trs_trans trans,
                                  const trs_mpi_options *options) {
  return trs_mpi_analyze_file(plan, MPI_Comm_f2c(comm), ctx, path, trans, options);
}

trs_status trs_mpi_analyze_blocks_f(trs_mpi_plan **plan, MPI_Fint comm, trs_context *ctx,
                                    const trs_mpi_blocks *blocks, trs_trans trans,
                                    const trs_mpi_options *options) {
  return trs_mpi_analyze_blocks(plan, MPI_Comm_f2c(comm), ctx, blocks, trans, options);
}

trs_status trs_mpi_analyze_rows_f(trs_mpi_plan **plan, MPI_Fint comm, trs_context *ctx,
                                  const trs_mpi_rows *rows, trs_trans trans,
                                  const trs_mpi_options *options) {
  return trs_mpi_analyze_rows(plan, MPI_Comm_f2c(comm), ctx, rows, trans, options);
}

trs_status trs_mpi_relax_create_f(trs_mpi_plan **plan, MPI_Fint comm, trs_context *ctx,
                                  const trs_matrix *A, int block_size,
                                  const trs_relax_options *options) {
  return trs_mpi_relax_create(plan, MPI_Comm_f2c(comm), ctx, A, block_size, options);
}

trs_status trs_mpi_relax_create_bsr_f(trs_mpi_plan **plan, MPI_Fint comm, trs_context *ctx,
                                      const trs_blocks *blocks, const trs_relax_options *options) {
  return trs_mpi_relax_create_bsr(plan, MPI_Comm_f2c(comm), ctx, blocks, options);
}

trs_status trs_mpi_agree_f(MPI_Fint comm, trs_status status) {
  return trs_mpi_agree(MPI_Comm_f2c(comm), status);
}
