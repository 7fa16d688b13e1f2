/* 08_relax_krylov.c - block relaxation as the preconditioner of BiCGStab (H. A. van der Vorst
 * 1992), on the matrix of a flow solver around a wing: M^-1 r is two sweeps from zero. */
#include <math.h>
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

/* z = M^-1 r; without a relaxation, z = r. */
static int precondition(trs_relaxation *R, const double *r, double *z, int64_t n) {
  const trs_sweep_options two = {.struct_size = sizeof(trs_sweep_options), .sweeps = 2};
  if (R) return trs_relax_sweep(R, z, n, r, n, 1, TRS_COL_MAJOR, &two) != TRS_SUCCESS;
  for (int64_t i = 0; i < n; i++) z[i] = r[i];
  return 0;
}

/* Iterations until |b - A x| <= 1e-10 |b|, or -1.  work holds 7 n values. */
static int bicgstab(const csr *A, trs_relaxation *R, const double *b, double *x, double *work) {
  int64_t n = A->n;
  double *r = work, *shadow = r + n, *p = r + 2 * n, *v = r + 3 * n, *t = r + 4 * n, *y = r + 5 * n,
         *z = r + 6 * n;
  double target = 1e-20 * dot(b, b, n), rho = 1, alpha = 1, omega = 1;
  for (int64_t i = 0; i < n; i++) {
    r[i] = shadow[i] = b[i];
    x[i] = p[i] = v[i] = 0;
  }
  for (int k = 0; k < 1000; k++) {
    if (dot(r, r, n) <= target) return k;
    double now = dot(shadow, r, n), beta = now / rho * (alpha / omega);
    rho = now;
    for (int64_t i = 0; i < n; i++) p[i] = r[i] + beta * (p[i] - omega * v[i]);
    if (precondition(R, p, y, n)) return -1;
    multiply(A, y, v);
    alpha = rho / dot(shadow, v, n);
    for (int64_t i = 0; i < n; i++) r[i] -= alpha * v[i];
    if (precondition(R, r, z, n)) return -1;
    multiply(A, z, t);
    omega = dot(t, r, n) / dot(t, t, n);
    for (int64_t i = 0; i < n; i++) x[i] += alpha * y[i] + omega * z[i];
    for (int64_t i = 0; i < n; i++) r[i] -= omega * t[i];
  }
  return -1;
}

int main(void) {
  trs_context *ctx;
  trs_matrix *matrix;
  trs_matrix_info info = {.struct_size = sizeof info};
  trs_relaxation *R;
  csr A;
  if (trs_context_create(&ctx, "auto")) return failed();
  if (trs_matrix_read(&matrix, "gen:wingmesh:3000", NULL)) return failed();
  trs_matrix_get_info(matrix, &info);
  trs_matrix_get_arrays(matrix, &A.ptr, &A.idx, &A.values);
  A.n = info.nrows;
  if (trs_relax_create(ctx, &R, matrix, 5, NULL)) return failed();

  double *b = malloc(sizeof *b * (size_t)(9 * A.n));
  if (!b) return EXIT_FAILURE;
  double *x = b + A.n, *work = x + A.n;
  trs_random_fill(b, A.n, TRS_DOUBLE, 3);
  int plain = bicgstab(&A, NULL, b, x, work);
  int relaxed = bicgstab(&A, R, b, x, work);
  printf("%lld unknowns: ", (long long)A.n);
  if (plain < 0)
    printf("no convergence in 1000 iterations, with two sweeps %d\n", relaxed);
  else
    printf("%d iterations, with two sweeps %d\n", plain, relaxed);

  free(b);
  trs_relax_destroy(R);
  trs_matrix_destroy(matrix);
  trs_context_destroy(ctx);
  return relaxed > 0 && (plain < 0 || relaxed < plain) ? EXIT_SUCCESS : EXIT_FAILURE;
}
