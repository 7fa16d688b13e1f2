/* 07_relax.c - block relaxation in the program's own arrays: A x = b in blocks of 5 x 5, as in a
 * flow solver: one row of cells in which neighbours interact. */
#include <math.h>
#include <stdio.h>

#include <trireme.h>

enum { CELLS = 1000, B = 5 };

static int64_t ptr[CELLS + 1];
static int32_t idx[3 * CELLS];
static double val[3 * CELLS][B][B], b[CELLS][B], x[CELLS][B];

static void fill(void) {
  for (int cell = 0; cell < CELLS; cell++) {
    int64_t at = ptr[cell];
    for (int other = cell - 1; other <= cell + 1; other++) {
      if (other < 0 || other >= CELLS) continue;
      for (int r = 0; r < B; r++)
        for (int c = 0; c < B; c++)
          val[at][r][c] = (other == cell ? 2.2 : -1) * (r == c ? 1 : 0.1 / (1 + r + c));
      idx[at++] = other;
    }
    ptr[cell + 1] = at;
    for (int r = 0; r < B; r++) b[cell][r] = sin(cell + r);
  }
}

int main(void) {
  fill();
  trs_context *ctx = NULL;
  trs_plan *R = NULL;
  double norms[2];
  trs_blocks blocks = {.struct_size = sizeof(trs_blocks),
                       .scalar = TRS_DOUBLE,
                       .block_size = B,
                       .nrows = CELLS,
                       .layout = TRS_ROW_MAJOR,
                       .indexing = TRS_PTR64,
                       .ptr = ptr,
                       .idx = idx,
                       .val = val};
  trs_sweep_options sweeps = {.struct_size = sizeof(trs_sweep_options),
                              .sweeps = 15,
                              .residual_every = 15,
                              .residuals = norms};
  trs_status status = trs_context_create(&ctx, "auto");
  if (!status) status = trs_relax_create_bsr(&R, ctx, &blocks, NULL);
  if (!status) status = trs_relax_sweep(R, x, CELLS * B, b, CELLS * B, 1, TRS_COL_MAJOR, &sweeps);
  if (status)
    fprintf(stderr, "%s\n", trs_last_error()->message);
  else
    printf("15 sweeps: the residual fell from %.2e to %.2e\n", norms[0], norms[1]);
  trs_plan_destroy(R);
  trs_context_destroy(ctx);
  return status || !(norms[1] < 0.1 * norms[0]);
}
