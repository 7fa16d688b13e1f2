/* plan.c - invalid input of plans, their information, and their lifetime. */
#include <math.h>
#include <pthread.h>

#include "base/config.h"
#include "base/memory.h"
#include "matrix/values.h"
#include "backend/context.h"
#include "solve/threads/schedule.h"
#include "sparse.h"
#include "support.h"
#include "test.h"

static trs_context *ctx;

static int start(void **state) {
  trs_schedule_part_work = 40;
  trs_schedule_alone = 0;
  return trs_context_create(&ctx, "threads:3") ? -1 : 0;
}

static int stop(void **state) {
  trs_context_destroy(ctx);
  return 0;
}

static trs_matrix *dense3(const double *a) {
  int64_t ptr[] = {0, 0, 0, 0}, nnz = 0;
  int32_t idx[9];
  double val[9];
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++)
      if (a[3 * i + j] != 0) idx[nnz] = j, val[nnz++] = a[3 * i + j] == 99 ? 0 : a[3 * i + j];
    ptr[i + 1] = nnz;
  }
  trs_matrix *A;
  assert_success(
      trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, 3, 3, TRS_PTR64, ptr, idx, val, TRS_COPY));
  return A;
}

static void refused(trs_status status, int64_t row, const char *words, const double *a) {
  static const char *const methods[] = {"serial", "threads", NULL};
  trs_matrix *A = dense3(a);
  for (int m = 0; m < 3; m++) {
    trs_plan *plan;
    trs_options options = {.struct_size = sizeof(trs_options), .method = methods[m]};
    assert_failure(status, words,
                   trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options));
    assert_int_equal(trs_last_error()->row, row);
    assert_null(plan);
  }
  trs_matrix_destroy(A);
}

TEST(unsolvable_triangles_are_refused) {
  refused(TRS_ERROR_STRUCTURE, 0, "1 entry lies above", (double[]){1, 0, 2, 0, 1, 0, 1, 1, 1});
  refused(TRS_ERROR_STRUCTURE, 0, "(0-based): take that triangle of it",
          (double[]){1, 0, 2, 1, 1, 0, 0, 0, 1});
  refused(TRS_ERROR_STRUCTURE, 0, "(0-based): it is upper triangular (TRS_UPPER)",
          (double[]){1, 0, 2, 0, 1, 0, 0, 0, 1});
  refused(TRS_ERROR_STRUCTURE, 1, "row 1 (0-based) has no diagonal",
          (double[]){1, 0, 0, 1, 0, 0, 0, 0, 1});
  refused(TRS_ERROR_ZERO_PIVOT, 2, "row 2 (0-based) is zero",
          (double[]){1, 0, 0, 0, 1, 0, 0, 1, 99});
  refused(TRS_ERROR_NOT_FINITE, 1, "row 1 (0-based) is not finite",
          (double[]){1, 0, 0, 0, NAN, 0, 0, 0, 1});
  refused(TRS_ERROR_NOT_FINITE, 0, "not finite", (double[]){INFINITY, 0, 0, 0, 1, 0, 0, 0, 1});
  refused(TRS_ERROR_NOT_FINITE, 1, "row 1 (0-based) is too small",
          (double[]){1, 0, 0, 0, -1e-310, 0, 0, 0, 1});
}

TEST(the_other_triangle_is_named) {
  trs_matrix *A = dense3((double[]){1, 0, 0, 2, 1, 0, 0, 0, 1});
  trs_plan *plan;
  assert_failure(TRS_ERROR_STRUCTURE, "it is lower triangular (TRS_LOWER)",
                 trs_analyze(&plan, ctx, A, TRS_UPPER, TRS_NO_TRANS, TRS_NONUNIT, NULL));
  trs_matrix_destroy(A);
}

/* A 1 x 1 system. */
static trs_status divided(double complex d, trs_scalar scalar, double complex *x) {
  const int64_t ptr[] = {0, 1};
  const int32_t idx[] = {0};
  double value[2], b[2], solution[2];
  trs_matrix *A;
  trs_plan *plan;
  trs_value_set(value, 0, scalar, d);
  trs_value_set(b, 0, scalar, d);
  assert_success(
      trs_matrix_create(&A, TRS_CSR, scalar, 1, 1, TRS_PTR64, ptr, idx, value, TRS_BORROW));
  trs_status status = trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, NULL);
  trs_matrix_destroy(A);
  if (status) return status;
  assert_success(trs_solve(plan, solution, 1, b, 1, 1, TRS_COL_MAJOR));
  *x = trs_value_get(solution, 0, scalar);
  trs_plan_destroy(plan);
  return TRS_SUCCESS;
}

TEST(a_diagonal_is_refused_where_its_reciprocal_overflows) {
  const double complex both = CMPLX(1, 1);
  const struct {
    trs_scalar scalar;
    double complex good[3], bad[2];
  } cases[] = {
      {TRS_FLOAT, {1.2e-38, -3e-39, 3e38}, {1e-39, -1e-45}},
      {TRS_DOUBLE, {2.3e-308, -6e-309, 1.7e308}, {5e-309, -5e-324}},
      {TRS_SCOMPLEX, {2e-39 * both, 1.6e38 * both, CMPLX(0, 3e38)}, {1e-39 * both, 3e38 * both}},
      {TRS_DCOMPLEX, {4e-309 * both, 8e307 * both, 1.7e308}, {CMPLX(0, 1e-310), 1.5e308 * both}}};
  for (int k = 0; k < 4; k++) {
    for (int g = 0; g < 3; g++) {
      double complex x;
      assert_success(divided(cases[k].good[g], cases[k].scalar, &x));
      if (!(cabs(x - 1) < 1e-5)) fail_msg("case %d.%d: x is %g%+gi", k, g, creal(x), cimag(x));
    }
    for (int b = 0; b < 2; b++)
      assert_failure(TRS_ERROR_NOT_FINITE, "too small, or too large",
                     divided(cases[k].bad[b], cases[k].scalar, &(double complex){0}));
  }
}

TEST(a_triangle_of_a_general_matrix_on_request) {
  trs_matrix *A = dense3((double[]){2, 1, 1, 1, 4, 1, 1, 1, 8});
  trs_options options = {.struct_size = sizeof(trs_options), .take_triangle = 1};
  trs_plan *plan;
  double b[] = {2, 5, 10}, x[3];
  assert_success(trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options));
  assert_success(trs_solve(plan, x, 3, b, 3, 1, TRS_COL_MAJOR));
  for (int i = 0; i < 3; i++) assert_true(x[i] == 1);
  double doubled[9];
  const void *val;
  trs_matrix_get_arrays(A, NULL, NULL, &val);
  for (int k = 0; k < 9; k++) doubled[k] = 2 * ((const double *)val)[k];
  assert_success(trs_matrix_set_values(A, doubled));
  assert_success(trs_update(plan, A));
  assert_success(trs_solve(plan, x, 3, b, 3, 1, TRS_COL_MAJOR));
  for (int i = 0; i < 3; i++) assert_true(x[i] == 0.5);
  trs_plan_destroy(plan);
  trs_matrix_destroy(A);
}

TEST(options_are_checked) {
  trs_matrix *A = dense3((double[]){2, 0, 0, 1, 4, 0, 1, 1, 8});
  trs_factor_options triangles = {.struct_size = sizeof(trs_factor_options),
                                  .kind = TRS_FACTOR_TRIANGLE};
  trs_factors *F;
  const size_t size = sizeof(trs_options);
  const trs_options bad[] = {{.struct_size = size, .nrhs = -1},
                             {.struct_size = size, .solves = -1},
                             {.struct_size = size, .store = (trs_store)9},
                             {.nrhs = 1}};
  const char *const named[] = {"nrhs", "solves", "store is 9", "struct_size of a trs_options is 0"};
  trs_options stored = {.struct_size = size, .store = TRS_STORE_DOUBLE};
  assert_success(trs_factor(&F, A, &triangles));
  trs_plan *own;
  assert_success(trs_analyze(&own, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &stored));
  trs_plan_destroy(own);
  stored.store = TRS_STORE_FLOAT;
  assert_failure(TRS_ERROR_UNSUPPORTED, "own type",
                 trs_analyze(&own, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &stored));
  assert_failure(TRS_ERROR_ARGUMENT, "bytes is -1", trs_context_set_gpu_memory(ctx, -1));
  for (int k = 0; k < 4; k++) {
    trs_plan *plan;
    assert_failure(TRS_ERROR_ARGUMENT, named[k],
                   trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &bad[k]));
    assert_null(plan);
    assert_failure(TRS_ERROR_ARGUMENT, named[k],
                   trs_analyze_factors(&plan, ctx, F, TRS_NO_TRANS, &bad[k]));
    assert_null(plan);
  }
  trs_factors_destroy(F);
  trs_matrix_destroy(A);
}

TEST(every_hint_for_right_hand_sides_is_accepted) {
  const method_list methods = methods_of("serial threads");
  static const int64_t hints[] = {(int64_t)1 << 20, INT32_MAX, INT64_MAX};
  double x[300], b[300];
  trs_matrix *A = dense3((double[]){2, 0, 0, 1, 4, 0, 1, 1, 8});
  trs_random_fill(b, 300, TRS_DOUBLE, 1);
  for (int k = 0; k < 3 * (methods.count + 1); k++) {
    trs_backward_error error = {.struct_size = sizeof error};
    trs_options options = {.struct_size = sizeof(trs_options),
                           .method = k / 3 < methods.count ? methods.name[k / 3] : NULL,
                           .nrhs = hints[k % 3],
                           .solves = INT64_MAX};
    trs_plan *plan;
    assert_success(trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options));
    assert_success(trs_solve(plan, x, 3, b, 3, 100, TRS_COL_MAJOR));
    assert_success(
        trs_check(&error, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, x, 3, b, 3, 100, TRS_COL_MAJOR));
    assert_true(error.componentwise < 1e-14);
    trs_plan_destroy(plan);
  }
  trs_matrix_destroy(A);
}

TEST(an_update_looks_at_the_diagonal_again) {
  trs_matrix *A = dense3((double[]){2, 0, 0, 1, 4, 0, 1, 1, 8});
  trs_plan *plan;
  double zero[] = {2, 1, 0, 1, 1, 8}, good[] = {2, 1, 4, 1, 1, 8};
  assert_success(trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, NULL));
  assert_success(trs_matrix_set_values(A, zero));
  assert_failure(TRS_ERROR_ZERO_PIVOT, "row 1", trs_update(plan, A));
  assert_success(trs_matrix_set_values(A, good));
  assert_success(trs_update(plan, A));
  trs_matrix *other = dense3((double[]){2, 0, 0, 0, 4, 0, 0, 1, 8});
  assert_failure(TRS_ERROR_ARGUMENT, "analyse it anew", trs_update(plan, other));
  trs_matrix_destroy(other);
  trs_plan_destroy(plan);
  trs_matrix_destroy(A);
}

/* The same number of entries as in the analysed matrix, at other positions. */
TEST(an_update_takes_no_other_pattern) {
  trs_matrix *A = dense3((double[]){2, 0, 0, 1, 4, 0, 0, 1, 8});
  trs_matrix *same = dense3((double[]){4, 0, 0, 2, 8, 0, 0, 2, 16});
  trs_matrix *other = dense3((double[]){2, 0, 0, 1, 4, 0, 1, 0, 8});
  const char *const methods[] = {"serial", "threads"};
  double b[] = {4, 10, 18}, x[3];
  for (int m = 0; m < 2; m++)
    for (int c = 0; c < 2; c++) {
      trs_plan *plan;
      trs_matrix *turned[3], *from[3] = {A, same, other};
      trs_options options = {.struct_size = sizeof(trs_options), .method = methods[m]};
      for (int k = 0; k < 3; k++)
        assert_success(trs_matrix_convert(&turned[k], from[k], (trs_format)c, TRS_DOUBLE));
      assert_success(
          trs_analyze(&plan, ctx, turned[0], TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options));
      assert_success(trs_update(plan, turned[1]));
      assert_failure(TRS_ERROR_STRUCTURE,
                     c ? "column 0 (0-based) has other" : "row 2 (0-based) has other",
                     trs_update(plan, turned[2]));
      assert_int_equal(trs_last_error()->row, c ? 0 : 2);
      assert_success(trs_update(plan, turned[1]));
      assert_success(trs_solve(plan, x, 3, b, 3, 1, TRS_COL_MAJOR));
      for (int i = 0; i < 3; i++) assert_true(x[i] == 1);
      trs_plan_destroy(plan);
      for (int k = 0; k < 3; k++) trs_matrix_destroy(turned[k]);
    }
  trs_matrix_destroy(A);
  trs_matrix_destroy(same);
  trs_matrix_destroy(other);
}

static trs_matrix *bidiagonal(int32_t n, int32_t moved) {
  trs_matrix *A;
  int64_t *ptr = malloc(((size_t)n + 1) * sizeof *ptr);
  int32_t *idx = malloc(2 * (size_t)n * sizeof *idx);
  double *val = malloc(2 * (size_t)n * sizeof *val);
  ptr[0] = 0;
  for (int32_t i = 0; i < n; i++) {
    ptr[i + 1] = 2 * i + 1;
    if (i) idx[2 * i - 1] = i == moved ? 0 : i - 1;
    idx[2 * i] = i;
    val[2 * i] = val[2 * i + 1] = 1;
  }
  assert_success(
      trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, n, n, TRS_PTR64, ptr, idx, val, TRS_TAKE));
  return A;
}

TEST(an_update_of_many_rows_names_the_first_that_differs) {
  enum { N = 100000 };
  trs_matrix *A = bidiagonal(N, 0), *B = bidiagonal(N, 0);
  trs_plan *plan;
  assert_success(trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, NULL));
  assert_success(trs_update(plan, B));
  for (int32_t row = 2; row < N; row += 33333) {
    trs_matrix *other = bidiagonal(N, row);
    assert_int_equal(trs_update(plan, other), TRS_ERROR_STRUCTURE);
    assert_int_equal(trs_last_error()->row, row);
    trs_matrix_destroy(other);
  }
  trs_plan_destroy(plan);
  trs_matrix_destroy(A);
  trs_matrix_destroy(B);
}

/* Entries of the other triangle are irrelevant; counts are those of the whole matrix. */
TEST(an_update_of_a_triangle_looks_at_that_triangle) {
  trs_matrix *A = dense3((double[]){2, 1, 0, 1, 4, 0, 0, 1, 8});
  trs_matrix *across = dense3((double[]){4, 0, 1, 2, 8, 0, 0, 2, 16});
  trs_matrix *within = dense3((double[]){2, 1, 0, 1, 4, 0, 1, 0, 8});
  trs_matrix *moved = dense3((double[]){2, 1, 0, 1, 4, 1, 0, 0, 8});
  trs_options options = {.struct_size = sizeof(trs_options), .take_triangle = 1};
  trs_plan *plan;
  double b[] = {4, 10, 18}, x[3];
  assert_success(trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options));
  assert_success(trs_update(plan, across));
  assert_success(trs_solve(plan, x, 3, b, 3, 1, TRS_COL_MAJOR));
  for (int i = 0; i < 3; i++) assert_true(x[i] == 1);
  assert_failure(TRS_ERROR_STRUCTURE, "row 2", trs_update(plan, within));
  assert_failure(TRS_ERROR_STRUCTURE, "row 2", trs_update(plan, moved));
  trs_plan_destroy(plan);
  assert_success(trs_analyze(&plan, ctx, A, TRS_UPPER, TRS_NO_TRANS, TRS_NONUNIT, &options));
  assert_success(trs_update(plan, within));
  assert_failure(TRS_ERROR_STRUCTURE, "row 0", trs_update(plan, across));
  assert_failure(TRS_ERROR_STRUCTURE, "row 1", trs_update(plan, moved));
  trs_plan_destroy(plan);
  trs_matrix_destroy(A);
  trs_matrix_destroy(across);
  trs_matrix_destroy(within);
  trs_matrix_destroy(moved);
}

/* Sorted arrays are used in place, others in a copy; the caller sees no difference. */
TEST(an_update_sees_what_became_of_lent_values) {
  static const struct {
    int64_t ptr[3];
    int32_t idx[4];
    double val[4], other[4]; /* (1, 0) is 1, in other 4 */
    int off;                 /* an entry at (1, 0) */
  } cases[] = {{{0, 1, 3}, {0, 0, 1}, {1, 1, 1}, {1, 4, 1}, 1},
               {{0, 1, 3}, {0, 1, 0}, {1, 1, 1}, {1, 1, 4}, 2},
               {{0, 1, 4}, {0, 0, 1, 0}, {1, 2, 1, -1}, {1, 3, 1, 1}, 3}};
  static const char *const methods[] = {"serial", "threads"};
  for (int k = 0; k < 6; k++) {
    trs_options options = {.struct_size = sizeof(trs_options), .method = methods[k % 2]};
    double val[4], b[] = {1, 9}, x[2];
    trs_matrix *A;
    trs_plan *plan;
    memcpy(val, cases[k / 2].val, sizeof val);
    assert_success(trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, 2, 2, TRS_PTR64, cases[k / 2].ptr,
                                     cases[k / 2].idx, val, TRS_BORROW));
    assert_success(trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options));
    val[cases[k / 2].off] += 1;
    assert_success(trs_update(plan, A));
    assert_success(trs_solve(plan, x, 2, b, 2, 1, TRS_COL_MAJOR));
    assert_true(x[1] == 7);
    assert_success(trs_matrix_set_values(A, cases[k / 2].other));
    assert_success(trs_update(plan, A));
    assert_success(trs_solve(plan, x, 2, b, 2, 1, TRS_COL_MAJOR));
    assert_true(x[1] == 5);
    trs_plan_destroy(plan);
    trs_matrix_destroy(A);
  }
}

TEST(the_analysis_of_a_chain_takes_memory_for_its_rows_alone) {
  trs_options options = {
      .struct_size = sizeof(trs_options), .method = "threads", .take_triangle = 1};
  trs_context *many;
  trs_matrix *A;
  trs_plan *plan;
  trs_matrix_info info = {.struct_size = sizeof info};
  int64_t before, after, peak;
  assert_success(trs_context_create(&many, "threads:32"));
  assert_success(trs_matrix_read(&A, "gen:chain:200000", NULL));
  trs_matrix_get_info(A, &info);
  trs_memory_usage(&before, &peak);
  assert_success(trs_analyze(&plan, many, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options));
  trs_memory_usage(&after, &peak);
  assert_true(peak - before < 240 * info.nrows);
  trs_plan_destroy(plan);
  trs_matrix_destroy(A);
  trs_context_destroy(many);
}

/* The bytes that the library holds more than before, and those that the plan says, differ by the
 * plan's own structure. */
static void tells_its_memory(trs_plan *plan, int64_t before, const char *what) {
  enum { STRUCTURES = 16000 };
  trs_plan_info info = {.struct_size = sizeof info};
  int64_t now;
  assert_success(trs_plan_get_info(plan, &info));
  trs_memory_usage(&now, NULL);
  now -= before;
  if (info.plan_bytes > now + now / 20 || info.plan_bytes < now - now / 20 - STRUCTURES)
    fail_msg("%s by %s says %lld bytes and holds %lld", what, info.method,
             (long long)info.plan_bytes, (long long)now);
}

TEST(a_plan_tells_its_memory) {
  const method_list methods = methods_of("serial threads");
  trs_matrix *A, *T[2];
  int64_t before;
  assert_success(trs_matrix_read(&A, "gen:poisson3d7:24", NULL));
  for (int c = 0; c < 2; c++) {
    trs_matrix *L;
    assert_success(trs_matrix_triangle(&L, A, TRS_LOWER, 0));
    assert_success(trs_matrix_convert(&T[c], L, (trs_format)c, c ? TRS_FLOAT : TRS_DOUBLE));
    trs_matrix_destroy(L);
  }
  for (int m = 0; m <= methods.count; m++)
    for (int k = 0; k < 9; k++) {
      trs_options options = {.struct_size = sizeof options,
                             .method = m < methods.count ? methods.name[m] : NULL,
                             .nrhs = k % 3 == 0   ? 1
                                     : k % 3 == 1 ? 5
                                                  : 40,
                             .take_triangle = 1};
      trs_plan *plan;
      trs_memory_usage(&before, NULL);
      assert_success(trs_analyze(&plan, ctx, k < 3 ? A : T[k % 2], TRS_LOWER,
                                 k > 6 ? TRS_TRANS : TRS_NO_TRANS, TRS_NONUNIT, &options));
      tells_its_memory(plan, before, k < 3 ? "a triangle of a matrix" : "a triangle");
      trs_plan_destroy(plan);
    }
  for (int k = 0; k < methods.count; k++) { /* both factors in one matrix, then apart */
    trs_options options = {.struct_size = sizeof options,
                           .method = methods.name[k],
                           .nrhs = 1 + 4 * k,
                           .take_triangle = 1};
    trs_factors *F;
    trs_plan *plan;
    trs_factor_options how = {.struct_size = sizeof how, .kind = TRS_FACTOR_ILU0};
    if (k % 2)
      assert_success(trs_factor(&F, A, &how));
    else
      assert_success(trs_factors_create(&F, A, TRS_UNIT, A, TRS_NONUNIT, NULL, NULL, NULL, NULL));
    trs_memory_usage(&before, NULL);
    trs_status status = trs_analyze_factors(&plan, ctx, F, TRS_NO_TRANS, &options);
    if (status != TRS_ERROR_UNSUPPORTED) { /* blocks refuses a unit diagonal */
      assert_success(status);
      tells_its_memory(plan, before, "factors");
    }
    trs_plan_destroy(plan);
    trs_factors_destroy(F);
  }
  trs_matrix_destroy(A);
  for (int c = 0; c < 2; c++) trs_matrix_destroy(T[c]);
}

static trs_status gives_nothing(void *user, void *val, int64_t count, const int32_t *vector) {
  return trs_fail(TRS_ERROR_FILE, -1, "there are no values");
}

/* The solve fails as the update did, names the call, and writes nothing. */
static void solves_nothing(trs_plan *plan, const char *call, trs_status status, int64_t row,
                           const char *words) {
  const double b[] = {2, 5, 10};
  double x[] = {-1, -1, -1};
  for (int again = 0; again < 2; again++) {
    assert_failure(status, call, trs_solve(plan, x, 3, b, 3, 1, TRS_COL_MAJOR));
    assert_non_null(strstr(trs_last_error()->message, words));
    assert_int_equal(trs_last_error()->row, row);
    const trs_status distributed =
        trs_solve_distributed(plan, (void *[]){x}, 3, (const void *[]){b}, 3, 1, TRS_COL_MAJOR);
    assert_true(distributed == status || distributed == TRS_ERROR_UNSUPPORTED); /* factors */
  }
  for (int i = 0; i < 3; i++) assert_true(x[i] == -1);
}

static void solves(trs_plan *plan) {
  const double b[] = {2, 5, 10};
  double x[3];
  assert_success(trs_solve(plan, x, 3, b, 3, 1, TRS_COL_MAJOR));
  for (int i = 0; i < 3; i++) assert_true(x[i] == 1);
}

/* Only the plan keeps the first matrix alive: an array that it lost would be freed memory. */
TEST(after_a_failed_update_a_plan_solves_nothing_until_one_succeeds) {
  static const struct {
    double a[9];
    trs_status status;
    int64_t row;
    const char *words;
  } wrong[] = {{{0}, TRS_ERROR_ARGUMENT, -1, "A is NULL"},
               {{0}, TRS_ERROR_UNSUPPORTED, -1, "deferred"},
               {{2, 0, 0, 1, 99, 0, 1, 1, 8}, TRS_ERROR_ZERO_PIVOT, 1, "is zero"},
               {{2, 0, 0, 1, 4, 0, 1, 1, NAN}, TRS_ERROR_NOT_FINITE, 2, "not finite"},
               {{2, 0, 0, 1, 4, 0, 1, 0, 8}, TRS_ERROR_ARGUMENT, -1, "analyse it anew"},
               {{2, 0, 0, 0, 4, 0, 1, 1, 8}, TRS_ERROR_ARGUMENT, -1, "analyse it anew"},
               {{2, 0, 0, 1, 4, 1, 1, 0, 8}, TRS_ERROR_STRUCTURE, 2, "other entries"}};
  const method_list methods = methods_of("serial threads");
  const int64_t *ptr;
  const int32_t *idx;
  for (size_t k = 0; k < (size_t)methods.count * COUNT(wrong); k++) {
    const size_t w = k % COUNT(wrong);
    trs_options options = {.struct_size = sizeof options, .method = methods.name[k / COUNT(wrong)]};
    trs_matrix *A = dense3((double[]){2, 0, 0, 1, 4, 0, 1, 1, 8}), *other = NULL;
    trs_plan *plan;
    assert_success(trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options));
    if (w == 1) {
      assert_success(trs_matrix_get_arrays(A, &ptr, &idx, NULL));
      assert_success(trs_matrix_create_deferred(&other, TRS_CSR, TRS_DOUBLE, 3, 3, TRS_PTR64, ptr,
                                                idx, TRS_COPY, gives_nothing, NULL));
    } else if (w > 1) {
      other = dense3(wrong[w].a);
    }
    trs_matrix_destroy(A);
    solves(plan);
    assert_failure(wrong[w].status, wrong[w].words, trs_update(plan, other));
    solves_nothing(plan, "trs_update of this plan", wrong[w].status, wrong[w].row, wrong[w].words);
    A = dense3((double[]){2, 0, 0, 1, 4, 0, 1, 1, 8});
    assert_success(trs_update(plan, A));
    trs_matrix_destroy(A);
    solves(plan);
    trs_plan_destroy(plan);
    trs_matrix_destroy(other);
  }
}

/* With every allocation of an update failing in turn. */
TEST(after_an_update_without_memory_a_plan_solves_nothing_until_one_succeeds) {
  const method_list methods = methods_of("serial threads");
  int failures = 0;
  for (int m = 0; m < 2 * methods.count; m++) {
    trs_options options = {
        .struct_size = sizeof options, .method = methods.name[m / 2], .take_triangle = m % 2};
    trs_matrix *A = dense3((double[]){2, 0, m % 2, 1, 4, 0, 1, 1, 8}), *T;
    trs_plan *plan;
    assert_success(trs_matrix_convert(&T, A, TRS_CSC, TRS_DOUBLE));
    assert_success(trs_analyze(&plan, ctx, T, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options));
    trs_status status = TRS_ERROR_MEMORY;
    for (int k = 0; status; k++) {
      trs_matrix *same;
      assert_success(trs_matrix_convert(&same, A, TRS_CSC, TRS_DOUBLE));
      trs_memory_fail_after(k);
      status = trs_update(plan, same);
      trs_memory_fail_after(-1);
      trs_matrix_destroy(same);
      if (!status) break;
      assert_int_equal(status, TRS_ERROR_MEMORY);
      solves_nothing(plan, "trs_update of this plan", TRS_ERROR_MEMORY, -1, "");
      failures++;
    }
    solves(plan);
    trs_plan_destroy(plan);
    trs_matrix_destroy(A);
    trs_matrix_destroy(T);
  }
  assert_true(failures > 0);
}

TEST(after_a_failed_update_of_factors_a_plan_solves_nothing_until_one_succeeds) {
  double lower[] = {2, 1, 4, 1, 1, 8}, one[] = {1, 1, 1};
  const int64_t ptr[] = {0, 1, 3, 6}, diagonal[] = {0, 1, 2, 3};
  const int32_t idx[] = {0, 0, 1, 0, 1, 2}, own[] = {0, 1, 2};
  trs_matrix *L, *U;
  trs_factors *F, *other;
  trs_plan *plan;
  assert_success(
      trs_matrix_create(&L, TRS_CSR, TRS_DOUBLE, 3, 3, TRS_PTR64, ptr, idx, lower, TRS_BORROW));
  assert_success(
      trs_matrix_create(&U, TRS_CSR, TRS_DOUBLE, 3, 3, TRS_PTR64, diagonal, own, one, TRS_BORROW));
  for (int k = 0; k < 2; k++)
    assert_success(trs_factors_create(k ? &other : &F, L, TRS_NONUNIT, U, TRS_NONUNIT, NULL, NULL,
                                      NULL, NULL));
  for (int trans = 0; trans < 2; trans++) {
    assert_success(trs_analyze_factors(&plan, ctx, F, trans ? TRS_TRANS : TRS_NO_TRANS, NULL));
    static const char *const call = "trs_update_factors of this plan";
    assert_failure(TRS_ERROR_ARGUMENT, "F is NULL", trs_update_factors(plan, NULL));
    solves_nothing(plan, call, TRS_ERROR_ARGUMENT, -1, "F is NULL");
    assert_failure(TRS_ERROR_ARGUMENT, "other factors", trs_update_factors(plan, other));
    solves_nothing(plan, call, TRS_ERROR_ARGUMENT, -1, "other factors");
    one[1] = 0; /* of either sweep */
    assert_int_equal(trs_update_factors(plan, F), TRS_ERROR_ZERO_PIVOT);
    solves_nothing(plan, call, TRS_ERROR_ZERO_PIVOT, 1, "zero");
    one[1] = 1;
    assert_failure(TRS_ERROR_ARGUMENT, "call trs_update_factors", trs_update(plan, L));
    solves_nothing(plan, call, TRS_ERROR_ZERO_PIVOT, 1, "zero"); /* as before that call */
    assert_int_equal(trs_update_bsr(plan, NULL), TRS_ERROR_UNSUPPORTED);
    solves_nothing(plan, call, TRS_ERROR_ZERO_PIVOT, 1, "zero"); /* as before that call, too */
    assert_success(trs_update_factors(plan, F));
    if (!trans) solves(plan);
    trs_plan_destroy(plan);
  }
  trs_factors_destroy(F);
  trs_factors_destroy(other);
  trs_matrix_destroy(L);
  trs_matrix_destroy(U);
}

TEST(a_plan_outlives_the_matrix_handle_and_the_context) {
  trs_context *own;
  trs_plan *plan;
  double b[] = {2, 5, 10}, x[3];
  assert_success(trs_context_create(&own, "threads:2"));
  trs_matrix *A = dense3((double[]){2, 0, 0, 1, 4, 0, 1, 1, 8});
  assert_success(trs_analyze(&plan, own, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, NULL));
  trs_matrix_destroy(A);
  trs_context_destroy(own);
  assert_success(trs_solve(plan, x, 3, b, 3, 1, TRS_COL_MAJOR));
  for (int i = 0; i < 3; i++) assert_true(x[i] == 1);
  trs_plan_destroy(plan);
}

TEST(dense_arguments_are_checked) {
  trs_matrix *A = dense3((double[]){2, 0, 0, 1, 4, 0, 1, 1, 8});
  trs_plan *plan;
  double x[12] = {0}, b[12] = {0};
  assert_success(trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, NULL));
  assert_failure(TRS_ERROR_ARGUMENT, "ldx is 2", trs_solve(plan, x, 2, b, 3, 1, TRS_COL_MAJOR));
  assert_failure(TRS_ERROR_ARGUMENT, "ldb is 1", trs_solve(plan, x, 2, b, 1, 2, TRS_ROW_MAJOR));
  assert_failure(TRS_ERROR_ARGUMENT, "nrhs is -1", trs_solve(plan, x, 3, b, 3, -1, TRS_COL_MAJOR));
  assert_failure(TRS_ERROR_ARGUMENT, "x is NULL", trs_solve(plan, NULL, 3, b, 3, 1, TRS_COL_MAJOR));
  assert_failure(TRS_ERROR_ARGUMENT, "overlap", trs_solve(plan, b + 1, 3, b, 3, 2, TRS_COL_MAJOR));
  assert_failure(TRS_ERROR_ARGUMENT, "overlap", trs_solve(plan, b, 4, b, 3, 2, TRS_COL_MAJOR));
  assert_failure(TRS_ERROR_ARGUMENT, "layout", trs_solve(plan, x, 3, b, 3, 1, (trs_layout)2));
  assert_failure(TRS_ERROR_ARGUMENT, "plan is NULL", trs_solve(NULL, x, 3, b, 3, 1, TRS_COL_MAJOR));
  assert_success(trs_solve(plan, x, 3, b, 3, 0, TRS_COL_MAJOR));
  assert_success(trs_solve(plan, NULL, 3, NULL, 4, 0, TRS_COL_MAJOR));
  trs_plan_destroy(plan);
  trs_options options = {.struct_size = sizeof(trs_options), .method = "magic"};
  assert_failure(TRS_ERROR_ARGUMENT, "no method \"magic\": there are auto, serial, panels",
                 trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options));
  static const char *const typos[] = {"engine?:", "puls", "syncfre-csc", "seral", "colunms", "aut"};
  for (size_t k = 0; k < COUNT(typos); k++) { /* the list has what is suggested */
    char near[64];
    options.method = typos[k];
    assert_failure(TRS_ERROR_ARGUMENT, ", did you mean ",
                   trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options));
    const char *message = trs_last_error()->message;
    assert_int_equal(sscanf(strstr(message, "mean "), "mean %63[^?]", near), 1);
    if (!strstr(strstr(message, "there are"), near)) fail_msg("not in the list: %s", message);
  }
  options.method = "panel:x";
  assert_failure(TRS_ERROR_ARGUMENT, "no method \"panel\", did you mean panels?: there are auto",
                 trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options));
  trs_matrix_destroy(A);
}

TEST(unknown_backends_are_told_the_known_ones) {
  static const struct {
    const char *given, *told;
  } of[] = {{"gpu", "no backend \"gpu\", did you mean " TRS_GPU_BACKEND "?: there are auto"},
            {"CPU", "no backend \"CPU\", did you mean threads?: there are"},
            {"thread:2", "no backend \"thread:2\", did you mean threads?: there are"},
            {"xyz", "no backend \"xyz\": there are auto, serial (one thread of the CPU), threads"},
            {"serial:2", "no backend \"serial:2\": there are"}};
  for (size_t k = 0; k < COUNT(of); k++)
    assert_failure(TRS_ERROR_ARGUMENT, of[k].told,
                   trs_context_create(&(trs_context *){0}, of[k].given));
}

TEST(contexts_have_names) {
  static const char *const wrong[] = {"gpu",     "threads:0", "threads:x", "serial:2",
                                      "",        "threads:",  "cuda:",     "cuda:x",
                                      "cuda:-1", "cuda:5000", "cudas"};
  trs_context *own;
  for (size_t k = 0; k < COUNT(wrong); k++)
    assert_failure(TRS_ERROR_ARGUMENT, "", trs_context_create(&own, wrong[k]));
  assert_success(trs_context_create(&own, "threads:5"));
  assert_int_equal(trs_context_threads(own), 5);
  int rank = -1, number = -1;
  assert_int_equal(trs_context_get_kind(own, &number), TRS_KIND_THREADS);
  assert_int_equal(number, 5);
  assert_int_equal(trs_context_processes(own, &rank), 1);
  assert_int_equal(rank, 0);
  assert_true(trs_context_gpu_memory(own) == 0);
  assert_int_equal(trs_context_gpu(own, 0), -1);
  assert_int_equal(trs_context_gpu(own, 1), -1);
  trs_context_destroy(own);
  assert_success(trs_context_create(&own, "serial"));
  assert_int_equal(trs_context_get_kind(own, &number), TRS_KIND_THREADS);
  assert_int_equal(number, 1);
  trs_context_destroy(own);
  assert_success(trs_context_create(&own, NULL));
  assert_int_equal(trs_context_get_kind(own, NULL), TRS_KIND_AUTO);
  trs_context_destroy(own);
}

TEST(the_library_tells_what_it_has) {
  char version[32];
  snprintf(version, sizeof version, "%d.%d.%d", TRIREME_VERSION_MAJOR, TRIREME_VERSION_MINOR,
           TRIREME_VERSION_PATCH);
  assert_int_equal(strncmp(trs_version(), version, strlen(version)), 0);
  assert_non_null(strstr(trs_features(), TRS_HAVE_ZLIB ? "zlib     yes" : "zlib     no "));
  assert_non_null(strstr(trs_features(), TRS_HAVE_CUDA ? "CUDA     yes" : "CUDA     no "));
  assert_int_equal(strncmp(trs_method_list(), "serial ", 7), 0);
  assert_non_null(strstr(trs_method_list(), "\nthreads "));
  assert_non_null(strstr(trs_method_list(), "\nzerocopy-block "));
  assert_int_equal(!strstr(trs_method_list(), "[not in this build"),
                   TRS_HAVE_CUDA && TRS_HAVE_PAPERS);
}

TEST(looking_for_a_gpu_is_no_failure) {
  trs_context *context;
  assert_success(trs_context_create(&context, "auto"));
  assert_failure(TRS_ERROR_ARGUMENT, "no backend", trs_context_create(&(trs_context *){0}, "gpu"));
  trs_context_find_device(context);
  assert_int_equal(trs_last_error()->status, TRS_ERROR_ARGUMENT);
  assert_non_null(strstr(trs_last_error()->message, "no backend"));
  trs_context_destroy(context);
}

static void *find_device(void *context) {
  trs_context_find_device(context);
  return NULL;
}

/* For ThreadSanitizer. */
TEST(one_thread_looks_for_a_gpu_while_another_analyses) {
  trs_matrix *A = dense3((double[]){2, 0, 0, 1, 4, 0, 1, 1, 8});
  trs_context *context;
  trs_plan *plan;
  pthread_t thread;
  assert_success(trs_context_create(&context, "auto"));
  assert_int_equal(pthread_create(&thread, NULL, find_device, context), 0);
  for (int k = 0; k < 100; k++) {
    assert_success(trs_analyze(&plan, context, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, NULL));
    trs_plan_destroy(plan);
  }
  pthread_join(thread, NULL);
  trs_context_destroy(context);
  trs_matrix_destroy(A);
}

TEST(a_gpu_is_asked_for_in_vain) {
  trs_context *own;
  if (trs_context_create(&own, TRS_GPU_BACKEND) == TRS_SUCCESS) {
    trs_context_destroy(own);
    skip_test("there is a GPU");
  }
  static const char *const where[] = {TRS_GPU_BACKEND, TRS_GPU_BACKEND ":0", TRS_GPU_BACKEND ":1"};
  for (int k = 0; k < 3; k++) {
    assert_failure(TRS_ERROR_UNSUPPORTED, TRS_GPU_RUNTIME, trs_context_create(&own, where[k]));
    assert_null(own);
  }
  assert_string_equal(trs_device_list(), "");
  trs_matrix *A;
  const int64_t ptr[] = {0};
  assert_success(trs_context_create(&own, "auto"));
  assert_failure(
      TRS_ERROR_UNSUPPORTED, TRS_GPU_RUNTIME,
      trs_matrix_create_device(&A, own, TRS_CSR, TRS_DOUBLE, 0, 0, 0, TRS_PTR64, ptr, NULL, NULL));
  assert_null(A);
  trs_context_destroy(own);
}

TEST(a_context_of_the_cpu_has_no_gpu_methods) {
  static const char *const methods[] = {"engine",           "levelset",
                                        "syncfree-csc",     "syncfree-csc:warps=8",
                                        "syncfree-csc-rhs", "supernodal"};
  trs_matrix *A = dense3((double[]){2, 0, 0, 1, 4, 0, 1, 1, 8}), *none;
  trs_plan *plan;
  for (size_t m = 0; m < COUNT(methods); m++) {
    trs_options options = {.struct_size = sizeof(trs_options), .method = methods[m]};
    char name[32];
    snprintf(name, sizeof name, "method %.*s ", (int)strcspn(methods[m], ":"), methods[m]);
    assert_failure(TRS_ERROR_UNSUPPORTED, name,
                   trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options));
    assert_null(plan);
  }
  const int64_t ptr[] = {0};
  assert_failure(TRS_ERROR_UNSUPPORTED, "",
                 trs_matrix_create_device(&none, ctx, TRS_CSR, TRS_DOUBLE, 0, 0, 0, TRS_PTR64, ptr,
                                          NULL, NULL));
  assert_null(none);
  trs_matrix_destroy(A);
}

TEST(parameters_are_for_methods_that_have_some) {
  static const char *const methods[] = {"serial:warps=8", "threads:2"};
  trs_matrix *A = dense3((double[]){2, 0, 0, 1, 4, 0, 1, 1, 8});
  trs_plan *plan;
  for (int m = 0; m < 2; m++) {
    trs_options options = {.struct_size = sizeof(trs_options), .method = methods[m]};
    assert_failure(TRS_ERROR_ARGUMENT, "has no parameters",
                   trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options));
  }
  trs_options options = {.struct_size = sizeof(trs_options), .method = "serialx:warps=8"};
  assert_failure(TRS_ERROR_ARGUMENT, "no method \"serialx\"",
                 trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options));
  trs_matrix_destroy(A);
}

TEST(a_plan_of_the_cpu_has_nothing_to_wait_for) {
  trs_matrix *A = dense3((double[]){2, 0, 0, 1, 4, 0, 1, 1, 8});
  trs_plan *plan;
  trs_plan_info info = {.struct_size = sizeof info};
  assert_success(trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, NULL));
  assert_success(trs_plan_wait(plan));
  assert_success(trs_plan_set_stream(plan, NULL));
  assert_success(trs_plan_get_info(plan, &info));
  assert_null(info.device);
  trs_plan_destroy(plan);
  trs_matrix_destroy(A);
}

TEST(nan_and_infinity_pass_through) {
  static const char *const methods[] = {"serial", "threads"};
  for (int m = 0; m < 2; m++) {
    trs_matrix *A = dense3((double[]){1, 0, 0, NAN, 1, 0, 0, INFINITY, 1});
    trs_options options = {.struct_size = sizeof(trs_options), .method = methods[m]};
    trs_plan *plan;
    double b[] = {1, 1, 1}, x[3];
    assert_success(trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options));
    assert_success(trs_solve(plan, x, 3, b, 3, 1, TRS_COL_MAJOR));
    assert_true(x[0] == 1 && isnan(x[1]) && isnan(x[2]));
    trs_plan_destroy(plan);
    trs_matrix_destroy(A);
  }
}

TEST(the_facts_are_those_of_the_matrix) {
  trs_matrix *A = dense3((double[]){2, 0, 0, 0, 4, 0, 1, 1, 8});
  trs_plan *plan;
  trs_plan_info info = {.struct_size = sizeof info};
  int64_t *rows, levels;
  double bound;
  char text[256];
  assert_success(trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, NULL));
  assert_success(trs_plan_get_info(plan, &info));
  assert_string_equal(info.method, "serial"); /* 5 entries do not justify a team */
  assert_int_equal(info.levels, 2);
  assert_int_equal(info.min_parallelism, 1);
  assert_int_equal(info.max_parallelism, 2);
  assert_true(info.parallelism == 1.5 && info.dependency == 5.0 / 3);
  assert_int_equal(info.solve_bytes, 5 * 12 + 4 * 8 + 2 * 3 * 8);
  assert_success(trs_plan_get_levels(plan, &rows, &levels));
  assert_int_equal(levels, 2);
  assert_int_equal(rows[0], 2);
  assert_int_equal(rows[1], 1);
  trs_free(rows);
  assert_success(trs_plan_bound(plan, &bound));
  assert_true(bound > 0 && bound < 1e-3);
  assert_true(trs_plan_describe(plan, text, sizeof text) < sizeof text);
  assert_non_null(strstr(text, "forward substitution by rows"));
  trs_plan_destroy(plan);
  trs_matrix_destroy(A);
}

/* Entries from 1e-150 to 1e150 and a diagonal near zero still give small backward errors. */
TEST(graded_and_nearly_singular_systems) {
  static const char *const methods[] = {"serial", "threads"};
  triangle t = triangle_random(800, 0.02, 800, true, TRS_DOUBLE, false, 3);
  double *val = t.val, b[800], x[800];
  for (int64_t i = 0; i < 800; i++)
    for (int64_t p = t.ptr[i]; p < t.ptr[i + 1]; p++) {
      val[p] *= pow(10, (double)(i % 7 - 3) * 5);
      if (t.idx[p] == i && i % 50 == 0) val[p] *= 1e-10;
    }
  trs_random_fill(b, 800, TRS_DOUBLE, 4);
  trs_matrix *A;
  assert_success(trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, 800, 800, TRS_PTR64, t.ptr, t.idx,
                                   t.val, TRS_BORROW));
  for (int m = 0; m < 2; m++) {
    trs_options options = {.struct_size = sizeof(trs_options), .method = methods[m]};
    trs_backward_error error = {.struct_size = sizeof error};
    trs_plan *plan;
    assert_success(trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options));
    assert_success(trs_solve(plan, x, 800, b, 800, 1, TRS_COL_MAJOR));
    assert_success(trs_check(&error, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, x, 800, b, 800, 1,
                             TRS_COL_MAJOR));
    assert_true(error.componentwise <= error_limit(TRS_DOUBLE, 800));
    trs_plan_destroy(plan);
  }
  trs_matrix_destroy(A);
  triangle_free(&t);
}

/* A wide system justifies every thread for many solves, and none for one. */
TEST(the_solves_to_come_decide) {
  enum { N = 40000 };
  int64_t *ptr = malloc((N + 1) * sizeof *ptr);
  int32_t *idx = malloc(N * sizeof *idx);
  double *val = malloc(N * sizeof *val);
  for (int32_t i = 0; i <= N; i++) ptr[i] = i;
  for (int32_t i = 0; i < N; i++) idx[i] = i, val[i] = 2;
  trs_matrix *A;
  assert_success(
      trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, N, N, TRS_PTR64, ptr, idx, val, TRS_TAKE));
  for (int64_t solves = 0; solves < 2; solves++) {
    trs_options options = {.struct_size = sizeof(trs_options), .solves = solves};
    trs_plan *plan;
    trs_plan_info info = {.struct_size = sizeof info};
    assert_success(trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options));
    assert_success(trs_plan_get_info(plan, &info));
    assert_string_equal(info.method, solves ? "serial" : "threads");
    trs_plan_destroy(plan);
  }
  trs_matrix_destroy(A);
}

TEST(the_check_sees_wrong_answers) {
  trs_matrix *A = dense3((double[]){2, 0, 0, 1, 4, 0, 1, 1, 8});
  trs_backward_error error = {.struct_size = sizeof error};
  double b[] = {2, 5, 10}, x[] = {1, 1, 1}, off[] = {1, 1.5, 1}, bad[] = {1, NAN, 1};
#define CHECK(answer) \
  trs_check(&error, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, answer, 3, b, 3, 1, TRS_COL_MAJOR)
  assert_success(CHECK(x));
  assert_true(error.componentwise == 0 && error.normwise == 0);
  assert_success(CHECK(off));
  assert_true(error.componentwise > 0.1 && error.worst_row == 1);
  assert_success(CHECK(bad));
  assert_true(isinf(error.componentwise) && isinf(error.normwise));
  trs_matrix_destroy(A);
}

typedef struct request {
  const trs_matrix *A;
  const char *method;
  trs_trans trans;
} request;

static trs_status analyze_and_update(void *argument) {
  const request *r = argument;
  trs_plan *plan = NULL;
  trs_options options = {.struct_size = sizeof(trs_options), .method = r->method};
  trs_status status = trs_analyze(&plan, ctx, r->A, TRS_LOWER, r->trans, TRS_NONUNIT, &options);
  if (!status) status = trs_update(plan, r->A);
  trs_plan_destroy(plan);
  return status;
}

TEST(failing_allocations_leak_nothing) {
  static const char *const methods[] = {"serial", "threads", NULL};
  triangle t = triangle_random(300, 0.05, 300, true, TRS_DOUBLE, false, 9);
  trs_matrix *A;
  assert_success(trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, 300, 300, TRS_PTR64, t.ptr, t.idx,
                                   t.val, TRS_BORROW));
  for (int c = 0; c < 6; c++)
    assert_survives_failing_allocations(
        analyze_and_update, &(request){A, methods[c / 2], c % 2 ? TRS_TRANS : TRS_NO_TRANS});
  trs_matrix_destroy(A);
  triangle_free(&t);
}

TEST(repeated_solves_are_bit_equal) {
  triangle t = triangle_random(3000, 0.003, 3000, true, TRS_DOUBLE, false, 11);
  static double b[3000], first[3000], x[3000];
  trs_random_fill(b, 3000, TRS_DOUBLE, 4);
  trs_matrix *A;
  trs_plan *plan;
  trs_options options = {.struct_size = sizeof(trs_options), .method = "threads"};
  assert_success(trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, 3000, 3000, TRS_PTR64, t.ptr, t.idx,
                                   t.val, TRS_BORROW));
  assert_success(trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options));
  assert_success(trs_solve(plan, first, 3000, b, 3000, 1, TRS_COL_MAJOR));
  for (int repeat = 0; repeat < 200; repeat++) {
    assert_success(trs_solve(plan, x, 3000, b, 3000, 1, TRS_COL_MAJOR));
    assert_memory_equal(x, first, sizeof x);
  }
  trs_plan_destroy(plan);
  trs_matrix_destroy(A);
  triangle_free(&t);
}

const test_program program = {.begin = start, .end = stop};
