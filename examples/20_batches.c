/* 20_batches.c - batches: many small systems of one pattern, each with values and a right-hand side
 * of its own, on the first GPU or, without one, on the CPU.
 *
 *     triangles      trs_batch_create, trs_batch_update, trs_batch_solve
 *     A x = b        trs_batch_create_factors, trs_batch_update_factors, trs_batch_solve
 *
 * The values of system s are row s of an array [COUNT][entries], its b and x rows of arrays
 * [COUNT][N].  With a GPU these arrays may lie in its memory, too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trireme.h>

enum { N = 100, COUNT = 1000, NNZ = 3 * N - 2, AT_FAULT = 137, ROW = 42 };

static int64_t ptr[N + 1];
static int32_t idx[NNZ];
static double val[COUNT][NNZ], b[COUNT][N], x[COUNT][N];

static _Noreturn void stop(const char *what) {
  fprintf(stderr, "%s\n", what);
  exit(EXIT_FAILURE);
}

static void trireme(trs_status status) {
  if (status) stop(trs_last_error()->message);
}

/* A rod of N cells that conducts heat, in COUNT materials: 1 + 2 c on the diagonal, -c beside it.
 */
static void make_matrices(void) {
  int64_t nnz = 0;
  for (int32_t i = 0; i < N; i++) {
    for (int32_t j = i - 1; j <= i + 1; j++) {
      if (j < 0 || j >= N) continue;
      idx[nnz] = j;
      for (int s = 0; s < COUNT; s++) {
        const double c = 0.1 + 0.001 * s;
        val[s][nnz] = i == j ? 1 + 2 * c : -c;
      }
      nnz++;
    }
    ptr[i + 1] = nnz;
  }
}

/* The largest backward error of all systems but `except`. */
static void check(const char *what, trs_uplo uplo, int except) {
  double worst = 0;
  for (int s = 0; s < COUNT; s++) {
    trs_matrix *A;
    trs_backward_error error = {.struct_size = sizeof error};
    if (s == except) continue;
    trireme(
        trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, N, N, TRS_PTR64, ptr, idx, val[s], TRS_BORROW));
    trireme(
        trs_check(&error, A, uplo, TRS_NO_TRANS, TRS_NONUNIT, x[s], N, b[s], N, 1, TRS_COL_MAJOR));
    if (!(error.componentwise <= worst)) worst = error.componentwise;
    trs_matrix_destroy(A);
  }
  printf("%-28s largest backward error %.1e\n", what, worst);
  if (!(worst < 1e-14)) stop("that is too much");
}

static void solve(trs_plan *batch) {
  trireme(trs_batch_solve(batch, x, N, N, b, N, N, 1, TRS_COL_MAJOR));
}

/* The lower triangles: entries above the diagonal are passed over. */
static void solve_triangles(trs_context *ctx, const trs_matrix *A) {
  trs_plan *batch;
  trs_batch_options options = {.struct_size = sizeof options, .take_triangle = 1};
  trireme(trs_batch_create(&batch, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, COUNT, &options));
  trireme(trs_batch_update(batch, val, NNZ));
  solve(batch);
  check("triangles", TRS_LOWER, -1);

  /* A zero pivot is an error that names its system and row.  All other systems are solved, and x of
   * this one is NaN. */
  const int64_t pivot = ptr[ROW] + 1;
  const double kept = val[AT_FAULT][pivot];
  val[AT_FAULT][pivot] = 0;
  if (trs_batch_update(batch, val, NNZ) != TRS_ERROR_ZERO_PIVOT) stop("no zero pivot is told");
  printf("%s\n", trs_last_error()->message);
  trs_batch_info info = {.struct_size = sizeof info};
  trireme(trs_batch_get_info(batch, &info));
  if (info.faults != 1 || info.first_fault != AT_FAULT) stop("another system is at fault");
  if (trs_batch_solve(batch, x, N, N, b, N, N, 1, TRS_COL_MAJOR) != TRS_ERROR_ZERO_PIVOT)
    stop("the solve does not tell");
  check("all but that one", TRS_LOWER, AT_FAULT);
  val[AT_FAULT][pivot] = kept;
  trs_plan_destroy(batch);
}

/* L and U of every A, with the order and the pivots of the first one. */
static void solve_factors(trs_context *ctx, trs_matrix *A) {
  trs_factors *F;
  trs_plan *batch;
  const trs_factor_options tridiagonal = {.struct_size = sizeof tridiagonal,
                                          .order = TRS_ORDER_NATURAL};
  trireme(trs_factor(&F, A, &tridiagonal));
  trireme(trs_batch_create_factors(&batch, ctx, F, TRS_NO_TRANS, COUNT, NULL));
  double *L = NULL, *U = NULL;
  trs_factors_info info = {.struct_size = sizeof info};
  for (int s = 0; s < COUNT; s++) {
    const void *of_L, *of_U;
    trireme(trs_matrix_set_values(A, val[s]));
    trireme(trs_factors_refactor(F, NULL, NULL, A));
    trireme(trs_factors_get_info(F, &info));
    if (!L) {
      L = malloc(sizeof *L * (size_t)(COUNT * info.nnz_L));
      U = malloc(sizeof *U * (size_t)(COUNT * info.nnz_U));
      if (!L || !U) stop("no memory");
    }
    trireme(trs_matrix_get_arrays(info.L, NULL, NULL, &of_L));
    trireme(trs_matrix_get_arrays(info.U, NULL, NULL, &of_U));
    memcpy(L + s * info.nnz_L, of_L, sizeof *L * (size_t)info.nnz_L);
    memcpy(U + s * info.nnz_U, of_U, sizeof *U * (size_t)info.nnz_U);
  }
  trireme(trs_batch_update_factors(batch, L, info.nnz_L, U, info.nnz_U));
  solve(batch);
  check("factors", TRS_GENERAL, -1);
  free(L);
  free(U);
  trs_plan_destroy(batch);
  trs_factors_destroy(F);
}

int main(void) {
  trs_context *ctx;
  trs_matrix *A;
  int gpu = !trs_context_create(&ctx, "cuda");
  if (!gpu) trireme(trs_context_create(&ctx, "auto"));
  make_matrices();
  trs_random_fill(b, COUNT * N, TRS_DOUBLE, 1);
  trireme(
      trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, N, N, TRS_PTR64, ptr, idx, val[0], TRS_BORROW));
  printf("%d systems of %d rows on %s\n", COUNT, N, gpu ? "a GPU" : "the CPU");
  solve_triangles(ctx, A);
  solve_factors(ctx, A);
  trs_matrix_destroy(A);
  trs_context_destroy(ctx);
  return EXIT_SUCCESS;
}
