/* counters.c - solves and sweeps across the wrap of every CPU counter.  Each counter begins a few
 * steps before the wrap; x must have the bits of a plan whose counters begin at zero. */
#include "base/counter.h"
#include "base/random.h"
#include "base/team.h"
#include "backend/context.h"
#include "solve/threads/schedule.h"
#include "test.h"

/* Before the wrap, or the change of sign, of 32 and 64 bits, and where solves << 32 passes them. */
static uint64_t begins[] = {INT32_MAX - 3, UINT32_MAX - 3, INT64_MAX - 3, UINT64_MAX - 3,
                            UINT32_MAX / 3 * 3 - 3};
enum { NBEGINS = COUNT(begins), SOLVES = 12, THREADS = 4 };

static int start(void **state) {
  for (int k = 0; k < NBEGINS; k++) begins[k] += 2 - trs_random_below(test_seed(), (uint64_t)k, 12);
  return 0;
}

static int stop(void **state) {
  trs_counters_begin = 0;
  return 0;
}

static trs_context *context_from(uint64_t begin) {
  trs_context *ctx;
  char where[16];
  snprintf(where, sizeof where, "threads:%d", THREADS);
  trs_counters_begin = begin;
  assert_success(trs_context_create(&ctx, where));
  return ctx;
}

static trs_plan *plan_on(trs_context *ctx, const trs_matrix *A) {
  trs_plan *plan;
  trs_options options = {
      .struct_size = sizeof(trs_options), .method = "threads", .take_triangle = 1};
  assert_success(trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options));
  return plan;
}

/* Different right-hand sides in each solve: a skipped wait reads the previous x. */
TEST(solves_across_the_wrap) {
  trs_matrix *A;
  assert_success(trs_matrix_read(&A, "gen:poisson2d5:100", NULL));
  enum { N = 10000 };
  double *b = malloc(N * sizeof *b), *x = malloc(N * sizeof *x), *wanted = malloc(N * sizeof *b);
  trs_schedule_part_work = 8; /* waits at every level */
  trs_context *plain = context_from(0);
  trs_plan *right = plan_on(plain, A);
  for (int k = 0; k < NBEGINS; k++) {
    trs_context *ctx = context_from(begins[k]);
    trs_plan *plan = plan_on(ctx, A);
    for (int s = 0; s < SOLVES; s++) {
      trs_random_fill(b, N, TRS_DOUBLE, (uint64_t)s);
      assert_success(trs_solve(right, wanted, N, b, N, 1, TRS_COL_MAJOR));
      assert_success(trs_solve(plan, x, N, b, N, 1, TRS_COL_MAJOR));
      assert_memory_equal(x, wanted, N * sizeof *x);
    }
    trs_plan_destroy(plan);
    trs_context_destroy(ctx);
  }
  trs_plan_destroy(right);
  trs_context_destroy(plain);
  trs_matrix_destroy(A);
  trs_schedule_part_work = 200;
  free(b), free(x), free(wanted);
}

TEST(sweeps_across_the_wrap) {
  enum { N = 10000 };
  trs_matrix *A;
  trs_plan *right, *R;
  double *b = malloc(N * sizeof *b), *x = malloc(N * sizeof *x), *wanted = malloc(N * sizeof *b);
  assert_success(trs_matrix_read(&A, "gen:poisson2d5:100", NULL));
  trs_context *plain = context_from(0);
  assert_success(trs_relax_create(&right, plain, A, 1, NULL));
  for (int k = 0; k < NBEGINS; k++) {
    trs_context *ctx = context_from(begins[k]);
    assert_success(trs_relax_create(&R, ctx, A, 1, NULL));
    for (int s = 0; s < SOLVES; s++) {
      trs_sweep_options options = {
          .struct_size = sizeof(trs_sweep_options), .sweeps = 3, .direction = TRS_SWEEP_SYMMETRIC};
      trs_random_fill(b, N, TRS_DOUBLE, (uint64_t)s);
      trs_counters_begin = 0;
      assert_success(trs_relax_sweep(right, wanted, N, b, N, 1, TRS_COL_MAJOR, &options));
      trs_counters_begin = begins[k];
      assert_success(trs_relax_sweep(R, x, N, b, N, 1, TRS_COL_MAJOR, &options));
      assert_memory_equal(x, wanted, N * sizeof *x);
    }
    trs_plan_destroy(R);
    trs_context_destroy(ctx);
  }
  trs_plan_destroy(right);
  trs_context_destroy(plain);
  trs_matrix_destroy(A);
  free(b), free(x), free(wanted);
}

static void add_one(void *argument, int rank, int size) {
  (void)size;
  ((int *)argument)[rank]++;
}

TEST(runs_across_the_wrap) {
  for (int k = 0; k < NBEGINS; k++) {
    trs_team *team;
    int count[THREADS] = {0};
    trs_counters_begin = begins[k];
    assert_success(trs_team_create(&team, THREADS));
    for (int run = 0; run < 1000; run++) trs_team_run(team, THREADS, add_one, count);
    for (int t = 0; t < THREADS; t++) assert_int_equal(count[t], 1000);
    trs_team_destroy(team);
  }
}

const test_program program = {.begin = start, .end = stop};
