/* 03_many_rhs.c - many right-hand sides in one call, in either layout.
 *
 * The matrix is read once for all right-hand sides, so 32 of them take far less than 32 times the
 * time of one.  Row-major storage, X[i * ldx + r], keeps the values of a row of X together and is
 * the faster layout. */
#include <stdio.h>
#include <stdlib.h>

#include <trireme.h>

enum { NRHS = 32, LD = NRHS + 4 }; /* a leading dimension may be larger than necessary */

static int failed(void) {
  fprintf(stderr, "%s\n", trs_last_error()->message);
  return EXIT_FAILURE;
}

int main(void) {
  trs_context *ctx;
  trs_matrix *A;
  trs_matrix_info info = {.struct_size = sizeof info};
  trs_plan *plan;
  trs_backward_error by_row = {.struct_size = sizeof by_row},
                     by_column = {.struct_size = sizeof by_column};

  /* The upper triangle of a 3D Laplacian; take_triangle because the matrix is not a triangle. */
  trs_options options = {.struct_size = sizeof(trs_options), .take_triangle = 1, .nrhs = NRHS};
  if (trs_context_create(&ctx, "auto")) return failed();
  if (trs_matrix_read(&A, "gen:poisson3d7:20", NULL)) return failed();
  if (trs_analyze(&plan, ctx, A, TRS_UPPER, TRS_NO_TRANS, TRS_NONUNIT, &options)) return failed();
  trs_matrix_get_info(A, &info);
  int64_t n = info.nrows;

  double *B = malloc(sizeof *B * (size_t)(n * LD)), *X = malloc(sizeof *X * (size_t)(n * LD));
  if (!B || !X) return EXIT_FAILURE;
  trs_random_fill(B, n * LD, TRS_DOUBLE, 7);

  if (trs_solve(plan, X, LD, B, LD, NRHS, TRS_ROW_MAJOR)) return failed();
  if (trs_check(&by_row, A, TRS_UPPER, TRS_NO_TRANS, TRS_NONUNIT, X, LD, B, LD, NRHS,
                TRS_ROW_MAJOR))
    return failed();

  if (trs_solve(plan, X, n, B, n, NRHS, TRS_COL_MAJOR)) return failed();
  if (trs_check(&by_column, A, TRS_UPPER, TRS_NO_TRANS, TRS_NONUNIT, X, n, B, n, NRHS,
                TRS_COL_MAJOR))
    return failed();
  printf("%lld rows, %d right-hand sides: backward error %.1e by rows, %.1e by columns\n",
         (long long)n, NRHS, by_row.componentwise, by_column.componentwise);

  free(B);
  free(X);
  trs_plan_destroy(plan);
  trs_matrix_destroy(A);
  trs_context_destroy(ctx);
  return by_row.componentwise < 1e-14 && by_column.componentwise < 1e-14 ? EXIT_SUCCESS
                                                                         : EXIT_FAILURE;
}
