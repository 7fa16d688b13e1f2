/* refactor.c - new values in the patterns of L and U: the product is the new matrix, plans follow,
 * pivots are judged, and after a failure the factors refuse every use. */
#include <float.h>
#include <math.h>

#include "base/config.h"
#include "factor/factors.h"
#include "matrix/values.h"
#include "order/orders.h"
#include "sparse.h"
#include "support.h"
#include "test.h"

static trs_factors *lu(const trs_matrix *A, trs_order order, bool scaled) {
  const trs_factor_options options = {
      .struct_size = sizeof options, .order = order, .no_equilibration = !scaled};
  trs_factors *F;
  assert_success(trs_factor(&F, A, &options));
  return F;
}

/* A with other values: each times a number between 0.75 and 1.25. */
static trs_matrix *other_values(const trs_matrix *A, uint64_t seed) {
  trs_matrix *B;
  assert_success(trs_matrix_convert(&B, A, A->format, A->scalar));
  double *by = malloc(((size_t)A->nnz + 1) * sizeof *by);
  trs_random_fill(by, A->nnz, TRS_DOUBLE, seed);
  for (int64_t p = 0; p < A->nnz; p++)
    trs_value_set(B->val, p, A->scalar, trs_value_get(A->val, p, A->scalar) * (1 + by[p] / 4));
  free(by);
  return B;
}

static double solve_error(trs_plan *plan, const trs_factors *F, const trs_matrix *A,
                          trs_trans trans) {
  const int64_t n = A->nrows;
  trs_backward_error of_factors = {.struct_size = sizeof of_factors}, of_matrix = of_factors;
  void *b = malloc((size_t)n * 16 + 16), *x = malloc((size_t)n * 16 + 16);
  trs_random_fill(b, n, A->scalar, 5);
  assert_success(trs_solve(plan, x, n, b, n, 1, TRS_COL_MAJOR));
  assert_success(trs_check_factors(&of_factors, F, trans, x, n, b, n, 1, TRS_COL_MAJOR));
  assert_true(of_factors.componentwise <= (double)(n + 30) * 4 * scalar_eps(A->scalar));
  assert_success(
      trs_check(&of_matrix, A, TRS_GENERAL, trans, TRS_NONUNIT, x, n, b, n, 1, TRS_COL_MAJOR));
  free(b);
  free(x);
  return of_matrix.normwise;
}

/* The product of the new factors, plans of both directions that follow, another format of A. */
TEST_IF(TRS_HAVE_SUPERLU, new_values_in_the_same_pattern) {
  trs_context *ctx;
  assert_success(trs_context_create(&ctx, "threads:2"));
  for (int c = 0; c < (SANITIZED ? 60 : 200); c++) {
    sparse_kind kind = sparse_case(c);
    const int64_t n = c < 40 ? c / 4 : 10 + c % 60;
    trs_matrix *A = sparse_random(n, 0.03 * (c % 11), kind, (uint64_t)c + test_seed());
    trs_factors *F = lu(A, orders[c % NORDERS], c % 3);
    trs_plan *plan;
    const trs_trans trans = (trs_trans)(c % 3);
    trs_pivots pivots = {.struct_size = sizeof pivots};
    const double limit = ((double)n + 8) * 8 * scalar_eps(kind.scalar);
    assert_success(trs_analyze_factors(&plan, ctx, F, trans, NULL));
    for (int turn = 0; turn < 3; turn++) {
      trs_matrix *B = other_values(A, (uint64_t)(c + 1000 * turn)), *other;
      assert_success(trs_factors_refactor(F, &pivots, c & 1 ? ctx : NULL, B));
      assert_product(F, B, limit, false);
      assert_true(pivots.least_share > 0.01 && pivots.least_share <= 1);
      assert_true(pivots.row >= -1 && pivots.row < n);
      assert_success(trs_update_factors(plan, F));
      assert_true(solve_error(plan, F, B, trans) <= 100 * limit);
      assert_success(
          trs_matrix_convert(&other, B, B->format == TRS_CSR ? TRS_CSC : TRS_CSR, B->scalar));
      assert_success(trs_factors_refactor(F, NULL, NULL, other));
      assert_product(F, B, limit, false);
      trs_matrix_destroy(other);
      trs_matrix_destroy(B);
    }
    trs_plan_destroy(plan);
    trs_factors_destroy(F);
    trs_matrix_destroy(A);
  }
  trs_context_destroy(ctx);
}

/* Pivots off the diagonal; zeros that cancel, or that A stores, keep their places. */
TEST_IF(TRS_HAVE_SUPERLU, places_of_zeros_are_kept) {
  for (int c = 0; c < 60; c++) {
    sparse_kind kind = {.scalar = (trs_scalar)(TRS_FLOAT + c % 4), .no_diagonal = true};
    trs_matrix *A = sparse_random(4 + c % 30, 0.4, kind, (uint64_t)c), *B;
    assert_success(trs_matrix_convert(&B, A, A->format, A->scalar));
    for (int64_t p = 0; p < A->nnz; p++) /* half of the values are zero, the others one or two */
      trs_value_set(A->val, p, A->scalar, (int)((p * 7 + c) % 5) > 2 ? 1 + (double)(p % 2) : 0);
    trs_factors *F;
    if (trs_factor(&F, A, NULL) == TRS_SUCCESS) {
      const trs_status status = trs_factors_refactor(F, NULL, NULL, B);
      if (status != TRS_ERROR_ZERO_PIVOT) assert_int_equal(status, TRS_SUCCESS);
      trs_factors_destroy(F);
    }
    trs_matrix_destroy(A);
    trs_matrix_destroy(B);
  }
}

/* L and U by columns or by rows, of Doolittle or of Crout, with their diagonals stored or not. */
static trs_factors *brought(const trs_factors *F, bool columns, bool crout, bool stored) {
  const trs_factors_info f = factors_info(F);
  const int64_t n = f.n;
  double complex *pivot = malloc((size_t)(n + 1) * sizeof *pivot);
  trs_matrix *side[2];
  trs_factors *made;
  for (int64_t i = 0; i < n; i++) pivot[i] = trs_value_get(f.U->val, f.U->ptr[i], f.scalar);
  for (int s = 0; s < 2; s++) {
    const trs_matrix *T = s ? f.U : f.L;
    const int64_t most = T->nnz + n;
    int32_t *row = malloc((size_t)(most + 1) * 4), *col = malloc((size_t)(most + 1) * 4);
    void *val = malloc((size_t)(most + 1) * 16);
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
      for (int64_t p = T->ptr[i]; p <= T->ptr[i + 1]; p++) {
        const bool end = p == T->ptr[i + 1];
        const int64_t j = end ? i : T->idx[p];
        if ((!end && j == i) || (end && !stored && crout == s)) continue;
        double complex v = end ? (crout == s ? 1 : pivot[i]) : trs_value_get(T->val, p, f.scalar);
        if (crout && !end) v = s ? v / pivot[i] : v * pivot[j];
        row[count] = (int32_t)i;
        col[count] = (int32_t)j;
        trs_value_set(val, count++, f.scalar, v);
      }
    trs_matrix *made_here;
    assert_success(
        trs_matrix_create_coo(&made_here, f.scalar, n, n, count, TRS_IDX32, row, col, val));
    assert_success(trs_matrix_convert(&side[s], made_here, columns ? TRS_CSC : TRS_CSR, f.scalar));
    trs_matrix_destroy(made_here);
    free(row);
    free(col);
    free(val);
  }
  assert_success(trs_factors_create(&made, side[0], crout ? TRS_NONUNIT : TRS_UNIT, side[1],
                                    crout ? TRS_UNIT : TRS_NONUNIT, f.row_perm, f.col_perm,
                                    f.row_scale, f.col_scale));
  trs_matrix_destroy(side[0]);
  trs_matrix_destroy(side[1]);
  free(pivot);
  return made;
}

/* Row and column scaling of one row whose product is no double: the entry between them makes it
 * one. A negative scaling elsewhere changes nothing of that. */
TEST(scalings_whose_products_are_no_numbers) {
  static const struct scaling_case {
    const char *name;
    double first, scale, value, pivot; /* first: both scalings of row 0 */
  } cases[] = {
      {"small", 1, 1e-200, 1e300, 1e-100},
      {"small, another negative", -1, 1e-200, 1e300, 1e-100},
      {"large", 1, 1e200, 1e-300, 1e100},
      {"large, negative", 1, -1e200, 1e-300, 1e100},
      {"large, negative, another too", -1, -1e200, 1e-300, 1e100},
  };
  enum { N = 3 };
  const int64_t none[N + 1] = {0}, ptr[N + 1] = {0, 1, 2, 3};
  const int32_t idx[N] = {0, 1, 2};
  for (size_t c = 0; c < COUNT(cases); c++) {
    const struct scaling_case *k = &cases[c];
    const double scale[N] = {k->first, k->scale, 1}, ones[N] = {1, 1, 1};
    const double val[N] = {1, k->value, 1};
    trs_matrix *A, *L, *U;
    trs_factors *F;
    trs_context *ctx;
    assert_success(trs_context_create(&ctx, "serial"));
    assert_success(
        trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, N, N, TRS_PTR64, ptr, idx, val, TRS_COPY));
    assert_success(
        trs_matrix_create(&U, TRS_CSR, TRS_DOUBLE, N, N, TRS_PTR64, ptr, idx, ones, TRS_COPY));
    assert_success(
        trs_matrix_create(&L, TRS_CSR, TRS_DOUBLE, N, N, TRS_PTR64, none, idx, ones, TRS_COPY));
    assert_success(trs_factors_create(&F, L, TRS_UNIT, U, TRS_NONUNIT, NULL, NULL, scale, scale));
    if (trs_factors_refactor(F, NULL, ctx, A))
      fail_msg("%s: %s", k->name, trs_last_error()->message);
    const double pivot = creal(trs_value_get(factors_info(F).U->val, 1, TRS_DOUBLE));
    if (fabs(pivot - k->pivot) > 1e-14 * k->pivot) fail_msg("%s: pivot %g", k->name, pivot);
    trs_factors_destroy(F);
    trs_matrix_destroy(A);
    trs_matrix_destroy(L);
    trs_matrix_destroy(U);
    trs_context_destroy(ctx);
  }
}

TEST_IF(TRS_HAVE_SUPERLU, factors_of_the_caller) {
  trs_context *ctx;
  assert_success(trs_context_create(&ctx, "serial"));
  for (int c = 0; c < 64; c++) {
    trs_matrix *A = sparse_random(5 + c % 40, 0.1, sparse_case(c), (uint64_t)c);
    trs_matrix *B = other_values(A, (uint64_t)c);
    trs_factors *F = lu(A, orders[c % NORDERS], false);
    trs_factors *own = brought(F, c & 1, c & 2, c & 4);
    const trs_matrix *before = trs_matrix_retain(factors_info(own).U);
    trs_matrix *copy;
    trs_plan *plan;
    assert_success(trs_matrix_convert(&copy, before, before->format, before->scalar));
    assert_success(trs_analyze_factors(&plan, ctx, own, TRS_NO_TRANS, NULL));
    assert_success(trs_factors_refactor(own, NULL, NULL, B));
    assert_same_matrix(before, copy); /* the caller's arrays are not written to */
    assert_success(trs_update_factors(plan, own));
    assert_true(solve_error(plan, own, B, TRS_NO_TRANS) <=
                1e4 * (double)A->nrows * scalar_eps(A->scalar));
    trs_plan_destroy(plan);
    trs_matrix_destroy((trs_matrix *)before);
    trs_matrix_destroy(copy);
    trs_factors_destroy(own);
    trs_factors_destroy(F);
    trs_matrix_destroy(A);
    trs_matrix_destroy(B);
  }
  trs_context_destroy(ctx);
}

/* Large enough for threads. */
TEST_IF(TRS_HAVE_SUPERLU, bits_do_not_depend_on_threads) {
  for (int c = 0; c < 4; c++) {
    const trs_scalar scalar = (trs_scalar)(TRS_FLOAT + c);
    trs_matrix *A =
        c & 1 ? sparse_grid(60, 50, 1, 0.25, scalar) : sparse_grid(14, 13, 12, 0, scalar);
    trs_matrix *B = other_values(A, 3);
    trs_factors *one = lu(A, TRS_ORDER_ND, false);
    assert_success(trs_factors_refactor(one, NULL, NULL, B));
    for (int threads = 2; threads < 6; threads++) {
      char where[32];
      trs_context *ctx;
      trs_factors *F = lu(A, TRS_ORDER_ND, false);
      snprintf(where, sizeof where, "threads:%d", threads);
      assert_success(trs_context_create(&ctx, where));
      for (int turn = 0; turn < 3; turn++) {
        assert_success(trs_factors_refactor(F, NULL, ctx, turn == 1 ? A : B));
        if (turn == 1) continue;
        assert_same_matrix(one->L, F->L);
        assert_same_matrix(one->U, F->U);
      }
      trs_context_destroy(ctx);
      trs_factors_destroy(F);
    }
    trs_factors_destroy(one);
    trs_matrix_destroy(A);
    trs_matrix_destroy(B);
  }
}

/* Row 7 of the grid without entries but its diagonal, which is zero, NaN or tiny; with threads the
 * row is the same. */
TEST_IF(TRS_HAVE_SUPERLU, unusable_pivots_name_the_row) {
  static const struct {
    double value;
    trs_status status;
    const char *words;
  } cases[] = {{0, TRS_ERROR_ZERO_PIVOT, "the pivot of row 7 (0-based) is zero"},
               {NAN, TRS_ERROR_NOT_FINITE, "row 7 (0-based)"},
               {INFINITY, TRS_ERROR_NOT_FINITE, "row 7 (0-based)"},
               {DBL_MIN / 1e10, TRS_ERROR_NOT_FINITE, "reciprocal"}};
  for (int threads = 1; threads < 3; threads++) {
    trs_context *ctx;
    trs_plan *plan;
    double x[2000], b[2000];
    trs_backward_error error = {.struct_size = sizeof error};
    trs_matrix *A = sparse_grid(50, 40, 1, 0.25, TRS_DOUBLE), *B = other_values(A, 1);
    trs_factors *F = lu(A, TRS_ORDER_AMD, false);
    trs_random_fill(b, 2000, TRS_DOUBLE, 1);
    assert_success(trs_context_create(&ctx, threads == 1 ? "serial" : "threads:2"));
    assert_success(trs_analyze_factors(&plan, ctx, F, TRS_NO_TRANS, NULL));
    for (size_t k = 0; k < COUNT(cases); k++) {
      trs_matrix *bad = other_values(A, 1);
      double *val = bad->val;
      for (int64_t p = bad->ptr[7]; p < bad->ptr[8]; p++)
        val[p] = bad->idx[p] == 7 ? cases[k].value : 0;
      assert_failure(cases[k].status, cases[k].words, trs_factors_refactor(F, NULL, ctx, bad));
      assert_int_equal(trs_last_error()->row, 7);
      /* Nothing uses the factors until a call succeeds. */
      trs_plan *other;
      assert_failure(cases[k].status, "trs_factors_refactor of this factorisation failed",
                     trs_solve(plan, x, 2000, b, 2000, 1, TRS_COL_MAJOR));
      assert_failure(cases[k].status, cases[k].words, trs_update_factors(plan, F));
      assert_failure(cases[k].status, cases[k].words,
                     trs_solve(plan, x, 2000, b, 2000, 1, TRS_COL_MAJOR));
      const char *message = trs_last_error()->message;
      assert_non_null(strstr(message, "trs_update_factors of this plan failed"));
      assert_null(strstr(message, "trs_factors_refactor")); /* the first cause alone */
      assert_failure(cases[k].status, cases[k].words,
                     trs_analyze_factors(&other, ctx, F, TRS_NO_TRANS, NULL));
      assert_failure(cases[k].status, cases[k].words, trs_factors_write(F, "/nowhere"));
      assert_failure(
          cases[k].status, cases[k].words,
          trs_check_factors(&error, F, TRS_NO_TRANS, x, 2000, b, 2000, 1, TRS_COL_MAJOR));
      assert_success(trs_factors_refactor(F, NULL, ctx, B));
      assert_success(trs_update_factors(plan, F));
      assert_true(solve_error(plan, F, B, TRS_NO_TRANS) < 1e-14);
      trs_matrix_destroy(bad);
    }
    trs_plan_destroy(plan);
    trs_factors_destroy(F);
    trs_matrix_destroy(A);
    trs_matrix_destroy(B);
    trs_context_destroy(ctx);
  }
}

static trs_matrix *two_by_two(double a, double b, double c, double d) {
  const int32_t row[] = {0, 0, 1, 1}, col[] = {0, 1, 0, 1};
  const double val[] = {a, b, c, d};
  trs_matrix *A;
  assert_success(trs_matrix_create_coo(&A, TRS_DOUBLE, 2, 2, 4, TRS_IDX32, row, col, val));
  return A;
}

TEST_IF(TRS_HAVE_SUPERLU, the_least_pivot_is_told) {
  trs_matrix *A = two_by_two(4, 1, 1, 3), *B = two_by_two(1e-6, 1, 1, 3);
  trs_factors *F = lu(A, TRS_ORDER_NATURAL, false);
  trs_pivots pivots = {.struct_size = sizeof pivots};
  assert_success(trs_factors_refactor(F, &pivots, NULL, A));
  assert_true(pivots.least_share == 1 && pivots.row == 0);
  assert_success(trs_factors_refactor(F, &pivots, NULL, B));
  assert_true(fabs(pivots.least_share - 1e-6) < 1e-20);
  assert_int_equal(pivots.row, 0);
  trs_factors_destroy(F);
  trs_matrix_destroy(A);
  trs_matrix_destroy(B);
}

/* What the messages advise: a new factorisation has another pattern, and other pivots. */
TEST_IF(TRS_HAVE_SUPERLU, the_remedy_is_to_factor_anew) {
  trs_matrix *A = two_by_two(4, 1, 1, 3), *D;
  const int32_t at[] = {0, 1};
  const double ones[] = {1, 1};
  assert_success(trs_matrix_create_coo(&D, TRS_DOUBLE, 2, 2, 2, TRS_IDX32, at, at, ones));
  trs_factors *F = lu(A, TRS_ORDER_NATURAL, false), *of_D = lu(D, TRS_ORDER_NATURAL, false);
  const trs_factor_options dilu = {.struct_size = sizeof dilu, .kind = TRS_FACTOR_DILU};
  trs_factors *incomplete;
  assert_success(trs_factor(&incomplete, A, &dilu));
  const struct {
    trs_factors *F;
    trs_matrix *B;
    trs_status status;
  } cases[] = {{F, two_by_two(0, 1, 1, 3), TRS_ERROR_ZERO_PIVOT},
               {F, two_by_two(DBL_MIN / 1e10, 1, 1, 3), TRS_ERROR_NOT_FINITE},
               {of_D, two_by_two(4, 1, 1, 3), TRS_ERROR_STRUCTURE},
               {incomplete, two_by_two(4, 1, 1, 3), TRS_ERROR_UNSUPPORTED}};
  for (size_t k = 0; k < COUNT(cases); k++) {
    assert_failure(cases[k].status, "anew",
                   trs_factors_refactor(cases[k].F, NULL, NULL, cases[k].B));
    trs_factors *anew = lu(cases[k].B, TRS_ORDER_NATURAL, false);
    assert_success(trs_factors_refactor(anew, NULL, NULL, cases[k].B));
    assert_product(anew, cases[k].B, 1e-15, false);
    trs_factors_destroy(anew);
    trs_matrix_destroy(cases[k].B);
  }
  trs_factors_destroy(F);
  trs_factors_destroy(of_D);
  trs_factors_destroy(incomplete);
  trs_matrix_destroy(A);
  trs_matrix_destroy(D);
}

TEST_IF(TRS_HAVE_SUPERLU, entries_outside_the_pattern_are_named) {
  const int32_t row[] = {0, 1, 2, 2}, col[] = {0, 1, 2, 0}, more[] = {0, 1, 2, 1};
  const double val[] = {4, 3, 5, 1};
  trs_matrix *A, *B, *Z;
  assert_success(trs_matrix_create_coo(&A, TRS_DOUBLE, 3, 3, 4, TRS_IDX32, row, col, val));
  assert_success(trs_matrix_create_coo(&B, TRS_DOUBLE, 3, 3, 4, TRS_IDX32, row, more, val));
  assert_success(trs_matrix_convert(&Z, A, TRS_CSR, TRS_DCOMPLEX));
  for (int r = 0; r < NORDERS; r++) {
    trs_factors *F = lu(A, orders[r], false);
    trs_factors_info f = factors_info(F);
    assert_success(trs_factors_refactor(F, NULL, NULL, A));
    assert_failure(TRS_ERROR_STRUCTURE, "entry (2, 1)", trs_factors_refactor(F, NULL, NULL, B));
    assert_int_equal(trs_last_error()->row, 2);
    assert_failure(TRS_ERROR_ARGUMENT, "scalar type z", trs_factors_refactor(F, NULL, NULL, Z));
    assert_failure(TRS_ERROR_ARGUMENT, "A is NULL", trs_factors_refactor(F, NULL, NULL, NULL));
    assert_success(trs_factors_refactor(F, NULL, NULL, A));
    assert_int_equal(f.nnz_L, 1);
    trs_factors_destroy(F);
  }
  assert_failure(TRS_ERROR_ARGUMENT, "F is NULL", trs_factors_refactor(NULL, NULL, NULL, A));
  trs_matrix_destroy(A);
  trs_matrix_destroy(B);
  trs_matrix_destroy(Z);
}

TEST(other_factors_are_refused) {
  trs_matrix *A = sparse_grid(6, 5, 1, 0, TRS_DOUBLE), *L, *U;
  trs_factors *F;
  const trs_factor_options dilu = {.struct_size = sizeof dilu, .kind = TRS_FACTOR_DILU};
  assert_success(trs_factor(&F, A, &dilu));
  assert_failure(TRS_ERROR_UNSUPPORTED, "DILU", trs_factors_refactor(F, NULL, NULL, A));
  trs_context *ctx;
  trs_plan *plan;
  assert_success(trs_context_create(&ctx, "serial"));
  assert_success(trs_analyze_factors(&plan, ctx, F, TRS_NO_TRANS, NULL)); /* they are as before */
  trs_plan_destroy(plan);
  trs_context_destroy(ctx);
  trs_factors_destroy(F);
  assert_success(trs_matrix_triangle(&L, A, TRS_LOWER, 0));
  assert_success(trs_matrix_triangle(&U, A, TRS_UPPER, 0));
  assert_success(trs_factors_create(&F, L, TRS_NONUNIT, U, TRS_NONUNIT, NULL, NULL, NULL, NULL));
  assert_failure(TRS_ERROR_UNSUPPORTED, "neither of L and U",
                 trs_factors_refactor(F, NULL, NULL, A));
  trs_factors_destroy(F);
  assert_success(trs_factors_create(&F, L, TRS_UNIT, U, TRS_NONUNIT, NULL, NULL, NULL, NULL));
  assert_failure(TRS_ERROR_STRUCTURE, "which elimination fills",
                 trs_factors_refactor(F, NULL, NULL, A));
  trs_factors_destroy(F);
  trs_matrix_destroy(A);
  trs_matrix_destroy(L);
  trs_matrix_destroy(U);
}

static trs_factors *incomplete(const trs_matrix *A, trs_factor_kind kind) {
  const trs_factor_options options = {
      .struct_size = sizeof options, .kind = kind, .order = TRS_ORDER_RCM};
  trs_factors *F;
  assert_success(trs_factor(&F, A, &options));
  return F;
}

static trs_factors *ilu0(const trs_matrix *A) { return incomplete(A, TRS_FACTOR_ILU0); }
static trs_factors *ic0(const trs_matrix *A) { return incomplete(A, TRS_FACTOR_IC0); }

static trs_factors *of_caller(const trs_matrix *A) {
  trs_factors *F;
  assert_success(trs_factors_create(&F, A, TRS_UNIT, A, TRS_NONUNIT, NULL, NULL, NULL, NULL));
  return F;
}

/* The next call, which gets its memory, succeeds. */
static void assert_refactors_after_failures(const trs_matrix *A,
                                            trs_factors *(*make)(const trs_matrix *)) {
  trs_status status = TRS_ERROR_MEMORY;
  for (int64_t n = 0; status; n++) {
    trs_factors *F = make(A);
    trs_memory_fail_after(n);
    status = trs_factors_refactor(F, NULL, NULL, A);
    trs_memory_fail_after(-1);
    if (status) {
      assert_int_equal(status, TRS_ERROR_MEMORY);
      assert_success(trs_factors_refactor(F, NULL, NULL, A));
    }
    trs_factors_destroy(F);
  }
}

TEST(failing_allocations_are_reported) {
  trs_matrix *A = sparse_grid(6, 5, 1, 0, TRS_DOUBLE);
  assert_refactors_after_failures(A, ilu0);
  assert_refactors_after_failures(A, ic0);
  trs_matrix_destroy(A);
  A = sparse_random(20, 0, (sparse_kind){.scalar = TRS_DOUBLE, .dominant = true}, 1);
  assert_refactors_after_failures(A, of_caller);
  trs_matrix_destroy(A);
}

/* The host runs the factorisation of trs_factor again; plans follow. */
TEST(incomplete_factors_of_new_values) {
  trs_context *ctx;
  assert_success(trs_context_create(&ctx, "threads:2"));
  for (int c = 0; c < 96; c++) {
    sparse_kind kind = sparse_case(c);
    const bool cholesky = kind.symmetric;
    trs_matrix *A = sparse_random(5 + c, 0.1, kind, (uint64_t)c);
    const trs_order order =
        orders[c % NORDERS] == TRS_ORDER_COLAMD ? TRS_ORDER_NATURAL : orders[c % NORDERS];
    const trs_factor_options options = {.struct_size = sizeof options,
                                        .kind = cholesky ? TRS_FACTOR_IC0 : TRS_FACTOR_ILU0,
                                        .order = order,
                                        .uplo = cholesky ? (trs_uplo)(c % 3) : TRS_GENERAL,
                                        .shift = cholesky ? 1e-3 : 0};
    trs_factors *F, *anew;
    trs_plan *plan;
    assert_success(trs_factor(&F, A, &options));
    assert_success(trs_analyze_factors(&plan, ctx, F, TRS_NO_TRANS, NULL));
    for (int64_t p = 0; p < A->nnz; p++)
      trs_value_set(A->val, p, A->scalar, 1.25 * trs_value_get(A->val, p, A->scalar));
    assert_success(trs_factors_refactor(F, NULL, ctx, A));
    assert_success(trs_factor(&anew, A, &options));
    assert_same_matrix(F->L, anew->L);
    assert_same_matrix(F->U, anew->U);
    assert_success(trs_update_factors(plan, F));
    (void)solve_error(plan, anew, A, TRS_NO_TRANS);
    trs_plan_destroy(plan);
    trs_factors_destroy(anew);
    trs_factors_destroy(F);
    trs_matrix_destroy(A);
  }
  trs_context_destroy(ctx);
}

TEST(the_remedy_for_other_patterns) {
  trs_matrix *A = sparse_grid(6, 5, 1, 0, TRS_DOUBLE), *B = sparse_grid(5, 6, 1, 0, TRS_DOUBLE);
  const trs_factor_options ilu = {.struct_size = sizeof ilu, .kind = TRS_FACTOR_ILU0};
  trs_factors *F, *anew;
  assert_success(trs_factor(&F, A, &ilu));
  assert_failure(TRS_ERROR_STRUCTURE, "factor this one anew",
                 trs_factors_refactor(F, NULL, NULL, B));
  assert_success(trs_factor(&anew, B, &ilu));
  assert_success(trs_factors_refactor(anew, NULL, NULL, B));
  trs_factors_destroy(F);
  trs_factors_destroy(anew);
  trs_matrix_destroy(A);
  trs_matrix_destroy(B);
}

/* A file may hold L by columns. */
TEST(factors_in_another_form) {
  trs_matrix *A = sparse_grid(6, 5, 1, 0, TRS_DOUBLE), *L;
  const trs_factor_options ilu = {.struct_size = sizeof ilu, .kind = TRS_FACTOR_ILU0};
  trs_factors *F;
  assert_success(trs_factor(&F, A, &ilu));
  assert_success(trs_matrix_convert(&L, F->L, TRS_CSC, TRS_DOUBLE));
  trs_matrix_destroy(F->L);
  F->L = L;
  assert_failure(TRS_ERROR_UNSUPPORTED, "factor the matrix anew",
                 trs_factors_refactor(F, NULL, NULL, A));
  trs_factors_destroy(F);
  assert_success(trs_factor(&F, A, &ilu));
  assert_success(trs_factors_refactor(F, NULL, NULL, A));
  trs_factors_destroy(F);
  trs_matrix_destroy(A);
}
