/* backward_error.c - underflow is no error, wrong values are, and overflow is named. */
#include "verify/backward_error.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "matrix/values.h"
#include "support.h"
#include "test.h"

enum { N = 1500, NRHS = 3, ENTRIES = 4, STEP = 7 };

static trs_context *ctx;

static trs_uplo other(trs_uplo uplo) { return uplo == TRS_LOWER ? TRS_UPPER : TRS_LOWER; }

/* Four entries per row: x of a unit vector decays to 0.4 of itself from row to row, and below the
 * smallest double after some 850 rows. */
static trs_matrix *decaying(trs_scalar scalar, trs_format format, trs_uplo uplo) {
  bool forward = (uplo == TRS_LOWER) == (format == TRS_CSR);
  int64_t *ptr = malloc((N + 1) * sizeof *ptr), nnz = 0;
  int32_t *idx = malloc(ENTRIES * N * sizeof *idx);
  char *val = malloc(ENTRIES * N * scalar_bytes(scalar));
  static const int32_t distance[] = {STEP, 2, 1, 0};
  static const double size[] = {-0.01, -0.3, -1, 4};
  for (int32_t i = 0; i < N; i++) {
    ptr[i] = nnz;
    for (int k = 0; k < ENTRIES; k++) {
      int e = forward ? k : ENTRIES - 1 - k;
      int32_t j = forward ? i - distance[e] : i + distance[e];
      if (j < 0 || j >= N) continue;
      idx[nnz] = j;
      trs_value_set(val, nnz++, scalar,
                    size[e] * (trs_scalar_is_complex(scalar) && i == j ? CMPLX(1, 0.1) : 1));
    }
  }
  ptr[N] = nnz;
  trs_matrix *A;
  assert_success(trs_matrix_create(&A, format, scalar, N, N, TRS_PTR64, ptr, idx, val, TRS_TAKE));
  return A;
}

/* The first unit vector in the order of the sweep, a later one, and a full column. */
static void *right_sides(trs_scalar scalar, bool backward) {
  char *b = calloc(N * NRHS, scalar_bytes(scalar));
  trs_value_set(b, backward ? N - 1 : 0, scalar, 1);
  trs_value_set(b, N + (backward ? N - 100 : 99), scalar, 1);
  trs_random_fill(b + 2 * N * scalar_bytes(scalar), N, scalar, 1);
  return b;
}

typedef struct judged {
  trs_matrix *A;
  trs_uplo uplo;
  trs_trans trans;
  trs_scalar scalar;
  char *x, *b;
} judged;

static trs_backward_error check(const judged *s) {
  trs_backward_error error = {.struct_size = sizeof error};
  assert_success(trs_check(&error, s->A, s->uplo, s->trans, TRS_NONUNIT, s->x, N, s->b, N, NRHS,
                           TRS_COL_MAJOR));
  return error;
}

static judged solved(trs_scalar scalar, trs_format format, trs_uplo uplo, trs_trans trans,
                     const char *method) {
  trs_options options = {.struct_size = sizeof(trs_options), .method = method};
  trs_plan *plan;
  judged s = {decaying(scalar, format, uplo), uplo, trans, scalar, NULL, NULL};
  s.x = malloc(N * NRHS * scalar_bytes(scalar));
  s.b = right_sides(scalar, (trans == TRS_NO_TRANS ? uplo : other(uplo)) == TRS_UPPER);
  assert_success(trs_analyze(&plan, ctx, s.A, uplo, trans, TRS_NONUNIT, &options));
  assert_success(trs_solve(plan, s.x, N, s.b, N, NRHS, TRS_COL_MAJOR));
  trs_plan_destroy(plan);
  return s;
}

static void release(judged *s) {
  trs_matrix_destroy(s->A);
  free(s->x);
  free(s->b);
}

/* Runs test for all types, formats, triangles, transposes and methods. */
static void for_all(void (*test)(judged *)) {
  static const char *const methods[] = {"serial", "threads"};
  for (int c = 0; c < 4 * 2 * 2 * 3 * 2; c++) {
    judged s = solved((trs_scalar)(TRS_FLOAT + (c & 3)), (trs_format)(c >> 2 & 1), 1 + (c >> 3 & 1),
                      (trs_trans)(c / 16 % 3), methods[c / 48]);
    test(&s);
    release(&s);
  }
}

static void expect_underflow(judged *s) {
  trs_backward_error error = check(s);
  assert_true(error.componentwise <= error_limit(s->scalar, ENTRIES));
  assert_true(error.normwise <= error.componentwise);
  assert_true(error.underflow_rows > 0);
  assert_int_equal(error.range, TRS_RANGE_FINITE);
}

TEST(underflow_is_no_error) { for_all(expect_underflow); }

/* A change is detected exactly where x is well above the smallest normal number. */
static void expect_mutations_found(judged *s) {
  const double smallest = trs_smallest_normal(s->scalar), limit = error_limit(s->scalar, ENTRIES);
  int64_t found = 0;
  for (int64_t i = 0; i < 2 * N; i += 131) {
    double complex x = trs_value_get(s->x, i, s->scalar);
    if (cabs(x) < 1e3 * smallest) continue;
    const double complex wrong[] = {0, x * (1 + 100 * limit), -x, conj(x) * CMPLX(0.6, 0.8)};
    for (int k = 0; k < (trs_scalar_is_complex(s->scalar) ? 4 : 3); k++) {
      trs_value_set(s->x, i, s->scalar, wrong[k]);
      assert_true(check(s).componentwise > limit);
      found++;
    }
    trs_value_set(s->x, i, s->scalar, x);
  }
  assert_true(found >= 3);
  assert_true(check(s).componentwise <= limit);
}

TEST(wrong_values_are_found) { for_all(expect_mutations_found); }

/* Detects x = 0 for a b that underflow does not explain, and digits lost above the range of
 * subnormals. */
static void expect_flush_found(judged *s) {
  const double smallest = trs_smallest_normal(s->scalar);
  for (int64_t i = 0; i < 2 * N; i++)
    if (cabs(trs_value_get(s->x, i, s->scalar)) < 1e6 * smallest)
      trs_value_set(s->x, i, s->scalar, 0);
  assert_true(check(s).componentwise > 1e-3);
}

TEST(values_flushed_too_early_are_found) { for_all(expect_flush_found); }

/* ---- Overflow. ---- */

static trs_backward_error solve3(const double T[9], const double b[3], trs_uplo uplo,
                                 trs_trans trans) {
  int64_t ptr[] = {0, 3, 6, 9};
  int32_t idx[] = {0, 1, 2, 0, 1, 2, 0, 1, 2};
  double x[3];
  trs_options options = {
      .struct_size = sizeof(trs_options), .method = "serial", .take_triangle = 1};
  trs_backward_error error = {.struct_size = sizeof error};
  trs_matrix *A;
  trs_plan *plan;
  assert_success(
      trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, 3, 3, TRS_PTR64, ptr, idx, T, TRS_COPY));
  assert_success(trs_analyze(&plan, ctx, A, uplo, trans, TRS_NONUNIT, &options));
  assert_success(trs_solve(plan, x, 3, b, 3, 1, TRS_COL_MAJOR));
  assert_success(trs_check(&error, A, uplo, trans, TRS_NONUNIT, x, 3, b, 3, 1, TRS_COL_MAJOR));
  trs_plan_destroy(plan);
  trs_matrix_destroy(A);
  return error;
}

#define EXPECT(e, cause, row)                                     \
  do {                                                            \
    trs_backward_error got = e;                                   \
    assert_int_equal(got.range, cause);                           \
    assert_int_equal(got.range_row, row);                         \
    assert_int_equal(got.range_column, 0);                        \
    assert_true(isinf(got.componentwise) && isinf(got.normwise)); \
  } while (0)

TEST(overflow_has_a_row_and_a_cause) {
  const double ones[] = {1, 1, 1}, large[] = {1, 1e200, 1}, bad[] = {1, INFINITY, 1};
  const double small[] = {1, 1, 1, 1, 1e-200, 1, 1, 1, 1};
  const double product[] = {1e-200, 1, 1, 1e200, 1, 1e200, 1, 1, 1e-200};
  const double infinite[] = {1, INFINITY, 1, INFINITY, 1, INFINITY, 1, INFINITY, 1};
  const double plain[] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  static const trs_uplo triangles[] = {TRS_LOWER, TRS_UPPER};
  for (int c = 0; c < 6; c++) {
    trs_uplo uplo = triangles[c % 2];
    trs_trans trans = (trs_trans)(c / 2);
    EXPECT(solve3(small, large, uplo, trans), TRS_RANGE_PIVOT, 1);
    EXPECT(solve3(plain, bad, uplo, trans), TRS_RANGE_RHS, 1);
    if (trans == TRS_NO_TRANS) {
      EXPECT(solve3(product, ones, uplo, trans), TRS_RANGE_OVERFLOW, 1);
      EXPECT(solve3(infinite, ones, uplo, trans), TRS_RANGE_MATRIX, 1);
    }
  }
}

/* A NaN that arithmetic does not explain is not an overflow. */
TEST(a_nan_from_nowhere_is_not_called_overflow) {
  judged s = solved(TRS_DOUBLE, TRS_CSR, TRS_UPPER, TRS_NO_TRANS, "serial");
  trs_value_set(s.x, N + 17, TRS_DOUBLE, NAN);
  trs_value_set(s.x, N + 16, TRS_DOUBLE, NAN);
  trs_backward_error error = check(&s);
  assert_int_equal(error.range, TRS_RANGE_UNEXPLAINED);
  assert_int_equal(error.range_row, 17);
  assert_int_equal(error.range_column, 1);
  release(&s);
}

/* ---- Factors. ---- */

TEST(factors_underflow_too) {
  for (int c = 0; c < 4 * 3; c++) {
    trs_scalar scalar = (trs_scalar)(TRS_FLOAT + (c & 3));
    trs_trans trans = (trs_trans)(c / 4);
    trs_matrix *L = decaying(scalar, TRS_CSR, TRS_LOWER), *U = decaying(scalar, TRS_CSR, TRS_UPPER);
    double scale[N];
    for (int i = 0; i < N; i++) scale[i] = i % 3 ? 0.03 : 8;
    trs_factors *F;
    trs_plan *plan;
    trs_backward_error error = {.struct_size = sizeof error};
    char *b = right_sides(scalar, false), *x = malloc(N * NRHS * scalar_bytes(scalar));
    assert_success(
        trs_factors_create(&F, L, TRS_NONUNIT, U, TRS_NONUNIT, NULL, NULL, scale, scale));
    assert_success(trs_analyze_factors(&plan, ctx, F, trans, NULL));
    assert_success(trs_solve(plan, x, N, b, N, NRHS, TRS_COL_MAJOR));
    assert_success(trs_check_factors(&error, F, trans, x, N, b, N, NRHS, TRS_COL_MAJOR));
    assert_true(error.componentwise <= error_limit(scalar, 2 * ENTRIES));
    assert_true(error.underflow_rows > 0);
    trs_value_set(x, 20, scalar, 2 * trs_value_get(x, 20, scalar));
    assert_success(trs_check_factors(&error, F, trans, x, N, b, N, NRHS, TRS_COL_MAJOR));
    assert_true(error.componentwise > 1e-3);
    trs_value_set(x, N + 20, scalar, INFINITY);
    assert_success(trs_check_factors(&error, F, trans, x, N, b, N, NRHS, TRS_COL_MAJOR));
    assert_int_equal(error.range, TRS_RANGE_OVERFLOW);
    assert_int_equal(error.range_row, 20);
    assert_int_equal(error.range_column, 1);
    trs_plan_destroy(plan);
    trs_factors_destroy(F);
    trs_matrix_destroy(L);
    trs_matrix_destroy(U);
    free(x);
    free(b);
  }
}

static int begin(void **state) { return trs_context_create(&ctx, "threads:2") ? -1 : 0; }

static int end(void **state) {
  trs_context_destroy(ctx);
  return 0;
}

const test_program program = {.begin = begin, .end = end};
