/* 22_mpi_rows.c - L U x = b where each rank of an MPI program has a range of rows of L, of U, of b
 * and of x: an incomplete LU of a grid's matrix, for instance.
 *
 * Here L has a unit diagonal that is not stored, and -1/4 left and below of it on a grid of 40 x 40
 * points; U has 4 on its diagonal, and -1 right and above. */
#include <stdio.h>
#include <stdlib.h>

#include <trireme_mpi.h>

enum { SIDE = 40, N = SIDE * SIDE };

static void stop(const char *what) {
  fprintf(stderr, "%s: %s\n", what, trs_last_error()->message);
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

/* Rows first .. first + rows - 1; columns are those of the whole matrix. */
static trs_matrix *make_rows(int64_t first, int64_t rows, int upper) {
  trs_matrix *T;
  int32_t ptr[N + 1] = {0}, idx[3 * N];
  double val[3 * N];
  int32_t count = 0;
  for (int64_t v = 0; v < rows; v++) {
    const int64_t i = first + v;
    const int64_t column[] = {i - SIDE, i % SIDE ? i - 1 : -1, i, i % SIDE < SIDE - 1 ? i + 1 : N,
                              i + SIDE};
    for (int k = upper ? 2 : 0; k < (upper ? 5 : 2); k++)
      if (column[k] >= 0 && column[k] < N) {
        idx[count] = (int32_t)column[k];
        val[count++] = k == 2 ? 4 : upper ? -1 : -0.25;
      }
    ptr[v + 1] = count;
  }
  if (trs_matrix_create(&T, TRS_CSR, TRS_DOUBLE, rows, N, TRS_PTR32, ptr, idx, val, TRS_COPY))
    stop("rows");
  return T;
}

int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int64_t first = (int64_t)N * rank / size, rows = (int64_t)N * (rank + 1) / size - first;
  trs_matrix *L = make_rows(first, rows, 0), *U = make_rows(first, rows, 1);
  double *b = malloc(sizeof *b * (size_t)rows), *x = malloc(sizeof *x * (size_t)rows), sum = 0;
  for (int64_t i = 0; i < rows; i++) b[i] = 1;

  trs_mpi_plan *plan;
  const trs_mpi_rows mine = {.struct_size = sizeof mine,
                             .n = N,
                             .first_row = first,
                             .L = L,
                             .U = U,
                             .diag_L = TRS_UNIT,
                             .diag_U = TRS_NONUNIT};
  if (trs_mpi_analyze_rows(&plan, MPI_COMM_WORLD, NULL, &mine, TRS_NO_TRANS, NULL))
    stop("analysis");
  trs_matrix_destroy(L);
  trs_matrix_destroy(U);
  if (trs_mpi_solve(plan, x, rows, b, rows, 1, TRS_COL_MAJOR))
    stop("solve"); /* any number of times */

  for (int64_t i = 0; i < rows; i++) sum += x[i];
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks: the mean of x is %.10f\n", size, sum / N);
  trs_mpi_plan_destroy(plan);
  free(b);
  free(x);
  MPI_Finalize();
  return EXIT_SUCCESS;
}
