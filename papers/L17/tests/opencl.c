/* opencl.c - L17's methods on an OpenCL device, with every parameter.  Types, formats and layouts
 * in every combination are api/conformance.c's.
 *
 * A run-time for CPUs runs the work items of a group in ascending order on one thread, so that the
 * wavefronts that a wavefront waits for have ended: several per group, and their scratchpad, are
 * tested without a GPU. */
#include "L17/tests/systems.h"
#include "base/random.h"
#include "base/timer.h"
#include "parameters.h"
#include "support.h"
#include "test.h"

static trs_context *context;

static const char *const all_methods[] = {
    "syncfree-csc",
    "syncfree-csc:warps=1",
    "syncfree-csc:warps=2",
    "syncfree-csc:warps=4",
    "syncfree-csc:warps=8",
    "syncfree-csc:warps=16",
    "syncfree-csc:warps=4,scratchpad=no",
    "syncfree-csc:scratchpad=no,warps=16",
    "syncfree-csc-rhs",
    "syncfree-csc-rhs:warps=8",
    "syncfree-csc-rhs:warps=4,strategy=rhs",
    "syncfree-csc-rhs:warps=16,strategy=nnz",
    "syncfree-csc-rhs:p=2,q=3,warps=2",
    "syncfree-csc:lanes=64", /* as on AMD's GPUs */
    "syncfree-csc:lanes=64,warps=8",
    "syncfree-csc-rhs:lanes=64,warps=4,strategy=rhs",
    "syncfree-csc-rhs:lanes=64,warps=2,strategy=nnz",
    "syncfree-csc:lanes=32,warps=8",
};

/* False: the device's groups are smaller than the method asks for, which is said once. */
static bool fits(const system_of *s, size_t m) {
  static bool told[COUNT(all_methods)];
  const trs_options options = {.struct_size = sizeof options, .method = all_methods[m], .nrhs = 3};
  trs_plan *plan;
  if (!trs_analyze(&plan, context, s->A, s->uplo, s->trans, s->diag, &options)) {
    trs_plan_destroy(plan);
    return true;
  }
  assert_non_null(strstr(trs_last_error()->message, "runs in a group"));
  if (!told[m]) print_message("skipped: %s\n", trs_last_error()->message);
  told[m] = true;
  return false;
}

static void solve_by_all(const system_of *s, int c) {
  for (size_t m = 0; m < COUNT(all_methods); m++) {
    if (!fits(s, m)) continue;
    trs_plan *plan = make_plan(s, context, all_methods[m], 3);
    solve_and_check(s, plan, all_methods[m], 1, TRS_COL_MAJOR, c % 2);
    solve_and_check(s, plan, all_methods[m], 3, TRS_ROW_MAJOR, c % 2);
    trs_plan_destroy(plan);
  }
}

TEST(sizes_around_wavefronts_and_groups) {
  static const int64_t sizes[] = {1, 2, 15, 16, 17, 33, 64, 130, 300};
  int c = 0;
  for (size_t k = 0; k < COUNT(sizes); k++)
    for (shape kind = DIAGONAL; kind <= RANDOM; kind++, c++) {
      system_of s = varied_system(kind, sizes[k], c, 2);
      solve_by_all(&s, c);
      trs_matrix_destroy(s.A);
    }
}

TEST(long_chains) {
  for (int c = 0; c < 4; c++) {
    system_of s = varied_system(CHAIN, 3001, c, 2);
    solve_by_all(&s, c);
    trs_matrix_destroy(s.A);
  }
}

/* More entries in a column than a fence is for, and more right-hand sides than lanes. */
TEST(long_columns_and_many_right_hand_sides) {
  static const char *const methods[] = {"syncfree-csc:warps=8", "syncfree-csc-rhs:warps=4",
                                        "syncfree-csc-rhs:warps=4,strategy=nnz"};
  for (int c = 0; c < 4; c++) {
    system_of s = varied_system(c < 2 ? DENSE_FIRST_COLUMN : DENSE, 700, c, 2);
    for (size_t m = 0; m < COUNT(methods); m++) {
      trs_plan *plan = make_plan(&s, context, methods[m], 300);
      solve_and_check(&s, plan, methods[m], 67, TRS_ROW_MAJOR, false);
      trs_plan_destroy(plan);
    }
    trs_matrix_destroy(s.A);
  }
}

/* The device's time of a solve is part of the time that the caller waits. */
TEST(a_plan_tells_the_devices_time_of_its_last_solve) {
  static const char *const methods[] = {"syncfree-csc", "syncfree-csc-rhs"};
  enum { NRHS = 4 };
  system_of s = make_system(RANDOM, 2000, TRS_DOUBLE, false, TRS_NO_TRANS, TRS_CSR, TRS_NONUNIT);
  double *x = malloc((size_t)s.n * NRHS * sizeof *x);
  for (size_t m = 0; m < COUNT(methods); m++) {
    trs_plan *plan = make_plan(&s, context, methods[m], 2); /* two launches, or four */
    trs_plan_info info = {.struct_size = sizeof info};
    assert_success(trs_plan_get_info(plan, &info));
    assert_true(info.device_seconds == 0);
    for (int k = 0; k < 3; k++) {
      trs_random_fill(x, s.n * NRHS, TRS_DOUBLE, 35);
      const double begin = trs_seconds();
      assert_success(trs_solve(plan, x, s.n, x, s.n, NRHS, TRS_COL_MAJOR));
      const double whole = trs_seconds() - begin;
      assert_success(trs_plan_get_info(plan, &info));
      if (!(info.device_seconds > 0 && info.device_seconds < whole))
        fail_msg("%g s on the device of %g s", info.device_seconds, whole);
    }
    trs_plan_destroy(plan);
  }
  trs_matrix_destroy(s.A);
  free(x);
}

TEST(plans_say_what_they_were_told) {
  static const method_words cases[] = {
      {"syncfree-csc:warps=1", ", 1 per group"},
      {"syncfree-csc:warps=4", "4 per group, sums within a group in scratchpad"},
      {"syncfree-csc:warps=2,scratchpad=no", "2 per group, no scratchpad"},
      {"syncfree-csc-rhs:warps=2", "2 per group, up to 6 right-hand sides at once"}};
  system_of s = varied_system(RANDOM, 50, 0, 2);
  assert_described(context, s.A, s.uplo, s.trans, s.diag, cases, COUNT(cases), 1);
  trs_matrix_destroy(s.A);
}

TEST(wrong_parameters_are_refused) {
  static const method_words wrong[] = {
      {"syncfree-csc:warps=5", "it takes 1, 2, 4, 8, 16, 32"},
      {"syncfree-csc:scratchpad=maybe", "it takes no, yes"},
      {"syncfree-csc:p=8", "it has warps, lanes, scratchpad"},
      {"syncfree-csc-rhs:scratchpad=no", "it has warps, lanes, strategy, p, q"}};
  system_of s = varied_system(RANDOM, 50, 0, 2);
  assert_refused(context, s.A, s.uplo, s.trans, s.diag, wrong, COUNT(wrong));
  trs_matrix_destroy(s.A);
}

static const char *lacks(void) {
  return trs_context_create(&context, "opencl") ? trs_last_error()->message : NULL;
}

static int stop(void **state) {
  trs_context_destroy(context);
  return 0;
}

const test_program program = {.end = stop, .lacks = lacks};
