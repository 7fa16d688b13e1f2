/* x20.c - X20's methods on the available GPUs: parameters, shapes with many hops between members,
 * updates, arrays in device memory, many right-hand sides, and a stall that all members report.
 * api/conformance.c covers types, formats and layouts. */
#include <stdio.h>
#include <stdlib.h>

#include "backend/context.h"
#include "X20/multi.h"
#include "support.h"
#include "test.h"

static const char *const groups[] = {
    "cuda:0-0", "cuda:0,0", "cuda:0,0,0,0,0,0,0", "cuda:0-1", "cuda:1,0", "cuda:0-3", "cuda:0-7"};
static const char *const methods[] = {
    "zerocopy",          "zerocopy:tasks=1",      "zerocopy:tasks=32", "zerocopy:total=1",
    "zerocopy:total=32", "zerocopy-block",        "unified",           "unified:tasks=8",
    "get-update-put",    "get-update-put:tasks=8"};

static void solve_and_judge(trs_plan *plan, const trs_matrix *A, trs_uplo uplo, int64_t n,
                            int64_t nrhs, int64_t longest) {
  trs_backward_error error = {.struct_size = sizeof error};
  double *b = malloc((size_t)(n * nrhs + 1) * sizeof *b);
  double *x = malloc((size_t)(n * nrhs + 1) * sizeof *x);
  trs_random_fill(b, n * nrhs, TRS_DOUBLE, 5);
  for (int turn = 0; turn < 3; turn++) {
    assert_success(trs_solve(plan, x, n, b, n, nrhs, TRS_COL_MAJOR));
    assert_success(
        trs_check(&error, A, uplo, TRS_NO_TRANS, TRS_NONUNIT, x, n, b, n, nrhs, TRS_COL_MAJOR));
    assert_true(error.componentwise <= error_limit(TRS_DOUBLE, longest));
  }
  free(x);
  free(b);
}

static void run_system(trs_context *ctx, const char *method, const char *name, trs_uplo uplo,
                       int64_t nrhs) {
  trs_matrix *A;
  trs_matrix_info info = {.struct_size = sizeof info};
  trs_plan *plan;
  trs_options options = {
      .struct_size = sizeof(trs_options), .method = method, .take_triangle = true, .nrhs = nrhs};
  assert_success(trs_matrix_read(&A, name, NULL));
  trs_matrix_get_info(A, &info);
  assert_success(trs_analyze(&plan, ctx, A, uplo, TRS_NO_TRANS, TRS_NONUNIT, &options));
  trs_matrix *T;
  assert_success(trs_matrix_triangle(&T, A, uplo, 0));
  solve_and_judge(plan, T, uplo, info.nrows, nrhs, info.longest_row);
  assert_success(trs_update(plan, A));
  solve_and_judge(plan, T, uplo, info.nrows, nrhs, info.longest_row);
  trs_plan_destroy(plan);
  trs_matrix_destroy(T);
  trs_matrix_destroy(A);
}

static void systems(void **state) {
  const char *where = *state;
  trs_context *ctx;
  if (trs_context_create(&ctx, where)) {
    skip_test(trs_last_error()->message);
  }
  for (size_t k = 0; k < COUNT(methods); k++) {
    run_system(ctx, methods[k], "gen:poisson2d5:40", TRS_LOWER, 1);
    run_system(ctx, methods[k], "gen:poisson2d5:40", TRS_UPPER, 5);
    run_system(ctx, methods[k], "gen:chain:3000", TRS_LOWER, 1);
    run_system(ctx, methods[k], "gen:poisson3d7:20", TRS_LOWER, 40);
  }
  trs_context_destroy(ctx);
}

/* A limit that every wait passes: all processes and members return the same error, soon. */
TEST(a_stall_ends_all_members) {
  trs_context *ctx;
  trs_matrix *A;
  trs_plan *plan;
  enum { N = 200000 };
  if (trs_context_create(&ctx, "cuda:0,0")) {
    skip_test(trs_last_error()->message);
  }
  trs_options options = {
      .struct_size = sizeof(trs_options), .method = "zerocopy-block", .take_triangle = true};
  uint64_t before = trs_multi_wait_limit;
  double *x = calloc(N, sizeof *x);
  assert_success(trs_matrix_read(&A, "gen:chain:200000", NULL));
  trs_multi_wait_limit = 1;
  assert_success(trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options));
  trs_multi_wait_limit = before;
  assert_int_equal(trs_solve(plan, x, N, x, N, 1, TRS_COL_MAJOR), TRS_ERROR_STALLED);
  assert_non_null(strstr(trs_last_error()->message, "member"));
  assert_int_equal(trs_solve(plan, x, N, x, N, 1, TRS_COL_MAJOR), TRS_ERROR_STALLED);
  trs_plan_destroy(plan);
  trs_matrix_destroy(A);
  trs_context_destroy(ctx);
  free(x);
}

static void add_cases(void) {
  for (size_t k = 0; k < COUNT(groups); k++) add_test(__LINE__, groups[k], systems, groups[k]);
}

const test_program program = {.add_cases = add_cases};
