/* triangle_cuda.c - the method `blocks` on a GPU: block factors of every size and storage solved as
 * on the CPU, in both memories; new values factored on the GPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "base/config.h"
#include "bsr.h"
#include "relax/blocks.h"
#include "test.h"

enum { MOST = 6000, NRHS = 3 };

static const trs_store stores[] = {TRS_STORE_DEFAULT, TRS_STORE_MIXED, TRS_STORE_HALF,
                                   TRS_STORE_BFLOAT};
static const double limits[] = {[TRS_STORE_DEFAULT] = 1e-13,
                                [TRS_STORE_MIXED] = 5e-6,
                                [TRS_STORE_HALF] = 2e-2,
                                [TRS_STORE_BFLOAT] = 0.1};

static trs_factors *factor(const blocks *A, trs_factor_kind kind, trs_order order) {
  trs_matrix *M;
  trs_factors *F;
  const trs_factor_options how = {
      .struct_size = sizeof how, .kind = kind, .order = order, .block_size = A->b};
  assert_success(trs_matrix_create_bsr(
      &M, BSR(TRS_DOUBLE, A->n, A->n, A->b, TRS_ROW_MAJOR, TRS_PTR64, A->ptr, A->idx, A->val)));
  assert_success(trs_factor(&F, M, &how));
  trs_matrix_destroy(M);
  return F;
}

static trs_plan *analyze(const trs_factors *F, trs_store store, trs_trans trans) {
  trs_plan *plan;
  trs_plan_info info = {.struct_size = sizeof info};
  const trs_options options = {
      .struct_size = sizeof options, .method = "blocks", .store = store, .nrhs = NRHS};
  assert_success(trs_analyze_factors(&plan, gpu_context, F, trans, &options));
  trs_plan_get_info(plan, &info);
  assert_string_equal(info.method, "blocks");
  assert_string_equal(info.backend, TRS_GPU_BACKEND);
  return plan;
}

static void assert_solved(const trs_factors *F, trs_trans trans, const double *x, const double *b,
                          int64_t n, int64_t nrhs, double limit, const char *what) {
  trs_backward_error error = {.struct_size = sizeof error};
  assert_success(trs_check_factors(&error, F, trans, x, n, b, n, nrhs, TRS_COL_MAJOR));
  if (!(error.normwise < limit)) fail_msg("%s: backward error %g", what, error.normwise);
}

static void check(const blocks *A, trs_factor_kind kind, trs_order order, trs_store store) {
  static double x[MOST * NRHS], b[MOST * NRHS];
  char what[96];
  const int64_t n = A->n * A->b;
  trs_factors *F = factor(A, kind, order);
  snprintf(what, sizeof what, "block %d, kind %d, order %d, store %d", A->b, kind, order, store);
  assert_true(n <= MOST);
  trs_random_fill(b, n * NRHS, TRS_DOUBLE, 3);
  for (int k = 0; k < 2; k++) {
    const trs_trans trans = k ? TRS_TRANS : TRS_NO_TRANS;
    trs_plan *plan = analyze(F, store, trans);
    for (int64_t nrhs = 1; nrhs <= NRHS; nrhs += NRHS - 1) {
      assert_success(trs_solve(plan, x, n, b, n, nrhs, TRS_COL_MAJOR));
      assert_solved(F, trans, x, b, n, nrhs, limits[store], what);
    }
    trs_plan_destroy(plan);
  }
  trs_factors_destroy(F);
}

TEST(every_size_and_storage) {
  static const int sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 32};
  for (int s = 0; s < 12; s++)
    for (int k = 0; k < 4; k++) {
      blocks A = blocks_random(sizes[s] < 9 ? 500 : 60, sizes[s], 9, 2, (uint64_t)s);
      check(&A, s & 1 ? TRS_FACTOR_DILU : TRS_FACTOR_BILU0,
            k & 1 ? TRS_ORDER_COLOUR : TRS_ORDER_NATURAL, stores[k]);
      blocks_free(&A);
    }
}

TEST(device_memory_and_streams) {
  blocks A = blocks_random(700, 5, 12, 2, 8);
  const int64_t n = A.n * 5;
  const size_t bytes = (size_t)n * sizeof(double);
  double *b = malloc(bytes), *x = malloc(bytes);
  trs_random_fill(b, n, TRS_DOUBLE, 3);
  trs_factors *F = factor(&A, TRS_FACTOR_BILU0, TRS_ORDER_COLOUR);
  trs_plan *plan = analyze(F, TRS_STORE_MIXED, TRS_NO_TRANS);
  trs_stream stream = gpu_stream();
  double *there = gpu_upload(b, bytes), *result = gpu_space(bytes);
  assert_success(trs_plan_set_stream(plan, stream));
  gpu_solve(plan, x, result, there, n, 1, bytes);
  assert_solved(F, TRS_NO_TRANS, x, b, n, 1, limits[TRS_STORE_MIXED], "a stream");
  gpu_capture_begin(stream);
  assert_success(trs_solve(plan, result, n, there, n, 1, TRS_COL_MAJOR));
  gpu_graph graph = gpu_capture_end(stream);
  double *again = malloc(bytes);
  gpu_replay(graph, stream);
  assert_success(trs_plan_wait(plan));
  gpu_fetch(again, result, bytes);
  assert_memory_equal(x, again, bytes);
  gpu_graph_free(graph);
  trs_plan_destroy(plan);
  gpu_stream_free(stream);
  gpu_free(there);
  gpu_free(result);
  trs_factors_destroy(F);
  free(again);
  free(b);
  free(x);
  blocks_free(&A);
}

/* A symmetric block tridiagonal matrix with dominant diagonals. */
static blocks chain(int64_t n, int b) {
  const int64_t size = (int64_t)b * b;
  blocks A = {.n = n, .b = b, .ptr = calloc((size_t)n + 1, sizeof *A.ptr)};
  A.idx = malloc((size_t)(3 * n) * sizeof *A.idx);
  A.val = malloc((size_t)(3 * n * size) * sizeof *A.val);
  int64_t at = 0;
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = i > 0 ? i - 1 : 0; j <= i + 1 && j < n; j++, at++) {
      A.idx[at] = (int32_t)j;
      for (int64_t e = 0; e < size; e++) {
        const int64_t row = i * b + e / b, col = j * b + e % b;
        const int64_t key = row < col ? row * 7919 + col : col * 7919 + row;
        A.val[at * size + e] = row == col ? 10 * b : (double)(key % 1000) / 1000 - 0.5;
      }
    }
    A.ptr[i + 1] = at;
  }
  return A;
}

/* Diagonal blocks that need row exchanges. */
static void exchange_rows(blocks *A) {
  for (int64_t i = 0; i < A->n; i++)
    for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++)
      for (int e = 0; e < A->b; e++) {
        double *first = A->val + p * A->b * A->b, *last = first + (A->b - 1) * A->b;
        const double kept = first[e];
        first[e] = last[e];
        last[e] = kept;
      }
}

static void check_update(const blocks *old, const blocks *fresh, trs_factor_kind kind,
                         trs_store store) {
  static double x[MOST], b[MOST], first[MOST];
  char what[96];
  const int64_t n = old->n * old->b, count = old->ptr[old->n];
  const size_t bytes = (size_t)(count * old->b * old->b) * sizeof(double);
  trs_factors *F = factor(old, kind, TRS_ORDER_COLOUR), *G = factor(fresh, kind, TRS_ORDER_COLOUR);
  trs_plan *plan = analyze(F, store, TRS_NO_TRANS);
  void *val = gpu_upload(fresh->val, bytes);
  trs_random_fill(b, n, TRS_DOUBLE, 3);
  for (int time = 0; time < 3; time++) { /* the second knows the pattern; the third by the host */
    const bool host = time == 2, known = time == 1 && !TRS_HAVE_HIP;
    assert_success(trs_update_bsr(
        plan, BSR((trs_scalar)0, 0, 0, 0, TRS_ROW_MAJOR, TRS_PTR64, known ? NULL : fresh->ptr,
                  known ? NULL : fresh->idx, host ? (void *)fresh->val : val)));
    assert_success(trs_solve(plan, x, n, b, n, 1, TRS_COL_MAJOR));
    snprintf(what, sizeof what, "block %d, kind %d, store %d, time %d", old->b, kind, store, time);
    assert_solved(G, TRS_NO_TRANS, x, b, n, 1, limits[store], what);
    if (time == 0) memcpy(first, x, (size_t)n * sizeof *x);
    if (time == 1) assert_memory_equal(first, x, (size_t)n * sizeof *x);
  }
  gpu_free(val);
  trs_plan_destroy(plan);
  trs_factors_destroy(F);
  trs_factors_destroy(G);
}

TEST(new_values_are_factored_on_the_gpu) {
  static const int sizes[] = {1, 2, 3, 4, 5, 7, 8, 11, 32};
  for (int s = 0; s < 9; s++)
    for (int kind = TRS_FACTOR_BILU0; kind <= TRS_FACTOR_DILU; kind++) {
      const int64_t rows = sizes[s] < 9 ? 400 : 60;
      const bool symmetric = kind == TRS_FACTOR_BIC0;
      blocks A = symmetric ? chain(rows, sizes[s]) : blocks_random(rows, sizes[s], 9, 2, 1),
             B = symmetric ? chain(rows, sizes[s]) : blocks_random(rows, sizes[s], 9, 2, 1);
      for (int64_t e = 0; e < B.ptr[B.n] * B.b * B.b; e++) B.val[e] *= 3;
      if (kind == TRS_FACTOR_BILU0 && s % 2) exchange_rows(&B);
      check_update(&A, &B, (trs_factor_kind)kind, stores[s % 4]);
      blocks_free(&A);
      blocks_free(&B);
    }
}

/* Such rows do not fit shared memory. */
TEST(long_rows_are_factored_in_device_memory) {
  static const int sizes[] = {3, 5, 8, 16};
  for (int s = 0; s < 4; s++) {
    const int64_t each = 24000 / (8 * sizes[s] * sizes[s]);
    blocks A = blocks_random(2 * each, sizes[s], 2 * each, 2, 1),
           B = blocks_random(2 * each, sizes[s], 2 * each, 2, 1);
    for (int64_t e = 0; e < B.ptr[B.n] * B.b * B.b; e++) B.val[e] *= 3;
    check_update(&A, &B, s % 2 ? TRS_FACTOR_BILU0 : TRS_FACTOR_DILU, stores[s]);
    blocks_free(&A);
    blocks_free(&B);
  }
}

TEST(bad_values_name_their_row) {
  blocks A = blocks_random(50, 4, 6, 2, 4);
  const size_t bytes = (size_t)A.ptr[50] * 16 * sizeof(double);
  trs_factors *F = factor(&A, TRS_FACTOR_DILU, TRS_ORDER_NATURAL);
  trs_plan *plan = analyze(F, TRS_STORE_DEFAULT, TRS_NO_TRANS);
  void *val = gpu_space(bytes), *good = gpu_upload(A.val, bytes);
  assert_failure(TRS_ERROR_ARGUMENT, "NULL",
                 trs_update_bsr(plan, BSR((trs_scalar)0, 0, 0, 0, TRS_ROW_MAJOR, TRS_PTR64, NULL,
                                          NULL, good)));
  double *zeros = calloc(1, bytes);
  gpu_free(val);
  val = gpu_upload(zeros, bytes);
  assert_failure(TRS_ERROR_ZERO_PIVOT, "block row 0 (0-based) is singular",
                 trs_update_bsr(plan, BSR((trs_scalar)0, 0, 0, 0, TRS_ROW_MAJOR, TRS_PTR64, A.ptr,
                                          A.idx, val)));
  assert_success(
      trs_update_bsr(plan, BSR((trs_scalar)0, 0, 0, 0, TRS_ROW_MAJOR, TRS_PTR64,
                               TRS_HAVE_HIP ? A.ptr : NULL, TRS_HAVE_HIP ? A.idx : NULL, good)));
  free(zeros);
  gpu_free(val);
  gpu_free(good);
  trs_plan_destroy(plan);
  trs_factors_destroy(F);
  blocks_free(&A);
}

const test_program program = {.end = gpu_stop, .lacks = gpu_lacks};
