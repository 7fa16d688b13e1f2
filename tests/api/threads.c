/* threads.c - one process, several threads: matrices and contexts that they share, a plan that two
 * of them use by mistake, and threads that are cancelled inside a call. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/random.h"
#include "plan/plan.h"
#include "relax/relaxation.h"
#include "solve/threads/schedule.h"
#include "support.h"
#include "test.h"

enum { N = 4000, NRHS = 3, CALLERS = 4, PATIENCE = 300 /* seconds, on a busy machine */ };
/* Each thread takes every method once or twice. */
enum { PLANS = SANITIZED ? 6 : 12, SOLVES = SANITIZED ? 1 : 3, TRIES = SANITIZED ? 25 : 100 };

static method_list listed;
static const char *methods[MOST_METHODS + 1]; /* the last is NULL */
static size_t nmethods;

static trs_context *ctx;
static trs_matrix *A;
static triangle arrays;
static double b[N * NRHS], wanted[MOST_METHODS + 1][N * NRHS];

static trs_status analyze(trs_plan **plan, const char *method) {
  trs_options options = {.struct_size = sizeof options, .method = method, .nrhs = NRHS};
  return trs_analyze(plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options);
}

static trs_status solve(trs_plan *plan, double *x) {
  return trs_solve(plan, x, N, b, N, NRHS, TRS_COL_MAJOR);
}

/* The rows of the matrix are out of order, so that every update reads the caller's values anew. */
static int start(void **state) {
  trs_schedule_part_work = 40;
  arrays = triangle_random(N, 6, 200, true, TRS_DOUBLE, false, 1);
  for (int64_t i = 0; i < N; i++) {
    const int64_t first = arrays.ptr[i], last = arrays.ptr[i + 1] - 1;
    double *val = arrays.val, value = val[first];
    int32_t index = arrays.idx[first];
    arrays.idx[first] = arrays.idx[last], arrays.idx[last] = index;
    val[first] = val[last], val[last] = value;
  }
  trs_random_fill(b, N * NRHS, TRS_DOUBLE, 2);
  if (trs_context_create(&ctx, "threads:3") ||
      trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, N, N, TRS_PTR64, arrays.ptr, arrays.idx,
                        arrays.val, TRS_BORROW))
    return -1;
  listed = methods_of("serial threads");
  for (int m = 0; m < listed.count; m++) methods[m] = listed.name[m];
  nmethods = (size_t)listed.count + 1;
  for (size_t m = 0; m < nmethods; m++) {
    trs_plan *plan;
    if (analyze(&plan, methods[m]) || solve(plan, wanted[m])) return -1;
    trs_plan_destroy(plan);
  }
  alarm(PATIENCE); /* a lock that stays held would stop the tests */
  return 0;
}

static int stop(void **state) {
  alarm(0);
  trs_matrix_destroy(A);
  trs_context_destroy(ctx);
  triangle_free(&arrays);
  return 0;
}

static void in_threads(void *(*work)(void *)) {
  pthread_t thread[CALLERS];
  for (intptr_t t = 0; t < CALLERS; t++)
    assert_int_equal(pthread_create(&thread[t], NULL, work, (void *)t), 0);
  for (int t = 0; t < CALLERS; t++) {
    void *problem;
    pthread_join(thread[t], &problem);
    if (problem) fail_msg("thread %d: %s", t, (const char *)problem);
  }
}

/* Each thread has its own plans, messages and solutions; all share a matrix and a context. */
static void *works_alone(void *number) {
  const int64_t own = -1 - (int64_t)(intptr_t)number;
  char message[32];
  double *x = malloc(sizeof wanted[0]);
  const char *problem = NULL;
  snprintf(message, sizeof message, "nrhs is %lld", (long long)own);
  for (size_t k = 0; k < PLANS && !problem; k++) {
    const size_t m = (k + (size_t)(intptr_t)number) % nmethods;
    trs_plan *plan;
    if (analyze(&plan, methods[m])) problem = "analysis";
    for (int r = 0; r < SOLVES && !problem; r++) {
      if (trs_update(plan, A) || solve(plan, x)) problem = "solve";
      if (memcmp(x, wanted[m], sizeof wanted[m])) problem = "other bits";
      trs_backward_error error = {.struct_size = sizeof error};
      if (trs_check(&error, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, x, N, b, N, NRHS,
                    TRS_COL_MAJOR) ||
          !(error.componentwise < 1e-13))
        problem = "check";
      trs_solve(plan, x, N, b, N, own, TRS_COL_MAJOR);
      if (!strstr(trs_last_error()->message, message)) problem = "another thread's message";
    }
    trs_plan_destroy(plan);
  }
  free(x);
  return (void *)problem;
}

TEST(threads_share_a_matrix_and_a_context) { in_threads(works_alone); }

/* Each thread cuts the lower triangle from the same matrix. */
static trs_matrix *whole;

static void *cuts(void *number) {
  const trs_options options = {.struct_size = sizeof options,
                               .method = methods[(intptr_t)number % nmethods],
                               .take_triangle = 1};
  double *x = malloc(sizeof b);
  const char *problem = NULL;
  for (int k = 0; k < 10 && !problem; k++) {
    trs_backward_error error = {.struct_size = sizeof error};
    trs_plan *plan = NULL;
    if (trs_analyze(&plan, ctx, whole, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options))
      problem = "analysis";
    else if (trs_update(plan, whole) || trs_solve(plan, x, N, b, N, 1, TRS_COL_MAJOR))
      problem = "solve";
    else if (trs_check(&error, whole, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, x, N, b, N, 1,
                       TRS_COL_MAJOR) ||
             !(error.componentwise < 1e-13))
      problem = "check";
    trs_plan_destroy(plan);
  }
  free(x);
  return (void *)problem;
}

TEST(threads_cut_triangles_from_a_matrix) {
  assert_success(trs_matrix_read(&whole, "gen:poisson2d5:80,50", NULL));
  in_threads(cuts);
  trs_matrix_destroy(whole);
}

static trs_plan *shared;
static const double *right;
static atomic_int solved;

/* What succeeds is right, and what fails says why. */
static void *solves_shared(void *number) {
  double *x = malloc(sizeof wanted[0]);
  const char *problem = NULL;
  for (int k = 0; k < TRIES && !problem; k++) {
    trs_status status = solve(shared, x);
    if (!status && memcmp(x, right, sizeof wanted[0])) problem = "wrong";
    if (status && !strstr(trs_last_error()->message, "another call uses the plan"))
      problem = "another failure";
    atomic_fetch_add(&solved, status == TRS_SUCCESS);
    if (k % 4 == 0) (void)trs_update(shared, A);
  }
  free(x);
  return (void *)problem;
}

TEST(a_plan_that_threads_share_is_right_or_refuses) {
  for (size_t m = 0; m < nmethods; m++) {
    right = wanted[m];
    atomic_store(&solved, 0);
    assert_success(analyze(&shared, methods[m]));
    in_threads(solves_shared);
    assert_true(atomic_load(&solved) > 0);
    trs_plan_destroy(shared);
  }
}

TEST(a_plan_in_use_refuses_every_call) {
  static double x[N * NRHS];
  assert_success(analyze(&shared, methods[0]));
  assert_success(trs_guard_take(&shared->guard, "plan"));
  assert_failure(TRS_ERROR_BUSY, "a plan of its own", solve(shared, x));
  assert_failure(TRS_ERROR_BUSY, "another call uses the plan", trs_update(shared, A));
  assert_failure(TRS_ERROR_BUSY, "another call uses the plan", trs_plan_wait(shared));
  assert_failure(TRS_ERROR_BUSY, "another call uses the plan", trs_plan_set_stream(shared, NULL));
  assert_success(trs_guard_leave(&shared->guard, TRS_SUCCESS));
  assert_success(solve(shared, x));
  assert_failure(TRS_ERROR_ARGUMENT, "nrhs", trs_solve(shared, x, N, b, N, -1, TRS_COL_MAJOR));
  assert_success(solve(shared, x)); /* a failure does not keep the plan */
  trs_plan_destroy(shared);
}

TEST(a_relaxation_in_use_refuses) {
  trs_plan *R;
  double x[N];
  assert_success(trs_relax_create(&R, ctx, A, 2, NULL));
  assert_success(trs_guard_take(&R->guard, "plan"));
  assert_failure(TRS_ERROR_BUSY, "another call uses the plan",
                 trs_relax_sweep(R, x, N, b, N, 1, TRS_COL_MAJOR, NULL));
  assert_failure(TRS_ERROR_BUSY, "another call uses the plan", trs_update(R, A));
  assert_failure(TRS_ERROR_BUSY, "another call uses the plan", trs_plan_wait(R));
  assert_success(trs_guard_leave(&R->guard, TRS_SUCCESS));
  assert_success(trs_relax_sweep(R, x, N, b, N, 1, TRS_COL_MAJOR, NULL));
  assert_success(trs_update(R, A));
  trs_plan_destroy(R);
}

/* ---- Cancelled threads. ---- */

static void sleeping_progress(void *user, const char *phase, double done) { usleep(300); }

static void *solve_for_ever(void *unused) {
  static double x[N * NRHS];
  for (;;) {
    if (solve(shared, x)) abort();
    pthread_testcancel();
  }
  return NULL;
}

static void *analyze_for_ever(void *unused) {
  trs_options options = {.struct_size = sizeof options, .progress = sleeping_progress};
  for (;;) {
    trs_plan *plan;
    if (trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options)) abort();
    trs_plan_destroy(plan);
    pthread_testcancel();
  }
  return NULL;
}

static void *factor_for_ever(void *unused) {
  trs_factor_options options = {
      .struct_size = sizeof options, .kind = TRS_FACTOR_ILU0, .progress = sleeping_progress};
  for (;;) {
    trs_factors *F;
    if (trs_factor(&F, A, &options)) abort();
    trs_factors_destroy(F);
    pthread_testcancel();
  }
  return NULL;
}

static void *update_for_ever(void *unused) {
  for (;;) {
    if (trs_update(shared, A)) abort();
    pthread_testcancel();
  }
  return NULL;
}

/* Cancelled before they begin. */
static trs_plan *relaxed;
static void *update_to_the_end(void *unused) {
  pthread_cancel(pthread_self());
  if (trs_update(shared, A) || trs_update(relaxed, A)) abort();
  pthread_testcancel();
  return NULL;
}

static void *end_a_context(void *unused) {
  trs_context *own;
  if (trs_context_create(&own, "threads:3")) abort();
  pthread_cancel(pthread_self());
  trs_context_destroy(own);
  pthread_testcancel();
  return NULL;
}

static void cancel(void *(*work)(void *), unsigned long long microseconds) {
  pthread_t thread;
  void *result;
  int64_t before, after;
  trs_memory_usage(&before, NULL);
  assert_int_equal(pthread_create(&thread, NULL, work, NULL), 0);
  usleep((useconds_t)microseconds);
  pthread_cancel(thread);
  pthread_join(thread, &result);
  assert_true(result == PTHREAD_CANCELED);
  trs_memory_usage(&after, NULL);
  assert_int_equal(before, after);
}

static const double *wanted_by(const char *method) {
  size_t m = 0;
  while (strcmp(methods[m], method)) m++;
  return wanted[m];
}

/* Many threads per core sleep while they wait for each other, and a sleep may end a thread. */
TEST(cancelled_threads_end_after_the_call) {
#if defined TRS_SANITIZE_ADDRESS && defined __clang__
  skip_test("clang's address sanitizer reports the end of a cancelled thread");
#endif
  static double x[N * NRHS];
  trs_context *few = ctx;
  assert_success(trs_context_create(&ctx, "threads:24"));
  for (uint64_t k = 0; k < 24; k++) {
    const unsigned long long pause = trs_random_below(test_seed(), k, 6000);
    assert_success(analyze(&shared, "threads"));
    cancel(solve_for_ever, 1000 + pause);
    assert_success(solve(shared, x));
    assert_memory_equal(x, wanted_by("threads"), sizeof x);
    if (k % 4 == 1) cancel(update_for_ever, pause);
    if (k % 4 == 2) {
      assert_success(trs_relax_create(&relaxed, ctx, A, 1, NULL));
      cancel(update_to_the_end, 0);
      assert_success(trs_relax_sweep(relaxed, x, N, b, N, 1, TRS_COL_MAJOR, NULL));
      trs_plan_destroy(relaxed);
    }
    assert_success(solve(shared, x)); /* a cancelled update is whole, and is no failure */
    assert_memory_equal(x, wanted_by("threads"), sizeof x);
    trs_plan_destroy(shared);
    if (k % 4) continue;
    cancel(analyze_for_ever, pause);
    cancel(factor_for_ever, pause);
    cancel(end_a_context, 0);
  }
  trs_context_destroy(ctx);
  ctx = few;
}

const test_program program = {.begin = start, .end = stop};
