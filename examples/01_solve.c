/* 01_solve.c - L x = b for a lower triangular matrix in the program's own arrays.
 *
 *        [ 2          ] [x0]   [ 2 ]
 *        [ 1  4       ] [x1] = [ 9 ]      x = 1, 2, 3, 4
 *        [    3  5    ] [x2]   [ 21]
 *        [ 1     2  8 ] [x3]   [ 39]                                                         */
#include <stdio.h>

#include <trireme.h>

int main(void) {
  const int64_t ptr[] = {0, 1, 3, 5, 8}; /* compressed rows: row i is entries ptr[i] .. ptr[i+1] */
  const int32_t idx[] = {0, 0, 1, 1, 2, 0, 2, 3};
  const double val[] = {2, 1, 4, 3, 5, 1, 2, 8};
  const double b[] = {2, 9, 21, 39};
  double x[4];

  trs_context *ctx = NULL;
  trs_matrix *L = NULL;
  trs_plan *plan = NULL;
  trs_backward_error error = {.struct_size = sizeof error};
  trs_status status = trs_context_create(&ctx, "auto");
  if (!status)
    status = trs_matrix_create(&L, TRS_CSR, TRS_DOUBLE, 4, 4, TRS_PTR64, ptr, idx, val, TRS_BORROW);
  if (!status) status = trs_analyze(&plan, ctx, L, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, NULL);
  if (!status) status = trs_solve(plan, x, 4, b, 4, 1, TRS_COL_MAJOR);
  if (!status)
    status =
        trs_check(&error, L, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, x, 4, b, 4, 1, TRS_COL_MAJOR);
  if (status)
    fprintf(stderr, "%s\n", trs_last_error()->message);
  else
    printf("x = %g %g %g %g, backward error %.1e\n", x[0], x[1], x[2], x[3], error.componentwise);

  trs_plan_destroy(plan);
  trs_matrix_destroy(L);
  trs_context_destroy(ctx);
  return status || x[3] != 4;
}
