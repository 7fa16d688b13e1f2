/* 02_reuse_plan.c - one analysis, many matrices of the same pattern, many right-hand sides each.
 *
 * A time stepper solves (D + dt C) x = b and sometimes changes dt.  The pattern never changes, so
 * the plan is made once.  trs_update takes new values in a fraction of the time of the analysis. */
#include <stdio.h>
#include <stdlib.h>

#include <trireme.h>

enum { N = 10000, STEPS = 4, SOLVES = 25 };

static int failed(void) {
  fprintf(stderr, "%s\n", trs_last_error()->message);
  return EXIT_FAILURE;
}

/* Row i: 1 + dt on the diagonal, -dt / 2 at distances 1 and 100 before it. */
static void set_values(double *val, double dt) {
  int64_t p = 0;
  for (int i = 0; i < N; i++) {
    if (i >= 100) val[p++] = -dt / 2;
    if (i >= 1) val[p++] = -dt / 2;
    val[p++] = 1 + dt;
  }
}

static void set_pattern(int64_t *ptr, int32_t *idx) {
  int64_t p = 0;
  for (int i = 0; i < N; i++) {
    ptr[i] = p;
    if (i >= 100) idx[p++] = i - 100;
    if (i >= 1) idx[p++] = i - 1;
    idx[p++] = i;
  }
  ptr[N] = p;
}

int main(void) {
  static int64_t ptr[N + 1];
  static int32_t idx[3 * N];
  static double val[3 * N], x[N];
  trs_context *ctx;
  trs_matrix *A;
  trs_plan *plan;
  double worst = 0;

  set_pattern(ptr, idx);
  set_values(val, 1);
  if (trs_context_create(&ctx, "auto")) return failed();
  if (trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, N, N, TRS_PTR64, ptr, idx, val, TRS_BORROW))
    return failed();
  if (trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, NULL)) return failed();

  for (int step = 0; step < STEPS; step++) {
    static double b[N];
    trs_backward_error error = {.struct_size = sizeof error};
    set_values(val, 1.0 / (1 << step));       /* the matrix borrowed val: it has the new values, */
    if (trs_update(plan, A)) return failed(); /* and from here on the plan has them */
    trs_random_fill(x, N, TRS_DOUBLE, (uint64_t)step);
    for (int solve = 0; solve < SOLVES; solve++) {
      for (int i = 0; i < N; i++) b[i] = x[i];
      if (trs_solve(plan, x, N, x, N, 1, TRS_COL_MAJOR)) return failed(); /* x may be b */
    }
    if (trs_check(&error, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, x, N, b, N, 1, TRS_COL_MAJOR))
      return failed();
    if (error.componentwise > worst) worst = error.componentwise;
  }
  printf("%d solves from one plan, largest backward error %.1e\n", STEPS * SOLVES, worst);

  trs_plan_destroy(plan);
  trs_matrix_destroy(A);
  trs_context_destroy(ctx);
  return worst < 1e-14 ? EXIT_SUCCESS : EXIT_FAILURE;
}
