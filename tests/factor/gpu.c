/* gpu.c - ILU(0) and IC(0) of new values on a GPU, or on emulated threads in a build without CUDA:
 * the bits of the CPU, for all types, formats, orders and triangles; pivots that fail, and shifts;
 * other patterns; plans that follow. */
#include <math.h>

#include "backend/context.h"
#include "factor/incomplete.h"
#include "matrix/device.h"
#include "matrix/values.h"
#include "order/orders.h"
#include "sparse.h"
#include "support.h"
#include "test.h"
#ifdef TRS_EMULATED
#include "device_stand_in.h"
#else
#include "gpu.h"
#endif

static trs_context *ctx;
static trs_device *device;

#ifdef TRS_EMULATED
enum { EMULATED = 1 };
static const char *lacks(void) {
  if (trs_context_create(&ctx, "cuda")) return trs_last_error()->message;
  device = ctx->device;
  stand_in_addresses = true;
  return NULL;
}
int64_t trs_device_extent(const void *pointer, int64_t wanted) {
  (void)pointer;
  return wanted;
}
#else
enum { EMULATED = 0 };
static const char *lacks(void) {
  const char *why = gpu_lacks();
  ctx = gpu_context;
  device = gpu;
  return why;
}
#endif

static int stop(void **state) {
  trs_context_destroy(ctx);
  return 0;
}
const test_program program = {.end = stop, .lacks = lacks};

/* ---- Matrices in device memory ---- */

typedef struct there {
  trs_matrix *A;
  void *array[3];
} there;

static void *put(const void *from, size_t bytes) {
  void *array;
  assert_success(trs_device_alloc(device, &array, (int64_t)bytes + 8, 1, NULL));
  assert_success(trs_device_copy(array, from, (int64_t)bytes, NULL));
  assert_success(trs_device_wait(NULL));
  return array;
}

static there put_matrix(const trs_matrix *A) {
  const size_t nnz = (size_t)A->nnz;
  int before = trs_device_enter(device);
  there t = {.array = {put(A->ptr, (size_t)(A->nvectors + 1) * 8), put(A->idx, nnz * 4),
                       put(A->val, nnz * trs_scalar_size(A->scalar))}};
  trs_device_leave(before);
  assert_success(trs_matrix_create_device(&t.A, ctx, A->format, A->scalar, A->nrows, A->ncols,
                                          A->nnz, TRS_PTR64, t.array[0], t.array[1], t.array[2]));
  return t;
}

/* New values in the same place. */
static void put_values(const there *t, const trs_matrix *A) {
  int before = trs_device_enter(device);
  assert_success(
      trs_device_copy(t->array[2], A->val, A->nnz * (int64_t)trs_scalar_size(A->scalar), NULL));
  assert_success(trs_device_wait(NULL));
  trs_device_leave(before);
}

static void drop(there *t) {
  trs_matrix_destroy(t->A);
  int before = trs_device_enter(device);
  for (int k = 0; k < 3; k++) trs_device_free(device, t->array[k], NULL);
  trs_device_leave(before);
}

/* F's factor in host memory. */
static trs_matrix *fetch(const trs_factors *F, bool lower) {
  trs_matrix *here;
  const trs_matrix *T = lower ? F->L : F->U;
  assert_true(T->on_device);
  assert_success(trs_matrix_download(&here, T, true, NULL));
  return here;
}

static void assert_same_factors(const trs_factors *F, const trs_factors *here) {
  for (int lower = 0; lower < 2; lower++) {
    trs_matrix *T = fetch(F, lower);
    assert_same_matrix(T, lower ? here->L : here->U);
    trs_matrix_destroy(T);
  }
  assert_true(F->shift == here->shift);
}

/* ---- Values ---- */

/* A with row and column i times a number between 0.75 and 1.25. */
static trs_matrix *other_values(const trs_matrix *A, uint64_t seed) {
  trs_matrix *B;
  double *by = malloc(((size_t)A->nrows + 1) * sizeof *by);
  assert_success(trs_matrix_convert(&B, A, A->format, A->scalar));
  trs_random_fill(by, A->nrows, TRS_DOUBLE, seed);
  for (int64_t v = 0; v < A->nvectors; v++)
    for (int64_t p = A->ptr[v]; p < A->ptr[v + 1]; p++)
      trs_value_set(
          B->val, p, A->scalar,
          trs_value_get(A->val, p, A->scalar) * (1 + by[v] / 4) * (1 + by[A->idx[p]] / 4));
  free(by);
  return B;
}

static trs_factors *factor(const trs_matrix *A, trs_factor_options options) {
  trs_factors *F;
  options.struct_size = sizeof options;
  assert_success(trs_factor(&F, A, &options));
  return F;
}

/* Refactored on the GPU from other values twice, and on the host. */
static void compare(const trs_matrix *A, trs_factor_options options, uint64_t seed) {
  trs_factors *F = factor(A, options), *here = factor(A, options);
  there t = put_matrix(A);
  for (int turn = 0; turn < 2; turn++) {
    trs_matrix *B = other_values(A, seed + (uint64_t)turn);
    put_values(&t, B);
    assert_success(trs_factors_refactor(F, NULL, ctx, t.A));
    assert_success(trs_factors_refactor(here, NULL, NULL, B));
    assert_same_factors(F, here);
    /* The host factors as trs_factor does. */
    trs_factors *anew = factor(B, options);
    assert_same_matrix(anew->L, here->L);
    assert_same_matrix(anew->U, here->U);
    trs_factors_destroy(anew);
    trs_matrix_destroy(B);
  }
  trs_factors_destroy(F);
  trs_factors_destroy(here);
  drop(&t);
}

/* ---- Bits ---- */

TEST(ilu0_has_the_bits_of_the_cpu) {
  for (int c = 0; c < 96; c++) {
    const trs_order order = orders[c % NORDERS];
    trs_matrix *A = sparse_random(c, 0.02 * (c % 13), sparse_case(c), (uint64_t)c + test_seed());
    const bool possible = order != TRS_ORDER_COLAMD;
    compare(A,
            (trs_factor_options){.kind = TRS_FACTOR_ILU0,
                                 .order = possible ? order : TRS_ORDER_NATURAL,
                                 .levels = c % 3},
            (uint64_t)c);
    trs_matrix_destroy(A);
  }
}

TEST(ic0_has_the_bits_of_the_cpu) {
  for (int c = 0; c < 96; c++) {
    sparse_kind kind = sparse_case(c);
    kind.symmetric = true;
    const trs_order order = orders[c % NORDERS];
    trs_matrix *A = sparse_random(c, 0.02 * (c % 13), kind, (uint64_t)c + test_seed());
    compare(A,
            (trs_factor_options){.kind = TRS_FACTOR_IC0,
                                 .order = order != TRS_ORDER_COLAMD ? order : TRS_ORDER_NATURAL,
                                 .uplo = (trs_uplo)(c / 4 % 3),
                                 .levels = c % 5 % 3},
            (uint64_t)c);
    trs_matrix_destroy(A);
  }
}

/* Entry (i, j) is there if the pattern has bit i n + j; the diagonal always is. */
static trs_matrix *of_bits(int n, unsigned bits) {
  int32_t row[25], col[25];
  double val[25];
  int count = 0;
  trs_matrix *A;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      if (i != j && !(bits >> (i * n + j) & 1)) continue;
      row[count] = i;
      col[count] = j;
      val[count++] = i == j ? n + i : -1.0 / (1 + i + j);
    }
  assert_success(trs_matrix_create_coo(&A, TRS_DOUBLE, n, n, count, TRS_IDX32, row, col, val));
  return A;
}

/* All patterns of three rows with a diagonal, and of four rows as many as there is time for. */
TEST(all_small_patterns) {
  const unsigned step = EMULATED ? 13 : 1;
  for (int n = 3; n < 5; n++)
    for (unsigned bits = 0, k = 0; bits < 1u << (n * n); bits++) {
      if (bits & (n == 3 ? 0x111 : 0x8421) || (n == 4 && k++ % step)) continue;
      trs_matrix *A = of_bits(n, bits);
      compare(A, (trs_factor_options){.kind = TRS_FACTOR_ILU0, .levels = (int)bits % 4}, bits);
      trs_matrix_destroy(A);
    }
}

static trs_factor_kind arrow_kind;
static void compare_arrow(const trs_matrix *A) {
  compare(A, (trs_factor_options){.kind = arrow_kind}, 3);
}
TEST(long_rows) {
  for (arrow_kind = TRS_FACTOR_ILU0; arrow_kind <= TRS_FACTOR_IC0; arrow_kind++)
    sparse_arrows(compare_arrow);
}

/* Longer than shared memory holds. */
TEST(rows_in_global_memory) {
  for (int c = 0; c < 4; c++) {
    trs_matrix *A = sparse_arrow(EMULATED ? 400 : 4500, c & 1 ? 399 : 0), *B;
    assert_success(trs_matrix_convert(&B, A, TRS_CSR, c & 2 ? TRS_DCOMPLEX : TRS_DOUBLE));
    compare(B, (trs_factor_options){.kind = c & 2 ? TRS_FACTOR_IC0 : TRS_FACTOR_ILU0}, 3);
    trs_matrix_destroy(A);
    trs_matrix_destroy(B);
  }
}

/* Many levels and many blocks of threads. */
TEST(grids) {
  const int64_t m = EMULATED ? 1 : 5;
  for (int c = 0; c < 8; c++) {
    const trs_scalar scalar = (trs_scalar)(TRS_FLOAT + c % 4);
    const bool cholesky = c & 4;
    trs_matrix *A = c & 1 ? sparse_grid(23 * m, 17 * m, 1, cholesky ? 0 : 0.25, scalar)
                          : sparse_grid(9 * m, 8 * m, 7 * m, cholesky ? 0 : 0.25, scalar);
    compare(A, (trs_factor_options){.kind = cholesky ? TRS_FACTOR_IC0 : TRS_FACTOR_ILU0},
            (uint64_t)c);
    trs_matrix_destroy(A);
  }
}

/* ---- Failures ---- */

static void set_entry(trs_matrix *A, int64_t row, int64_t col, double value) {
  for (int64_t p = A->ptr[row]; p < A->ptr[row + 1]; p++)
    if (A->idx[p] == col) trs_value_set(A->val, p, A->scalar, value);
}

/* Row 7 has its diagonal entry alone.  Statuses, rows and messages are those of the host. */
TEST(unusable_pivots_name_the_row) {
  static const struct {
    double value;
    trs_status status;
  } cases[] = {{0, TRS_ERROR_ZERO_PIVOT},
               {-1, TRS_ERROR_ZERO_PIVOT},
               {NAN, TRS_ERROR_NOT_FINITE},
               {INFINITY, TRS_ERROR_NOT_FINITE}};
  for (int c = 0; c < 16; c++) {
    const bool cholesky = c & 1;
    const trs_factor_options options = {.kind = cholesky ? TRS_FACTOR_IC0 : TRS_FACTOR_ILU0,
                                        .order = c & 2 ? TRS_ORDER_RCM : TRS_ORDER_NATURAL,
                                        .uplo = cholesky ? TRS_LOWER : TRS_GENERAL};
    trs_matrix *A = sparse_grid(12, 11, 1, 0, c & 4 ? TRS_SCOMPLEX : TRS_DOUBLE), *bad;
    trs_factors *F = factor(A, options), *here = factor(A, options);
    const double value = cases[c / 4].value;
    const trs_status status = cases[c / 4].status;
    assert_success(trs_matrix_convert(&bad, A, A->format, A->scalar));
    for (int64_t i = 0; i < A->nrows; i++) {
      if (i != 7) set_entry(bad, 7, i, 0);
      if (i != 7) set_entry(bad, i, 7, 0);
    }
    set_entry(bad, 7, 7, value);
    there t = put_matrix(bad);
    if (value == -1 && !cholesky) {
      assert_success(trs_factors_refactor(F, NULL, ctx, t.A));
    } else {
      char said[512];
      assert_failure(status, "row 7 (0-based)", trs_factors_refactor(here, NULL, NULL, bad));
      snprintf(said, sizeof said, "%s", trs_last_error()->message);
      assert_failure(status, said, trs_factors_refactor(F, NULL, ctx, t.A));
      assert_int_equal(trs_last_error()->row, 7);
      trs_plan *plan;
      assert_failure(status, "trs_factors_refactor of this factorisation failed",
                     trs_analyze_factors(&plan, ctx, F, TRS_NO_TRANS, NULL));
    }
    put_values(&t, A);
    assert_success(trs_factors_refactor(F, NULL, ctx, t.A));
    assert_success(trs_factors_refactor(here, NULL, NULL, A));
    assert_same_factors(F, here);
    drop(&t);
    trs_factors_destroy(F);
    trs_factors_destroy(here);
    trs_matrix_destroy(A);
    trs_matrix_destroy(bad);
  }
}

/* The first of several rows is named, and the overflow of an entry. */
TEST(the_first_fault_counts) {
  trs_matrix *A = sparse_grid(20, 20, 1, 0, TRS_DOUBLE), *bad;
  const trs_factor_options options = {.kind = TRS_FACTOR_ILU0};
  trs_factors *F = factor(A, options), *here = factor(A, options);
  for (int c = 0; c < 3; c++) {
    char said[512];
    assert_success(trs_matrix_convert(&bad, A, A->format, A->scalar));
    if (c < 2) set_entry(bad, 311, 311, NAN);
    if (c == 1) set_entry(bad, 44, 43, INFINITY);
    if (c == 2) {
      set_entry(bad, 0, 0, 1e-300);
      set_entry(bad, 1, 0, 1e300);
      set_entry(bad, 0, 1, 0);
      set_entry(bad, 0, 20, 0);
    }
    there t = put_matrix(bad);
    assert_int_equal(trs_factors_refactor(here, NULL, NULL, bad), TRS_ERROR_NOT_FINITE);
    const int64_t row = trs_last_error()->row;
    snprintf(said, sizeof said, "%s", trs_last_error()->message);
    assert_failure(TRS_ERROR_NOT_FINITE, said, trs_factors_refactor(F, NULL, ctx, t.A));
    assert_int_equal(trs_last_error()->row, row);
    drop(&t);
    trs_matrix_destroy(bad);
  }
  trs_factors_destroy(F);
  trs_factors_destroy(here);
  trs_matrix_destroy(A);
}

/* IC(0) that breaks down takes the shift of the host, or fails as it does. */
TEST(shifts) {
  for (int c = 0; c < 8; c++) {
    const trs_scalar scalar = (trs_scalar)(TRS_FLOAT + c % 4);
    const trs_factor_options options = {.kind = TRS_FACTOR_IC0, .shift = 1e-3};
    trs_matrix *A = sparse_grid(11, 9, 1, 0, scalar), *B;
    trs_factors *F = factor(A, options), *here = factor(A, options);
    assert_success(trs_matrix_convert(&B, A, A->format, A->scalar));
    for (int64_t i = 0; i < A->nrows; i++) set_entry(B, i, i, c < 4 ? 2.5 : i == 5 ? -1 : 2.5);
    there t = put_matrix(B);
    if (c < 4) {
      assert_success(trs_factors_refactor(here, NULL, NULL, B));
      assert_success(trs_factors_refactor(F, NULL, ctx, t.A));
      assert_true(F->shift > 0);
      assert_same_factors(F, here);
    } else {
      assert_failure(TRS_ERROR_ZERO_PIVOT, "which no shift",
                     trs_factors_refactor(here, NULL, NULL, B));
      assert_failure(TRS_ERROR_ZERO_PIVOT, "the diagonal entry of row 5 (0-based)",
                     trs_factors_refactor(F, NULL, ctx, t.A));
    }
    put_values(&t, A);
    assert_success(trs_factors_refactor(F, NULL, ctx, t.A));
    assert_true(F->shift == 0);
    drop(&t);
    trs_factors_destroy(F);
    trs_factors_destroy(here);
    trs_matrix_destroy(A);
    trs_matrix_destroy(B);
  }
}

TEST(other_patterns_are_refused) {
  for (int c = 0; c < 4; c++) {
    const bool cholesky = c & 1;
    const trs_factor_options options = {.kind = cholesky ? TRS_FACTOR_IC0 : TRS_FACTOR_ILU0};
    trs_matrix *A = of_bits(4, c & 2 ? 0x1248 : 0), *B = of_bits(4, c & 2 ? 0 : 0x1248);
    trs_factors *F = factor(A, options);
    there t = put_matrix(A), other = put_matrix(B);
    assert_failure(TRS_ERROR_STRUCTURE, "has other entries",
                   trs_factors_refactor(F, NULL, ctx, other.A));
    assert_failure(TRS_ERROR_STRUCTURE, "has other entries",
                   trs_factors_refactor(F, NULL, NULL, B));
    assert_success(trs_factors_refactor(F, NULL, ctx, t.A));
    drop(&t);
    drop(&other);
    trs_factors_destroy(F);
    trs_matrix_destroy(A);
    trs_matrix_destroy(B);
  }
}

/* L and U lie where the last values did. */
TEST(between_the_memories) {
  trs_matrix *A = sparse_grid(7, 6, 1, 0.25, TRS_DOUBLE), *B = other_values(A, 1);
  trs_factors *F = factor(A, (trs_factor_options){.kind = TRS_FACTOR_ILU0});
  trs_factors *of_B = factor(B, (trs_factor_options){.kind = TRS_FACTOR_ILU0});
  there t = put_matrix(A);
  double condition;
  assert_success(trs_factors_refactor(F, NULL, ctx, t.A));
  assert_failure(TRS_ERROR_UNSUPPORTED, "device memory", trs_factors_condition(&condition, F));
  assert_success(trs_factors_refactor(F, NULL, NULL, B));
  assert_same_matrix(F->L, of_B->L);
  assert_same_matrix(F->U, of_B->U);
  assert_success(trs_factors_condition(&condition, F));
  put_values(&t, B);
  assert_success(trs_factors_refactor(F, NULL, ctx, t.A));
  assert_same_factors(F, of_B);
  trs_factors_destroy(F);
  trs_factors_destroy(of_B);
  drop(&t);
  trs_matrix_destroy(A);
  trs_matrix_destroy(B);
}

TEST(a_plan_on_a_cpu_is_told) {
  trs_matrix *A = sparse_grid(7, 6, 1, 0.25, TRS_DOUBLE);
  trs_factors *F = factor(A, (trs_factor_options){.kind = TRS_FACTOR_ILU0});
  there t = put_matrix(A);
  trs_context *cpu;
  trs_plan *plan;
  assert_success(trs_context_create(&cpu, "serial"));
  assert_success(trs_analyze_factors(&plan, cpu, F, TRS_NO_TRANS, NULL));
  assert_success(trs_factors_refactor(F, NULL, ctx, t.A));
  assert_failure(TRS_ERROR_UNSUPPORTED, "this plan does not solve there",
                 trs_update_factors(plan, F));
  if (!EMULATED) { /* as the message advises */
    trs_plan *new_plan;
    assert_success(trs_analyze_factors(&new_plan, ctx, F, TRS_NO_TRANS, NULL));
    trs_plan_destroy(new_plan);
  }
  assert_success(trs_factors_refactor(F, NULL, NULL, A));
  assert_success(trs_update_factors(plan, F));
  trs_plan_destroy(plan);
  trs_context_destroy(cpu);
  trs_factors_destroy(F);
  drop(&t);
  trs_matrix_destroy(A);
}

/* ---- Plans that follow, which need the methods of a GPU ---- */

#ifndef TRS_EMULATED
/* Plans made before the factors came to the GPU, by each method, solve with the new values: the
 * bits of a plan that is made anew from the same factors on the GPU. */
TEST(plans_follow) {
  static const char *const methods[] = {NULL, "engine", "engine:substitute=0", "pull"};
  for (int c = 0; c < 32; c++) {
    const trs_scalar scalar = (trs_scalar)(TRS_FLOAT + c % 4);
    const bool cholesky = c & 16;
    const trs_options how = {.struct_size = sizeof how, .method = methods[c / 4 % 4]};
    trs_matrix *A = sparse_grid(61, 53, 1, cholesky ? 0 : 0.25, scalar), *B = other_values(A, 9);
    const int64_t n = A->nrows;
    const size_t bytes = (size_t)n * trs_scalar_size(scalar);
    trs_factors *F =
        factor(A, (trs_factor_options){.kind = cholesky ? TRS_FACTOR_IC0 : TRS_FACTOR_ILU0,
                                       .order = c & 8 ? TRS_ORDER_RCM : TRS_ORDER_NATURAL});
    trs_plan *plan, *anew;
    there t = put_matrix(A);
    char *b = malloc(bytes), *x = malloc(bytes), *y = malloc(bytes);
    trs_random_fill(b, n, scalar, 1);
    void *there_b = gpu_upload(b, bytes), *there_x = gpu_upload(b, bytes);
    assert_success(trs_analyze_factors(&plan, ctx, F, TRS_NO_TRANS, &how));
    for (int turn = 0; turn < 3; turn++) {
      const trs_matrix *now = turn == 1 ? A : B;
      put_values(&t, now);
      assert_success(trs_factors_refactor(F, NULL, ctx, t.A));
      assert_success(trs_update_factors(plan, F));
      gpu_solve(plan, x, there_x, there_b, n, 1, bytes);
      assert_success(trs_analyze_factors(&anew, ctx, F, TRS_NO_TRANS, &how));
      gpu_solve(anew, y, there_x, there_b, n, 1, bytes);
      trs_plan_destroy(anew);
      assert_memory_equal(x, y, bytes);
      trs_factors *here = factor(now, (trs_factor_options){.kind = F->kind, .order = F->order});
      trs_backward_error error = {.struct_size = sizeof error};
      assert_success(trs_check_factors(&error, here, TRS_NO_TRANS, x, n, b, n, 1, TRS_COL_MAJOR));
      assert_true(error.componentwise <= 1e3 * scalar_eps(scalar));
      trs_factors_destroy(here);
    }
    gpu_free(there_b);
    gpu_free(there_x);
    free(b);
    free(x);
    free(y);
    trs_plan_destroy(plan);
    drop(&t);
    trs_factors_destroy(F);
    trs_matrix_destroy(A);
    trs_matrix_destroy(B);
  }
}

typedef struct attempt {
  trs_matrix *A;
  there *t;
} attempt;
static trs_status try_refactor(void *argument) {
  const attempt *a = argument;
  trs_factors *F = factor(a->A, (trs_factor_options){.kind = TRS_FACTOR_ILU0});
  const trs_status status = trs_factors_refactor(F, NULL, ctx, a->t->A);
  trs_factors_destroy(F);
  return status;
}
TEST(lack_of_device_memory_is_survived) {
  trs_matrix *A = sparse_grid(20, 10, 1, 0.25, TRS_DOUBLE);
  there t = put_matrix(A);
  attempt a = {A, &t};
  gpu_assert_survives_limits(try_refactor, &a, 4096);
  drop(&t);
  trs_matrix_destroy(A);
}
#endif
