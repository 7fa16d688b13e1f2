/* syncfree.c - L17's methods on a GPU, with every parameter.  Types, formats and layouts in every
 * combination are api/conformance.c's. */
#include "L17/tests/systems.h"
#include "backend/context.h"
#include "gpu.h"
#include "parameters.h"
#include "support.h"
#include "test.h"

static const char *const all_methods[] = {
    "syncfree-csc",
    "syncfree-csc:warps=4",
    "syncfree-csc:warps=8",
    "syncfree-csc:warps=16",
    "syncfree-csc:warps=32",
    "syncfree-csc:warps=4,scratchpad=no",
    "syncfree-csc:warps=8,scratchpad=no",
    "syncfree-csc:scratchpad=no,warps=16",
    "syncfree-csc:scratchpad=no,warps=32",
    "syncfree-csc-rhs",
    "syncfree-csc-rhs:strategy=rhs",
    "syncfree-csc-rhs:strategy=nnz",
    "syncfree-csc-rhs:p=2,q=3",
};

TEST(sizes_around_warps_and_blocks) {
  static const int64_t sizes[] = {1, 2, 31, 32, 33, 63, 64, 65, 255, 257, 511, 512, 513};
  int c = 0;
  for (size_t k = 0; k < COUNT(sizes); k++)
    for (shape kind = DIAGONAL; kind <= RANDOM; kind++)
      for (int way = 0; way < 2; way++, c++) {
        system_of s = varied_system(kind, sizes[k], c, 4);
        for (size_t m = 0; m < COUNT(all_methods); m++) {
          trs_plan *plan = make_plan(&s, gpu_context, all_methods[m], 3);
          solve_and_check(&s, plan, all_methods[m], 1, TRS_COL_MAJOR, c % 2);
          solve_and_check(&s, plan, all_methods[m], 3, TRS_ROW_MAJOR, c % 2);
          trs_plan_destroy(plan);
        }
        trs_matrix_destroy(s.A);
      }
}

TEST(every_number_of_right_hand_sides) {
  static const int64_t numbers[] = {1, 2, 7, 8, 9, 32, 33, 256}, hints[] = {0, 9, 300};
  static const char *const methods[] = {
      "syncfree-csc", "syncfree-csc-rhs", "syncfree-csc-rhs:strategy=rhs",
      "syncfree-csc-rhs:strategy=nnz", "syncfree-csc-rhs:p=0,q=4"};
  for (int c = 0; c < 8; c++) {
    system_of s = varied_system(c < 4 ? RANDOM : DENSE_FIRST_COLUMN, 400 + c, c, 4);
    for (size_t h = 0; h < COUNT(hints); h++)
      for (size_t m = 0; m < COUNT(methods); m++) {
        trs_plan *plan = make_plan(&s, gpu_context, methods[m], hints[h]);
        for (size_t k = 0; k < COUNT(numbers); k++)
          solve_and_check(&s, plan, methods[m], numbers[k], (trs_layout)((c + k) % 2), k % 3 == 0);
        trs_plan_destroy(plan);
      }
    trs_matrix_destroy(s.A);
  }
}

static void solve_by(const system_of *s, const char *const *methods, size_t count) {
  for (size_t m = 0; m < count; m++) {
    trs_plan *plan = make_plan(s, gpu_context, methods[m], 2);
    solve_and_check(s, plan, methods[m], 2, TRS_COL_MAJOR, false);
    trs_plan_destroy(plan);
  }
}

/* More blocks than 65,535 with 16 and with 4 warps each, forward and backward. */
TEST(more_blocks_than_sixteen_bits_count) {
  static const char *const methods[] = {"syncfree-csc", "syncfree-csc:scratchpad=no,warps=4",
                                        "syncfree-csc-rhs", "syncfree-csc-rhs:strategy=nnz"};
  for (int c = 0; c < 2; c++) {
    system_of s =
        make_system(RANDOM, 70000 * 17, TRS_DOUBLE, c, TRS_NO_TRANS, (trs_format)c, TRS_NONUNIT);
    solve_by(&s, methods, COUNT(methods));
    trs_matrix_destroy(s.A);
  }
}

TEST(long_chains) {
  for (int c = 0; c < 2; c++) {
    system_of s = varied_system(CHAIN, 20011, c, 4);
    solve_by(&s, all_methods, COUNT(all_methods));
    trs_matrix_destroy(s.A);
  }
}

/* Launches in sequence without a wait: each clears what the launch before it used. */
TEST(solves_in_device_memory) {
  static const char *const methods[] = {"syncfree-csc", "syncfree-csc-rhs"};
  enum { NRHS = 5, REPEATS = 4 };
  system_of s = make_system(RANDOM, 3001, TRS_DOUBLE, false, TRS_NO_TRANS, TRS_CSR, TRS_NONUNIT);
  const int64_t elements = s.n * NRHS;
  double *b = malloc((size_t)elements * sizeof *b), *x = malloc((size_t)elements * sizeof *x);
  trs_random_fill(b, elements, TRS_DOUBLE, 34);
  for (size_t m = 0; m < COUNT(methods); m++) {
    trs_plan *plan = make_plan(&s, gpu_context, methods[m], 2);
    gpu_solve_repeatedly(plan, x, b, s.n, NRHS, REPEATS);
    judge(&s, methods[m], x, b, NRHS, NRHS, TRS_ROW_MAJOR);
    trs_plan_destroy(plan);
  }
  trs_matrix_destroy(s.A);
  free(b);
  free(x);
}

TEST(plans_say_what_they_were_told) {
  static const method_words cases[] = {
      {"syncfree-csc", "16 per block, sums within a block in scratchpad"},
      {"syncfree-csc:warps=4,scratchpad=no", "4 per block, no scratchpad"},
      {"syncfree-csc-rhs", "up to 6 right-hand sides at once, lanes: adaptive, p 8, q 8192"},
      {"syncfree-csc-rhs:strategy=nnz", "lanes: nnz"},
      {"syncfree-csc-rhs:q=7,p=3", "p 3, q 7"}};
  system_of s = varied_system(RANDOM, 50, 0, 4);
  assert_described(gpu_context, s.A, s.uplo, s.trans, s.diag, cases, COUNT(cases), 1);
  trs_matrix_destroy(s.A);
}

TEST(wrong_parameters_are_refused) {
  static const method_words wrong[] = {
      {"syncfree-csc:warps=5", "it takes 4, 8, 16, 32"},
      {"syncfree-csc:warps=64", "it takes 4, 8, 16, 32"},
      {"syncfree-csc:scratchpad=maybe", "it takes no, yes"},
      {"syncfree-csc:p=8", "it has warps, scratchpad"},
      {"syncfree-csc-rhs:strategy=both", "it takes adaptive, rhs, nnz"},
      {"syncfree-csc-rhs:p=-1", "a number from 0"},
      {"syncfree-csc-rhs:q=1x", "a number from 0"},
      {"syncfree-csc-rhs:warps=8", "it has strategy, p, q"}};
  system_of s = varied_system(RANDOM, 50, 0, 4);
  assert_refused(gpu_context, s.A, s.uplo, s.trans, s.diag, wrong, COUNT(wrong));
  trs_matrix_destroy(s.A);
}

const test_program program = {.end = gpu_stop, .lacks = gpu_lacks};
