/* levelset_cpu.c - levelset-cpu: the times that it tells, and equal bits on any number of threads.
 * Types, formats and layouts in every combination are api/conformance.c's. */
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/timer.h"
#include "support.h"
#include "test.h"

enum { N = 400, NRHS = 11 };

typedef struct solver {
  trs_context *context;
  trs_matrix *A;
  trs_plan *plan;
} solver;

static solver open_solver(const char *where, const char *generator, int64_t nrhs) {
  solver s;
  trs_matrix *whole;
  trs_options how = {.struct_size = sizeof(trs_options), .method = "levelset-cpu", .nrhs = nrhs};
  assert_success(trs_context_create(&s.context, where));
  assert_success(trs_matrix_read(
      &whole, generator,
      &(trs_read_options){.struct_size = sizeof(trs_read_options), .scalar = TRS_DOUBLE}));
  assert_success(trs_matrix_triangle(&s.A, whole, TRS_LOWER, 1));
  trs_matrix_destroy(whole);
  assert_success(trs_analyze(&s.plan, s.context, s.A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &how));
  return s;
}

static void close_solver(solver *s) {
  trs_plan_destroy(s->plan);
  trs_matrix_destroy(s->A);
  trs_context_destroy(s->context);
}

/* Milliseconds behind the word in the plan's description; negative: none. */
static double told(trs_plan *plan, const char *word) {
  char text[1024];
  (void)trs_plan_describe(plan, text, sizeof text);
  const char *at = strstr(text, word);
  return at ? strtod(at + strlen(word), NULL) : -1;
}

TEST(tells_where_its_time_goes) {
  static double x[N], b[N];
  solver s = open_solver("threads:2", "gen:poisson2d5:20", 1);
  trs_random_fill(b, N, TRS_DOUBLE, 1);
  assert_true(told(s.plan, "preprocessing ") > 0);
  assert_true(told(s.plan, "synchronisation ") < 0); /* no solve yet */
  for (int k = 0; k < 5; k++) {
    const double start = trs_seconds();
    assert_success(trs_solve(s.plan, x, N, b, N, 1, TRS_COL_MAJOR));
    const double whole = 1e3 * (trs_seconds() - start);
    const double waits = told(s.plan, "synchronisation "), sums = told(s.plan, "compute ");
    assert_true(waits > 0 && sums > 0);
    assert_true(waits + sums <= 1.0001 * whole); /* a mean over threads, printed with six digits */
  }
  close_solver(&s);
}

TEST(gives_the_same_bits_on_any_number_of_threads) {
  static const char *const where[] = {"threads:1", "threads:2", "threads:5"};
  static double x[3][N * NRHS], b[N * NRHS];
  trs_random_fill(b, N * NRHS, TRS_DOUBLE, 2);
  for (int k = 0; k < 3; k++) {
    solver s = open_solver(where[k], "gen:poisson2d5:20", NRHS);
    trs_backward_error error = {.struct_size = sizeof error};
    assert_success(trs_solve(s.plan, x[k], N, b, N, NRHS, TRS_COL_MAJOR));
    assert_success(trs_check(&error, s.A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, x[k], N, b, N, NRHS,
                             TRS_COL_MAJOR));
    assert_true(error.componentwise <= error_limit(TRS_DOUBLE, N));
    assert_memory_equal(x[k], x[0], sizeof x[0]);
    close_solver(&s);
  }
}

TEST(tells_levels_and_threads) {
  static double x[N], b[N];
  solver s = open_solver("threads:2", "gen:chain:400", 1);
  char text[1024];
  trs_random_fill(b, N, TRS_DOUBLE, 3);
  assert_success(trs_solve(s.plan, x, N, b, N, 1, TRS_COL_MAJOR));
  (void)trs_plan_describe(s.plan, text, sizeof text);
  assert_non_null(strstr(text, "400 levels, a barrier after each, 2 threads"));
  close_solver(&s);
}
