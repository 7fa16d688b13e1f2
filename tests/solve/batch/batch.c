/* batch.c - batches: every system has the x of a batch of that system alone, bit by bit, for all
 * types, triangles, formats, numbers of systems and of right-hand sides; faults of single systems;
 * misuse. */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "matrix/values.h"
#include "sparse.h"
#include "support.h"
#include "test.h"

static trs_context *ctx;

static int begin(void **state) { return trs_context_create(&ctx, "threads:2") != TRS_SUCCESS; }
static int end(void **state) {
  trs_context_destroy(ctx);
  return 0;
}
const test_program program = {.begin = begin, .end = end};

/* A batch of systems near one triangle. */
typedef struct systems {
  triangle t;
  trs_format format;
  trs_scalar scalar;
  trs_uplo uplo;
  trs_trans trans;
  trs_diag diag;
  int64_t count, nnz;
  void *val; /* count x nnz */
} systems;

static void *at(const void *array, int64_t element, trs_scalar scalar) {
  return (char *)array + element * (int64_t)scalar_bytes(scalar);
}

static systems make(int64_t n, trs_scalar scalar, trs_format format, trs_uplo uplo, trs_trans trans,
                    trs_diag diag, int64_t count) {
  const bool prefix = (uplo == TRS_LOWER) == (format == TRS_CSR);
  systems s = {.t = triangle_random(n, 0.1, n, prefix, scalar, false, 7),
               .format = format,
               .scalar = scalar,
               .uplo = uplo,
               .trans = trans,
               .diag = diag,
               .count = count};
  s.nnz = s.t.ptr[n];
  s.val = malloc((size_t)(count * s.nnz + 1) * scalar_bytes(scalar));
  double *noise = malloc((size_t)(count * s.nnz + 1) * sizeof *noise);
  trs_random_fill(noise, count * s.nnz, TRS_DOUBLE, 11);
  for (int64_t k = 0; k < count * s.nnz; k++)
    trs_value_set(s.val, k, scalar,
                  trs_value_get(s.t.val, k % s.nnz, scalar) * (1 + 0.2 * noise[k]));
  free(noise);
  return s;
}

static void drop(systems *s) {
  triangle_free(&s->t);
  free(s->val);
}

/* The matrix of system k. */
static trs_matrix *matrix_of(const systems *s, int64_t k) {
  trs_matrix *T;
  assert_success(trs_matrix_create(&T, s->format, s->scalar, s->t.n, s->t.n, TRS_PTR64, s->t.ptr,
                                   s->t.idx, at(s->val, k * s->nnz, s->scalar), TRS_COPY));
  return T;
}

static trs_batch *batch_of(const systems *s, int64_t count, int64_t nrhs) {
  trs_batch_options options = {.struct_size = sizeof options, .nrhs = nrhs};
  trs_matrix *T = matrix_of(s, 0);
  trs_batch *B;
  assert_success(
      trs_batch_create(&B, ctx, T, s->uplo, s->trans, s->diag, count, nrhs > 1 ? &options : NULL));
  trs_matrix_destroy(T);
  return B;
}

/* x of the batch against those of batches of one, and b. */
static void check(const systems *s, const void *x, const void *b, int64_t ld, int64_t next,
                  int64_t nrhs, trs_layout layout) {
  const size_t bytes = scalar_bytes(s->scalar);
  const int64_t n = s->t.n;
  trs_batch *one = batch_of(s, 1, 1);
  void *own = malloc((size_t)n * bytes + 1), *from = malloc((size_t)n * bytes + 1);
  for (int64_t k = 0; k < s->count; k++) {
    trs_backward_error error = {.struct_size = sizeof error};
    trs_matrix *T = matrix_of(s, k);
    assert_success(trs_check(&error, T, s->uplo, s->trans, s->diag, at(x, k * next, s->scalar), ld,
                             at(b, k * next, s->scalar), ld, nrhs, layout));
    if (!(error.componentwise <= error_limit(s->scalar, n)))
      fail_msg("system %lld: error %g", (long long)k, error.componentwise);
    trs_matrix_destroy(T);
    assert_success(trs_batch_update(one, at(s->val, k * s->nnz, s->scalar), 0));
    for (int64_t r = 0; r < nrhs; r++) {
      const int64_t row = layout == TRS_COL_MAJOR ? 1 : ld, col = layout == TRS_COL_MAJOR ? ld : 1;
      for (int64_t i = 0; i < n; i++)
        memcpy(at(from, i, s->scalar), at(b, k * next + i * row + r * col, s->scalar), bytes);
      assert_success(trs_batch_solve(one, own, n, 0, from, n, 0, 1, TRS_COL_MAJOR));
      for (int64_t i = 0; i < n; i++)
        assert_memory_equal(at(own, i, s->scalar), at(x, k * next + i * row + r * col, s->scalar),
                            bytes);
    }
  }
  free(own);
  free(from);
  trs_batch_destroy(one);
}

static void solve_and_check(const systems *s, int64_t nrhs, trs_layout layout) {
  const int64_t n = s->t.n, ld = (layout == TRS_COL_MAJOR ? n : nrhs) + 1;
  const int64_t next = ld * (layout == TRS_COL_MAJOR ? nrhs : n) + 3;
  const size_t bytes = (size_t)(next * s->count + 1) * scalar_bytes(s->scalar);
  void *b = malloc(bytes), *x = malloc(bytes), *place = malloc(bytes);
  trs_batch *B = batch_of(s, s->count, nrhs);
  trs_random_fill(b, next * s->count, s->scalar, 3);
  memcpy(place, b, bytes);
  memcpy(x, b, bytes);
  assert_success(trs_batch_update(B, s->val, s->nnz));
  assert_success(trs_batch_solve(B, x, ld, next, b, ld, next, nrhs, layout));
  assert_success(trs_batch_solve(B, place, ld, next, place, ld, next, nrhs, layout));
  assert_memory_equal(x, place, (size_t)(next * s->count) * scalar_bytes(s->scalar));
  check(s, x, b, ld, next, nrhs, layout);
  trs_batch_destroy(B);
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
              systems s =
                  make(c % 11 == 0 ? 1 : 23, (trs_scalar)scalar, (trs_format)format, (trs_uplo)uplo,
                       (trs_trans)trans, (trs_diag)diag, counts[c % (int)COUNT(counts)]);
              solve_and_check(&s, numbers[c % (int)COUNT(numbers)], (trs_layout)layout);
              drop(&s);
            }
}

/* Enough work for two threads. */
TEST(threads_share_the_systems) {
  systems s = make(200, TRS_DOUBLE, TRS_CSR, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, 100);
  solve_and_check(&s, 4, TRS_COL_MAJOR);
  drop(&s);
}

TEST(entries_may_stand_in_any_order_and_repeat_and_the_triangle_is_taken_from_a_whole_matrix) {
  enum { COUNT_OF = 10, NNZ = 8 };
  const int64_t ptr[] = {0, 3, 6, 8}; /* (0,2) (0,0) (0,1); (1,1) (1,0) (1,0); (2,2) (2,0) */
  const int32_t idx[] = {2, 0, 1, 1, 0, 0, 2, 0};
  double val[COUNT_OF * NNZ], b[COUNT_OF * 3], x[COUNT_OF * 3];
  trs_random_fill(val, COUNT_OF * NNZ, TRS_DOUBLE, 5);
  trs_random_fill(b, COUNT_OF * 3, TRS_DOUBLE, 6);
  trs_matrix *A;
  trs_batch *B;
  assert_success(
      trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, 3, 3, TRS_PTR64, ptr, idx, val, TRS_COPY));
  trs_batch_options options = {.struct_size = sizeof options, .take_triangle = 1};
  assert_failure(
      TRS_ERROR_STRUCTURE, "above the diagonal",
      trs_batch_create(&B, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, COUNT_OF, NULL));
  assert_success(
      trs_batch_create(&B, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, COUNT_OF, &options));
  for (int s = 0; s < COUNT_OF; s++)
    val[s * NNZ + 1] += 3, val[s * NNZ + 3] += 3, val[s * NNZ + 6] += 3;
  assert_success(trs_batch_update(B, val, 0));
  assert_success(trs_batch_solve(B, x, 3, 0, b, 3, 0, 1, TRS_COL_MAJOR));
  for (int s = 0; s < COUNT_OF; s++) {
    const double *v = val + s * NNZ, *y = x + 3 * s, *c = b + 3 * s;
    assert_true(fabs(v[1] * y[0] - c[0]) < 1e-14);
    assert_true(fabs((v[4] + v[5]) * y[0] + v[3] * y[1] - c[1]) < 1e-14);
    assert_true(fabs(v[7] * y[0] + v[6] * y[2] - c[2]) < 1e-14);
  }
  trs_batch_destroy(B);
  trs_matrix_destroy(A);
}

TEST(a_zero_pivot_names_its_system_and_row_and_all_others_are_solved) {
  systems s = make(23, TRS_DOUBLE, TRS_CSR, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, 20);
  double *x = malloc(20 * 23 * sizeof *x), *good = malloc(20 * 23 * sizeof *x);
  trs_batch *B = batch_of(&s, s.count, 1);
  double *val = s.val, b[20 * 23];
  trs_random_fill(b, 20 * 23, TRS_DOUBLE, 4);
  assert_success(trs_batch_update(B, val, 0));
  assert_success(trs_batch_solve(B, good, 23, 0, b, 23, 0, 1, TRS_COL_MAJOR));
  val[3 * s.nnz + s.t.ptr[6] - 1] = 0;
  val[11 * s.nnz + s.t.ptr[1] - 1] = NAN;
  assert_failure(TRS_ERROR_ZERO_PIVOT, "row 5 of system 3 (0-based) is zero; 1 more",
                 trs_batch_update(B, val, 0));
  assert_int_equal(trs_last_error()->row, 5);
  assert_failure(TRS_ERROR_ZERO_PIVOT, "row 5 of system 3",
                 trs_batch_solve(B, x, 23, 0, b, 23, 0, 1, TRS_COL_MAJOR));
  for (int k = 0; k < 20; k++)
    for (int i = 0; i < 23; i++) {
      if (k == 3 || k == 11)
        assert_true(isnan(x[23 * k + i]));
      else
        assert_memory_equal(&x[23 * k + i], &good[23 * k + i], sizeof *x);
    }
  val[3 * s.nnz + s.t.ptr[6] - 1] = 1;
  assert_failure(TRS_ERROR_NOT_FINITE, "row 0 of system 11", trs_batch_update(B, val, 0));
  val[11 * s.nnz + s.t.ptr[1] - 1] = 2;
  assert_success(trs_batch_update(B, val, 0));
  assert_success(trs_batch_solve(B, x, 23, 0, b, 23, 0, 1, TRS_COL_MAJOR));
  free(x);
  free(good);
  trs_batch_destroy(B);
  drop(&s);
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
  systems s = make(4, TRS_DOUBLE, TRS_CSR, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, 3);
  trs_matrix *T = matrix_of(&s, 0);
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
  drop(&s);
}

static trs_status build(void *A) {
  trs_batch *B;
  trs_batch_options options = {.struct_size = sizeof options, .take_triangle = 1, .nrhs = 4};
  trs_status status = trs_batch_create(&B, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_UNIT, 20, &options);
  if (!status) trs_batch_destroy(B);
  return status;
}

TEST(every_allocation_may_fail) {
  assert_survives_with_matrix(build, 30, (sparse_kind){.scalar = TRS_DOUBLE});
}
