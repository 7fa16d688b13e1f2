/* clone.c - plans that share what solves only read: the same bits for every method, threads that
 * solve at once, memory, lifetimes in any order, and updates, which clones exclude. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "sparse.h"
#include "support.h"
#include "solve/threads/schedule.h"
#include "test.h"

enum { N = 700, NRHS = 9, CALLERS = 4, SOLVES = SANITIZED ? 5 : 40 };

static int start(void **state) {
  trs_schedule_part_work = 40;
  return 0;
}

static trs_context *place(const char *where) {
  trs_context *ctx;
  assert_success(trs_context_create(&ctx, where));
  return ctx;
}

/* All bits of x for one right-hand side, and for NRHS by columns and by rows. */
typedef struct answers {
  int64_t n;
  size_t size;
  char *b, *x[3];
} answers;

static answers answers_for(int64_t n, trs_scalar scalar) {
  answers a = {.n = n, .size = scalar_bytes(scalar)};
  const size_t bytes = (size_t)(n * NRHS) * a.size;
  a.b = malloc(bytes);
  trs_random_fill(a.b, n * NRHS, scalar, 7);
  for (int k = 0; k < 3; k++) a.x[k] = calloc(1, bytes);
  return a;
}

static void answers_free(answers *a) {
  free(a->b);
  for (int k = 0; k < 3; k++) free(a->x[k]);
}

static trs_status solve_all(trs_plan *plan, const answers *a, char *const *x) {
  TRS_TRY(trs_solve(plan, x[0], a->n, a->b, a->n, 1, TRS_COL_MAJOR));
  TRS_TRY(trs_solve(plan, x[1], a->n, a->b, a->n, NRHS, TRS_COL_MAJOR));
  return trs_solve(plan, x[2], NRHS, a->b, NRHS, NRHS, TRS_ROW_MAJOR);
}

static bool same(const answers *a, const answers *other) {
  for (int k = 0; k < 3; k++)
    if (memcmp(a->x[k], other->x[k], (size_t)(a->n * NRHS) * a->size) != 0) return false;
  return true;
}

static void check_clone(trs_plan *plan, const answers *wanted, trs_scalar scalar) {
  answers got = answers_for(wanted->n, scalar);
  assert_success(solve_all(plan, &got, got.x));
  assert_true(same(&got, wanted));
  answers_free(&got);
}

/* Clones, and clones of these, outlive the plan that was analysed. */
static void check_plan(trs_plan *plan, int64_t n, trs_scalar scalar) {
  trs_plan *clone, *again;
  trs_plan_info info = {.struct_size = sizeof info}, of_clone = info;
  answers wanted = answers_for(n, scalar);
  assert_success(solve_all(plan, &wanted, wanted.x));
  assert_success(trs_plan_get_info(plan, &info));
  assert_success(trs_plan_clone(&clone, plan));
  assert_success(trs_plan_clone(&again, clone));
  check_clone(clone, &wanted, scalar);
  check_clone(plan, &wanted, scalar);
  trs_plan_destroy(plan);
  check_clone(again, &wanted, scalar);
  assert_success(trs_plan_get_info(again, &of_clone));
  assert_string_equal(of_clone.method, info.method);
  assert_string_equal(of_clone.reason, info.reason);
  assert_int_equal(of_clone.levels, info.levels);
  assert_int_equal(of_clone.threads, info.threads);
  assert_true(of_clone.plan_bytes <= info.plan_bytes);
  trs_plan_destroy(clone);
  check_clone(again, &wanted, scalar);
  trs_plan_destroy(again);
  answers_free(&wanted);
}

/* Lower by rows and upper by columns, or the other two. */
static trs_matrix *triangle_of(double density, trs_scalar scalar, trs_format format, bool prefix) {
  trs_matrix *A;
  triangle t = triangle_random(N, density, N, prefix, scalar, false, 3);
  assert_success(
      trs_matrix_create(&A, format, scalar, N, N, TRS_PTR64, t.ptr, t.idx, t.val, TRS_TAKE));
  return A;
}

/* Methods that refuse the system are left out, and those of papers have no clones. */
static int check_method(trs_context *ctx, const trs_matrix *A, const char *method, trs_uplo uplo,
                        trs_trans trans, trs_scalar scalar, int64_t nrhs) {
  trs_plan *plan, *clone;
  const trs_options options = {.struct_size = sizeof options, .method = method, .nrhs = nrhs};
  if (trs_analyze(&plan, ctx, A, uplo, trans, TRS_NONUNIT, &options)) return 0;
  if (method && !strcmp(method, "levelset-cpu")) {
    assert_failure(TRS_ERROR_UNSUPPORTED, "no clones: each thread needs a plan of its own",
                   trs_plan_clone(&clone, plan));
    assert_null(clone);
    trs_plan_destroy(plan);
    return 0;
  }
  check_plan(plan, N, scalar);
  return 1;
}

static void check_methods(trs_context *ctx, double density, int c) {
  const trs_scalar scalar = (trs_scalar)(TRS_FLOAT + c % 4);
  const trs_format format = (trs_format)(c / 4 % 2);
  const bool prefix = c % 3 != 0;
  trs_matrix *A = triangle_of(density, scalar, format, prefix);
  const method_list methods = methods_of("serial threads");
  const trs_uplo uplo = (format == TRS_CSR) == prefix ? TRS_LOWER : TRS_UPPER;
  int solved = 0;
  for (int m = -1; m < methods.count; m++)
    solved += check_method(ctx, A, m < 0 ? NULL : methods.name[m], uplo, (trs_trans)(c % 3), scalar,
                           1 + c % 2 * NRHS);
  assert_true(solved >= 2); /* auto and serial */
  trs_matrix_destroy(A);
}

TEST(every_method_gives_the_same_bits) {
  static const char *const places[] = {"serial", "threads:3"};
  for (int p = 0; p < 2; p++) {
    trs_context *ctx = place(places[p]);
    for (int c = 0; c < 8; c++) check_methods(ctx, c % 2 ? 0.05 : 1, c);
    trs_context_destroy(ctx);
  }
}

static trs_factors *factor(const trs_matrix *A, trs_factor_kind kind) {
  trs_factors *F;
  const trs_factor_options how = {.struct_size = sizeof how,
                                  .kind = kind,
                                  .order = TRS_ORDER_AMD,
                                  .block_size = kind == TRS_FACTOR_BILU0 ? 2 : 0};
  assert_success(trs_factor(&F, A, &how));
  return F;
}

TEST_IF(TRS_HAVE_AMD, plans_of_factors_are_cloned) {
  static const trs_factor_kind kinds[] = {TRS_FACTOR_LU, TRS_FACTOR_ILU0, TRS_FACTOR_BILU0};
  static const char *const methods[] = {NULL, "serial", "panels", "threads", "subtrees", "blocks"};
  trs_context *ctx = place("threads:2");
  trs_matrix *A = sparse_grid(10, 9, 8, 0.2, TRS_DOUBLE);
  for (size_t k = 0; k < COUNT(kinds); k++)
    for (size_t m = 0; m < COUNT(methods); m++) {
      trs_plan *plan;
      trs_factors *F = factor(A, kinds[k]);
      const trs_options options = {
          .struct_size = sizeof options, .method = methods[m], .nrhs = m % 2 ? NRHS : 1};
      const trs_status status = trs_analyze_factors(&plan, ctx, F, (trs_trans)(m % 3), &options);
      trs_factors_destroy(F);
      if (!status) check_plan(plan, 720, TRS_DOUBLE);
      /* blocks: not of unit triangles */
      if (status && !(methods[m] && !strcmp(methods[m], "blocks")))
        fail_msg("%s: %s", methods[m], trs_last_error()->message);
    }
  trs_matrix_destroy(A);
  trs_context_destroy(ctx);
}

/* Eight clones of an LU: each has little more than its workspace. */
TEST_IF(TRS_HAVE_AMD, clones_take_the_memory_of_their_workspace) {
  enum { CLONES = 8, SIDE = 16, ROWS = SIDE * SIDE * SIDE };
  static const char *const methods[] = {"panels", "threads", "serial"};
  trs_context *ctx = place("serial");
  trs_matrix *A = sparse_grid(SIDE, SIDE, SIDE, 0.2, TRS_DOUBLE);
  trs_factors *F = factor(A, TRS_FACTOR_LU);
  const trs_factors_info of_F = factors_info(F);
  for (size_t m = 0; m < COUNT(methods); m++) {
    trs_plan *plan, *clone[CLONES];
    trs_context *own = m == 1 ? place("threads:2") : ctx;
    const trs_options options = {.struct_size = sizeof options, .method = methods[m]};
    int64_t before, after, peak;
    trs_memory_usage(&before, &peak);
    assert_success(trs_analyze_factors(&plan, own, F, TRS_NO_TRANS, &options));
    trs_memory_usage(&after, &peak);
    const int64_t first = after - before;
    /* both sweeps and the vectors between them: eight right-hand sides each */
    const int64_t work = 3 * ROWS * 8 * (int64_t)sizeof(double), most = work + work / 10 + 20000;
    for (int k = 0; k < CLONES; k++) {
      trs_plan_info info = {.struct_size = sizeof info};
      trs_memory_usage(&before, &peak);
      assert_success(trs_plan_clone(&clone[k], plan));
      trs_memory_usage(&after, &peak);
      assert_true(after - before <= most);
      if (m < 2) assert_true(after - before - work < first / 10);
      assert_success(trs_plan_get_info(clone[k], &info));
      assert_true(info.plan_bytes <= most);
    }
    if (m == 0) assert_true(first > 10 * (of_F.nnz_L + of_F.nnz_U)); /* panels copy all values */
    trs_plan_destroy(plan);
    for (int k = 0; k < CLONES; k++) trs_plan_destroy(clone[k]);
    if (own != ctx) trs_context_destroy(own);
  }
  trs_factors_destroy(F);
  trs_matrix_destroy(A);
  trs_context_destroy(ctx);
}

/* ---- Threads. ---- */

typedef struct job {
  trs_plan *plan;
  const answers *wanted;
  const char *problem;
} job;

/* Clones a plan that other threads clone and solve with, and asks for facts meanwhile. */
static void *work(void *argument) {
  job *j = argument;
  answers got = answers_for(j->wanted->n, TRS_DOUBLE);
  for (int k = 0; k < SOLVES && !j->problem; k++) {
    trs_plan *clone;
    if (trs_plan_clone(&clone, j->plan)) {
      j->problem = "a clone failed";
      break;
    }
    trs_plan_info info = {.struct_size = sizeof info};
    if (trs_plan_get_info(clone, &info)) j->problem = "facts failed";
    for (int s = 0; s < 3; s++)
      if (solve_all(clone, &got, got.x) || !same(&got, j->wanted)) j->problem = "x differs";
    trs_plan_destroy(clone);
  }
  answers_free(&got);
  return NULL;
}

static void solve_in_threads(trs_plan *plan, int64_t n) {
  pthread_t thread[CALLERS];
  job jobs[CALLERS];
  answers wanted = answers_for(n, TRS_DOUBLE), got = answers_for(n, TRS_DOUBLE);
  assert_success(solve_all(plan, &wanted, wanted.x));
  for (int t = 0; t < CALLERS; t++) {
    jobs[t] = (job){plan, &wanted, NULL};
    assert_int_equal(pthread_create(&thread[t], NULL, work, &jobs[t]), 0);
  }
  for (int k = 0; k < SOLVES; k++) /* a clone that is being made makes a solve fail, or waits */
    (void)solve_all(plan, &got, got.x);
  for (int t = 0; t < CALLERS; t++) pthread_join(thread[t], NULL);
  for (int t = 0; t < CALLERS; t++)
    if (jobs[t].problem) fail_msg("%s", jobs[t].problem);
  assert_success(solve_all(plan, &got, got.x));
  assert_true(same(&got, &wanted));
  answers_free(&wanted);
  answers_free(&got);
}

TEST(threads_solve_at_once) {
  static const char *const places[] = {"serial", "threads:2"};
  static const char *const methods[] = {"serial", "panels", "threads", "subtrees", "columns"};
  trs_matrix *A = triangle_of(1, TRS_DOUBLE, TRS_CSR, true);
  for (int p = 0; p < 2; p++) {
    trs_context *ctx = place(places[p]);
    for (size_t m = 0; m < COUNT(methods); m++) {
      trs_plan *plan;
      const trs_options options = {
          .struct_size = sizeof options, .method = methods[m], .nrhs = NRHS};
      if (trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options)) continue;
      solve_in_threads(plan, N);
      trs_plan_destroy(plan);
    }
    trs_context_destroy(ctx);
  }
  trs_matrix_destroy(A);
}

/* ---- Updates and errors. ---- */

TEST(updates_and_clones_exclude_each_other) {
  trs_context *ctx = place("serial");
  trs_matrix *A = triangle_of(0.5, TRS_DOUBLE, TRS_CSR, true);
  trs_plan *plan, *clone;
  answers before = answers_for(N, TRS_DOUBLE), after = answers_for(N, TRS_DOUBLE);
  const trs_options options = {.struct_size = sizeof options, .method = "panels"};
  const double *old;
  assert_success(trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options));
  assert_success(solve_all(plan, &before, before.x));
  assert_success(trs_plan_clone(&clone, plan));

  assert_success(trs_matrix_get_arrays(A, NULL, NULL, (const void **)&old));
  trs_matrix_info info = {.struct_size = sizeof info};
  assert_success(trs_matrix_get_info(A, &info));
  double *val = malloc((size_t)info.nnz * sizeof *val);
  for (int64_t p = 0; p < info.nnz; p++) val[p] = 2 * old[p];
  assert_success(trs_matrix_set_values(A, val)); /* A takes val */

  assert_failure(TRS_ERROR_ARGUMENT, "with 1 clone: destroy the clones", trs_update(plan, A));
  assert_failure(TRS_ERROR_ARGUMENT, "the plan that it was made from", trs_update(clone, A));
  check_clone(plan, &before, TRS_DOUBLE); /* both are as they were */
  check_clone(clone, &before, TRS_DOUBLE);
  trs_plan_destroy(clone);
  assert_success(trs_update(plan, A));
  assert_success(solve_all(plan, &after, after.x));
  assert_false(same(&before, &after));
  assert_success(trs_plan_clone(&clone, plan));
  check_clone(clone, &after, TRS_DOUBLE);
  trs_plan_destroy(plan);
  assert_failure(TRS_ERROR_ARGUMENT, "the plan that it was made from", trs_update(clone, A));
  trs_plan_destroy(clone);
  answers_free(&before);
  answers_free(&after);
  trs_matrix_destroy(A);
  trs_context_destroy(ctx);
}

TEST(new_factors_wait_for_the_end_of_clones) {
  trs_context *ctx = place("serial");
  trs_matrix *A = sparse_grid(6, 5, 4, 0.2, TRS_DOUBLE);
  trs_plan *plan, *clone[2];
  trs_factors *F;
  const trs_factor_options how = {.struct_size = sizeof how, .kind = TRS_FACTOR_ILU0};
  assert_success(trs_factor(&F, A, &how));
  assert_success(trs_analyze_factors(&plan, ctx, F, TRS_NO_TRANS, NULL));
  for (int k = 0; k < 2; k++) assert_success(trs_plan_clone(&clone[k], plan));
  assert_failure(TRS_ERROR_ARGUMENT, "with 2 clones: destroy", trs_update_factors(plan, F));
  assert_failure(TRS_ERROR_ARGUMENT, "the plan that it was made from",
                 trs_update_factors(clone[1], F));
  for (int k = 0; k < 2; k++) trs_plan_destroy(clone[k]);
  assert_success(trs_update_factors(plan, F));
  trs_plan_destroy(plan);
  trs_factors_destroy(F);
  trs_matrix_destroy(A);
  trs_context_destroy(ctx);
}

TEST(a_plan_that_solves_nothing_is_not_cloned) {
  static double zero[N * N];
  trs_context *ctx = place("serial");
  trs_matrix *A = triangle_of(0.1, TRS_DOUBLE, TRS_CSR, true), *B;
  trs_plan *plan, *clone = (trs_plan *)1;
  const int64_t *ptr;
  const int32_t *idx;
  assert_failure(TRS_ERROR_ARGUMENT, "plan is NULL", trs_plan_clone(&clone, NULL));
  assert_success(trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, NULL));
  assert_failure(TRS_ERROR_ARGUMENT, "clone is NULL", trs_plan_clone(NULL, plan));
  assert_success(trs_matrix_get_arrays(A, &ptr, &idx, NULL));
  assert_success(
      trs_matrix_create(&B, TRS_CSR, TRS_DOUBLE, N, N, TRS_PTR64, ptr, idx, zero, TRS_COPY));
  assert_int_equal(trs_update(plan, B), TRS_ERROR_ZERO_PIVOT);
  assert_failure(TRS_ERROR_ZERO_PIVOT, "solves nothing", trs_plan_clone(&clone, plan));
  assert_null(clone);
  assert_success(trs_update(plan, A));
  assert_success(trs_plan_clone(&clone, plan));
  trs_plan_destroy(plan);
  trs_plan_destroy(clone);
  trs_matrix_destroy(A);
  trs_matrix_destroy(B);
  trs_context_destroy(ctx);
}

static trs_status clone_once(void *plan) {
  trs_plan *clone;
  TRS_TRY(trs_plan_clone(&clone, plan));
  trs_plan_destroy(clone);
  return TRS_SUCCESS;
}

TEST(failing_allocations_leak_nothing) {
  static const char *const methods[] = {"serial",   "panels",  "threads",
                                        "subtrees", "columns", "blocks"};
  trs_context *ctx = place("threads:2");
  trs_matrix *A = triangle_of(1, TRS_DOUBLE, TRS_CSR, true);
  for (size_t m = 0; m < COUNT(methods); m++) {
    trs_plan *plan;
    const trs_options options = {.struct_size = sizeof options, .method = methods[m], .nrhs = NRHS};
    assert_success(trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options));
    assert_survives_failing_allocations(clone_once, plan);
    trs_plan_destroy(plan);
  }
  trs_matrix_destroy(A);
  trs_context_destroy(ctx);
}

const test_program program = {.begin = start};
