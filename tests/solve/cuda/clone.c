/* clone.c - clones on a GPU: solves of a plan and its clones in streams of their own, at once; the
 * memory that they hold; lifetimes of plans and streams in any order; what has no clones. */
#include "gpu.h"
#include "sparse.h"
#include "test.h"

enum { N = 3000, CLONES = 3, ROUNDS = 20 };

static both_sides make_system(trs_scalar scalar) {
  return both_sides_of(triangle_random(N, 0.003, N, true, scalar, false, 5), TRS_CSR, scalar);
}

static trs_plan *analyze(const both_sides *s, const trs_matrix *A, const char *method,
                         int64_t nrhs) {
  trs_plan *plan;
  const trs_options options = {.struct_size = sizeof options, .method = method, .nrhs = nrhs};
  assert_success(trs_analyze(&plan, gpu_context, A, s->uplo, TRS_NO_TRANS, TRS_NONUNIT, &options));
  return plan;
}

/* Launches solves by the plan and by clones in streams of their own, without a wait in between, and
 * compares bits.  The plan goes first, and its stream. */
static void check_streams(trs_plan *plan, int64_t n, trs_scalar scalar, int64_t nrhs) {
  const size_t bytes = (size_t)(n * nrhs) * scalar_bytes(scalar);
  char *b = malloc(bytes), *wanted = malloc(bytes), *x = malloc(bytes);
  void *x_there[CLONES + 1], *stream[CLONES + 1];
  trs_plan *all[CLONES + 1] = {plan};
  trs_random_fill(b, n * nrhs, scalar, 6);
  void *b_there = gpu_upload(b, bytes);
  assert_success(trs_solve(plan, wanted, n, b, n, nrhs, TRS_COL_MAJOR));
  for (int k = 0; k <= CLONES; k++) {
    if (k) assert_success(trs_plan_clone(&all[k], all[k - 1]));
    stream[k] = gpu_stream();
    x_there[k] = gpu_space(bytes);
    assert_success(trs_plan_set_stream(all[k], stream[k]));
  }
  for (int r = 0; r < ROUNDS; r++)
    for (int k = 0; k <= CLONES; k++)
      assert_success(trs_solve(all[k], x_there[k], n, b_there, n, nrhs, TRS_COL_MAJOR));
  trs_plan_destroy(plan);
  gpu_stream_free(stream[0]);
  for (int k = 1; k <= CLONES; k++) {
    assert_success(trs_plan_wait(all[k]));
    gpu_fetch(x, x_there[k], bytes);
    assert_memory_equal(x, wanted, bytes);
    assert_success(
        trs_solve(all[k], x, n, b, n, nrhs, TRS_COL_MAJOR)); /* through a stage of its own */
    assert_memory_equal(x, wanted, bytes);
  }
  for (int k = 1; k <= CLONES; k++) {
    trs_plan_destroy(all[k]);
    gpu_stream_free(stream[k]);
  }
  for (int k = 0; k <= CLONES; k++) gpu_free(x_there[k]);
  gpu_free(b_there);
  free(b);
  free(wanted);
  free(x);
}

TEST(plans_and_clones_solve_at_once) {
  static const char *const methods[] = {NULL, "engine:substitute=0", "engine:substitute=8", "pull"};
  static const int64_t widths[] = {1, 3, 40};
  const int64_t before = gpu_held();
  for (int c = 0; c < 4; c++) {
    both_sides s = make_system((trs_scalar)(TRS_FLOAT + c));
    for (size_t m = 0; m < COUNT(methods); m++)
      for (size_t w = 0; w < COUNT(widths); w++)
        check_streams(analyze(&s, c % 2 ? s.there : s.here, methods[m], widths[w]), N, s.scalar,
                      widths[w]);
    both_sides_free(&s);
  }
  assert_int_equal(gpu_held(), before);
}

static trs_plan *analyze_factors(trs_factor_kind kind, trs_order order, int64_t nrhs) {
  trs_plan *plan;
  trs_factors *F;
  trs_matrix *A = sparse_grid(12, 11, 10, 0.2, TRS_DOUBLE);
  const trs_factor_options how = {.struct_size = sizeof how, .kind = kind, .order = order};
  const trs_options options = {.struct_size = sizeof options, .nrhs = nrhs};
  assert_success(trs_factor(&F, A, &how));
  assert_success(trs_analyze_factors(&plan, gpu_context, F, TRS_NO_TRANS, &options));
  trs_factors_destroy(F);
  trs_matrix_destroy(A);
  return plan;
}

TEST(both_sweeps_of_factors_solve_at_once) {
  const int64_t before = gpu_held();
  check_streams(analyze_factors(TRS_FACTOR_ILU0, TRS_ORDER_NATURAL, 1), 1320, TRS_DOUBLE, 1);
  check_streams(analyze_factors(TRS_FACTOR_ILU0, TRS_ORDER_RCM, 16), 1320, TRS_DOUBLE, 16);
  check_streams(analyze_factors(TRS_FACTOR_LU, TRS_ORDER_DEFAULT, 1), 1320, TRS_DOUBLE, 1);
  assert_int_equal(gpu_held(), before);
}

TEST(a_clone_holds_its_workspace_alone) {
  both_sides s = make_system(TRS_DOUBLE);
  trs_plan *plan = analyze(&s, s.here, "engine:substitute=0", 1), *clone;
  trs_plan_info info = {.struct_size = sizeof info}, of_clone = info;
  const int64_t before = gpu_held();
  assert_success(trs_plan_get_info(plan, &info));
  assert_success(trs_plan_clone(&clone, plan));
  assert_success(trs_plan_get_info(clone, &of_clone));
  assert_true(of_clone.plan_bytes * 2 < info.plan_bytes); /* work, not 27,000 entries and more */
  assert_true(gpu_held() - before <= of_clone.plan_bytes + 4096);
  trs_plan_destroy(clone);
  assert_int_equal(gpu_held(), before);
  trs_plan_destroy(plan);
  both_sides_free(&s);
}

TEST(updates_and_clones_exclude_each_other) {
  both_sides s = make_system(TRS_DOUBLE);
  trs_plan *plan = analyze(&s, s.there, NULL, 1), *clone;
  assert_success(trs_plan_clone(&clone, plan));
  assert_failure(TRS_ERROR_ARGUMENT, "destroy the clones", trs_update(plan, s.there));
  assert_failure(TRS_ERROR_ARGUMENT, "destroy the clones", trs_update(clone, s.there));
  trs_plan_destroy(clone);
  assert_success(trs_update(plan, s.there));
  trs_plan_destroy(plan);
  both_sides_free(&s);
}

TEST(what_has_no_clones_says_so) {
  both_sides s = make_system(TRS_DOUBLE);
  trs_plan *plan, *clone;
  const trs_options launches = {.struct_size = sizeof launches, .launch_updates = 1};
  assert_success(
      trs_analyze(&plan, gpu_context, s.there, s.uplo, TRS_NO_TRANS, TRS_NONUNIT, &launches));
  assert_failure(TRS_ERROR_UNSUPPORTED, "with launch_updates", trs_plan_clone(&clone, plan));
  trs_plan_destroy(plan);
  plan = analyze(&s, s.here, "blocks:size=1", 1);
  assert_failure(TRS_ERROR_UNSUPPORTED, "its method has no clones", trs_plan_clone(&clone, plan));
  trs_plan_destroy(plan);
  plan = analyze(&s, s.there, NULL, 1);
  void *stream = gpu_stream();
  assert_success(trs_plan_set_stream(plan, stream));
  gpu_capture_begin(stream);
  assert_failure(TRS_ERROR_UNSUPPORTED, "clone outside the capture", trs_plan_clone(&clone, plan));
  gpu_graph_free(gpu_capture_end(stream));
  assert_success(trs_plan_clone(&clone, plan));
  trs_plan_destroy(clone);
  trs_plan_destroy(plan);
  gpu_stream_free(stream);
  both_sides_free(&s);
}

static trs_status clone_once(void *plan) {
  trs_plan *clone;
  TRS_TRY(trs_plan_clone(&clone, plan));
  trs_plan_destroy(clone);
  return TRS_SUCCESS;
}

TEST(failures_leak_nothing) {
  both_sides s = make_system(TRS_DOUBLE);
  trs_plan *plan = analyze(&s, s.there, NULL, 40);
  assert_survives_failing_allocations(clone_once, plan);
  trs_plan_destroy(plan);
  both_sides_free(&s);
}

const test_program program = {.lacks = gpu_lacks, .end = gpu_stop};
