/* 13_replace_spsv.c - Trireme in place of cuSPARSE's SpSV in an ILU(0) preconditioner.
 *
 * cusparseDcsrilu02 (and PETSc's ILU) leave L and U in one matrix: the strict lower triangle is
 * L's, whose unit diagonal is not stored, the rest is U's.  A program with SpSV makes two
 * descriptors, two buffers and two analyses of it, and calls cusparseSpSV_solve twice.  With
 * Trireme it passes the matrix once, with its 32-bit row pointers, and one solve makes both sweeps:
 *
 *     SpSV, each call twice                      Trireme
 *     _createDescr, _bufferSize, _analysis       trs_factors_create, trs_analyze_factors
 *     _solve                                     trs_solve
 *     _updateMatrix                              trs_update_factors
 *     _destroyDescr                              trs_plan_destroy, trs_factors_destroy
 *
 * On a GPU only two lines differ: trs_context_create(&ctx, "cuda"), and trs_matrix_create_device
 * with the device pointers.  x and b are then device pointers, and trs_solve only launches. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <trireme.h>

enum { SIDE = 60, N = SIDE * SIDE, MOST = 5 * N };

static int32_t ptr[N + 1], idx[MOST];
static double A[MOST], LU[MOST], b[N], x[N], r[N], z[N];

static void trireme(trs_status status) {
  if (!status) return;
  fprintf(stderr, "%s\n", trs_last_error()->message);
  exit(EXIT_FAILURE);
}

/* Convection and diffusion on a square: not symmetric. */
static void make_matrix(double wind) {
  int32_t nnz = 0;
  for (int32_t i = 0; i < N; i++) {
    if (i >= SIDE) idx[nnz] = i - SIDE, A[nnz++] = -1 - wind;
    if (i % SIDE > 0) idx[nnz] = i - 1, A[nnz++] = -1 - wind;
    idx[nnz] = i, A[nnz++] = 4;
    if (i % SIDE < SIDE - 1) idx[nnz] = i + 1, A[nnz++] = -1 + wind;
    if (i < N - SIDE) idx[nnz] = i + SIDE, A[nnz++] = -1 + wind;
    ptr[i + 1] = nnz;
  }
}

/* ILU(0) in place of a copy of A, as cusparseDcsrilu02 computes it. */
static void factor(void) {
  static int32_t at[N];
  for (int32_t j = 0; j < N; j++) at[j] = -1;
  for (int32_t p = 0; p < ptr[N]; p++) LU[p] = A[p];
  for (int32_t i = 0; i < N; i++) {
    for (int32_t p = ptr[i]; p < ptr[i + 1]; p++) at[idx[p]] = p;
    for (int32_t p = ptr[i]; p < ptr[i + 1] && idx[p] < i; p++) {
      int32_t k = idx[p], q = ptr[k];
      while (idx[q] < k) q++;
      LU[p] /= LU[q];
      for (q++; q < ptr[k + 1]; q++)
        if (at[idx[q]] >= 0) LU[at[idx[q]]] -= LU[p] * LU[q];
    }
    for (int32_t p = ptr[i]; p < ptr[i + 1]; p++) at[idx[p]] = -1;
  }
}

/* r = b - A x; returns its norm. */
static double residual(void) {
  double sum = 0;
  for (int32_t i = 0; i < N; i++) {
    r[i] = b[i];
    for (int32_t p = ptr[i]; p < ptr[i + 1]; p++) r[i] -= A[p] * x[idx[p]];
    sum += r[i] * r[i];
  }
  return sqrt(sum);
}

/* Richardson iterations, preconditioned by the plan, until the residual has fallen by 1e-8. */
static int iterate(trs_plan *plan) {
  for (int32_t i = 0; i < N; i++) x[i] = 0;
  double first = residual();
  for (int k = 0; k < 2000; k++) {
    if (residual() <= 1e-8 * first) return k;
    trireme(trs_solve(plan, z, N, r, N, 1, TRS_COL_MAJOR)); /* z = U^-1 L^-1 r */
    for (int32_t i = 0; i < N; i++) x[i] += z[i];
  }
  return -1;
}

int main(void) {
  trs_context *ctx;
  trs_matrix *M;
  trs_factors *F;
  trs_plan *plan;
  trs_random_fill(b, N, TRS_DOUBLE, 1);
  make_matrix(0.2);
  factor();
  trireme(trs_context_create(&ctx, "auto"));
  trireme(trs_matrix_create(&M, TRS_CSR, TRS_DOUBLE, N, N, TRS_PTR32, ptr, idx, LU, TRS_BORROW));
  trireme(trs_factors_create(&F, M, TRS_UNIT, M, TRS_NONUNIT, NULL, NULL, NULL, NULL));
  trireme(trs_analyze_factors(&plan, ctx, F, TRS_NO_TRANS, NULL));
  int before = iterate(plan);

  make_matrix(0.6); /* the next time step: other values, the same pattern */
  factor();
  trireme(trs_update_factors(plan, F));
  int after = iterate(plan);
  printf("%d unknowns: %d iterations, after new values %d\n", N, before, after);

  trs_plan_destroy(plan);
  trs_factors_destroy(F);
  trs_matrix_destroy(M);
  trs_context_destroy(ctx);
  return before > 0 && after > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
