/* batch.c - batches: every system has the x of a batch of that system alone, bit by bit, for all
 * types, triangles, formats, numbers of systems and of right-hand sides; faults of single systems;
 * misuse. */
#include "base/random.h"
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
  trs_batch *B = systems_batch(ctx, s, s->count, nrhs), *one = systems_batch(ctx, s, 1, 1);
  trs_random_fill(b, next * s->count, s->kind.scalar, 3);
  memcpy(place, b, bytes);
  memcpy(x, b, bytes);
  assert_success(trs_batch_update(B, s->val, s->nnz));
  assert_success(trs_batch_solve(B, x, ld, next, b, ld, next, nrhs, layout));
  assert_success(trs_batch_solve(B, place, ld, next, place, ld, next, nrhs, layout));
  assert_memory_equal(x, place, (size_t)(next * s->count) * scalar_bytes(s->kind.scalar));
  assert_systems_solved(s, one, 1, x, b, ld, next, nrhs);
  trs_batch_destroy(B);
  trs_batch_destroy(one);
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
  trs_batch *B = systems_batch(ctx, &s, s.count, 1);
  assert_faults_are_told(&s, B);
  trs_batch_destroy(B);
  systems_free(&s);
}

TEST(borrowed_arrays_may_go_before_the_batch) {
  int64_t *ptr = malloc(3 * sizeof *ptr);
  int32_t *idx = malloc(3 * sizeof *idx);
  double val[] = {2, 1, 4}, b[] = {2, 9}, x[2];
  trs_matrix *T;
  trs_batch *B;
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
  trs_batch_destroy(B);
}

TEST(misuse_is_refused_by_name) {
  systems s = systems_random(4, 0.1, 4, plain_kind, 3);
  trs_matrix *T = systems_matrix(&s, 0);
  double b[40] = {0}, x[40];
  trs_batch *B;
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
  trs_batch_destroy(B);
  trs_batch_destroy(NULL);
  assert_success(trs_batch_create(&B, ctx, T, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, 0, NULL));
  assert_success(trs_batch_update(B, NULL, 0));
  assert_success(trs_batch_solve(B, NULL, 4, 0, NULL, 4, 0, 1, TRS_COL_MAJOR));
  trs_batch_destroy(B);
  trs_matrix_destroy(T);
  systems_free(&s);
}

TEST(every_allocation_may_fail) { assert_batch_survives(ctx); }
