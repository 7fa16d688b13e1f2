/* 08_relax_krylov.c [MATRIX [BLOCK_SIZE [RHS]]] - preconditioners by blocks for BiCGStab (H. A. van
 * der Vorst 1992): two sweeps of relaxation from zero, block ILU(0) and DILU, in the matrix's order
 * and by colours.  Without arguments: the matrix of a flow solver around a wing. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

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

/* At most one of them. */
typedef struct preconditioner {
  trs_plan *R;
  trs_plan *plan;
} preconditioner;

/* z = M^-1 r; without a preconditioner, z = r. */
static int precondition(const preconditioner *M, const double *r, double *z, int64_t n) {
  const trs_sweep_options two = {.struct_size = sizeof(trs_sweep_options), .sweeps = 2};
  if (M->R) return trs_relax_sweep(M->R, z, n, r, n, 1, TRS_COL_MAJOR, &two) != TRS_SUCCESS;
  if (M->plan) return trs_solve(M->plan, z, n, r, n, 1, TRS_COL_MAJOR) != TRS_SUCCESS;
  for (int64_t i = 0; i < n; i++) z[i] = r[i];
  return 0;
}

/* Iterations until |b - A x| <= 1e-10 |b|, or -1.  work holds 7 n values. */
static int bicgstab(const csr *A, const preconditioner *M, const double *b, double *x,
                    double *work) {
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
    if (precondition(M, p, y, n)) return -1;
    multiply(A, y, v);
    alpha = rho / dot(shadow, v, n);
    for (int64_t i = 0; i < n; i++) r[i] -= alpha * v[i];
    if (precondition(M, r, z, n)) return -1;
    multiply(A, z, t);
    omega = dot(t, r, n) / dot(t, t, n);
    for (int64_t i = 0; i < n; i++) x[i] += alpha * y[i] + omega * z[i];
    for (int64_t i = 0; i < n; i++) r[i] -= omega * t[i];
  }
  return -1;
}

static double seconds(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* One line of the table; returns the iterations, or -1. */
static int run(const char *name, const csr *A, const preconditioner *M, double made,
               const double *b, double *x, double *work) {
  double start = seconds();
  int iterations = bicgstab(A, M, b, x, work);
  double took = seconds() - start;
  if (iterations < 0)
    printf("  %-28s no convergence in 1000 iterations\n", name);
  else
    printf("  %-28s %4d iterations, %.3f s, after %.3f s to make it\n", name, iterations, took,
           made);
  return iterations;
}

/* Block factors in floats: the diagonal blocks stay doubles. */
static int run_factors(const char *name, trs_context *ctx, const trs_matrix *matrix, int block,
                       trs_factor_kind kind, trs_order order, const csr *A, const double *b,
                       double *x, double *work) {
  trs_factors *F;
  preconditioner M = {0};
  const trs_factor_options how = {
      .struct_size = sizeof(trs_factor_options), .kind = kind, .order = order, .block_size = block};
  const trs_options options = {
      .struct_size = sizeof(trs_options), .method = "blocks", .store = TRS_STORE_MIXED};
  double start = seconds();
  if (trs_factor(&F, matrix, &how)) return failed(), -1;
  if (trs_analyze_factors(&M.plan, ctx, F, TRS_NO_TRANS, &options)) return failed(), -1;
  int iterations = run(name, A, &M, seconds() - start, b, x, work);
  trs_plan_destroy(M.plan);
  trs_factors_destroy(F);
  return iterations;
}

static int run_relaxation(trs_context *ctx, const trs_matrix *matrix, int block, const csr *A,
                          const double *b, double *x, double *work) {
  preconditioner M = {0};
  double start = seconds();
  if (trs_relax_create(&M.R, ctx, matrix, block, NULL)) return failed(), -1;
  int iterations = run("two sweeps of relaxation", A, &M, seconds() - start, b, x, work);
  trs_plan_destroy(M.R);
  return iterations;
}

int main(int argc, char **argv) {
  trs_context *ctx;
  trs_matrix *matrix;
  trs_matrix_info info = {.struct_size = sizeof info};
  const preconditioner none = {0};
  const int block = argc > 2 ? atoi(argv[2]) : 5;
  csr A;
  if (trs_context_create(&ctx, "auto")) return failed();
  if (trs_matrix_read(&matrix, argc > 1 ? argv[1] : "gen:wingmesh:3000", NULL)) return failed();
  trs_matrix_get_info(matrix, &info);
  trs_matrix_get_arrays(matrix, &A.ptr, &A.idx, &A.values);
  A.n = info.nrows;

  double *b = malloc(sizeof *b * (size_t)(9 * A.n));
  if (!b) return EXIT_FAILURE;
  double *x = b + A.n, *work = x + A.n;
  trs_random_fill(b, A.n, TRS_DOUBLE, 3);
  if (argc > 3) {
    void *values;
    int64_t rows, columns;
    if (trs_vectors_read(&values, &rows, &columns, TRS_DOUBLE, argv[3], NULL)) return failed();
    for (int64_t i = 0; i < A.n && i < rows; i++) b[i] = ((double *)values)[i];
    trs_free(values);
  }
  printf("%lld unknowns in blocks of %d\n", (long long)A.n, block);
  int plain = run("no preconditioner", &A, &none, 0, b, x, work);
  int relaxed = run_relaxation(ctx, matrix, block, &A, b, x, work);
  int factored = run_factors("block ILU(0)", ctx, matrix, block, TRS_FACTOR_BILU0,
                             TRS_ORDER_NATURAL, &A, b, x, work);
  run_factors("block ILU(0), RCM", ctx, matrix, block, TRS_FACTOR_BILU0, TRS_ORDER_RCM, &A, b, x,
              work);
  run_factors("block ILU(0), colours", ctx, matrix, block, TRS_FACTOR_BILU0, TRS_ORDER_COLOUR, &A,
              b, x, work);
  run_factors("DILU", ctx, matrix, block, TRS_FACTOR_DILU, TRS_ORDER_NATURAL, &A, b, x, work);
  run_factors("DILU, colours", ctx, matrix, block, TRS_FACTOR_DILU, TRS_ORDER_COLOUR, &A, b, x,
              work);

  free(b);
  trs_matrix_destroy(matrix);
  trs_context_destroy(ctx);
  if (argc > 1) return EXIT_SUCCESS;
  return relaxed > 0 && factored > 0 && (plain < 0 || factored < plain) ? EXIT_SUCCESS
                                                                        : EXIT_FAILURE;
}
