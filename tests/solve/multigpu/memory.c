/* memory.c - `push` for lack of device memory, on a stand-in for GPUs: each allocation fails in its
 * turn.  Analyses then succeed otherwise or say so, nothing is left behind, and after a failed
 * update another one mends the plan or is refused. */
#include <math.h>

#include "analysis/shapes.h"
#include "base/random.h"
#include "device_stand_in.h"
#include "matrix/matrix.h"
#include "matrix/rhs.h"
#include "solve/multigpu/push_stand_in.h"
#include "test.h"

static const trs_options by_name = {.struct_size = sizeof(trs_options), .method = "push"};
static trs_context *context;

static void fail_from(int64_t allocation, bool lasting) {
  stand_in_fails_after = allocation;
  stand_in_fails_lastingly = lasting;
}

/* True if the failure came; none comes from now on. */
static bool has_failed(void) {
  const bool failed = stand_in_fails_after < 0;
  stand_in_fails_after = INT64_MAX;
  return failed;
}

static void solve_right(trs_plan *plan) {
  const int64_t n = plan->system.n;
  trs_rhs rhs;
  trs_backward_error error = {.struct_size = sizeof error};
  double *b = malloc((size_t)n * sizeof *b), *x = malloc((size_t)n * sizeof *x);
  trs_random_fill(b, n, TRS_DOUBLE, 3);
  assert_success(trs_rhs_make(&rhs, n, TRS_DOUBLE, x, n, b, n, 1, TRS_COL_MAJOR));
  assert_success(trs_method_push.solve(plan, &rhs));
  assert_success(trs_check(&error, plan->matrix, plan->uplo, TRS_NO_TRANS, TRS_NONUNIT, x, n, b, n,
                           1, TRS_COL_MAJOR));
  assert_true(error.componentwise < 1e-12);
  free(b), free(x);
}

static trs_plan *host_plan(const trs_matrix *T) {
  trs_context *host;
  trs_plan *plan;
  assert_success(trs_context_create(&host, "serial"));
  assert_success(trs_plan_create(&plan, host, T, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, NULL));
  trs_context_destroy(host);
  return plan;
}

/* With a plan of one GPU beside, too, which makes room. */
TEST(each_allocation_of_an_analysis_fails) {
  (void)state;
  static const char *const parameters[] = {"", "partition=bands", "partition=slabs",
                                           "substitute=2"};
  enum { PARAMETERS = sizeof parameters / sizeof parameters[0] };
  int made_room = 0;
  for (int c = 0; c < 4 * PARAMETERS; c++) {
    const bool beside = c % 2, lasting = c / 2 % 2;
    trs_matrix *A, *T;
    assert_success(trs_matrix_read(&A, c % 3 ? "gen:poisson2d5:20" : "gen:powerlaw:400", NULL));
    assert_success(trs_matrix_triangle(&T, A, TRS_LOWER, 1));
    bool failed = true;
    for (int64_t k = 0; failed; k++) {
      trs_plan plan;
      push_made = beside ? host_plan(T) : NULL;
      fail_from(k, lasting);
      const trs_status status =
          push_plan(&plan, context, T, TRS_LOWER, &by_name, parameters[c / 4]);
      failed = has_failed();
      if (status) assert_int_equal(status, TRS_ERROR_MEMORY);
      if (!status) solve_right(&plan);
      if (lasting) assert_int_equal(status != TRS_SUCCESS, failed);
      made_room += beside && failed && !push_made && !status;
      trs_plan_destroy(push_made);
      trs_method_push.free(&plan);
      assert_int_equal(stand_in_held(), 0);
    }
    trs_matrix_destroy(T);
    trs_matrix_destroy(A);
  }
  push_made = NULL;
  assert_true(made_room > 0);
}

TEST(a_plan_whose_update_failed_is_mended_or_refuses_calls) {
  (void)state;
  int refused = 0;
  for (int c = 0; c < 8; c++) {
    static const char *const parameters[] = {"", "partition=bands", "partition=slabs",
                                             "substitute=2"};
    bool failed = true;
    for (int64_t k = 0; failed; k++) {
      trs_system S = shape_system(SHAPE_SUPERNODES, 400, TRS_DOUBLE, true, true);
      trs_matrix *T;
      trs_plan plan;
      assert_success(trs_matrix_create(&T, TRS_CSR, TRS_DOUBLE, S.n, S.n, TRS_PTR64, S.ptr, S.idx,
                                       S.val, TRS_BORROW));
      assert_success(push_plan(&plan, context, T, TRS_LOWER, &by_name, parameters[c / 2]));
      shape_weaken(&S); /* blocks that lose digits: rows are dealt again */
      fail_from(k, c % 2);
      const trs_status status = trs_method_push.update(&plan);
      failed = has_failed();
      if (!status) solve_right(&plan);
      if (status) {
        assert_int_equal(status, TRS_ERROR_MEMORY);
        const trs_status again = trs_method_push.update(&plan);
        if (again) assert_int_equal(again, TRS_ERROR_STALLED);
        if (again) assert_int_equal(trs_method_push.wait(&plan), TRS_ERROR_STALLED);
        if (!again) solve_right(&plan);
        refused += again != TRS_SUCCESS;
      }
      trs_method_push.free(&plan);
      trs_matrix_destroy(T);
      shape_free(&S);
      assert_int_equal(stand_in_held(), 0);
    }
  }
  assert_true(refused > 0);
}

static trs_status run_out(void *user, void *val, int64_t count, const int32_t *vector) {
  (void)val, (void)count, (void)vector;
  ++*(int *)user;
  return TRS_ERROR_MEMORY;
}

TEST(deferred_values_that_fail_are_asked_for_once) {
  (void)state;
  enum { ROWS = 90 };
  int64_t ptr[ROWS + 1];
  int32_t idx[ROWS];
  int calls = 0;
  trs_matrix *D;
  trs_plan plan;
  for (int i = 0; i <= ROWS; i++) ptr[i] = i;
  for (int i = 0; i < ROWS; i++) idx[i] = i;
  assert_success(trs_matrix_create_deferred(&D, TRS_CSR, TRS_DOUBLE, ROWS, ROWS, TRS_PTR64, ptr,
                                            idx, TRS_COPY, run_out, &calls));
  assert_int_equal(push_plan(&plan, context, D, TRS_LOWER, &by_name, "partition=bands"),
                   TRS_ERROR_MEMORY);
  assert_int_equal(calls, 1);
  trs_method_push.free(&plan);
  trs_matrix_destroy(D);
}

static int begin(void **state) {
  assert_success(trs_context_create(&context, "cuda:0-2"));
  return push_stand_in_begin(state);
}

static int end(void **state) {
  (void)state;
  trs_context_destroy(context);
  return 0;
}

const test_program program = {.begin = begin, .end = end};
