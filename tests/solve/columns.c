/* columns.c - the method columns of the CPU: right-hand sides distributed over threads, over both
 * methods of one thread, in both layouts; new values; when auto takes it; failures. */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "sparse.h"
#include "support.h"
#include "test.h"

enum { N = 150, MOST = 50 };

/* Full rows, which are solved as panels, or a few entries per row. */
static trs_matrix *make(bool full, trs_scalar scalar, uint64_t seed) {
  trs_matrix *T;
  triangle t = triangle_random(N, full ? 1 : 0.03, N, true, scalar, false, seed);
  assert_success(
      trs_matrix_create(&T, TRS_CSR, scalar, N, N, TRS_PTR64, t.ptr, t.idx, t.val, TRS_COPY));
  triangle_free(&t);
  return T;
}

static trs_plan *analyse(trs_context *ctx, const trs_matrix *A, const char *method, int64_t nrhs) {
  trs_plan *plan;
  trs_options options = {.struct_size = sizeof options, .method = method, .nrhs = nrhs};
  assert_success(trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options));
  return plan;
}

static void check_solve(trs_plan *plan, const trs_matrix *A, int64_t nrhs, trs_layout layout) {
  trs_matrix_info info = {.struct_size = sizeof info};
  trs_matrix_get_info(A, &info);
  const int64_t n = info.nrows, ld = layout == TRS_COL_MAJOR ? n + 3 : nrhs + 1;
  const int64_t size = (n + 3) * (MOST + 1);
  trs_backward_error error = {.struct_size = sizeof error};
  double *b = malloc((size_t)size * sizeof *b), *x = malloc((size_t)size * sizeof *x);
  trs_random_fill(b, size, TRS_DOUBLE, 7);
  assert_success(trs_solve(plan, x, ld, b, ld, nrhs, layout));
  assert_success(
      trs_check(&error, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, x, ld, b, ld, nrhs, layout));
  assert_true(error.componentwise <= error_limit(TRS_DOUBLE, n));
  free(b);
  free(x);
}

TEST(every_number_of_right_hand_sides_is_solved) {
  static const int64_t numbers[] = {1, 2, 3, 7, 8, 9, 24, MOST}, hints[] = {0, 2, 8, MOST};
  trs_context *ctx;
  assert_success(trs_context_create(&ctx, "threads:3"));
  for (size_t k = 0; k < 2 * COUNT(hints); k++) {
    trs_matrix *A = make(k % 2, TRS_DOUBLE, 1 + k), *B = make(k % 2, TRS_DOUBLE, 20 + k);
    trs_plan *plan = analyse(ctx, A, "columns", hints[k / 2]);
    for (size_t i = 0; i < COUNT(numbers); i++) {
      check_solve(plan, A, numbers[i], TRS_COL_MAJOR);
      check_solve(plan, A, numbers[i], TRS_ROW_MAJOR);
    }
    if (k % 2) { /* a full triangle has one pattern */
      assert_success(trs_update(plan, B));
      check_solve(plan, B, MOST, TRS_COL_MAJOR);
    }
    trs_plan_destroy(plan);
    trs_matrix_destroy(A);
    trs_matrix_destroy(B);
  }
  trs_context_destroy(ctx);
}

TEST(the_plan_tells_its_method) {
  char text[512];
  trs_context *ctx;
  assert_success(trs_context_create(&ctx, "threads:3"));
  for (int full = 0; full < 2; full++) {
    trs_matrix *A = make(full, TRS_DOUBLE, 1);
    trs_plan *plan = analyse(ctx, A, "columns", 24);
    (void)trs_plan_describe(plan, text, sizeof text);
    const char *words = full ? "over 3 threads, each by panels" : "over 3 threads, each by serial";
    if (!strstr(text, words)) fail_msg("\"%s\" lacks \"%s\"", text, words);
    trs_plan_destroy(plan);
    trs_matrix_destroy(A);
  }
  trs_context_destroy(ctx);
}

/* The triangle of a random matrix, large enough for several threads. */
static trs_matrix *make_large(void) {
  trs_matrix *A, *T;
  assert_success(trs_matrix_read(&A, "gen:random:20000,4", NULL));
  assert_success(trs_matrix_triangle(&T, A, TRS_LOWER, 1));
  trs_matrix_destroy(A);
  return T;
}

/* Levels of a random matrix scatter right-hand sides over memory. */
TEST(auto_takes_it_for_many_right_hand_sides) {
  trs_context *ctx;
  trs_matrix *T = make_large();
  trs_plan_info info = {.struct_size = sizeof info};
  assert_success(trs_context_create(&ctx, "threads:2"));
  for (int64_t nrhs = 1; nrhs <= 64; nrhs *= 8) {
    trs_plan *plan = analyse(ctx, T, NULL, nrhs);
    assert_success(trs_plan_get_info(plan, &info));
    assert_string_equal(info.method, nrhs == 1 ? "threads" : "columns");
    trs_plan_destroy(plan);
  }
  trs_matrix_destroy(T);
  trs_context_destroy(ctx);
}

/* Eight right-hand sides of a row-major array are one thread's part. */
TEST(row_major_calls_use_all_threads) {
  char text[512];
  trs_context *ctx;
  trs_matrix *T = make_large();
  assert_success(trs_context_create(&ctx, "threads:4"));
  trs_plan *plan = analyse(ctx, T, NULL, 8);
  (void)trs_plan_describe(plan, text, sizeof text);
  if (!strstr(text, "or by threads")) fail_msg("\"%s\" lacks \"or by threads\"", text);
  for (int round = 0; round < 2; round++) {
    for (int64_t nrhs = 1; nrhs <= 16; nrhs = 3 * nrhs - 1 + (nrhs < 2)) {
      check_solve(plan, T, nrhs, TRS_ROW_MAJOR);
      check_solve(plan, T, nrhs, TRS_COL_MAJOR);
    }
    assert_success(trs_update(plan, T));
  }
  trs_plan_destroy(plan);
  plan = analyse(ctx, T, "columns", 8); /* named, it needs no schedule */
  (void)trs_plan_describe(plan, text, sizeof text);
  assert_null(strstr(text, "or by threads"));
  trs_plan_destroy(plan);
  trs_matrix_destroy(T);
  trs_context_destroy(ctx);
}

static trs_status analyse_on_four(void *T) {
  trs_context *ctx;
  trs_plan *plan;
  trs_options options = {.struct_size = sizeof options, .nrhs = 8};
  TRS_TRY(trs_context_create(&ctx, "threads:4"));
  trs_status status = trs_analyze(&plan, ctx, T, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options);
  if (!status) trs_plan_destroy(plan);
  trs_context_destroy(ctx);
  return status;
}

static trs_status analyse_on_two(void *A) {
  trs_context *ctx;
  trs_plan *plan;
  trs_options options = {.struct_size = sizeof options, .method = "columns", .nrhs = 16};
  TRS_TRY(trs_context_create(&ctx, "threads:2"));
  trs_status status = trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options);
  if (!status) trs_plan_destroy(plan);
  trs_context_destroy(ctx);
  return status;
}

TEST(failing_allocations_are_reported) {
  for (int full = 0; full < 2; full++) {
    trs_matrix *A = make(full, TRS_DOUBLE, 1);
    assert_survives_failing_allocations(analyse_on_two, A);
    trs_matrix_destroy(A);
  }
  trs_matrix *T = make_large();
  assert_survives_failing_allocations(analyse_on_four, T);
  trs_matrix_destroy(T);
}
