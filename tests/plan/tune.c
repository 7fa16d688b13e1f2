/* tune.c - auto's choice by trial on a CPU: which methods are timed, answers, failures. */
#include "plan/timing.h"

#include <stdlib.h>
#include <string.h>

#include "sparse.h"
#include "support.h"
#include "test.h"

enum { N = 400, MOST = 9 };

static trs_matrix *make(double density) {
  trs_matrix *A;
  triangle t = triangle_random(N, density, N, true, TRS_DOUBLE, false, 3);
  assert_success(
      trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, N, N, TRS_PTR64, t.ptr, t.idx, t.val, TRS_COPY));
  triangle_free(&t);
  return A;
}

static trs_status analyse(trs_plan **plan, const char *where, const trs_matrix *A,
                          const char *method, int64_t nrhs) {
  trs_context *ctx;
  trs_options options = {.struct_size = sizeof options, .method = method, .nrhs = nrhs, .tune = 1};
  TRS_TRY(trs_context_create(&ctx, where));
  trs_status status = trs_analyze(plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options);
  trs_context_destroy(ctx);
  return status;
}

/* The plan solves, and its reason names these methods. */
static void check_plan(const char *where, const trs_matrix *A, const char *method, int64_t nrhs,
                       const char *const *words, size_t count) {
  trs_plan *plan;
  trs_plan_info info = {.struct_size = sizeof info};
  trs_backward_error error = {.struct_size = sizeof error};
  double b[N * MOST], x[N * MOST];
  assert_success(analyse(&plan, where, A, method, nrhs));
  assert_success(trs_plan_get_info(plan, &info));
  for (size_t k = 0; k < count; k++)
    if (!strstr(info.reason, words[k])) fail_msg("no %s in: %s", words[k], info.reason);
  trs_random_fill(b, N * MOST, TRS_DOUBLE, 5);
  assert_success(trs_solve(plan, x, N, b, N, MOST, TRS_COL_MAJOR));
  assert_success(
      trs_check(&error, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, x, N, b, N, MOST, TRS_COL_MAJOR));
  assert_true(error.componentwise <= error_limit(TRS_DOUBLE, N));
  assert_success(trs_update(plan, A));
  trs_plan_destroy(plan);
}

TEST(methods_are_timed_and_the_fastest_solves) {
  static const char *const all[] = {"the fastest of a trial: ", "serial ", "panels ", "threads "};
  static const char *const many[] = {"columns ", "serial "};
  static const char *const named[] = {"asked for by name"};
  trs_matrix *A = make(0.2), *full = make(1);
  check_plan("threads:2", full, NULL, 1, all, COUNT(all));
  check_plan("threads:3", full, "auto", MOST, many, COUNT(many));
  check_plan("serial", A, NULL, 1, all, 2);
  check_plan("threads:2", A, "threads", 1, named, 1);
  trs_matrix_destroy(A);
  trs_matrix_destroy(full);
}

static trs_status analyse_two(void *A) {
  trs_plan *plan;
  TRS_TRY(analyse(&plan, "threads:2", A, NULL, 4));
  trs_plan_destroy(plan);
  return TRS_SUCCESS;
}

/* Without memory for a trial another method stays, so an analysis may succeed. */
TEST(failing_allocations_leak_nothing) {
  trs_matrix *A = make(1);
  assert_survives_failing_allocations(analyse_two, A);
  trs_matrix_destroy(A);
}

TEST(an_empty_system_is_tuned) {
  const int64_t ptr[1] = {0};
  trs_matrix *A;
  trs_plan *plan;
  assert_success(
      trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, 0, 0, TRS_PTR64, ptr, NULL, NULL, TRS_COPY));
  assert_success(analyse(&plan, "threads:2", A, NULL, 1));
  assert_success(trs_solve(plan, NULL, 1, NULL, 1, 1, TRS_COL_MAJOR));
  trs_plan_destroy(plan);
  trs_matrix_destroy(A);
}
