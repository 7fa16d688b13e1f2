/* panels.c - the method panels: when auto takes it, what it refuses, new values, failures. */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "sparse.h"
#include "support.h"
#include "test.h"

enum { N = 300 };

static trs_matrix *dense_triangle(trs_scalar scalar, uint64_t seed) {
  trs_matrix *T;
  triangle t = triangle_random(N, 1, N, true, scalar, false, seed);
  assert_success(
      trs_matrix_create(&T, TRS_CSR, scalar, N, N, TRS_PTR64, t.ptr, t.idx, t.val, TRS_COPY));
  triangle_free(&t);
  return T;
}

static void check_method(const char *where, trs_matrix *A, const char *method, const char *reason) {
  trs_context *ctx;
  trs_plan *plan;
  trs_options options = {.struct_size = sizeof options, .take_triangle = 1};
  trs_plan_info info = {.struct_size = sizeof info};
  assert_success(trs_context_create(&ctx, where));
  assert_success(trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options));
  assert_success(trs_plan_get_info(plan, &info));
  assert_string_equal(info.method, method);
  if (!strstr(info.reason, reason)) fail_msg("the reason is: %s", info.reason);
  trs_plan_destroy(plan);
  trs_context_destroy(ctx);
  trs_matrix_destroy(A);
}

static trs_matrix *generated(const char *name) {
  trs_matrix *A;
  assert_success(trs_matrix_read(&A, name, NULL));
  return A;
}

TEST(auto_takes_panels_where_they_are_wide) {
  (void)state;
  check_method("serial", dense_triangle(TRS_DOUBLE, 1), "panels", "as fast as serial");
  check_method("serial", generated("gen:poisson2d5:100"), "serial",
               "adjacent rows seldom have the same pattern");
  check_method("serial", generated("gen:elasticity3d:8,8,8"), "serial", "not panels");
}

/* Nodes of eight unknowns, each in need of the two nodes before it, in equal chains. */
static trs_matrix *chains(int64_t count) {
  enum { NODES = 500, UNKNOWNS = 8, BACK = 2, LONGEST = UNKNOWNS * (BACK + 1) };
  const int64_t n = NODES * UNKNOWNS, length = NODES / count;
  int64_t *ptr = malloc((size_t)(n + 1) * sizeof *ptr), nnz = 0;
  int32_t *idx = malloc((size_t)(n * LONGEST) * sizeof *idx);
  double *val = malloc((size_t)(n * LONGEST) * sizeof *val);
  trs_matrix *T;
  for (int64_t i = 0; i < n; i++) {
    const int64_t node = i / UNKNOWNS, in_chain = node % length;
    ptr[i] = nnz;
    for (int64_t j = (node - (in_chain < BACK ? in_chain : BACK)) * UNKNOWNS; j <= i; j++) {
      idx[nnz] = (int32_t)j;
      val[nnz++] = j == i ? 1 : 0.01;
    }
  }
  ptr[n] = nnz;
  assert_success(
      trs_matrix_create(&T, TRS_CSR, TRS_DOUBLE, n, n, TRS_PTR64, ptr, idx, val, TRS_COPY));
  free(ptr);
  free(idx);
  free(val);
  return T;
}

/* The levels of two chains are as narrow as those of one; supersteps divide the chains. */
TEST(panels_give_way_to_supersteps_and_come_back) {
  (void)state;
  check_method("threads:2", chains(2), "threads", "not panels");
  check_method("threads:2", chains(1), "panels", "not threads");
}

/* Levels are so narrow that waits would take longer than the solve. */
TEST(auto_leaves_threads_whose_schedule_is_slow) {
  (void)state;
  check_method("threads:16", generated("gen:poisson2d9:120"), "serial", "not threads");
}

/* By all threads, by half of them and by one: a pace tries all. */
TEST(subtrees_by_fewer_members_have_the_same_bits) {
  (void)state;
  enum { SOLVES = 400 };
  for (int c = 0; c < 4; c++) {
    trs_context *ctx;
    trs_plan *plan;
    trs_options options = {.struct_size = sizeof options, .method = "subtrees"};
    trs_matrix *T = chains(c % 2 ? 25 : 5);
    trs_matrix_info info = {.struct_size = sizeof info};
    char text[512];
    assert_success(trs_matrix_get_info(T, &info));
    const int64_t n = info.nrows;
    double *b = malloc((size_t)n * sizeof *b), *x = malloc((size_t)n * sizeof *x);
    double *first = malloc((size_t)n * sizeof *first);
    trs_random_fill(b, n, TRS_DOUBLE, 3);
    assert_success(trs_context_create(&ctx, "threads:5"));
    assert_success(trs_analyze(&plan, ctx, T, TRS_LOWER, c < 2 ? TRS_NO_TRANS : TRS_TRANS,
                               TRS_NONUNIT, &options));
    assert_success(trs_solve(plan, first, n, b, n, 1, TRS_COL_MAJOR));
    for (int k = 0; k < SOLVES; k++) {
      assert_success(trs_solve(plan, x, n, b, n, 1, TRS_COL_MAJOR));
      assert_memory_equal(x, first, (size_t)n * sizeof *x);
    }
    (void)trs_plan_describe(plan, text, sizeof text);
    assert_non_null(strstr(text, "on fewer threads"));
    free(b), free(x), free(first);
    trs_plan_destroy(plan);
    trs_context_destroy(ctx);
    trs_matrix_destroy(T);
  }
}

TEST(complex_systems_are_refused) {
  (void)state;
  trs_context *ctx;
  trs_plan *plan;
  trs_options options = {.struct_size = sizeof options, .method = "panels"};
  trs_matrix *A = dense_triangle(TRS_DCOMPLEX, 1);
  assert_success(trs_context_create(&ctx, "serial"));
  assert_failure(TRS_ERROR_UNSUPPORTED, "real",
                 trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options));
  trs_context_destroy(ctx);
  trs_matrix_destroy(A);
}

TEST(new_values_are_taken) {
  (void)state;
  trs_context *ctx;
  trs_plan *plan;
  trs_options options = {.struct_size = sizeof options, .method = "panels"};
  trs_backward_error error = {.struct_size = sizeof error};
  trs_matrix *A = dense_triangle(TRS_FLOAT, 1), *B = dense_triangle(TRS_FLOAT, 2);
  float b[N], x[N];
  trs_random_fill(b, N, TRS_FLOAT, 3);
  assert_success(trs_context_create(&ctx, "serial"));
  assert_success(trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options));
  assert_success(trs_update(plan, B));
  assert_success(trs_solve(plan, x, N, b, N, 1, TRS_COL_MAJOR));
  assert_success(
      trs_check(&error, B, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, x, N, b, N, 1, TRS_COL_MAJOR));
  assert_true(error.componentwise <= error_limit(TRS_FLOAT, N));
  trs_plan_destroy(plan);
  trs_context_destroy(ctx);
  trs_matrix_destroy(A);
  trs_matrix_destroy(B);
}

static trs_status analyse_by(const char *method, const trs_matrix *A) {
  trs_context *ctx;
  trs_plan *plan;
  trs_options options = {.struct_size = sizeof options, .method = method, .nrhs = 16};
  TRS_TRY(trs_context_create(&ctx, "threads:2"));
  trs_status status = trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options);
  if (!status) trs_plan_destroy(plan);
  trs_context_destroy(ctx);
  return status;
}

static trs_status analyse_panels(void *A) { return analyse_by("panels", A); }
static trs_status analyse_threads(void *A) { return analyse_by("threads", A); }

TEST(failing_allocations_are_reported) {
  (void)state;
  trs_matrix *A = dense_triangle(TRS_DOUBLE, 1);
  assert_survives_failing_allocations(analyse_panels, A);
  assert_survives_failing_allocations(analyse_threads, A);
  trs_matrix_destroy(A);
}
