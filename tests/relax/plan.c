/* plan.c - the life of relaxation as a plan: waits, streams, clones, facts, the order of
 * destruction; the calls that serve other kinds of plan, which leave a plan as it was. */
#include <pthread.h>

#include "base/memory.h"
#include "bsr.h"
#include "relax/blocks.h"
#include "sparse.h"
#include "test.h"

enum { N = 40, B = 3, ROWS = N * B };

static trs_context *three;
static blocks A;
static double b[ROWS], x[ROWS], expected[ROWS];
static const trs_sweep_options twice = {.struct_size = sizeof twice, .sweeps = 2};

#define GIVEN BSR(TRS_DOUBLE, N, N, B, TRS_ROW_MAJOR, TRS_PTR64, A.ptr, A.idx, A.val)

static trs_plan *relax(trs_context *ctx) {
  trs_plan *R;
  assert_success(trs_relax_create_bsr(&R, ctx, GIVEN, NULL));
  return R;
}

static trs_status sweep(trs_plan *R, double *to) {
  return trs_relax_sweep(R, to, ROWS, b, ROWS, 1, TRS_COL_MAJOR, &twice);
}

static void assert_sweeps(trs_plan *R) {
  memset(x, 0, sizeof x);
  assert_success(sweep(R, x));
  assert_memory_equal(x, expected, sizeof x);
}

static int start(void **state) {
  if (trs_context_create(&three, "threads:3")) return 1;
  A = blocks_random(N, B, 6, 2, 21);
  trs_random_fill(b, ROWS, TRS_DOUBLE, 4);
  trs_plan *R = relax(three);
  const trs_status status = sweep(R, expected);
  trs_plan_destroy(R);
  return status;
}

static int stop(void **state) {
  blocks_free(&A);
  trs_context_destroy(three);
  return 0;
}

TEST(it_waits_and_is_described_and_ignores_a_stream_on_the_cpu) {
  trs_plan *R = relax(three);
  trs_plan_info info = {.struct_size = sizeof info};
  trs_relax_info own = {.struct_size = sizeof own};
  char text[400];
  assert_success(trs_plan_wait(R));
  assert_success(trs_plan_set_stream(R, NULL));
  assert_success(trs_relax_get_info(R, &own));
  assert_success(trs_plan_get_info(R, &info));
  assert_string_equal(info.method, "relaxation");
  assert_true(info.n == ROWS && info.nnz == (own.nblocks + N) * B * B);
  assert_true(info.levels == own.colours && info.threads == own.threads);
  assert_true(info.min_parallelism == own.smallest_colour * B);
  assert_true(info.max_parallelism == own.largest_colour * B);
  assert_true(info.solve_bytes == own.sweep_bytes && info.plan_bytes > 0);
  assert_true(info.analysis_seconds == own.create_seconds && info.store == TRS_STORE_MIXED);
  assert_true(trs_plan_describe(R, text, sizeof text) > 0);
  assert_non_null(strstr(text, "relaxation: 40 rows of blocks of 3"));
  assert_non_null(strstr(text, "colours, by threads, one domain\nchosen: "));
  assert_sweeps(R);
  trs_plan_destroy(R);
}

/* ---- Clones ---- */

typedef struct work {
  trs_plan *R;
  trs_status status;
  double x[ROWS];
} work;

static void *sweep_often(void *argument) {
  work *w = argument;
  for (int k = 0; k < 50 && !w->status; k++) w->status = sweep(w->R, w->x);
  return NULL;
}

TEST(clones_sweep_at_the_same_time_and_take_no_values) {
  enum { CLONES = 3 };
  trs_plan *R = relax(three), *again;
  work w[CLONES] = {{0}};
  pthread_t thread[CLONES];
  trs_plan_info info = {.struct_size = sizeof info}, whole = {.struct_size = sizeof whole};
  for (int k = 0; k < CLONES; k++) assert_success(trs_plan_clone(&w[k].R, R));
  for (int k = 0; k < CLONES; k++)
    assert_int_equal(pthread_create(&thread[k], NULL, sweep_often, &w[k]), 0);
  for (int k = 0; k < CLONES; k++) pthread_join(thread[k], NULL);
  for (int k = 0; k < CLONES; k++) {
    assert_success(w[k].status);
    assert_memory_equal(w[k].x, expected, sizeof expected);
  }
  assert_success(trs_plan_get_info(R, &whole));
  assert_success(trs_plan_get_info(w[0].R, &info));
  assert_true(info.plan_bytes > 0 && info.plan_bytes < whole.plan_bytes);
  assert_failure(TRS_ERROR_ARGUMENT, "with 3 clones", trs_update_bsr(R, GIVEN));
  assert_failure(TRS_ERROR_ARGUMENT, "a clone has the values", trs_update_bsr(w[0].R, GIVEN));
  assert_success(trs_plan_clone(&again, w[0].R));
  for (int k = 0; k < CLONES; k++) trs_plan_destroy(w[k].R);
  trs_plan_destroy(again);
  assert_success(trs_update_bsr(R, GIVEN));
  assert_sweeps(R);
  trs_plan_destroy(R);
}

TEST(a_plan_its_clone_and_their_context_go_in_any_order) {
  int64_t before, after, peak;
  trs_memory_usage(&before, &peak);
  for (int order = 0; order < 6; order++) {
    trs_context *ctx;
    trs_plan *R, *clone;
    assert_success(trs_context_create(&ctx, "threads:2"));
    R = relax(ctx);
    assert_success(trs_plan_clone(&clone, R));
    for (int k = 0; k < 3; k++) {
      const int gone = (order % 2 ? order / 2 + k : order / 2 + 3 - k) % 3;
      if (gone == 0) trs_context_destroy(ctx);
      if (gone == 1) trs_plan_destroy(R), R = NULL;
      if (gone == 2) trs_plan_destroy(clone), clone = NULL;
      if (R) assert_sweeps(R);
      if (clone) assert_sweeps(clone);
    }
  }
  trs_memory_usage(&after, &peak);
  assert_int_equal(before, after);
}

TEST(a_plan_that_refuses_is_not_cloned) {
  trs_plan *R = relax(three), *clone;
  assert_failure(TRS_ERROR_ARGUMENT, "blocks is NULL", trs_update_bsr(R, NULL));
  assert_failure(TRS_ERROR_ARGUMENT, "trs_update_bsr of this plan failed",
                 trs_plan_clone(&clone, R));
  assert_null(clone);
  assert_success(trs_update_bsr(R, GIVEN));
  assert_sweeps(R);
  trs_plan_destroy(R);
}

static trs_status clone_once(void *R) {
  trs_plan *clone;
  trs_status status = trs_plan_clone(&clone, R);
  trs_plan_destroy(clone);
  return status;
}

TEST(every_allocation_of_a_clone_may_fail) {
  trs_plan *R = relax(three);
  assert_survives_failing_allocations(clone_once, R);
  assert_sweeps(R);
  trs_plan_destroy(R);
}

/* ---- Calls for other kinds of plan ---- */

TEST(calls_for_other_plans_name_the_one_that_serves_and_change_nothing) {
  trs_plan *R = relax(three);
  trs_plan_info info = {.struct_size = sizeof info};
  trs_plan_share share = {.struct_size = sizeof share};
  trs_batch_info facts = {.struct_size = sizeof facts};
  void *streams[1] = {NULL}, *xs[1] = {x};
  const void *bs[1] = {b};
  double seconds;
  int64_t *rows, levels;
  static const char solve[] = "is of relaxation: call trs_relax_sweep",
                    update[] = "is of relaxation: call trs_update or trs_update_bsr",
                    get[] = "is of relaxation: call trs_relax_get_info";
  assert_failure(TRS_ERROR_ARGUMENT, solve, trs_solve(R, x, ROWS, b, ROWS, 1, TRS_COL_MAJOR));
  assert_failure(TRS_ERROR_ARGUMENT, solve,
                 trs_batch_solve(R, x, ROWS, 0, b, ROWS, 0, 1, TRS_COL_MAJOR));
  assert_failure(TRS_ERROR_ARGUMENT, solve,
                 trs_solve_distributed(R, xs, ROWS, bs, ROWS, 1, TRS_COL_MAJOR));
  assert_failure(TRS_ERROR_ARGUMENT, solve, trs_plan_get_share(R, &share, NULL, 0, 1));
  assert_failure(TRS_ERROR_ARGUMENT, update, trs_update_factors(R, NULL));
  assert_failure(TRS_ERROR_ARGUMENT, update, trs_batch_update(R, A.val, 0));
  assert_failure(TRS_ERROR_ARGUMENT, update, trs_batch_update_factors(R, A.val, 0, A.val, 0));
  assert_failure(TRS_ERROR_ARGUMENT, get, trs_batch_get_info(R, &facts));
  assert_failure(TRS_ERROR_ARGUMENT, get, trs_plan_get_levels(R, &rows, &levels));
  assert_failure(TRS_ERROR_ARGUMENT, get, trs_plan_bound(R, &seconds));
  assert_failure(TRS_ERROR_ARGUMENT, "is of relaxation: call trs_plan_set_stream",
                 trs_plan_set_streams(R, streams));
  assert_success(trs_plan_get_info(R, &info));
  assert_sweeps(R); /* none of these was an update */
  trs_plan_destroy(R);
}

static trs_matrix *diagonal(void) {
  static const int64_t ptr[] = {0, 1, 2};
  static const int32_t idx[] = {0, 1};
  static const double val[] = {2, 4};
  trs_matrix *D;
  assert_success(
      trs_matrix_create(&D, TRS_CSR, TRS_DOUBLE, 2, 2, TRS_PTR64, ptr, idx, val, TRS_COPY));
  return D;
}

/* kind: a plan over one triangle, over ILU(0), a batch. */
static void refuses_relaxation(trs_plan *plan, int kind) {
  static const char *const solve[] = {"is of one triangle: call trs_solve",
                                      "is of factors: call trs_solve",
                                      "is of a batch: call trs_batch_solve"};
  static const char *const get[] = {"call trs_plan_get_info", "call trs_plan_get_info",
                                    "call trs_batch_get_info"};
  static const char *const update[] = {"is of one triangle: call trs_update", "factor anew",
                                       "is of a batch: call trs_batch_update"};
  trs_relax_info info = {.struct_size = sizeof info};
  const double two[] = {2, 8};
  double y[2] = {0};
  assert_failure(TRS_ERROR_ARGUMENT, solve[kind],
                 trs_relax_sweep(plan, y, 2, two, 2, 1, TRS_COL_MAJOR, NULL));
  assert_failure(TRS_ERROR_ARGUMENT, get[kind], trs_relax_get_info(plan, &info));
  assert_failure(kind == 1 ? TRS_ERROR_UNSUPPORTED : TRS_ERROR_ARGUMENT, update[kind],
                 trs_update_bsr(plan, GIVEN));
  assert_success(kind == 2 ? trs_batch_solve(plan, y, 2, 0, two, 2, 0, 1, TRS_COL_MAJOR)
                           : trs_solve(plan, y, 2, two, 2, 1, TRS_COL_MAJOR));
  assert_true(y[0] == 1 && y[1] == 2);
  trs_plan_destroy(plan);
}

TEST(other_plans_do_not_relax) {
  const trs_factor_options ilu0 = {.struct_size = sizeof ilu0, .kind = TRS_FACTOR_ILU0};
  const double val[] = {2, 4};
  trs_matrix *D = diagonal();
  trs_factors *F;
  trs_plan *plan;
  assert_success(trs_analyze(&plan, three, D, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, NULL));
  refuses_relaxation(plan, 0);
  assert_success(trs_factor(&F, D, &ilu0));
  assert_success(trs_analyze_factors(&plan, three, F, TRS_NO_TRANS, NULL));
  refuses_relaxation(plan, 1);
  assert_success(trs_batch_create(&plan, three, D, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, 1, NULL));
  assert_success(trs_batch_update(plan, val, 0));
  refuses_relaxation(plan, 2);
  trs_factors_destroy(F);
  trs_matrix_destroy(D);
}

const test_program program = {.begin = start, .end = stop};
