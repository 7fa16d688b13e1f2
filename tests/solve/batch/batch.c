/* batch.c - batches: every system has the x of a batch of that system alone, bit by bit, for all
 * types, triangles, formats, numbers of systems and of right-hand sides; faults of single systems;
 * misuse; the same of factors, with permutations and scalings. */
#include <math.h>
#include <pthread.h>

#include "base/random.h"
#include "factored.h"
#include "sparse.h"
#include "systems.h"
#include "test.h"

static trs_context *ctx;

static int begin(void **state) { return trs_context_create(&ctx, "threads:2") != TRS_SUCCESS; }
static int end(void **state) {
  trs_context_destroy(ctx);
  return 0;
}
const test_program program = {.begin = begin, .end = end};

static void solve_and_check(const systems *s, int64_t nrhs) {
  const trs_layout layout = s->kind.layout;
  const int64_t n = s->t.n, ld = (layout == TRS_COL_MAJOR ? n : nrhs) + 1;
  const int64_t next = ld * (layout == TRS_COL_MAJOR ? nrhs : n) + 3;
  const size_t bytes = (size_t)(next * s->count + 1) * scalar_bytes(s->kind.scalar);
  void *b = malloc(bytes), *x = malloc(bytes), *place = malloc(bytes);
  trs_plan *B = systems_batch(ctx, s, s->count, nrhs), *one = systems_batch(ctx, s, 1, 1);
  trs_random_fill(b, next * s->count, s->kind.scalar, 3);
  memcpy(place, b, bytes);
  memcpy(x, b, bytes);
  assert_success(trs_batch_update(B, s->val, s->nnz));
  assert_success(trs_batch_solve(B, x, ld, next, b, ld, next, nrhs, layout));
  assert_success(trs_batch_solve(B, place, ld, next, place, ld, next, nrhs, layout));
  assert_memory_equal(x, place, (size_t)(next * s->count) * scalar_bytes(s->kind.scalar));
  assert_systems_solved(s, one, 1, x, b, ld, next, nrhs);
  trs_plan_destroy(B);
  trs_plan_destroy(one);
  free(b);
  free(x);
  free(place);
}

TEST(every_system_has_the_x_of_a_batch_of_its_own) {
  static const int64_t counts[] = {1, 7, 8, 9, 17, 33}, numbers[] = {1, 3, 4, 5, 9};
  int c = 0;
  for (int scalar = TRS_FLOAT; scalar <= TRS_DCOMPLEX; scalar++)
    for (int format = 0; format < 2; format++)
      for (int uplo = TRS_LOWER; uplo <= TRS_UPPER; uplo++)
        for (int trans = 0; trans < 3; trans++)
          for (int diag = 0; diag < 2; diag++)
            for (int layout = 0; layout < 2; layout++, c++) {
              const system_kind kind = {(trs_scalar)scalar, (trs_format)format, (trs_uplo)uplo,
                                        (trs_trans)trans,   (trs_diag)diag,     (trs_layout)layout};
              const int64_t n = c % 11 == 0 ? 1 : 23;
              systems s = systems_random(n, 0.1, n, kind, counts[c % (int)COUNT(counts)]);
              solve_and_check(&s, numbers[c % (int)COUNT(numbers)]);
              systems_free(&s);
            }
}

/* Enough work for two threads. */
TEST(threads_share_the_systems) {
  systems s = systems_random(200, 0.1, 200, plain_kind, 100);
  solve_and_check(&s, 4);
  systems_free(&s);
}

TEST(entries_may_stand_in_any_order_and_repeat_and_the_triangle_is_taken_from_a_whole_matrix) {
  assert_whole_matrix_taken(ctx);
}

TEST(a_zero_pivot_names_its_system_and_row_and_all_others_are_solved) {
  systems s = systems_random(FAULTY_ROWS, 0.1, FAULTY_ROWS, plain_kind, FAULTY_COUNT);
  trs_plan *B = systems_batch(ctx, &s, s.count, 1);
  assert_faults_are_told(&s, B);
  trs_plan_destroy(B);
  systems_free(&s);
}

TEST(borrowed_arrays_may_go_before_the_batch) {
  int64_t *ptr = malloc(3 * sizeof *ptr);
  int32_t *idx = malloc(3 * sizeof *idx);
  double val[] = {2, 1, 4}, b[] = {2, 9}, x[2];
  trs_matrix *T;
  trs_plan *B;
  memcpy(ptr, (int64_t[]){0, 1, 3}, 3 * sizeof *ptr);
  memcpy(idx, (int32_t[]){0, 0, 1}, 3 * sizeof *idx);
  assert_success(
      trs_matrix_create(&T, TRS_CSR, TRS_DOUBLE, 2, 2, TRS_PTR64, ptr, idx, val, TRS_BORROW));
  assert_success(trs_batch_create(&B, ctx, T, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, 1, NULL));
  trs_matrix_destroy(T);
  memset(ptr, 0x55, 3 * sizeof *ptr);
  memset(idx, 0x55, 3 * sizeof *idx);
  free(ptr);
  free(idx);
  assert_success(trs_batch_update(B, val, 0));
  assert_success(trs_batch_solve(B, x, 2, 0, b, 2, 0, 1, TRS_COL_MAJOR));
  assert_true(x[0] == 1 && x[1] == 2);
  trs_plan_destroy(B);
}

TEST(misuse_is_refused_by_name) {
  systems s = systems_random(4, 0.1, 4, plain_kind, 3);
  trs_matrix *T = systems_matrix(&s, 0);
  double b[40] = {0}, x[40];
  trs_plan *B;
  trs_batch_options wrong = {.struct_size = sizeof wrong, .nrhs = -1};
  assert_failure(TRS_ERROR_ARGUMENT, "A is NULL",
                 trs_batch_create(&B, ctx, NULL, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, 3, NULL));
  assert_failure(TRS_ERROR_ARGUMENT, "count is -1",
                 trs_batch_create(&B, ctx, T, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, -1, NULL));
  assert_failure(TRS_ERROR_ARGUMENT, "nrhs",
                 trs_batch_create(&B, ctx, T, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, 3, &wrong));
  assert_failure(TRS_ERROR_ARGUMENT, "uplo",
                 trs_batch_create(&B, ctx, T, TRS_GENERAL, TRS_NO_TRANS, TRS_NONUNIT, 3, NULL));
  assert_null(B);
  assert_success(trs_batch_create(&B, ctx, T, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, 3, NULL));
  assert_failure(TRS_ERROR_ARGUMENT, "call trs_batch_update first",
                 trs_batch_solve(B, x, 4, 0, b, 4, 0, 1, TRS_COL_MAJOR));
  assert_failure(TRS_ERROR_ARGUMENT, "stride_val is 1, less", trs_batch_update(B, s.val, 1));
  assert_failure(TRS_ERROR_ARGUMENT, "trs_batch_update of this batch failed",
                 trs_batch_solve(B, x, 4, 0, b, 4, 0, 1, TRS_COL_MAJOR));
  assert_success(trs_batch_update(B, s.val, s.nnz));
  assert_failure(TRS_ERROR_ARGUMENT, "ldx is 3",
                 trs_batch_solve(B, x, 3, 0, b, 4, 0, 1, TRS_COL_MAJOR));
  assert_failure(TRS_ERROR_ARGUMENT, "stride_b is 3, less",
                 trs_batch_solve(B, x, 4, 4, b, 4, 3, 1, TRS_COL_MAJOR));
  assert_failure(TRS_ERROR_ARGUMENT, "stride_x is -4",
                 trs_batch_solve(B, x, 4, -4, b, 4, 4, 1, TRS_COL_MAJOR));
  assert_failure(TRS_ERROR_ARGUMENT, "overlap",
                 trs_batch_solve(B, b + 5, 4, 0, b, 4, 0, 1, TRS_COL_MAJOR));
  assert_failure(TRS_ERROR_ARGUMENT, "overlap",
                 trs_batch_solve(B, b, 4, 4, b, 4, 5, 1, TRS_COL_MAJOR));
  assert_failure(TRS_ERROR_ARGUMENT, "beyond the address space",
                 trs_batch_solve(B, x, 4, INT64_MAX / 2, b, 4, 0, 1, TRS_COL_MAJOR));
  assert_success(trs_batch_solve(B, x, 4, 0, b, 4, 0, 0, TRS_COL_MAJOR));
  trs_batch_info info = {.struct_size = sizeof info};
  assert_success(trs_batch_get_info(B, &info));
  assert_int_equal(info.n, 4);
  assert_int_equal(info.count, 3);
  assert_int_equal(info.systems_at_once, 8);
  assert_true(info.bytes > 0);
  trs_plan_destroy(B);
  trs_plan_destroy(NULL);
  assert_success(trs_batch_create(&B, ctx, T, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, 0, NULL));
  assert_success(trs_batch_update(B, NULL, 0));
  assert_success(trs_batch_solve(B, NULL, 4, 0, NULL, 4, 0, 1, TRS_COL_MAJOR));
  trs_plan_destroy(B);
  trs_matrix_destroy(T);
  systems_free(&s);
}

/* A solve in a thread of its own. */
typedef struct work {
  trs_plan *plan;
  const systems *s;
  const double *b;
  double *x;
  trs_status status;
} work;

static void *solve_often(void *argument) {
  work *w = argument;
  for (int k = 0; k < 50 && !w->status; k++)
    w->status = trs_batch_solve(w->plan, w->x, w->s->t.n, 0, w->b, w->s->t.n, 0, 1, TRS_COL_MAJOR);
  return NULL;
}

TEST(clones_solve_at_the_same_time_and_outlive_their_plan) {
  enum { N = 60, COUNT_OF = 17, CLONES = 3 };
  systems s = systems_random(N, 0.1, N, plain_kind, COUNT_OF);
  double b[COUNT_OF * N], right[COUNT_OF * N], x[CLONES][COUNT_OF * N];
  trs_plan *B = systems_batch(ctx, &s, COUNT_OF, 1);
  trs_random_fill(b, COUNT_OF * N, TRS_DOUBLE, 3);
  assert_success(trs_batch_update(B, s.val, 0));
  assert_success(trs_batch_solve(B, right, N, 0, b, N, 0, 1, TRS_COL_MAJOR));
  work w[CLONES];
  pthread_t thread[CLONES];
  for (int k = 0; k < CLONES; k++) {
    w[k] = (work){.s = &s, .b = b, .x = x[k]};
    assert_success(trs_plan_clone(&w[k].plan, k == 1 ? w[0].plan : B)); /* also of a clone */
  }
  assert_failure(TRS_ERROR_ARGUMENT, "3 clones", trs_batch_update(B, s.val, 0));
  assert_failure(TRS_ERROR_ARGUMENT, "a clone has the values",
                 trs_batch_update(w[0].plan, s.val, 0));
  assert_success(trs_batch_solve(B, right, N, 0, b, N, 0, 1, TRS_COL_MAJOR));
  trs_plan_destroy(B);
  for (int k = 0; k < CLONES; k++)
    assert_int_equal(pthread_create(&thread[k], NULL, solve_often, &w[k]), 0);
  for (int k = 0; k < CLONES; k++) {
    pthread_join(thread[k], NULL);
    assert_success(w[k].status);
    assert_memory_equal(x[k], right, sizeof right);
    trs_plan_destroy(w[k].plan);
  }
  systems_free(&s);
}

TEST(values_are_taken_again_when_no_clone_is_left) {
  systems s = systems_random(4, 1, 4, plain_kind, 3);
  double x[12] = {0}, b[12] = {1};
  trs_plan *B = systems_batch(ctx, &s, 3, 1), *clone;
  assert_success(trs_plan_clone(&clone, B));
  assert_failure(TRS_ERROR_ARGUMENT, "no values",
                 trs_batch_solve(clone, x, 4, 0, b, 4, 0, 1, TRS_COL_MAJOR));
  trs_plan_destroy(clone);
  assert_success(trs_batch_update(B, s.val, 0));
  assert_success(trs_batch_solve(B, x, 4, 0, b, 4, 0, 1, TRS_COL_MAJOR));
  trs_plan_destroy(B);
  systems_free(&s);
}

TEST(a_batch_is_a_plan_and_says_which_calls_are_its_own) {
  systems s = systems_random(4, 1, 4, plain_kind, 3);
  double x[12] = {0}, b[12] = {1}, seconds;
  int64_t *rows, levels;
  char text[200];
  trs_matrix *T = systems_matrix(&s, 0);
  trs_plan *B = systems_batch(ctx, &s, 3, 1), *plan;
  trs_plan_info info = {.struct_size = sizeof info};
  trs_plan_share share = {.struct_size = sizeof share};
  trs_batch_info facts = {.struct_size = sizeof facts};
  void *streams[1] = {NULL}, *xs[1] = {x};
  const void *bs[1] = {b};
  assert_true(trs_plan_describe(B, text, sizeof text) > 0);
  assert_non_null(strstr(text, "groups: 3 systems of 4 rows, 8 at once"));
  assert_success(trs_plan_wait(B));
  assert_success(trs_plan_set_stream(B, NULL));
  assert_failure(TRS_ERROR_ARGUMENT, "is of a batch: call trs_batch_solve",
                 trs_solve(B, x, 4, b, 4, 1, TRS_COL_MAJOR));
  assert_failure(TRS_ERROR_ARGUMENT, "is of a batch: call trs_batch_update", trs_update(B, T));
  assert_failure(TRS_ERROR_ARGUMENT, "is of a batch: call trs_batch_update",
                 trs_update_factors(B, NULL));
  assert_failure(TRS_ERROR_ARGUMENT, "is of a batch", trs_update_bsr(B, NULL));
  assert_failure(TRS_ERROR_ARGUMENT, "is of a batch", trs_plan_set_streams(B, streams));
  assert_failure(TRS_ERROR_ARGUMENT, "is of a batch",
                 trs_solve_distributed(B, xs, 4, bs, 4, 1, TRS_COL_MAJOR));
  assert_failure(TRS_ERROR_ARGUMENT, "is of a batch", trs_plan_get_share(B, &share, NULL, 0, 1));
  assert_failure(TRS_ERROR_ARGUMENT, "trs_batch_get_info", trs_plan_get_info(B, &info));
  assert_failure(TRS_ERROR_ARGUMENT, "is of a batch", trs_plan_get_levels(B, &rows, &levels));
  assert_failure(TRS_ERROR_ARGUMENT, "is of a batch", trs_plan_bound(B, &seconds));
  assert_success(trs_batch_update(B, s.val, 0)); /* none of these was an update */
  assert_success(trs_batch_solve(B, x, 4, 0, b, 4, 0, 1, TRS_COL_MAJOR));
  trs_plan_destroy(B);
  assert_success(trs_analyze(&plan, ctx, T, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, NULL));
  assert_failure(TRS_ERROR_ARGUMENT, "one triangle: call trs_update",
                 trs_batch_update(plan, s.val, 0));
  assert_failure(TRS_ERROR_ARGUMENT, "one triangle: call trs_update",
                 trs_batch_update_factors(plan, s.val, 0, s.val, 0));
  assert_failure(TRS_ERROR_ARGUMENT, "one triangle: call trs_solve",
                 trs_batch_solve(plan, x, 4, 0, b, 4, 0, 1, TRS_COL_MAJOR));
  assert_failure(TRS_ERROR_ARGUMENT, "one triangle: call trs_plan_get_info",
                 trs_batch_get_info(plan, &facts));
  assert_failure(TRS_ERROR_ARGUMENT, "plan is NULL", trs_batch_update(NULL, s.val, 0));
  assert_success(trs_solve(plan, x, 4, b, 4, 1, TRS_COL_MAJOR));
  trs_plan_destroy(plan);
  trs_matrix_destroy(T);
  systems_free(&s);
}

TEST(every_allocation_may_fail) { assert_batch_survives(ctx); }

static trs_status clone_once(void *plan) {
  trs_plan *clone;
  trs_status status = trs_plan_clone(&clone, plan);
  trs_plan_destroy(clone);
  return status;
}

TEST(every_allocation_of_a_clone_may_fail) {
  systems s = systems_random(30, 0.2, 30, plain_kind, 9);
  trs_plan *B = systems_batch(ctx, &s, 9, 1);
  assert_survives_failing_allocations(clone_once, B);
  assert_success(trs_batch_update(B, s.val, 0));
  trs_plan_destroy(B);
  systems_free(&s);
}

/* ---- Factors ---- */

static void solve_and_check_factored(const factored *f, int64_t nrhs) {
  const trs_layout layout = f->kind.layout;
  const int64_t n = f->n, ld = (layout == TRS_COL_MAJOR ? n : nrhs) + 1;
  const int64_t next = ld * (layout == TRS_COL_MAJOR ? nrhs : n) + 3;
  const size_t bytes = (size_t)(next * f->count) * scalar_bytes(f->kind.scalar);
  void *b = malloc(bytes + 1), *x = malloc(bytes + 1), *place = malloc(bytes + 1);
  trs_plan *B = factored_batch(ctx, f, f->count, nrhs), *one = factored_batch(ctx, f, 1, 1);
  trs_random_fill(b, next * f->count, f->kind.scalar, 3);
  memcpy(place, b, bytes);
  memcpy(x, b, bytes);
  assert_success(factored_update(B, f, 0));
  assert_success(trs_batch_solve(B, x, ld, next, b, ld, next, nrhs, layout));
  assert_success(trs_batch_solve(B, place, ld, next, place, ld, next, nrhs, layout));
  assert_memory_equal(x, place, bytes);
  assert_factored_solved(f, one, 1, x, b, ld, next, nrhs);
  trs_plan_destroy(B);
  trs_plan_destroy(one);
  free(b);
  free(x);
  free(place);
}

TEST(every_system_of_factors_has_the_x_of_a_batch_of_its_own) {
  static const int64_t counts[] = {1, 7, 8, 9, 17, 33}, numbers[] = {1, 3, 4, 5, 9};
  for (int c = 0; c < 240; c++) {
    const int64_t n = c % 11 == 0 ? 1 : c % 13 == 0 ? 40 : 23;
    factored f = factored_random(n, 0.1, n, factored_case(c), counts[c % 6]);
    solve_and_check_factored(&f, numbers[c / 6 % 5]);
    factored_free(&f);
  }
}

TEST(threads_share_the_systems_of_factors) {
  factored f = factored_random(200, 0.1, 200, factored_case(9), 100);
  solve_and_check_factored(&f, 4);
  factored_free(&f);
}

/* Strides may leave gaps between the values of systems. */
TEST(values_of_factors_may_have_gaps) {
  enum { N = 23, SYSTEMS = 11 };
  factored f = factored_random(N, 0.1, N, factored_case(1), SYSTEMS);
  const int64_t next_L = f.nnz_L + 3, next_U = f.nnz_U + 5;
  double *L_val = calloc((size_t)(SYSTEMS * next_L), sizeof *L_val),
         *U_val = calloc((size_t)(SYSTEMS * next_U), sizeof *U_val), b[N * SYSTEMS], x[N * SYSTEMS],
         near[N * SYSTEMS];
  assert_int_equal(f.kind.scalar, TRS_DOUBLE);
  for (int64_t s = 0; s < SYSTEMS; s++) {
    memcpy(L_val + s * next_L, element(f.L_val, s * f.nnz_L, TRS_DOUBLE), (size_t)f.nnz_L * 8);
    memcpy(U_val + s * next_U, element(f.U_val, s * f.nnz_U, TRS_DOUBLE), (size_t)f.nnz_U * 8);
  }
  trs_random_fill(b, N * SYSTEMS, TRS_DOUBLE, 4);
  trs_plan *B = factored_batch(ctx, &f, SYSTEMS, 1);
  assert_success(factored_update(B, &f, 0));
  assert_success(trs_batch_solve(B, near, N, 0, b, N, 0, 1, TRS_COL_MAJOR));
  assert_success(trs_batch_update_factors(B, L_val, next_L, U_val, next_U));
  assert_success(trs_batch_solve(B, x, N, 0, b, N, 0, 1, TRS_COL_MAJOR));
  assert_memory_equal(x, near, sizeof x);
  trs_plan_destroy(B);
  free(L_val);
  free(U_val);
  factored_free(&f);
}

TEST(one_matrix_may_hold_both_factors) { assert_common_matrix_taken(ctx); }

TEST(every_kind_of_factors_is_solved) { assert_kinds_are_solved(ctx); }

TEST(a_zero_pivot_of_factors_names_its_system_factor_and_row) {
  assert_faults_of_factors_are_told(ctx);
}

/* The values of trs_factors_refactor are those of a batch with the pivots and scalings of the first
 * factors. */
TEST(a_batch_takes_the_values_of_refactored_factors) {
  enum { N = 60, SYSTEMS = 10 };
  static double b[N * SYSTEMS], x[N * SYSTEMS], alone[N];
  trs_matrix *A = sparse_random(N, 0.05, (sparse_kind){.scalar = TRS_DOUBLE}, 8), *again;
  const int64_t *ptr;
  const int32_t *idx;
  const void *of_A, *of_L, *of_U;
  trs_factors *F;
  trs_plan *B;
  trs_plan *plan;
  assert_success(trs_factor(
      &F, A,
      &(trs_factor_options){.struct_size = sizeof(trs_factor_options), .order = TRS_ORDER_RCM}));
  assert_success(trs_matrix_get_arrays(A, &ptr, &idx, &of_A));
  const trs_factors_info info = factors_info(F);
  assert_true(info.row_perm && info.col_perm);
  double *L_val = malloc((size_t)(SYSTEMS * info.nnz_L) * sizeof *L_val);
  double *U_val = malloc((size_t)(SYSTEMS * info.nnz_U) * sizeof *U_val);
  double *val = malloc((size_t)ptr[N] * sizeof *val);
  trs_random_fill(b, N * SYSTEMS, TRS_DOUBLE, 3);
  assert_success(trs_batch_create_factors(&B, ctx, F, TRS_TRANS, SYSTEMS, NULL));
  assert_success(trs_analyze_factors(&plan, ctx, F, TRS_TRANS, NULL));
  for (int pass = 0; pass < 2; pass++) { /* values into the batch, then x beside the plan's */
    for (int s = 0; s < SYSTEMS; s++) {
      for (int64_t e = 0; e < ptr[N]; e++)
        val[e] = ((const double *)of_A)[e] * (1 + 0.01 * s * ((double)(e % 7) - 3));
      assert_success(
          trs_matrix_create(&again, TRS_CSR, TRS_DOUBLE, N, N, TRS_PTR64, ptr, idx, val, TRS_COPY));
      assert_success(trs_factors_refactor(F, NULL, ctx, again));
      trs_matrix_destroy(again);
      if (pass == 0) {
        const trs_factors_info now = factors_info(F);
        assert_success(trs_matrix_get_arrays(now.L, NULL, NULL, &of_L));
        assert_success(trs_matrix_get_arrays(now.U, NULL, NULL, &of_U));
        memcpy(L_val + s * info.nnz_L, of_L, (size_t)info.nnz_L * sizeof *L_val);
        memcpy(U_val + s * info.nnz_U, of_U, (size_t)info.nnz_U * sizeof *U_val);
        continue;
      }
      assert_success(trs_update_factors(plan, F));
      assert_success(trs_solve(plan, alone, N, b + N * s, N, 1, TRS_COL_MAJOR));
      for (int i = 0; i < N; i++)
        assert_true(fabs(alone[i] - x[N * s + i]) <= 1e-10 * (1 + fabs(alone[i])));
    }
    if (pass) continue;
    assert_success(trs_batch_update_factors(B, L_val, 0, U_val, 0));
    assert_success(trs_batch_solve(B, x, N, 0, b, N, 0, 1, TRS_COL_MAJOR));
  }
  trs_plan_destroy(plan);
  trs_plan_destroy(B);
  trs_factors_destroy(F);
  trs_matrix_destroy(A);
  free(L_val);
  free(U_val);
  free(val);
}

TEST(misuse_of_factors_is_refused_by_name) {
  enum { N = 6 };
  factored f = factored_random(N, 0.3, N, factored_case(1), 3);
  systems s = systems_random(4, 0.1, 4, plain_kind, 3);
  trs_factors *F = factored_factors(&f, 0);
  double b[3 * N] = {0}, x[3 * N];
  trs_plan *B, *T;
  trs_batch_options cut = {.struct_size = sizeof cut, .take_triangle = 1},
                    wrong = {.struct_size = sizeof wrong, .hermitian = 2},
                    hermitian = {.struct_size = sizeof hermitian, .hermitian = 1};
  assert_failure(TRS_ERROR_ARGUMENT, "F is NULL",
                 trs_batch_create_factors(&B, ctx, NULL, TRS_NO_TRANS, 3, NULL));
  assert_failure(TRS_ERROR_ARGUMENT, "count is -1",
                 trs_batch_create_factors(&B, ctx, F, TRS_NO_TRANS, -1, NULL));
  assert_null(B);
  assert_failure(TRS_ERROR_ARGUMENT, "trans 3",
                 trs_batch_create_factors(&B, ctx, F, (trs_trans)3, 3, NULL));
  assert_failure(TRS_ERROR_ARGUMENT, "leave it out for factors",
                 trs_batch_create_factors(&B, ctx, F, TRS_NO_TRANS, 3, &cut));
  assert_failure(TRS_ERROR_ARGUMENT, "hermitian",
                 trs_batch_create_factors(&B, ctx, F, TRS_NO_TRANS, 3, &wrong));
  assert_failure(TRS_ERROR_ARGUMENT, "U is not L^H",
                 trs_batch_create_factors(&B, ctx, F, TRS_NO_TRANS, 3, &hermitian));
  assert_success(trs_batch_create_factors(&B, ctx, F, TRS_NO_TRANS, 3, NULL));
  T = systems_batch(ctx, &s, 3, 1);
  assert_failure(TRS_ERROR_ARGUMENT, "call trs_batch_update_factors first",
                 trs_batch_solve(B, x, N, 0, b, N, 0, 1, TRS_COL_MAJOR));
  assert_failure(TRS_ERROR_ARGUMENT, "of a batch of factors: call trs_batch_update_factors",
                 trs_batch_update(B, f.L_val, 0));
  assert_failure(TRS_ERROR_ARGUMENT, "is of a batch: call trs_batch_update",
                 trs_batch_update_factors(T, s.val, 0, s.val, 0));
  assert_failure(TRS_ERROR_ARGUMENT, "stride_L is 1, less",
                 trs_batch_update_factors(B, f.L_val, 1, f.U_val, 0));
  assert_failure(TRS_ERROR_ARGUMENT, "stride_U is -2",
                 trs_batch_update_factors(B, f.L_val, 0, f.U_val, -2));
  assert_failure(TRS_ERROR_ARGUMENT, "U_val is NULL",
                 trs_batch_update_factors(B, f.L_val, 0, NULL, 0));
  assert_failure(TRS_ERROR_ARGUMENT, "trs_batch_update_factors of this batch failed",
                 trs_batch_solve(B, x, N, 0, b, N, 0, 1, TRS_COL_MAJOR));
  assert_success(factored_update(B, &f, 0));
  assert_success(trs_batch_solve(B, x, N, 0, b, N, 0, 1, TRS_COL_MAJOR));
  trs_plan_destroy(B);
  trs_plan_destroy(T);
  assert_success(trs_batch_create_factors(&B, ctx, F, TRS_NO_TRANS, 0, NULL));
  assert_success(trs_batch_update_factors(B, NULL, 0, NULL, 0));
  assert_success(trs_batch_solve(B, NULL, N, 0, NULL, N, 0, 1, TRS_COL_MAJOR));
  trs_plan_destroy(B);
  trs_factors_destroy(F);
  systems_free(&s);
  factored_free(&f);
}

TEST(factors_without_rows) {
  factored f = factored_random(0, 0.1, 0, factored_case(4), 3);
  double x[1];
  trs_plan *B = factored_batch(ctx, &f, 3, 1);
  assert_success(factored_update(B, &f, 0));
  assert_success(trs_batch_solve(B, x, 0, 0, x, 0, 0, 1, TRS_COL_MAJOR));
  trs_plan_destroy(B);
  factored_free(&f);
}

TEST(every_allocation_of_factors_may_fail) { assert_factored_survives(ctx); }
