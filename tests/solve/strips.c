/* strips.c - values as floats in the method serial: x is that of the matrix with rounded values,
 * for every shape of rows; one right-hand side or several; new values; values that floats cannot
 * hold; failures. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "sparse.h"
#include "support.h"
#include "test.h"

/* A triangle that the test may change. */
typedef struct own {
  triangle t;
  bool lower;
} own;

/* The entries of `distances` from the diagonal, where rows have room for them, and of those all but
 * some of every `hole`-th row; the diagonal. */
static own banded(int64_t n, bool lower, const int64_t *distances, int count, int64_t hole) {
  own made = {.lower = lower};
  triangle *t = &made.t;
  t->n = n;
  t->ptr = malloc((size_t)(n + 1) * sizeof *t->ptr);
  t->idx = malloc((size_t)(n * (count + 1)) * sizeof *t->idx);
  double *val = malloc((size_t)(n * (count + 1)) * sizeof *val);
  int64_t nnz = 0;
  for (int64_t i = 0; i < n; i++) {
    t->ptr[i] = nnz;
    if (!lower) {
      val[nnz] = 2 + 0.1 * (double)(i % 7);
      t->idx[nnz++] = (int32_t)i;
    }
    for (int q = 0; q < count; q++) {
      const int64_t far = distances[lower ? q : count - 1 - q], j = lower ? i - far : i + far;
      if (j < 0 || j >= n || (hole && (i + q) % hole == 0)) continue;
      val[nnz] = -0.1 / (1 + (double)((3 * i + q) % 11));
      t->idx[nnz++] = (int32_t)j;
    }
    if (lower) {
      val[nnz] = 2 + 0.1 * (double)(i % 7);
      t->idx[nnz++] = (int32_t)i;
    }
  }
  t->ptr[n] = nnz;
  t->val = val;
  return made;
}

static trs_matrix *matrix_of(const own *T, const void *val) {
  trs_matrix *made;
  const int64_t n = T->t.n;
  assert_success(trs_matrix_create(&made, TRS_CSR, TRS_DOUBLE, n, n, TRS_PTR64, T->t.ptr, T->t.idx,
                                   val, TRS_COPY));
  return made;
}

/* With off-diagonal values as floats keep them. */
static trs_matrix *rounded(const own *T) {
  const int64_t nnz = T->t.ptr[T->t.n];
  double *val = malloc((size_t)nnz * sizeof *val);
  memcpy(val, T->t.val, (size_t)nnz * sizeof *val);
  for (int64_t i = 0; i < T->t.n; i++)
    for (int64_t p = T->t.ptr[i]; p < T->t.ptr[i + 1]; p++)
      if (T->t.idx[p] != i) val[p] = (double)(float)val[p];
  trs_matrix *made = matrix_of(T, val);
  free(val);
  return made;
}

static trs_status analyse(trs_plan **plan, const trs_matrix *A, bool lower, trs_diag diag,
                          trs_store store) {
  trs_context *ctx;
  trs_options options = {.struct_size = sizeof options, .method = "serial", .store = store};
  TRS_TRY(trs_context_create(&ctx, "serial"));
  const trs_status status =
      trs_analyze(plan, ctx, A, lower ? TRS_LOWER : TRS_UPPER, TRS_NO_TRANS, diag, &options);
  trs_context_destroy(ctx);
  return status;
}

static trs_store store_of(trs_plan *plan) {
  trs_plan_info info = {.struct_size = sizeof info};
  assert_success(trs_plan_get_info(plan, &info));
  return info.store;
}

static double *numbers(int64_t count) {
  double *made = malloc((size_t)count * sizeof *made);
  for (int64_t i = 0; i < count; i++) made[i] = 1 + (double)(i * 7 % 13);
  return made;
}

/* The error of x as the solution of the rounded matrix is that of rounding, and the bits do not
 * depend on strides, on the number of right-hand sides and on x being b. */
static void check(const own *T, trs_diag diag) {
  enum { COLUMNS = 5 };
  const int64_t n = T->t.n;
  trs_matrix *A = matrix_of(T, T->t.val), *R = rounded(T);
  trs_plan *plan;
  trs_backward_error error = {.struct_size = sizeof error};
  double *b = numbers(n * COLUMNS), *x = calloc((size_t)n, sizeof *x), *all = numbers(n * COLUMNS);
  assert_success(analyse(&plan, A, T->lower, diag, TRS_STORE_MIXED));
  assert_int_equal(store_of(plan), TRS_STORE_MIXED);
  assert_success(trs_solve(plan, all, COLUMNS, b, COLUMNS, COLUMNS, TRS_ROW_MAJOR));
  for (int r = 0; r < COLUMNS; r++) {
    double *one = malloc((size_t)n * sizeof *one);
    for (int64_t i = 0; i < n; i++) one[i] = b[i * COLUMNS + r];
    assert_success(trs_solve(plan, x, n, one, n, 1, TRS_COL_MAJOR));
    assert_success(trs_check(&error, R, T->lower ? TRS_LOWER : TRS_UPPER, TRS_NO_TRANS, diag, x, n,
                             one, n, 1, TRS_COL_MAJOR));
    if (!(error.componentwise <= error_limit(TRS_DOUBLE, 40)))
      fail_msg("backward error %g", error.componentwise);
    for (int64_t i = 0; i < n; i++) assert_memory_equal(&x[i], &all[i * COLUMNS + r], sizeof *x);
    assert_success(trs_solve(plan, one, n, one, n, 1, TRS_COL_MAJOR));
    assert_memory_equal(one, x, (size_t)n * sizeof *x);
    free(one);
  }
  free(b);
  free(x);
  free(all);
  trs_plan_destroy(plan);
  trs_matrix_destroy(A);
  trs_matrix_destroy(R);
}

static void check_and_free(own T) {
  check(&T, TRS_NONUNIT);
  check(&T, TRS_UNIT);
  triangle_free(&T.t);
}

TEST(rows_of_every_shape) {
  (void)state;
  const int64_t grid[] = {100, 99, 90, 10, 9, 1}, near[] = {3, 2, 1}, far[] = {17, 4}, one[] = {1};
  for (int lower = 0; lower < 2; lower++) {
    for (int64_t n = 1; n < 12; n++) check_and_free(banded(n, lower, one, 1, 0));
    check_and_free(banded(400, lower, grid, 6, 0));
    check_and_free(banded(403, lower, grid, 6, 41));
    check_and_free(banded(401, lower, grid, 6, 2));
    check_and_free(banded(102, lower, near, 3, 0));
    check_and_free(banded(103, lower, far, 2, 0));
    check_and_free(banded(50, lower, NULL, 0, 0));
    for (uint64_t seed = 0; seed < 4; seed++)
      check_and_free((own){triangle_random(150, 0.06, 150, lower, TRS_DOUBLE, false, seed), lower});
  }
}

/* Entries that may not be divided before they are multiplied. */
TEST(diagonal_entries_beyond_the_square_roots_of_the_range) {
  (void)state;
  const int64_t grid[] = {10, 9, 1};
  for (int lower = 0; lower < 2; lower++) {
    own T = banded(200, lower, grid, 3, 0);
    for (int64_t i = 0; i < T.t.n; i++)
      for (int64_t p = T.t.ptr[i]; p < T.t.ptr[i + 1]; p++)
        ((double *)T.t.val)[p] *= T.t.idx[p] == i ? 1e150 : 1e-30;
    check(&T, TRS_NONUNIT);
    triangle_free(&T.t);
  }
}

static void set_values(trs_matrix *A, const own *T, double factor) {
  const int64_t nnz = T->t.ptr[T->t.n];
  double *val = malloc((size_t)nnz * sizeof *val);
  for (int64_t p = 0; p < nnz; p++) val[p] = factor * ((const double *)T->t.val)[p];
  assert_success(trs_matrix_set_values(A, val));
  free(val);
}

TEST(new_values_and_values_beyond_floats) {
  (void)state;
  const int64_t grid[] = {30, 1};
  own T = banded(300, true, grid, 2, 7);
  const int64_t n = T.t.n;
  trs_matrix *A = matrix_of(&T, T.t.val);
  trs_plan *plan, *fresh, *clone;
  double *b = numbers(n), *x = numbers(n), *y = numbers(n);
  assert_success(analyse(&plan, A, true, TRS_NONUNIT, TRS_STORE_MIXED));
  set_values(A, &T, 3);
  assert_success(trs_update(plan, A));
  assert_success(analyse(&fresh, A, true, TRS_NONUNIT, TRS_STORE_MIXED));
  assert_success(trs_solve(plan, x, n, b, n, 1, TRS_COL_MAJOR));
  assert_success(trs_solve(fresh, y, n, b, n, 1, TRS_COL_MAJOR));
  assert_memory_equal(x, y, (size_t)n * sizeof *x);
  assert_success(trs_plan_clone(&clone, fresh));
  trs_plan_destroy(fresh);
  assert_success(trs_solve(clone, y, n, b, n, 1, TRS_COL_MAJOR));
  assert_memory_equal(x, y, (size_t)n * sizeof *x);
  assert_int_equal(store_of(clone), TRS_STORE_MIXED);
  trs_plan_destroy(clone);
  set_values(A, &T, 1e60);
  assert_failure(TRS_ERROR_UNSUPPORTED, "too large to be stored as a float", trs_update(plan, A));
  assert_int_equal(trs_last_error()->row, 1);
  assert_failure(TRS_ERROR_UNSUPPORTED, "too large",
                 analyse(&fresh, A, true, TRS_NONUNIT, TRS_STORE_MIXED));
  set_values(A, &T, 1e-60);
  assert_failure(TRS_ERROR_UNSUPPORTED, "too small to be stored as a float", trs_update(plan, A));
  set_values(A, &T, 3);
  assert_success(trs_update(plan, A));
  assert_success(trs_solve(plan, y, n, b, n, 1, TRS_COL_MAJOR));
  assert_memory_equal(x, y, (size_t)n * sizeof *x);
  free(b);
  free(x);
  free(y);
  trs_plan_destroy(plan);
  trs_matrix_destroy(A);
  triangle_free(&T.t);
}

/* Both sweeps of factors in an order of their own. */
TEST(incomplete_factors) {
  (void)state;
  enum { N = 12 * 11 * 10 };
  const trs_factor_kind kinds[] = {TRS_FACTOR_ILU0, TRS_FACTOR_IC0};
  for (int c = 0; c < 8; c++) {
    trs_matrix *A = sparse_grid(12, 11, 10, 0, TRS_DOUBLE);
    trs_factor_options how = {.struct_size = sizeof how,
                              .kind = kinds[c % 2],
                              .levels = c / 2 % 2,
                              .order = c / 4 ? TRS_ORDER_RCM : TRS_ORDER_NATURAL};
    trs_options options = {.struct_size = sizeof options, .store = TRS_STORE_MIXED};
    trs_context *ctx;
    trs_factors *F;
    trs_plan *mixed, *plain;
    double *b = numbers(N), *x = numbers(N), *y = numbers(N), most = 0;
    assert_success(trs_context_create(&ctx, "serial"));
    assert_success(trs_factor(&F, A, &how));
    assert_success(trs_analyze_factors(&mixed, ctx, F, TRS_NO_TRANS, &options));
    assert_success(trs_analyze_factors(&plain, ctx, F, TRS_NO_TRANS, NULL));
    assert_int_equal(store_of(mixed), TRS_STORE_MIXED);
    assert_int_equal(store_of(plain), TRS_STORE_DEFAULT);
    assert_success(trs_solve(mixed, x, N, b, N, 1, TRS_COL_MAJOR));
    assert_success(trs_solve(plain, y, N, b, N, 1, TRS_COL_MAJOR));
    for (int i = 0; i < N; i++) most = fmax(most, fabs(x[i] - y[i]) / fabs(y[i]));
    if (!(most > 0 && most < 1e-5)) fail_msg("x differs by %g", most);
    trs_plan_destroy(mixed);
    trs_plan_destroy(plain);
    trs_factors_destroy(F);
    trs_context_destroy(ctx);
    trs_matrix_destroy(A);
    free(b);
    free(x);
    free(y);
  }
}

/* Columns, other types and several expected right-hand sides keep their values, and say so. */
TEST(what_keeps_its_values) {
  (void)state;
  char text[1024];
  trs_matrix *A = sparse_grid(6, 5, 4, 0, TRS_DCOMPLEX), *B = sparse_grid(6, 5, 4, 0, TRS_DOUBLE);
  for (int c = 0; c < 3; c++) {
    trs_context *ctx;
    trs_plan *plan;
    trs_options options = {.struct_size = sizeof options,
                           .method = "serial",
                           .take_triangle = 1,
                           .nrhs = c == 1 ? 2 : 1,
                           .store = TRS_STORE_MIXED};
    assert_success(trs_context_create(&ctx, "serial"));
    assert_success(trs_analyze(&plan, ctx, c ? B : A, TRS_LOWER, c == 2 ? TRS_TRANS : TRS_NO_TRANS,
                               TRS_NONUNIT, &options));
    assert_int_equal(store_of(plan), TRS_STORE_DEFAULT);
    trs_plan_describe(plan, text, sizeof text);
    assert_non_null(strstr(text, "values in their own type"));
    trs_plan_destroy(plan);
    trs_context_destroy(ctx);
  }
  trs_matrix_destroy(A);
  trs_matrix_destroy(B);
}

static trs_status analyse_mixed(void *A) {
  trs_plan *plan;
  TRS_TRY(analyse(&plan, A, true, TRS_NONUNIT, TRS_STORE_MIXED));
  trs_plan_destroy(plan);
  return TRS_SUCCESS;
}

TEST(failing_allocations_are_reported) {
  (void)state;
  const int64_t grid[] = {30, 1};
  own T = banded(300, true, grid, 2, 7);
  trs_matrix *A = matrix_of(&T, T.t.val);
  assert_survives_failing_allocations(analyse_mixed, A);
  trs_matrix_destroy(A);
  triangle_free(&T.t);
}
