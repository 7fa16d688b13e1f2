/* triangle.c - the method `blocks` on triangles of every kind, and on block factors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "bsr.h"
#include "matrix/matrix.h"
#include "sparse.h"
#include "support.h"
#include "test.h"

enum { N = 420, NRHS = 5 };

typedef struct system {
  trs_matrix *T;
  trs_uplo uplo;
  trs_trans trans;
  double x[N * NRHS], b[N * NRHS];
} system_;

static system_ *make_system(int variant) {
  system_ *s = calloc(1, sizeof *s);
  const bool lower = variant & 1, by_rows = variant & 2;
  s->uplo = lower ? TRS_LOWER : TRS_UPPER;
  s->trans = variant & 4 ? TRS_TRANS : TRS_NO_TRANS;
  triangle t = triangle_random(N, 0.05, N, lower == by_rows, TRS_DOUBLE, false, (uint64_t)variant);
  assert_success(trs_matrix_create(&s->T, by_rows ? TRS_CSR : TRS_CSC, TRS_DOUBLE, N, N, TRS_PTR64,
                                   t.ptr, t.idx, t.val, TRS_COPY));
  triangle_free(&t);
  trs_random_fill(s->b, (int64_t)N * NRHS, TRS_DOUBLE, 7);
  return s;
}

static void free_system(system_ *s) {
  trs_matrix_destroy(s->T);
  free(s);
}

static trs_plan *analyze(trs_context *ctx, const system_ *s, const char *method, trs_store store) {
  trs_plan *plan;
  const trs_options options = {.struct_size = sizeof options, .method = method, .store = store};
  assert_success(trs_analyze(&plan, ctx, s->T, s->uplo, s->trans, TRS_NONUNIT, &options));
  return plan;
}

static double solve(trs_plan *plan, system_ *s, int64_t nrhs, trs_layout layout) {
  trs_backward_error error = {.struct_size = sizeof error};
  const int64_t ld = layout == TRS_COL_MAJOR ? N : NRHS;
  memset(s->x, 0, sizeof s->x);
  assert_success(trs_solve(plan, s->x, ld, s->b, ld, nrhs, layout));
  assert_success(
      trs_check(&error, s->T, s->uplo, s->trans, TRS_NONUNIT, s->x, ld, s->b, ld, nrhs, layout));
  return error.normwise;
}

TEST(every_triangle_is_solved) {
  static const char *const places[] = {"serial", "threads:2", "threads:3"};
  static const char *const methods[] = {"blocks",        "blocks:size=2", "blocks:size=3",
                                        "blocks:size=4", "blocks:size=5", "blocks:size=6",
                                        "blocks:size=7", "blocks:size=30"};
  for (int place = 0; place < 3; place++) {
    trs_context *ctx;
    assert_success(trs_context_create(&ctx, places[place]));
    for (int variant = 0; variant < 32; variant++) {
      system_ *s = make_system(variant);
      trs_plan *plan = analyze(ctx, s, methods[(variant + variant / 8) % 8], TRS_STORE_DEFAULT);
      assert_true(solve(plan, s, 1, TRS_COL_MAJOR) < 1e-14);
      assert_true(solve(plan, s, NRHS, variant & 8 ? TRS_ROW_MAJOR : TRS_COL_MAJOR) < 1e-14);
      trs_plan_destroy(plan);
      free_system(s);
    }
    trs_context_destroy(ctx);
  }
}

/* By the inverse of the second diagonal block x_5 would be the difference of numbers near 1e10. */
TEST(badly_conditioned_blocks_are_solved_by_factors) {
  enum { ROWS = 6 };
  static const int64_t ptr[] = {0, 1, 3, 5, 6, 8, 10};
  static const int32_t idx[] = {0, 0, 1, 1, 2, 3, 3, 4, 4, 5};
  static const double val[] = {2, 1, 2, 1, 2, 1, 1e6 / 3, 1, 1e6 / 7, 1};
  static const double b[] = {1, 1, 1, 1.0 / 3, 1e6 / 9 + 1e-3, 1};
  double x[ROWS];
  trs_context *ctx;
  trs_matrix *T;
  trs_plan *plan;
  trs_backward_error error = {.struct_size = sizeof error};
  const trs_options options = {.struct_size = sizeof options, .method = "blocks:size=3"};
  assert_success(trs_context_create(&ctx, "serial"));
  assert_success(
      trs_matrix_create(&T, TRS_CSR, TRS_DOUBLE, ROWS, ROWS, TRS_PTR64, ptr, idx, val, TRS_COPY));
  assert_success(trs_analyze(&plan, ctx, T, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options));
  assert_success(trs_solve(plan, x, ROWS, b, ROWS, 1, TRS_COL_MAJOR));
  assert_success(trs_check(&error, T, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, x, ROWS, b, ROWS, 1,
                           TRS_COL_MAJOR));
  assert_true(error.componentwise < 1e-14);
  trs_plan_destroy(plan);
  trs_matrix_destroy(T);
  trs_context_destroy(ctx);
}

TEST(narrow_blocks_lose_what_their_format_says) {
  static const double limits[] = {1e-14, 1e-6, 2e-3, 1e-2};
  trs_context *ctx;
  assert_success(trs_context_create(&ctx, "serial"));
  static const trs_store stores[] = {TRS_STORE_DEFAULT, TRS_STORE_MIXED, TRS_STORE_HALF,
                                     TRS_STORE_BFLOAT};
  for (int k = 0; k < 4; k++) {
    system_ *s = make_system(3);
    trs_plan *plan = analyze(ctx, s, "blocks:size=5", stores[k]);
    const double error = solve(plan, s, 1, TRS_COL_MAJOR);
    assert_true(error < limits[k]);
    if (k > 0) assert_true(error > limits[k - 1] * 1e-2);
    trs_plan_destroy(plan);
    free_system(s);
  }
  trs_context_destroy(ctx);
}

/* b, or U, beyond the range of floats: x is refused where it cannot be one of floats, and auto
 * keeps the values of both factors where those of one do not fit. */
TEST(numbers_beyond_the_range_of_floats_are_refused) {
  static const double units[] = {1e-60, 1e60};
  trs_context *ctx;
  assert_success(trs_context_create(&ctx, "threads:2"));
  for (int k = 0; k < 2; k++) {
    system_ *s = make_system(3);
    trs_plan *plan = analyze(ctx, s, "blocks:size=5", TRS_STORE_MIXED);
    double *b = malloc(N * sizeof *b), *x = malloc(N * sizeof *x);
    for (int i = 0; i < N; i++) b[i] = 1 + i % 3;
    assert_success(trs_solve(plan, x, N, b, N, 1, TRS_COL_MAJOR));
    for (int i = 0; i < N; i++) b[i] *= units[k];
    assert_failure(TRS_ERROR_UNSUPPORTED, k ? "beyond their range" : "below their range",
                   trs_solve(plan, x, N, b, N, 1, TRS_COL_MAJOR));
    for (int i = 0; i < N; i++) b[i] = 0;
    assert_success(trs_solve(plan, x, N, b, N, 1, TRS_COL_MAJOR));
    trs_plan_destroy(plan);
    free(b), free(x);
    free_system(s);

    trs_matrix *A = sparse_grid(7, 6, 10, 0.3, TRS_DOUBLE);
    for (int64_t p = 0; p < A->nnz; p++) ((double *)A->val)[p] *= units[k];
    double all[N], solved[N];
    trs_factors *F;
    trs_backward_error error = {.struct_size = sizeof error};
    const trs_factor_options how = {
        .struct_size = sizeof how, .kind = TRS_FACTOR_BILU0, .block_size = 7};
    const trs_options mixed = {.struct_size = sizeof mixed, .store = TRS_STORE_MIXED};
    for (int i = 0; i < N; i++) all[i] = units[k];
    assert_success(trs_factor(&F, A, &how));
    assert_success(trs_analyze_factors(&plan, ctx, F, TRS_NO_TRANS, &mixed));
    assert_success(trs_solve(plan, solved, N, all, N, 1, TRS_COL_MAJOR));
    assert_success(trs_check_factors(&error, F, TRS_NO_TRANS, solved, N, all, N, 1, TRS_COL_MAJOR));
    assert_true(error.componentwise < 1e-13);
    trs_plan_destroy(plan);
    trs_factors_destroy(F);
    trs_matrix_destroy(A);
  }
  trs_context_destroy(ctx);
}

/* Values and x are ordinary floats, but their products are not. */
TEST(products_below_the_range_of_floats_are_refused) {
  static const double units[] = {1e-30, 1e-45};
  trs_context *ctx;
  assert_success(trs_context_create(&ctx, "threads:2"));
  for (trs_store store = TRS_STORE_DEFAULT; store <= TRS_STORE_BFLOAT; store++)
    for (int k = 0; k < 2; k++) {
      if (store == TRS_STORE_FLOAT) continue;
      system_ *s = make_system(3);
      for (int64_t p = 0; p < s->T->nnz; p++) ((double *)s->T->val)[p] *= 1e-30;
      for (int i = 0; i < N; i++) s->b[i] *= units[k];
      trs_plan *plan = analyze(ctx, s, "blocks:size=5", store);
      if (k == 0 || store == TRS_STORE_DEFAULT || store == TRS_STORE_DOUBLE)
        assert_true(solve(plan, s, 1, TRS_COL_MAJOR) < 1e-2);
      else
        assert_failure(TRS_ERROR_UNSUPPORTED, "has products with A below their range",
                       trs_solve(plan, s->x, N, s->b, N, 1, TRS_COL_MAJOR));
      trs_plan_destroy(plan);
      free_system(s);
    }
  trs_context_destroy(ctx);
}

TEST(threads_do_not_change_bits) {
  double first[N];
  for (int threads = 1; threads <= 4; threads++) {
    char where[32];
    trs_context *ctx;
    snprintf(where, sizeof where, "threads:%d", threads);
    assert_success(trs_context_create(&ctx, where));
    system_ *s = make_system(1);
    trs_plan *plan = analyze(ctx, s, "blocks:size=4", TRS_STORE_MIXED);
    solve(plan, s, 1, TRS_COL_MAJOR);
    if (threads == 1) memcpy(first, s->x, sizeof first);
    assert_memory_equal(first, s->x, sizeof first);
    trs_plan_destroy(plan);
    free_system(s);
    trs_context_destroy(ctx);
  }
}

TEST(updates_take_new_values) {
  trs_context *ctx;
  assert_success(trs_context_create(&ctx, "serial"));
  for (int variant = 0; variant < 8; variant++) {
    system_ *s = make_system(variant), *other = make_system(variant);
    const void *val;
    trs_matrix_info info = {.struct_size = sizeof info};
    trs_plan *plan = analyze(ctx, s, "blocks:size=6", TRS_STORE_DEFAULT);
    trs_matrix_get_info(s->T, &info);
    trs_matrix_get_arrays(other->T, NULL, NULL, &val);
    double *twice = malloc((size_t)info.nnz * sizeof *twice);
    for (int64_t p = 0; p < info.nnz; p++) twice[p] = 2 * ((const double *)val)[p];
    assert_success(trs_matrix_set_values(s->T, twice));
    assert_success(trs_update(plan, s->T));
    assert_true(solve(plan, s, 1, TRS_COL_MAJOR) < 1e-14);
    free(twice);
    trs_plan_destroy(plan);
    free_system(s);
    free_system(other);
  }
  trs_context_destroy(ctx);
}

TEST(other_systems_are_refused) {
  trs_context *ctx;
  trs_plan *plan;
  system_ *s = make_system(3);
  trs_options options = {.struct_size = sizeof options, .method = "blocks:size=11"};
  assert_success(trs_context_create(&ctx, "serial"));
  assert_failure(TRS_ERROR_ARGUMENT, "not a multiple of the block size 11",
                 trs_analyze(&plan, ctx, s->T, s->uplo, s->trans, TRS_NONUNIT, &options));
  options.method = "blocks:size=33";
  assert_failure(TRS_ERROR_ARGUMENT, "from 1 to 32",
                 trs_analyze(&plan, ctx, s->T, s->uplo, s->trans, TRS_NONUNIT, &options));
  options.method = "blocks";
  assert_failure(TRS_ERROR_UNSUPPORTED, "diagonal",
                 trs_analyze(&plan, ctx, s->T, s->uplo, s->trans, TRS_UNIT, &options));
  free_system(s);
  trs_context_destroy(ctx);
}

/* Row exchanges and orders are applied by the method itself, from b and to x. */
TEST(block_factors_are_solved_by_blocks) {
  static const trs_order orders[] = {TRS_ORDER_NATURAL, TRS_ORDER_RCM, TRS_ORDER_COLOUR};
  trs_context *ctx;
  trs_matrix *A = sparse_grid(7, 6, 10, 0.3, TRS_DOUBLE);
  double x[N * NRHS], b[N * NRHS];
  trs_random_fill(b, (int64_t)N * NRHS, TRS_DOUBLE, 3);
  assert_success(trs_context_create(&ctx, "threads:2"));
  for (int k = 0; k < 12; k++) {
    trs_factors *F;
    trs_plan *plan;
    trs_plan_info info = {.struct_size = sizeof info};
    trs_backward_error error = {.struct_size = sizeof error};
    const trs_trans trans = k & 1 ? TRS_TRANS : TRS_NO_TRANS;
    const trs_factor_options how = {.struct_size = sizeof how,
                                    .kind = k & 2 ? TRS_FACTOR_DILU : TRS_FACTOR_BILU0,
                                    .order = orders[k / 4],
                                    .block_size = 7,
                                    .pivot_threshold = 1};
    assert_success(trs_factor(&F, A, &how));
    assert_success(trs_analyze_factors(&plan, ctx, F, trans, NULL));
    trs_plan_get_info(plan, &info);
    assert_string_equal(info.method, "blocks");
    for (int64_t nrhs = 1; nrhs <= NRHS; nrhs += NRHS - 1) {
      assert_success(trs_solve(plan, x, N, b, N, nrhs, TRS_COL_MAJOR));
      assert_success(trs_check_factors(&error, F, trans, x, N, b, N, nrhs, TRS_COL_MAJOR));
      assert_true(error.componentwise < 1e-13);
    }
    trs_plan_destroy(plan);
    trs_factors_destroy(F);
  }
  trs_matrix_destroy(A);
  trs_context_destroy(ctx);
}

enum { BLOCK_ROWS = 60, MOST_BLOCKS = BLOCK_ROWS * 12, UNKNOWNS = 3 * BLOCK_ROWS };

typedef struct block_rows {
  int64_t ptr[BLOCK_ROWS + 1];
  int32_t idx[MOST_BLOCKS];
  double val[MOST_BLOCKS * 9];
} block_rows;

/* Blocks whose levels do not follow the numbers of the rows, and that fill in.  shift: where
 * diagonal blocks have their large elements. */
static void make_rows(block_rows *A, int shift, uint64_t seed) {
  int64_t at = 0;
  trs_random_fill(A->val, MOST_BLOCKS * 9, TRS_DOUBLE, seed);
  for (int i = 0; i < BLOCK_ROWS; i++) {
    A->ptr[i] = at;
    for (int j = BLOCK_ROWS - 1; j >= 0; j--)
      if (i == j || abs(i - j) == 20 || abs(i - j) == 40 || (i * j) % 11 == 1) {
        for (int r = 0; r < 3 && i == j; r++) A->val[at * 9 + ((r + shift) % 3) * 3 + r] += 30;
        A->idx[at++] = j;
      }
  }
  A->ptr[BLOCK_ROWS] = at;
  assert_true(at <= MOST_BLOCKS);
}

static trs_factors *factor_rows(const block_rows *A, trs_factor_kind kind, trs_order order) {
  trs_matrix *M;
  trs_factors *F;
  const trs_factor_options how = {.struct_size = sizeof how, .kind = kind, .order = order};
  assert_success(trs_matrix_create_bsr(&M, BSR(TRS_DOUBLE, BLOCK_ROWS, BLOCK_ROWS, 3, TRS_ROW_MAJOR,
                                               TRS_PTR64, A->ptr, A->idx, A->val)));
  assert_success(trs_factor(&F, M, &how));
  trs_matrix_destroy(M);
  return F;
}

/* The plan of other values, updated, solves as the factors of the new values do. */
TEST(plans_factor_new_values) {
  static const trs_order orders[] = {TRS_ORDER_NATURAL, TRS_ORDER_RCM, TRS_ORDER_COLOUR};
  for (int k = 0; k < 12; k++) {
    const trs_factor_kind kind = k & 1 ? TRS_FACTOR_DILU : TRS_FACTOR_BILU0;
    trs_context *ctx;
    trs_plan *plan;
    static block_rows A, B;
    double x[UNKNOWNS], b[UNKNOWNS];
    trs_backward_error error = {.struct_size = sizeof error};
    make_rows(&A, 1, 1);
    make_rows(&B, k % 3, 2); /* other row exchanges */
    trs_random_fill(b, UNKNOWNS, TRS_DOUBLE, 4);
    trs_factors *F = factor_rows(&A, kind, orders[k / 4]),
                *G = factor_rows(&B, kind, orders[k / 4]);
    assert_success(trs_context_create(&ctx, k & 2 ? "threads:2" : "serial"));
    assert_success(trs_analyze_factors(&plan, ctx, F, TRS_NO_TRANS, NULL));
    for (int time = 0; time < 2; time++) {
      assert_success(trs_update_bsr(
          plan, BSR((trs_scalar)0, 0, 0, 0, TRS_ROW_MAJOR, TRS_PTR64, B.ptr, B.idx, B.val)));
      assert_success(trs_solve(plan, x, UNKNOWNS, b, UNKNOWNS, 1, TRS_COL_MAJOR));
      assert_success(
          trs_check_factors(&error, G, TRS_NO_TRANS, x, UNKNOWNS, b, UNKNOWNS, 1, TRS_COL_MAJOR));
      assert_true(error.normwise < 1e-14);
    }
    B.idx[0] = 7;
    assert_failure(TRS_ERROR_STRUCTURE, "block row 0",
                   trs_update_bsr(plan, BSR((trs_scalar)0, 0, 0, 0, TRS_ROW_MAJOR, TRS_PTR64, B.ptr,
                                            B.idx, B.val)));
    memset(A.val, 0, sizeof A.val);
    assert_failure(TRS_ERROR_ZERO_PIVOT, "singular",
                   trs_update_bsr(plan, BSR((trs_scalar)0, 0, 0, 0, TRS_ROW_MAJOR, TRS_PTR64, A.ptr,
                                            A.idx, A.val)));
    trs_plan_destroy(plan);
    trs_factors_destroy(F);
    trs_factors_destroy(G);
    trs_context_destroy(ctx);
  }
}

/* auto solves blocks of one row by other methods until new values come. */
TEST(plans_with_blocks_of_one_row_factor_new_values) {
  static const int64_t ptr[] = {0, 2, 5, 7};
  static const int32_t idx[] = {0, 1, 0, 1, 2, 1, 2};
  static const double old[] = {4, 1, 1, 3, 1, 1, 5}, fresh[] = {5, 2, 2, 9, 1, 1, 7};
  for (trs_factor_kind kind = TRS_FACTOR_BILU0; kind <= TRS_FACTOR_DILU; kind++)
    for (int method = 0; method < 3; method++) {
      static const char *const methods[] = {NULL, "auto", "serial"};
      const trs_options options = {.struct_size = sizeof options, .method = methods[method]};
      const trs_factor_options how = {.struct_size = sizeof how, .kind = kind};
      const trs_blocks *new_values =
          BSR(TRS_DOUBLE, 3, 3, 1, TRS_ROW_MAJOR, TRS_PTR64, ptr, idx, fresh);
      trs_backward_error error = {.struct_size = sizeof error};
      double b[] = {1, 2, 3}, x[3];
      trs_context *ctx;
      trs_matrix *A, *B;
      trs_factors *F, *G;
      trs_plan *plan;
      assert_success(trs_context_create(&ctx, "threads:2"));
      assert_success(trs_matrix_create_bsr(
          &A, BSR(TRS_DOUBLE, 3, 3, 1, TRS_ROW_MAJOR, TRS_PTR64, ptr, idx, old)));
      assert_success(trs_matrix_create_bsr(&B, new_values));
      assert_success(trs_factor(&F, A, &how));
      assert_success(trs_factor(&G, B, &how));
      assert_success(trs_analyze_factors(&plan, ctx, F, TRS_NO_TRANS, &options));
      if (method == 2) {
        assert_failure(TRS_ERROR_UNSUPPORTED, "factor anew", trs_update_bsr(plan, new_values));
      } else {
        assert_success(trs_update_bsr(plan, new_values));
        assert_success(trs_solve(plan, x, 3, b, 3, 1, TRS_COL_MAJOR));
        assert_success(trs_check_factors(&error, G, TRS_NO_TRANS, x, 3, b, 3, 1, TRS_COL_MAJOR));
        assert_true(error.normwise < 1e-14);
      }
      trs_plan_destroy(plan);
      trs_factors_destroy(F);
      trs_factors_destroy(G);
      trs_matrix_destroy(A);
      trs_matrix_destroy(B);
      trs_context_destroy(ctx);
    }
}

/* The pointers are an array of their own, so that a sanitizer notices a read beyond it. */
TEST(plans_without_these_blocks_refuse_new_values) {
  static const char *const methods[] = {"serial", "blocks:size=1", "blocks"};
  static block_rows A;
  trs_context *ctx;
  make_rows(&A, 1, 1);
  int64_t *ptr = malloc(sizeof A.ptr);
  memcpy(ptr, A.ptr, sizeof A.ptr);
  trs_factors *F = factor_rows(&A, TRS_FACTOR_BILU0, TRS_ORDER_NATURAL);
  assert_success(trs_context_create(&ctx, "serial"));
  for (int k = 0; k < 3; k++) {
    const trs_options options = {.struct_size = sizeof options, .method = methods[k]};
    trs_plan *plan;
    assert_success(trs_analyze_factors(&plan, ctx, F, k == 2 ? TRS_TRANS : TRS_NO_TRANS, &options));
    assert_failure(TRS_ERROR_UNSUPPORTED, "factor anew",
                   trs_update_bsr(plan, BSR((trs_scalar)0, 0, 0, 0, TRS_ROW_MAJOR, TRS_PTR64, ptr,
                                            A.idx, A.val)));
    trs_plan_destroy(plan);
  }
  free(ptr);
  trs_factors_destroy(F);
  trs_context_destroy(ctx);
}

/* One thread solves with the factors where they are, several with copies by levels, and blocks of
 * more than 8 by factors of D. */
TEST(threads_give_the_bits_of_one_with_block_factors) {
  static const char *const places[] = {"serial", "threads:2"};
  static const trs_store stores[] = {TRS_STORE_DEFAULT, TRS_STORE_MIXED, TRS_STORE_HALF};
  static double x[2][N * 3], b[N * 3];
  trs_matrix *A = sparse_grid(N / 20, 20, 1, 0.25, TRS_DOUBLE);
  trs_random_fill(b, N * 3, TRS_DOUBLE, 3);
  for (int k = 0; k < 24; k++) {
    static const int sizes[] = {2, 3, 4, 5, 6, 7, 10, 20};
    const trs_factor_options how = {
        .struct_size = sizeof how, .kind = TRS_FACTOR_BILU0, .block_size = sizes[k % 8]};
    const trs_options options = {.struct_size = sizeof options, .store = stores[k / 8]};
    trs_factors *F;
    assert_success(trs_factor(&F, A, &how));
    for (int64_t nrhs = 1; nrhs <= 3; nrhs += 2) {
      for (int c = 0; c < 2; c++) {
        trs_context *ctx;
        trs_plan *plan;
        assert_success(trs_context_create(&ctx, places[c]));
        assert_success(trs_analyze_factors(&plan, ctx, F, TRS_NO_TRANS, &options));
        assert_success(trs_solve(plan, x[c], N, b, N, nrhs, TRS_COL_MAJOR));
        trs_plan_destroy(plan);
        trs_context_destroy(ctx);
      }
      assert_memory_equal(x[0], x[1], (size_t)(N * nrhs) * sizeof **x);
    }
    trs_factors_destroy(F);
  }
  trs_matrix_destroy(A);
}

/* Later rows read x in the caller's array, in one of the plan's, or in b's own place. */
TEST(places_of_x_do_not_change_bits) {
  static double x[N], b[N], apart[N * 3];
  trs_matrix *A = sparse_grid(N / 20, 20, 1, 0.25, TRS_DOUBLE);
  trs_context *ctx;
  trs_random_fill(b, N, TRS_DOUBLE, 3);
  assert_success(trs_context_create(&ctx, "serial"));
  for (int k = 0; k < 24; k++) {
    static const int sizes[] = {2, 3, 4, 5, 6, 7, 10, 20};
    static const trs_store stores[] = {TRS_STORE_DEFAULT, TRS_STORE_MIXED, TRS_STORE_HALF};
    const trs_factor_options how = {
        .struct_size = sizeof how, .kind = TRS_FACTOR_BILU0, .block_size = sizes[k % 8]};
    const trs_options options = {.struct_size = sizeof options, .store = stores[k / 8]};
    trs_factors *F;
    trs_plan *plan;
    assert_success(trs_factor(&F, A, &how));
    assert_success(trs_analyze_factors(&plan, ctx, F, TRS_NO_TRANS, &options));
    assert_success(trs_solve(plan, x, N, b, N, 1, TRS_COL_MAJOR));
    for (int64_t i = 0; i < N; i++) apart[3 * i] = b[i];
    assert_success(trs_solve(plan, apart, 3, apart, 3, 1, TRS_ROW_MAJOR));
    for (int64_t i = 0; i < N; i++) assert_memory_equal(&apart[3 * i], &x[i], sizeof *x);
    memcpy(apart, b, sizeof b);
    assert_success(trs_solve(plan, apart, N, apart, N, 1, TRS_COL_MAJOR));
    assert_memory_equal(apart, x, sizeof x);
    trs_plan_destroy(plan);
    trs_factors_destroy(F);
  }
  trs_context_destroy(ctx);
  trs_matrix_destroy(A);
}

/* Whether the plan has the factors to itself or not, and their values come back where not. */
TEST(factors_keep_their_values_while_the_caller_has_them) {
  static block_rows A, B;
  double b[UNKNOWNS], old[UNKNOWNS], fresh[UNKNOWNS], x[UNKNOWNS];
  trs_context *ctx;
  make_rows(&A, 0, 1);
  make_rows(&B, 1, 2);
  trs_random_fill(b, UNKNOWNS, TRS_DOUBLE, 4);
  assert_success(trs_context_create(&ctx, "serial"));
  for (int alone = 0; alone < 2; alone++) {
    trs_factors *F = factor_rows(&A, TRS_FACTOR_BILU0, TRS_ORDER_RCM);
    trs_plan *plan;
    assert_success(trs_analyze_factors(&plan, ctx, F, TRS_NO_TRANS, NULL));
    assert_success(trs_solve(plan, old, UNKNOWNS, b, UNKNOWNS, 1, TRS_COL_MAJOR));
    if (alone) trs_factors_destroy(F);
    assert_success(trs_update_bsr(
        plan, BSR((trs_scalar)0, 0, 0, 0, TRS_ROW_MAJOR, TRS_PTR64, B.ptr, B.idx, B.val)));
    assert_success(trs_solve(plan, alone ? x : fresh, UNKNOWNS, b, UNKNOWNS, 1, TRS_COL_MAJOR));
    if (alone) {
      assert_memory_equal(x, fresh, sizeof x);
    } else {
      assert_memory_not_equal(fresh, old, sizeof x);
      assert_success(trs_update_factors(plan, F));
      assert_success(trs_solve(plan, x, UNKNOWNS, b, UNKNOWNS, 1, TRS_COL_MAJOR));
      assert_memory_equal(x, old, sizeof x);
      trs_factors_destroy(F);
    }
    trs_plan_destroy(plan);
  }
  trs_context_destroy(ctx);
}

static trs_status factor_and_solve(void *argument) {
  static const double val[] = {4, 1, 1, 5, -1, 0, 0, -1, -1, 0, 0, -1, 6, 1, 0, 5};
  static const int32_t ptr[] = {0, 2, 4}, idx[] = {0, 1, 0, 1};
  const trs_factor_options how = {.struct_size = sizeof how, .kind = TRS_FACTOR_BILU0};
  const trs_blocks *blocks = BSR(TRS_DOUBLE, 2, 2, 2, TRS_COL_MAJOR, TRS_PTR32, ptr, idx, val);
  double x[4], b[4] = {1, 2, 3, 4};
  trs_backward_error error = {.struct_size = sizeof error};
  trs_matrix *A;
  trs_factors *F = NULL;
  trs_plan *plan = NULL;
  TRS_TRY(trs_matrix_create_bsr(&A, blocks));
  trs_status status = trs_factor(&F, A, &how);
  trs_matrix_destroy(A);
  if (!status) status = trs_analyze_factors(&plan, argument, F, TRS_NO_TRANS, NULL);
  if (!status) status = trs_update_bsr(plan, blocks);
  if (!status) status = trs_solve(plan, x, 4, b, 4, 1, TRS_COL_MAJOR);
  if (!status) status = trs_check_factors(&error, F, TRS_NO_TRANS, x, 4, b, 4, 1, TRS_COL_MAJOR);
  trs_plan_destroy(plan);
  trs_factors_destroy(F);
  return status;
}

TEST(failing_allocations_of_block_factors_are_reported) {
  static const char *const places[] = {"serial", "threads:2"};
  for (int k = 0; k < 2; k++) {
    trs_context *ctx;
    assert_success(trs_context_create(&ctx, places[k]));
    assert_survives_failing_allocations(factor_and_solve, ctx);
    trs_context_destroy(ctx);
  }
}

typedef struct attempt {
  trs_context *ctx;
  const system_ *s;
} attempt;

static trs_status analyze_once(void *argument) {
  const attempt *a = argument;
  trs_plan *plan;
  const trs_options options = {.struct_size = sizeof options, .method = "blocks:size=5"};
  TRS_TRY(trs_analyze(&plan, a->ctx, a->s->T, a->s->uplo, a->s->trans, TRS_NONUNIT, &options));
  trs_plan_destroy(plan);
  return TRS_SUCCESS;
}

TEST(failing_allocations_are_reported) {
  attempt a = {.s = make_system(4)};
  assert_success(trs_context_create(&a.ctx, "serial"));
  assert_survives_failing_allocations(analyze_once, &a);
  free_system((system_ *)a.s);
  trs_context_destroy(a.ctx);
}
