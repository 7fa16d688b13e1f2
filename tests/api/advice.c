/* advice.c - what messages of the C interface advise is done: each call that they name succeeds.
 * tests/advice/table.py lists the messages. */
#include <complex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "io/scratch.h"
#include "test.h"
#include "trireme.h"

static trs_context *ctx;

static int begin(void **state) { return trs_context_create(&ctx, "threads:2") != TRS_SUCCESS; }

static int end(void **state) {
  trs_context_destroy(ctx);
  return scratch_remove(state);
}

static trs_matrix *generated(const char *name) {
  trs_matrix *A;
  assert_success(trs_matrix_read(&A, name, NULL));
  return A;
}

static trs_factors *factored(const trs_matrix *A, trs_factor_kind kind) {
  trs_factor_options options = {
      .struct_size = sizeof options, .kind = kind, .block_size = kind == TRS_FACTOR_BILU0 ? 2 : 0};
  trs_factors *F;
  assert_success(trs_factor(&F, A, &options));
  return F;
}

TEST(each_plan_has_its_update) {
  trs_matrix *A = generated("gen:poisson2d5:6");
  trs_factors *F = factored(A, TRS_FACTOR_ILU0), *other = factored(A, TRS_FACTOR_ILU0);
  trs_plan *one, *both;
  double x[36], b[36] = {1};
  trs_options options = {.struct_size = sizeof options, .take_triangle = 1};
  assert_success(trs_analyze(&one, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options));
  assert_success(trs_analyze_factors(&both, ctx, F, TRS_NO_TRANS, NULL));
  assert_failure(TRS_ERROR_ARGUMENT, "call trs_update_factors", trs_update(both, A));
  assert_success(trs_solve(both, x, 36, b, 36, 1, TRS_COL_MAJOR)); /* nothing was begun */
  assert_success(trs_update_factors(both, F));
  assert_failure(TRS_ERROR_ARGUMENT, "call trs_update", trs_update_factors(one, F));
  assert_success(trs_solve(one, x, 36, b, 36, 1, TRS_COL_MAJOR));
  assert_success(trs_update(one, A));
  assert_failure(TRS_ERROR_ARGUMENT, "update those, or analyse these",
                 trs_update_factors(both, other));
  trs_plan_destroy(both);
  assert_success(trs_analyze_factors(&both, ctx, other, TRS_NO_TRANS, NULL));
  trs_plan_destroy(both);
  trs_plan_destroy(one);
  trs_factors_destroy(F);
  trs_factors_destroy(other);
  trs_matrix_destroy(A);
}

TEST(factors_are_solved_with_as_a_whole) {
  trs_matrix *A = generated("gen:poisson2d5:6");
  trs_factors *F = factored(A, TRS_FACTOR_ILU0);
  double x[36], b[36] = {1};
  void *own = x;
  const void *given = b;
  trs_plan *plan;
  assert_success(trs_analyze_factors(&plan, ctx, F, TRS_NO_TRANS, NULL));
  assert_failure(TRS_ERROR_UNSUPPORTED, "use trs_solve, or plans of the two triangles",
                 trs_solve_distributed(plan, &own, 36, &given, 36, 1, TRS_COL_MAJOR));
  assert_success(trs_solve(plan, x, 36, b, 36, 1, TRS_COL_MAJOR));
  trs_plan_destroy(plan);
  trs_factors_info info = {.struct_size = sizeof info};
  assert_success(trs_factors_get_info(F, &info));
  assert_success(trs_analyze(&plan, ctx, info.U, TRS_UPPER, TRS_NO_TRANS, info.diag_U, NULL));
  assert_success(trs_solve(plan, x, 36, x, 36, 1, TRS_COL_MAJOR));
  trs_plan_destroy(plan);
  trs_factors_destroy(F);
  trs_matrix_destroy(A);
}

TEST(a_matrix_in_another_type_is_converted) {
  trs_matrix *A = generated("gen:poisson2d5:6"), *B, *Z;
  trs_options options = {
      .struct_size = sizeof options, .take_triangle = 1, .store = TRS_STORE_FLOAT};
  trs_plan *plan;
  assert_failure(TRS_ERROR_UNSUPPORTED, "convert the matrix (trs_matrix_convert), or take",
                 trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options));
  assert_success(trs_matrix_convert(&B, A, TRS_CSR, TRS_FLOAT));
  assert_success(trs_analyze(&plan, ctx, B, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options));
  trs_plan_destroy(plan);
  options.store = TRS_STORE_MIXED;
  assert_success(trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options));
  trs_plan_destroy(plan);
  trs_matrix_destroy(B);
  assert_success(trs_matrix_convert(&Z, A, TRS_CSR, TRS_DCOMPLEX));
  assert_failure(TRS_ERROR_ARGUMENT, "ask for a complex type",
                 trs_matrix_convert(&B, Z, TRS_CSR, TRS_DOUBLE));
  assert_success(trs_matrix_convert(&B, Z, TRS_CSC, TRS_SCOMPLEX));
  trs_matrix_destroy(B);
  trs_matrix_destroy(Z);
  trs_matrix_destroy(A);
}

#define MM "%%MatrixMarket matrix "

static void read_whole(const char *path, const char *words) {
  trs_matrix *A;
  assert_failure(TRS_ERROR_UNSUPPORTED, words,
                 trs_matrix_open(&A, path, TRS_CSC, TRS_LOWER, 0, NULL));
  assert_success(trs_matrix_read(&A, path, NULL));
  trs_matrix_destroy(A);
}

TEST(what_has_no_parts_is_read_whole) {
  read_whole("gen:poisson2d5:3", "use trs_matrix_read");
  read_whole(scratch_text("a.mtx", MM "array real general\n1 1\n2\n"), "(trs_matrix_read)");
  read_whole(scratch_text("p.mtx", MM "coordinate pattern general\n2 2 2\n1 1\n2 2\n"),
             "open it in CSR, or read all of it (trs_matrix_read)");
  read_whole(
      scratch_text("a.rb", "T\n3 1 1 1\nrua 1 1 1 0\n(4I3) (4I3) (4F8.1)\n  1  2\n  1\n     1.0\n"),
      "(trs_matrix_read)");
  trs_matrix *A;
  assert_success(trs_matrix_open(&A, scratch("p.mtx"), TRS_CSR, TRS_LOWER, 0, NULL));
  trs_matrix_destroy(A);
  trs_matrix *B = generated("gen:poisson2d5:3");
  assert_success(trs_matrix_write(B, scratch("a.h5")));
  trs_matrix_destroy(B);
  if (TRS_HAVE_HDF5) read_whole(scratch("a.h5"), "read all of it (trs_matrix_read)");
}

TEST(deferred_values_are_read_whole) {
  const char *path = scratch_text("a.mtx", MM "coordinate real general\n2 2 2\n1 1 1\n2 2 1\n");
  trs_matrix *A, *B;
  trs_plan *plan;
  assert_success(trs_matrix_open(&A, path, TRS_CSR, TRS_LOWER, 0, NULL));
  assert_failure(TRS_ERROR_UNSUPPORTED, "read all of it (trs_matrix_read)",
                 trs_matrix_convert(&B, A, TRS_CSC, TRS_DOUBLE));
  assert_failure(TRS_ERROR_UNSUPPORTED, "read it whole (trs_matrix_read)",
                 trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, NULL));
  trs_matrix_destroy(A);
  assert_success(trs_matrix_read(&A, path, NULL));
  assert_success(trs_matrix_convert(&B, A, TRS_CSC, TRS_DOUBLE));
  assert_success(trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, NULL));
  trs_plan_destroy(plan);
  trs_matrix_destroy(A);
  trs_matrix_destroy(B);
}

TEST(x_and_b_may_be_one_array) {
  trs_matrix *A = generated("gen:poisson2d5:3");
  trs_options options = {.struct_size = sizeof options, .take_triangle = 1};
  double x[20] = {1};
  trs_plan *plan;
  assert_success(trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options));
  assert_failure(TRS_ERROR_ARGUMENT, "pass the same array with ldx == ldb, or distinct ones",
                 trs_solve(plan, x + 1, 9, x, 9, 1, TRS_COL_MAJOR));
  assert_success(trs_solve(plan, x, 9, x, 9, 1, TRS_COL_MAJOR));
  assert_success(trs_solve(plan, x + 9, 9, x, 9, 1, TRS_COL_MAJOR));
  trs_plan_destroy(plan);
  trs_matrix_destroy(A);
}

TEST(blocks_are_factored_anew) {
  trs_matrix *A = generated("gen:poisson2d5:4");
  trs_factors *F = factored(A, TRS_FACTOR_ILU0);
  trs_plan *plan;
  int64_t ptr[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  int32_t idx[] = {0, 1, 2, 3, 4, 5, 6, 7};
  double val[32] = {0};
  trs_blocks blocks = {.struct_size = sizeof blocks,
                       .scalar = TRS_DOUBLE,
                       .block_size = 2,
                       .nrows = 8,
                       .ncols = 8,
                       .ptr = ptr,
                       .idx = idx,
                       .val = val};
  assert_success(trs_analyze_factors(&plan, ctx, F, TRS_NO_TRANS, NULL));
  assert_failure(TRS_ERROR_UNSUPPORTED, "factor anew", trs_update_bsr(plan, &blocks));
  trs_plan_destroy(plan);
  trs_factors_destroy(F);
  F = factored(A, TRS_FACTOR_BILU0);
  assert_success(trs_analyze_factors(&plan, ctx, F, TRS_NO_TRANS, NULL));
  trs_plan_destroy(plan);
  trs_factors_destroy(F);
  trs_matrix_destroy(A);
}

TEST(names_of_files_say_the_format) {
  trs_matrix *A = generated("gen:poisson2d5:3");
  trs_factors *F = factored(A, TRS_FACTOR_ILU0);
  const double x[9] = {1};
  assert_failure(TRS_ERROR_ARGUMENT, "a name that ends with .h5",
                 trs_factors_write(F, scratch("F.mtx")));
  assert_success(trs_factors_write(F, scratch("F.mtx.h5")));
  assert_failure(TRS_ERROR_UNSUPPORTED, "a name that ends with .mtx",
                 trs_vectors_write(x, 9, 1, 9, TRS_COL_MAJOR, TRS_DOUBLE, scratch("x.h5")));
  assert_success(trs_vectors_write(x, 9, 1, 9, TRS_COL_MAJOR, TRS_DOUBLE, scratch("x.h5.mtx")));
  trs_factors_destroy(F);
  trs_matrix_destroy(A);
}

TEST(a_file_that_changed_is_opened_again) {
  const char *path = scratch_text("a.mtx", MM "coordinate real general\n2 2 2\n1 1 1\n2 2 1\n");
  trs_matrix *A, *B;
  assert_success(trs_matrix_open(&A, path, TRS_CSR, TRS_LOWER, 0, NULL));
  scratch_text("a.mtx", MM "coordinate real general\n2 2 2\n1 1 11\n2 2 1\n");
  trs_matrix_destroy(A);
  assert_success(trs_matrix_open(&A, path, TRS_CSR, TRS_LOWER, 0, NULL));
  assert_success(trs_matrix_read(&B, path, NULL));
  trs_matrix_destroy(A);
  trs_matrix_destroy(B);
}

const test_program program = {.begin = begin, .end = end};
