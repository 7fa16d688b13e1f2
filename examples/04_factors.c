/* 04_factors.c - A x = b by a complete LU factorisation and both triangular solves, with A' x = b
 * from the same factors.
 *
 * Needs SuperLU in the library; without it the example says so and exits with 77. */
#include <stdio.h>
#include <stdlib.h>

#include <trireme.h>

static int failed(void) {
  fprintf(stderr, "%s\n", trs_last_error()->message);
  return trs_last_error()->status == TRS_ERROR_UNSUPPORTED ? 77 : EXIT_FAILURE;
}

/* Solves op(A) x = b and compares with A itself, not with its factors. */
static int solve(trs_context *ctx, const trs_factors *F, const trs_matrix *A, trs_trans trans,
                 const double *b, double *x, int64_t n) {
  trs_plan *plan;
  trs_backward_error error = {.struct_size = sizeof error};
  if (trs_analyze_factors(&plan, ctx, F, trans, NULL)) return failed();
  if (trs_solve(plan, x, n, b, n, 1, TRS_COL_MAJOR)) return failed();
  if (trs_check(&error, A, TRS_GENERAL, trans, TRS_NONUNIT, x, n, b, n, 1, TRS_COL_MAJOR))
    return failed();
  printf("%s: normwise backward error %.1e\n", trans == TRS_TRANS ? "A' x = b" : "A  x = b",
         error.normwise);
  trs_plan_destroy(plan);
  return error.normwise < 1e-13 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(void) {
  trs_context *ctx;
  trs_matrix *A;
  trs_matrix_info matrix = {.struct_size = sizeof matrix};
  trs_factors *F;
  trs_factors_info factors = {.struct_size = sizeof factors};

  if (trs_context_create(&ctx, "auto")) return failed();
  if (trs_matrix_read(&A, "gen:powerlaw:2000", NULL)) return failed();
  trs_factor_options options = {
      .struct_size = sizeof(trs_factor_options), .kind = TRS_FACTOR_LU, .order = TRS_ORDER_AMD};
  if (trs_factor(&F, A, &options)) return failed();
  trs_matrix_get_info(A, &matrix);
  trs_factors_get_info(F, &factors);
  int64_t n = matrix.nrows;
  printf("A has %lld entries, L %lld and U %lld\n", (long long)matrix.nnz, (long long)factors.nnz_L,
         (long long)factors.nnz_U);

  double *b = malloc(sizeof *b * (size_t)n), *x = malloc(sizeof *x * (size_t)n);
  if (!b || !x) return EXIT_FAILURE;
  trs_random_fill(b, n, TRS_DOUBLE, 11);
  int code = solve(ctx, F, A, TRS_NO_TRANS, b, x, n);
  if (code == EXIT_SUCCESS) code = solve(ctx, F, A, TRS_TRANS, b, x, n);

  free(b);
  free(x);
  trs_factors_destroy(F);
  trs_matrix_destroy(A);
  trs_context_destroy(ctx);
  return code;
}
