/* 12_relax_mpi.c - block relaxation over MPI, each rank with its own cells: the row of cells of
 * 07_relax.c, cut into one piece per rank.  Columns are numbered over all ranks.  The library finds
 * and exchanges the x that a rank needs of its neighbours.  x is the same, bit by bit, on any
 * number of ranks.   mpirun -np 4 12_relax_mpi */
#include <math.h>
#include <stdio.h>

#include <trireme_mpi.h>

enum { CELLS = 1000, B = 5 };

static int64_t ptr[CELLS + 1];
static int32_t idx[3 * CELLS];
static double val[3 * CELLS][B][B], b[CELLS][B], x[CELLS][B];

/* Cells first .. end - 1 are this rank's. */
static void fill(int first, int end) {
  for (int cell = first; cell < end; cell++) {
    int64_t at = ptr[cell - first];
    for (int other = cell - 1; other <= cell + 1; other++) {
      if (other < 0 || other >= CELLS) continue;
      for (int r = 0; r < B; r++)
        for (int c = 0; c < B; c++)
          val[at][r][c] = (other == cell ? 2.2 : -1) * (r == c ? 1 : 0.1 / (1 + r + c));
      idx[at++] = other;
    }
    ptr[cell - first + 1] = at;
    for (int r = 0; r < B; r++) b[cell - first][r] = sin(cell + r);
  }
}

int main(int argc, char **argv) {
  int rank, size, provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int first = CELLS * rank / size, end = CELLS * (rank + 1) / size, own = end - first;
  fill(first, end);

  trs_context *ctx = NULL;
  trs_mpi_plan *R = NULL;
  double norms[2];
  trs_blocks blocks = {.struct_size = sizeof(trs_blocks),
                       .scalar = TRS_DOUBLE,
                       .block_size = B,
                       .nrows = own,
                       .layout = TRS_ROW_MAJOR,
                       .indexing = TRS_PTR64,
                       .ptr = ptr,
                       .idx = idx,
                       .val = val};
  trs_sweep_options sweeps = {.struct_size = sizeof(trs_sweep_options),
                              .sweeps = 15,
                              .residual_every = 15,
                              .residuals = norms};
  trs_status status = trs_mpi_agree(MPI_COMM_WORLD, trs_context_create(&ctx, "serial"));
  if (!status) status = trs_mpi_relax_create_bsr(&R, MPI_COMM_WORLD, ctx, &blocks, NULL);
  if (!status) status = trs_mpi_relax_sweep(R, x, own * B, b, own * B, 1, TRS_COL_MAJOR, &sweeps);
  if (status && rank == 0)
    fprintf(stderr, "%s\n", trs_last_error()->message);
  else if (rank == 0)
    printf("15 sweeps on %d ranks: the residual fell from %.2e to %.2e\n", size, norms[0],
           norms[1]);
  trs_mpi_plan_destroy(R);
  trs_context_destroy(ctx);
  MPI_Finalize();
  return status || !(norms[1] < 0.1 * norms[0]);
}
