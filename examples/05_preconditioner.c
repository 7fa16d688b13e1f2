/* 05_preconditioner.c - conjugate gradients, preconditioned by an incomplete Cholesky
 * factorisation: every iteration solves L L' z = r by two triangular solves.
 *
 * trs_analyze_factors would make one plan of both; two plans show the two solves. */
#include <stdio.h>
#include <stdlib.h>

#include <trireme.h>

typedef struct csr {
  int64_t n;
  const int64_t *ptr;
  const int32_t *idx;
  const void *values;
} csr;

static int failed(void) {
  fprintf(stderr, "%s\n", trs_last_error()->message);
  return EXIT_FAILURE;
}

static void multiply(const csr *A, const double *x, double *y) {
  const double *val = A->values;
  for (int64_t i = 0; i < A->n; i++) {
    y[i] = 0;
    for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++) y[i] += val[p] * x[A->idx[p]];
  }
}

static double dot(const double *x, const double *y, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += x[i] * y[i];
  return sum;
}

/* Iterations until |b - A x| <= 1e-10 |b|, or -1; without plans, plain conjugate gradients.
 * work holds 4 n values. */
static int conjugate_gradients(const csr *A, trs_plan *lower, trs_plan *upper, const double *b,
                               double *x, double *work) {
  int64_t n = A->n;
  double *r = work, *z = work + n, *p = work + 2 * n, *q = work + 3 * n;
  double target = 1e-20 * dot(b, b, n), rz_before = 1;
  for (int64_t i = 0; i < n; i++) {
    x[i] = p[i] = 0;
    r[i] = b[i];
  }
  for (int k = 0; k < 1000; k++) {
    if (dot(r, r, n) <= target) return k;
    for (int64_t i = 0; i < n; i++) z[i] = r[i];
    if (lower && trs_solve(lower, z, n, z, n, 1, TRS_COL_MAJOR)) return -1;
    if (upper && trs_solve(upper, z, n, z, n, 1, TRS_COL_MAJOR)) return -1;
    double rz = dot(r, z, n), beta = rz / rz_before;
    for (int64_t i = 0; i < n; i++) p[i] = z[i] + beta * p[i];
    multiply(A, p, q);
    double alpha = rz / dot(p, q, n);
    for (int64_t i = 0; i < n; i++) x[i] += alpha * p[i];
    for (int64_t i = 0; i < n; i++) r[i] -= alpha * q[i];
    rz_before = rz;
  }
  return -1;
}

int main(void) {
  trs_context *ctx;
  trs_matrix *matrix;
  trs_matrix_info info = {.struct_size = sizeof info};
  trs_factors *F;
  trs_factors_info factors = {.struct_size = sizeof factors};
  trs_plan *lower, *upper;
  csr A;

  if (trs_context_create(&ctx, "auto")) return failed();
  if (trs_matrix_read(&matrix, "gen:poisson2d5:100", NULL)) return failed();
  trs_matrix_get_info(matrix, &info);
  trs_matrix_get_arrays(matrix, &A.ptr, &A.idx, &A.values);
  A.n = info.nrows;

  trs_factor_options options = {.struct_size = sizeof(trs_factor_options), .kind = TRS_FACTOR_IC0};
  if (trs_factor(&F, matrix, &options)) return failed();
  trs_factors_get_info(F, &factors);
  if (trs_analyze(&lower, ctx, factors.L, TRS_LOWER, TRS_NO_TRANS, factors.diag_L, NULL) ||
      trs_analyze(&upper, ctx, factors.L, TRS_LOWER, TRS_TRANS, factors.diag_L, NULL))
    return failed();

  double *b = malloc(sizeof *b * (size_t)(6 * A.n));
  if (!b) return EXIT_FAILURE;
  double *x = b + A.n, *work = x + A.n;
  trs_random_fill(b, A.n, TRS_DOUBLE, 3);
  int plain = conjugate_gradients(&A, NULL, NULL, b, x, work);
  int preconditioned = conjugate_gradients(&A, lower, upper, b, x, work);
  printf("%lld unknowns: %d iterations, with IC(0) %d\n", (long long)A.n, plain, preconditioned);

  free(b);
  trs_plan_destroy(upper);
  trs_plan_destroy(lower);
  trs_factors_destroy(F);
  trs_matrix_destroy(matrix);
  trs_context_destroy(ctx);
  return preconditioned > 0 && preconditioned < plain ? EXIT_SUCCESS : EXIT_FAILURE;
}
