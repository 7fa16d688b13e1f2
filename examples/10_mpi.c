/* 10_mpi.c - A x = b on the ranks of an MPI program, from factors: three calls.
 *
 * Every rank makes the same factors of a small matrix.  For large matrices each rank reads its part
 * of a file of `trireme factor` by trs_mpi_analyze_file.  Every rank has a run of rows of b and
 * gets the same rows of x. */
#include <stdio.h>
#include <stdlib.h>

#include <trireme_mpi.h>

static void stop(const char *what) {
  fprintf(stderr, "%s: %s\n", what, trs_last_error()->message);
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

static trs_factors *make_factors(void) {
  trs_matrix *A;
  trs_factors *F;
  if (trs_matrix_read(&A, "gen:poisson2d5:30", NULL) || trs_factor(&F, A, NULL)) return NULL;
  trs_matrix_destroy(A);
  return F;
}

int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  trs_factors *F = make_factors();
  if (!F) { /* without SuperLU in the library */
    if (rank == 0) fprintf(stderr, "%s\n", trs_last_error()->message);
    MPI_Finalize();
    return 77;
  }
  int64_t n = 900, first = n * rank / size, rows = n * (rank + 1) / size - first;
  double *b = malloc(sizeof *b * (size_t)rows), *x = malloc(sizeof *x * (size_t)rows), sum = 0;
  for (int64_t i = 0; i < rows; i++) b[i] = 1;

  trs_mpi_plan *plan;
  if (trs_mpi_analyze(&plan, MPI_COMM_WORLD, NULL, F, TRS_NO_TRANS, NULL)) stop("analysis");
  if (trs_mpi_distribute(plan, first, rows)) stop("rows");
  if (trs_mpi_solve(plan, x, rows, b, rows, 1, TRS_COL_MAJOR))
    stop("solve"); /* any number of times */

  for (int64_t i = 0; i < rows; i++) sum += x[i];
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks: the mean of x is %.10f\n", size, sum / (double)n);
  trs_mpi_plan_destroy(plan);
  trs_factors_destroy(F);
  free(b);
  free(x);
  MPI_Finalize();
  return EXIT_SUCCESS;
}
