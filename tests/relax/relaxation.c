/* relaxation.c - sweeps against a plain serial sweep in long double, for every block size and
 * storage; bad input; the accuracy of each precision. */
#include <math.h>
#include <stdbool.h>

#include "base/memory.h"
#include "bsr.h"
#include "relax/blocks.h"
#include "sparse.h"
#include "test.h"

static trs_context *one, *three;

static int start(void **state) {
  return trs_context_create(&one, "serial") || trs_context_create(&three, "threads:3");
}

static int stop(void **state) {
  trs_context_destroy(one);
  trs_context_destroy(three);
  return 0;
}

/* y = D^-1 y by elimination with pivoting, in long double. */
static void solve_plain(int b, const double *D, long double *y) {
  long double a[32][33];
  for (int i = 0; i < b; i++) {
    for (int j = 0; j < b; j++) a[i][j] = D[i * b + j];
    a[i][b] = y[i];
  }
  for (int k = 0; k < b; k++) {
    int best = k;
    for (int i = k; i < b; i++)
      if (fabsl(a[i][k]) > fabsl(a[best][k])) best = i;
    for (int j = 0; j <= b; j++) {
      long double kept = a[k][j];
      a[k][j] = a[best][j];
      a[best][j] = kept;
    }
    for (int i = k + 1; i < b; i++)
      for (int j = b; j >= k; j--) a[i][j] -= a[i][k] / a[k][k] * a[k][j];
  }
  for (int k = b - 1; k >= 0; k--) {
    y[k] = a[k][b];
    for (int j = k + 1; j < b; j++) y[k] -= a[k][j] * y[j];
    y[k] /= a[k][k];
  }
}

static void relax_row_plain(const blocks *A, int64_t i, const double *rhs, long double *x,
                            double omega) {
  int b = A->b;
  long double y[32];
  const double *D = NULL;
  for (int r = 0; r < b; r++) y[r] = rhs[i * b + r];
  for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++) {
    const double *block = A->val + p * b * b;
    if (A->idx[p] == i) D = block;
    for (int r = 0; r < b && A->idx[p] != i; r++)
      for (int c = 0; c < b; c++) y[r] -= (long double)block[r * b + c] * x[A->idx[p] * b + c];
  }
  solve_plain(b, D, y);
  for (int r = 0; r < b; r++) x[i * b + r] += omega * (y[r] - x[i * b + r]);
}

/* The sweeps for the colours in info, row by row. */
static void sweep_plain(const blocks *A, const trs_relax_info *info, const double *rhs,
                        long double *x, const trs_sweep_options *o) {
  double omega = o->omega == 0 ? 1 : o->omega;
  for (int64_t s = 0; s < (o->sweeps ? o->sweeps : 1); s++)
    for (int back = 0; back < 2; back++) {
      if (back ? o->direction == TRS_SWEEP_FORWARD : o->direction == TRS_SWEEP_BACKWARD) continue;
      for (int64_t k = 0; k < info->colours; k++) {
        int64_t c = back ? info->colours - 1 - k : k;
        for (int64_t p = info->colour_ptr[c]; p < info->colour_ptr[c + 1]; p++)
          relax_row_plain(A, info->row[p], rhs, x, omega);
      }
    }
}

static double residual_plain(const blocks *A, const double *rhs, const double *x) {
  long double sum = 0;
  int b = A->b;
  for (int64_t i = 0; i < A->n; i++)
    for (int r = 0; r < b; r++) {
      long double y = rhs[i * b + r];
      for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++)
        for (int c = 0; c < b; c++)
          y -= (long double)A->val[p * b * b + r * b + c] * x[A->idx[p] * b + c];
      sum += y * y;
    }
  return (double)sqrtl(sum);
}

/* Errors from rounding O, x and D, relative to the largest x, for contracting sweeps. */
static const double tolerance[] = {0, 2e-6, 1e-13, 2e-5, 4e-3, 4e-2};

enum { NRHS = 3 };

static void check_against_plain(const blocks *A, trs_store store, int variant) {
  int64_t n = A->n * A->b;
  trs_plan *R;
  trs_relax_info info = {.struct_size = sizeof info};
  trs_relax_options options = blocks_options(store, variant);
  trs_sweep_options sweep = blocks_sweeps(variant);
  double *rhs = malloc((size_t)(n * NRHS) * sizeof *rhs),
         *x = malloc((size_t)(n * NRHS) * sizeof *x);
  double *again = malloc((size_t)(n * NRHS) * sizeof *x);
  long double *plain = malloc((size_t)n * sizeof *plain);
  trs_random_fill(rhs, n * NRHS, TRS_DOUBLE, 5);
  trs_random_fill(x, n * NRHS, TRS_DOUBLE, 6);
  memcpy(again, x, (size_t)(n * NRHS) * sizeof *x);
  assert_success(trs_relax_create_bsr(
      &R, one, BSR(TRS_DOUBLE, A->n, 0, A->b, TRS_ROW_MAJOR, TRS_PTR64, A->ptr, A->idx, A->val),
      &options));
  assert_success(trs_relax_get_info(R, &info));
  assert_success(trs_relax_sweep(R, x, n, rhs, n, NRHS, TRS_COL_MAJOR, &sweep));
  for (int c = 0; c < NRHS; c++) {
    double most = 0, worst = 0;
    for (int64_t i = 0; i < n; i++) plain[i] = sweep.keep_x ? again[c * n + i] : 0;
    sweep_plain(A, &info, rhs + c * n, plain, &sweep);
    for (int64_t i = 0; i < n; i++) {
      most = fmax(most, (double)fabsl(plain[i]));
      worst = fmax(worst, (double)fabsl(plain[i] - x[c * n + i]));
      assert_true(isfinite(x[c * n + i]));
    }
    if (worst > tolerance[store] * most)
      fail_msg("block %d, store %d, variant %d: error %g of %g", A->b, store, variant, worst, most);
  }
  trs_plan_destroy(R);

  /* By rows of a matrix, on three threads: the same bits. */
  trs_matrix *M = blocks_matrix(A, TRS_DOUBLE, variant & 1 ? TRS_CSC : TRS_CSR);
  assert_success(trs_relax_create(&R, three, M, A->b, &options));
  assert_success(trs_relax_sweep(R, again, n, rhs, n, NRHS, TRS_COL_MAJOR, &sweep));
  assert_memory_equal(x, again, (size_t)(n * NRHS) * sizeof *x);
  trs_plan_destroy(R);
  trs_matrix_destroy(M);
  free(rhs);
  free(x);
  free(again);
  free(plain);
}

TEST(every_block_size_and_store_against_a_plain_sweep) {
  blocks_every_size_and_store(150, check_against_plain);
}

TEST(shapes_at_the_edge) { blocks_at_the_edge(check_against_plain); }

TEST(many_rows_on_many_threads) {
  for (int b = 3; b <= 8; b++) {
    blocks A = blocks_random(4000, b, 16, 2, 77);
    check_against_plain(&A, TRS_STORE_MIXED, 2 * b);
    blocks_free(&A);
  }
}

TEST(layouts_of_blocks_and_of_vectors) {
  blocks A = blocks_random(50, 5, 7, 2, 4);
  int64_t n = 250, count = A.ptr[A.n];
  double *turned = malloc((size_t)(count * 25) * sizeof *turned);
  for (int64_t p = 0; p < count; p++)
    for (int e = 0; e < 25; e++) turned[p * 25 + e % 5 * 5 + e / 5] = A.val[p * 25 + e];
  trs_plan *R, *T;
  double rhs[500], rows[500], x[500], y[500];
  trs_random_fill(rhs, 500, TRS_DOUBLE, 1);
  for (int i = 0; i < 500; i++) rows[i % 250 * 2 + i / 250] = rhs[i];
  assert_success(trs_relax_create_bsr(
      &R, one, BSR(TRS_DOUBLE, 50, 0, 5, TRS_ROW_MAJOR, TRS_PTR64, A.ptr, A.idx, A.val), NULL));
  assert_success(trs_relax_create_bsr(
      &T, one, BSR(TRS_DOUBLE, 50, 0, 5, TRS_COL_MAJOR, TRS_PTR64, A.ptr, A.idx, turned), NULL));
  assert_success(trs_relax_sweep(R, x, n, rhs, n, 2, TRS_COL_MAJOR, NULL));
  assert_success(trs_relax_sweep(T, y, 2, rows, 2, 2, TRS_ROW_MAJOR, NULL));
  for (int i = 0; i < 500; i++) assert_true(x[i] == y[i % 250 * 2 + i / 250]);
  assert_success(trs_relax_sweep(T, rhs, n, rhs, n, 2, TRS_COL_MAJOR, NULL));
  assert_memory_equal(x, rhs, sizeof x);

  /* In float; and new values, by blocks and by rows. */
  trs_matrix *M = blocks_matrix(&A, TRS_FLOAT, TRS_CSR);
  trs_plan *F;
  trs_relax_options all_float = {.struct_size = sizeof(trs_relax_options),
                                 .store = TRS_STORE_FLOAT};
  float fb[250], fx[250];
  trs_random_fill(fb, 250, TRS_FLOAT, 1);
  assert_success(trs_relax_create(&F, one, M, 5, &all_float));
  assert_success(trs_relax_sweep(F, fx, n, fb, n, 1, TRS_COL_MAJOR, NULL));
  for (int i = 0; i < 250; i++) assert_true(fabs(fx[i] - x[i]) < 1e-5);
  for (int64_t e = 0; e < count * 25; e++) turned[e] *= 2;
  assert_success(trs_update_bsr(
      R, BSR((trs_scalar)0, 0, 0, 0, TRS_COL_MAJOR, TRS_PTR64, A.ptr, A.idx, turned)));
  trs_random_fill(rhs, 250, TRS_DOUBLE, 1);
  assert_success(trs_relax_sweep(R, y, n, rhs, n, 1, TRS_COL_MAJOR, NULL));
  for (int i = 0; i < 250; i++) assert_true(fabs(2 * y[i] - x[i]) < 1e-7);
  trs_matrix *D = blocks_matrix(&A, TRS_DOUBLE, TRS_CSR);
  assert_success(trs_update(R, D));
  assert_success(trs_relax_sweep(R, y, n, rhs, n, 1, TRS_COL_MAJOR, NULL));
  assert_memory_equal(x, y, 250 * sizeof *x);
  assert_failure(TRS_ERROR_ARGUMENT, "unlike", trs_update(R, M));
  trs_matrix_destroy(M);
  trs_matrix_destroy(D);
  trs_plan_destroy(F);
  trs_plan_destroy(R);
  trs_plan_destroy(T);
  blocks_free(&A);
  free(turned);
}

TEST(repeated_blocks_add_up) {
  const int64_t ptr[] = {0, 3, 4};
  const int32_t idx[] = {0, 1, 0, 1};
  const double val[] = {1, 1, 3, 2}, rhs[] = {6, 4};
  double x[2];
  trs_plan *R;
  trs_sweep_options o = {.struct_size = sizeof(trs_sweep_options), .sweeps = 2};
  assert_success(trs_relax_create_bsr(
      &R, one, BSR(TRS_DOUBLE, 2, 0, 1, TRS_ROW_MAJOR, TRS_PTR64, ptr, idx, val), NULL));
  assert_success(trs_relax_sweep(R, x, 2, rhs, 2, 1, TRS_COL_MAJOR, &o));
  assert_true(x[0] == 1 && x[1] == 2);
  trs_plan_destroy(R);
}

TEST(colours_of_the_caller) {
  enum { N = 30 };
  blocks A = blocks_random(N, 4, 5, 2, 8);
  int32_t colour[N];
  for (int i = 0; i < N; i++) colour[i] = N - 1 - i; /* Gauss-Seidel from the last row on */
  trs_relax_options options = {
      .struct_size = sizeof(trs_relax_options), .store = TRS_STORE_DOUBLE, .colour = colour};
  trs_relax_info info = {.struct_size = sizeof info};
  trs_plan *R;
  assert_success(trs_relax_create_bsr(
      &R, three, BSR(TRS_DOUBLE, N, 0, 4, TRS_ROW_MAJOR, TRS_PTR64, A.ptr, A.idx, A.val),
      &options));
  assert_success(trs_relax_get_info(R, &info));
  assert_int_equal(info.colours, N);
  for (int i = 0; i < N; i++) assert_int_equal(info.row[i], N - 1 - i);
  trs_plan_destroy(R);
  for (int i = 0; i < N; i++) colour[i] = 0;
  assert_failure(
      TRS_ERROR_ARGUMENT, "not a colouring",
      trs_relax_create_bsr(&R, one,
                           BSR(TRS_DOUBLE, N, 0, 4, TRS_ROW_MAJOR, TRS_PTR64, A.ptr, A.idx, A.val),
                           &options));
  assert_null(R);
  blocks_free(&A);
}

TEST(norms_are_those_of_the_residual) {
  blocks A = blocks_random(3000, 5, 12, 2, 9);
  int64_t n = A.n * 5;
  double *rhs = malloc((size_t)(2 * n) * sizeof *rhs), *x = malloc((size_t)(2 * n) * sizeof *x);
  double norms[2][8], last[2][8];
  trs_random_fill(rhs, 2 * n, TRS_DOUBLE, 2);
  for (int t = 0; t < 2; t++) {
    trs_plan *R;
    trs_relax_options options = {
        .struct_size = sizeof(trs_relax_options), .store = TRS_STORE_DOUBLE, .nrhs = 1 + t};
    trs_sweep_options o = {.struct_size = sizeof(trs_sweep_options),
                           .sweeps = 7,
                           .residual_every = 2,
                           .residuals = norms[t]};
    assert_success(trs_relax_create_bsr(
        &R, t ? three : one,
        BSR(TRS_DOUBLE, A.n, 0, 5, TRS_ROW_MAJOR, TRS_PTR64, A.ptr, A.idx, A.val), &options));
    assert_success(trs_relax_sweep(R, x, n, rhs, n, 2, TRS_COL_MAJOR, &o));
    o = (trs_sweep_options){.struct_size = sizeof(trs_sweep_options),
                            .sweeps = 1,
                            .keep_x = 1,
                            .residual_every = 1,
                            .residuals = last[t]};
    double before[2] = {residual_plain(&A, rhs, x), residual_plain(&A, rhs + n, x + n)};
    assert_success(trs_relax_sweep(R, x, n, rhs, n, 2, TRS_COL_MAJOR, &o));
    for (int c = 0; c < 2; c++)
      assert_true(fabs(before[c] - last[t][c]) < 1e-12 + 1e-6 * before[c]);
    trs_plan_destroy(R);
  }
  assert_memory_equal(norms[0], norms[1], sizeof norms[0]);
  for (int k = 2; k < 8; k++) assert_true(norms[0][k] < 0.5 * norms[0][k - 2]);
  free(rhs);
  free(x);
  blocks_free(&A);
}

TEST(each_precision_has_its_error) {
  static const double least[] = {0, 1e-9, 0, 1e-9, 1e-6, 1e-5},
                      most[] = {0, 6e-8, 0, 6e-8, 3e-4, 3e-3};
  blocks A = blocks_random(500, 5, 12, 1.2, 10);
  int64_t n = A.n * 5;
  double *rhs = malloc((size_t)n * sizeof *rhs), *x = malloc((size_t)n * sizeof *x);
  trs_random_fill(rhs, n, TRS_DOUBLE, 2);
  double norm = 0;
  for (int64_t i = 0; i < n; i++) norm += rhs[i] * rhs[i];
  for (int store = TRS_STORE_MIXED; store <= TRS_STORE_BFLOAT; store++) {
    static const double reached[] = {0, 1e-6, 1e-14, 2e-6, 1e-3, 1e-2};
    trs_plan *R;
    trs_relax_info info = {.struct_size = sizeof info};
    trs_relax_options options = {.struct_size = sizeof(trs_relax_options),
                                 .store = (trs_store)store};
    trs_sweep_options o = {.struct_size = sizeof(trs_sweep_options), .sweeps = 60};
    assert_success(trs_relax_create_bsr(
        &R, three, BSR(TRS_DOUBLE, A.n, 0, 5, TRS_ROW_MAJOR, TRS_PTR64, A.ptr, A.idx, A.val),
        &options));
    assert_success(trs_relax_get_info(R, &info));
    assert_true(info.rounding >= least[store] && info.rounding <= most[store]);
    assert_success(trs_relax_sweep(R, x, n, rhs, n, 1, TRS_COL_MAJOR, &o));
    double left = residual_plain(&A, rhs, x) / sqrt(norm);
    if (left > reached[store]) fail_msg("store %d: residual %g", store, left);
    trs_plan_destroy(R);
  }
  free(rhs);
  free(x);
  blocks_free(&A);
}

/* b - A x| with A as given. */
static double residual_of(const trs_matrix *A, const double *rhs, const double *x) {
  const int64_t *ptr;
  const int32_t *idx;
  const void *val;
  trs_matrix_info m = {.struct_size = sizeof m};
  long double sum = 0;
  trs_matrix_get_info(A, &m);
  trs_matrix_get_arrays(A, &ptr, &idx, &val);
  for (int64_t i = 0; i < m.nrows; i++) {
    long double y = rhs[i];
    for (int64_t p = ptr[i]; p < ptr[i + 1]; p++)
      y -= (long double)((const double *)val)[p] * x[idx[p]];
    sum += y * y;
  }
  return (double)sqrtl(sum);
}

/* W21's case in small: every storage gains at least two digits in fifteen sweeps. */
TEST(sweeps_converge_on_the_wing) {
  trs_matrix *A;
  trs_matrix_info m = {.struct_size = sizeof m};
  assert_success(trs_matrix_read(&A, "gen:wingmesh:4000", NULL));
  trs_matrix_get_info(A, &m);
  double *rhs = malloc((size_t)m.nrows * sizeof *rhs), *x = malloc((size_t)m.nrows * sizeof *x);
  trs_random_fill(rhs, m.nrows, TRS_DOUBLE, 3);
  for (int store = TRS_STORE_MIXED; store <= TRS_STORE_BFLOAT; store++) {
    trs_plan *R;
    trs_relax_info info = {.struct_size = sizeof info};
    double norms[16];
    trs_relax_options options = {.struct_size = sizeof(trs_relax_options),
                                 .store = (trs_store)store};
    trs_sweep_options o = {.struct_size = sizeof(trs_sweep_options),
                           .sweeps = 15,
                           .residual_every = 1,
                           .residuals = norms};
    assert_success(trs_relax_create(&R, three, A, 5, &options));
    assert_success(trs_relax_get_info(R, &info));
    assert_true(info.colours >= 8 && info.colours <= 15);
    assert_success(trs_relax_sweep(R, x, m.nrows, rhs, m.nrows, 1, TRS_COL_MAJOR, &o));
    for (int k = 0; k < 15; k++) assert_true(norms[k + 1] < norms[k]);
    assert_true(norms[15] < 1e-2 * norms[0]);
    assert_true(residual_of(A, rhs, x) < 1e-2 * norms[0]);
    trs_plan_destroy(R);
  }
  trs_matrix_destroy(A);
  free(rhs);
  free(x);
}

/* Blocks of very different sizes, whose range a half alone does not have. */
TEST(factors_carry_the_range) {
  const int64_t ptr[] = {0, 2, 4};
  const int32_t idx[] = {0, 1, 0, 1};
  const double val[] = {1e30, 3e29, 1e-30, 1e-29}, rhs[] = {1e30, 1e-29};
  for (int store = TRS_STORE_HALF; store <= TRS_STORE_BFLOAT; store++) {
    double x[2];
    trs_plan *R;
    trs_relax_options options = {.struct_size = sizeof(trs_relax_options),
                                 .store = (trs_store)store};
    trs_sweep_options o = {.struct_size = sizeof(trs_sweep_options), .sweeps = 60};
    assert_success(trs_relax_create_bsr(
        &R, one, BSR(TRS_DOUBLE, 2, 0, 1, TRS_ROW_MAJOR, TRS_PTR64, ptr, idx, val), &options));
    assert_success(trs_relax_sweep(R, x, 2, rhs, 2, 1, TRS_COL_MAJOR, &o));
    assert_true(fabs(x[0] + 0.3 * x[1] - 1) < 4e-3 && fabs(0.1 * x[0] + x[1] - 1) < 4e-3);
    trs_plan_destroy(R);
  }
}

TEST(bad_input_is_named_by_its_block_row) {
  blocks A = blocks_random(20, 3, 4, 2, 11);
  trs_matrix *M = blocks_matrix(&A, TRS_DOUBLE, TRS_CSR), *Z;
  trs_plan *R;
  assert_failure(TRS_ERROR_ARGUMENT, "blocks of 7 do not divide the 60 rows",
                 trs_relax_create(&R, one, M, 7, NULL));
  assert_failure(TRS_ERROR_ARGUMENT, "block size is 0", trs_relax_create(&R, one, M, 0, NULL));
  assert_failure(TRS_ERROR_ARGUMENT, "block size is 33", trs_relax_create(&R, one, M, 33, NULL));
  assert_success(trs_matrix_convert(&Z, M, TRS_CSR, TRS_DCOMPLEX));
  assert_failure(TRS_ERROR_UNSUPPORTED, "complex", trs_relax_create(&R, one, Z, 3, NULL));
  trs_relax_options options = {.struct_size = sizeof(trs_relax_options), .store = (trs_store)9};
  assert_failure(TRS_ERROR_ARGUMENT, "store is 9", trs_relax_create(&R, one, M, 3, &options));
  trs_matrix_destroy(Z);
  trs_matrix_destroy(M);

#define CREATE(options)                                                                          \
  trs_relax_create_bsr(&R, three,                                                                \
                       BSR(TRS_DOUBLE, 20, 0, 3, TRS_ROW_MAJOR, TRS_PTR64, A.ptr, A.idx, A.val), \
                       options)
  for (int64_t p = A.ptr[13]; p < A.ptr[14]; p++)
    for (int e = 0; e < 3 && A.idx[p] == 13; e++) A.val[9 * p + 3 * e + 1] = 0;
  assert_failure(TRS_ERROR_ZERO_PIVOT, "diagonal block of block row 13 (0-based) is singular",
                 CREATE(NULL));
  assert_int_equal(trs_last_error()->row, 13);
  double kept = A.val[9 * A.ptr[11]];
  A.val[9 * A.ptr[11]] = NAN;
  assert_failure(TRS_ERROR_NOT_FINITE, "block row 11 (0-based) has a value that is NaN",
                 CREATE(NULL));
  A.val[9 * A.ptr[11]] = -INFINITY;
  assert_failure(TRS_ERROR_NOT_FINITE, "block row 11 (0-based) has a value that is infinite",
                 CREATE(NULL));
  A.val[9 * A.ptr[11]] = kept;
  int64_t off = -1;
  for (int64_t i = 0; i < 6 && off < 0; i++)
    for (int64_t p = A.ptr[i]; p < A.ptr[i + 1]; p++)
      if (A.idx[p] != i) off = p;
  assert_true(off >= 0);
  A.val[9 * off] = 1e300;
  assert_failure(TRS_ERROR_UNSUPPORTED, "too large to be stored as a float", CREATE(NULL));
  A.val[9 * off] = 0;
  for (int64_t p = A.ptr[6]; p < A.ptr[7]; p++)
    if (A.idx[p] == 6) A.idx[p] = 7;
  assert_failure(TRS_ERROR_STRUCTURE, "block row 6 (0-based) has no diagonal block", CREATE(NULL));
  assert_int_equal(trs_last_error()->row, 6);
  A.idx[A.ptr[3]] = 20;
  assert_failure(TRS_ERROR_STRUCTURE, "block column 20 in block row 3", CREATE(NULL));
  A.ptr[2] = -1;
  assert_failure(TRS_ERROR_STRUCTURE, "is less than", CREATE(NULL));
  blocks_free(&A);
#undef CREATE
}

/* Two block rows without off-diagonal blocks: 1 and the block. */
static trs_status create_with(trs_plan **R, int b, const double *block, trs_store store) {
  const int64_t ptr[] = {0, 1, 2};
  const int32_t idx[] = {0, 1};
  double val[2 * 8 * 8] = {0};
  trs_relax_options options = {.struct_size = sizeof(trs_relax_options), .store = store};
  for (int i = 0; i < b; i++) val[i * b + i] = 1;
  memcpy(val + b * b, block, (size_t)(b * b) * sizeof *val);
  return trs_relax_create_bsr(
      R, one, BSR(TRS_DOUBLE, 2, 0, b, TRS_ROW_MAJOR, TRS_PTR64, ptr, idx, val), &options);
}

TEST(what_rounding_leaves_is_no_pivot) {
  static const double rows[] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, two[] = {.1, .2, .3, .6},
                      twice[] = {.1, .7, .3, .2, 1.4, .6, 1, 2, 5};
  trs_plan *R;
  for (int store = TRS_STORE_MIXED; store <= TRS_STORE_BFLOAT; store++) {
    const double *const singular[] = {rows, two, twice};
    for (int k = 0; k < 3; k++) {
      assert_failure(TRS_ERROR_ZERO_PIVOT, "diagonal block of block row 1 (0-based) is singular",
                     create_with(&R, k == 1 ? 2 : 3, singular[k], (trs_store)store));
      assert_int_equal(trs_last_error()->row, 1);
    }
  }
}

/* A block that dominates by rows.  Its rows are scaled by 10^rows and 10^-rows alternately, its
 * columns by 10^columns and 10^-columns; the exact x is the inverse of each column's scale. */
static void check_scaled(int b, double rows, double columns) {
  double block[64], rhs[16] = {0}, x[16];
  trs_plan *R;
  trs_random_fill(block, b * b, TRS_DOUBLE, (uint64_t)b);
  for (int i = 0; i < b; i++) {
    double sum = 0, scale = pow(10, i % 2 ? rows : -rows);
    block[i * b + i] = 2 * b;
    for (int j = 0; j < b; j++) sum += block[i * b + j];
    rhs[b + i] = sum * scale;
    for (int j = 0; j < b; j++) block[i * b + j] *= scale * pow(10, j % 2 ? -columns : columns);
  }
  assert_success(create_with(&R, b, block, TRS_STORE_DOUBLE));
  assert_success(trs_relax_sweep(R, x, 2 * b, rhs, 2 * b, 1, TRS_COL_MAJOR, NULL));
  for (int i = 0; i < b; i++) {
    double off = x[b + i] * pow(10, i % 2 ? -columns : columns) - 1;
    if (!(fabs(off) < 1e-12)) fail_msg("block %d, scaled %g, %g: %g", b, rows, columns, off);
  }
  trs_plan_destroy(R);
}

TEST(scaled_blocks_are_kept) {
  for (int b = 1; b <= 8; b++) {
    check_scaled(b, 150, 0);
    check_scaled(b, 0, 150);
    check_scaled(b, 100, 50);
    check_scaled(b, -75, 75);
  }
  /* The large rows leave their rounding in the second column, where the small one matters. */
  const double hidden[] = {.1e150, .7e150, .3e150, .2e150, 1.4e150, .7e150, 0, 1e-150, 0};
  const double rhs[6] = {0, 0, 0, 1.1e150, 2.3e150, 1e-150};
  double x[6];
  trs_plan *R;
  assert_success(create_with(&R, 3, hidden, TRS_STORE_DOUBLE));
  assert_success(trs_relax_sweep(R, x, 6, rhs, 6, 1, TRS_COL_MAJOR, NULL));
  for (int i = 3; i < 6; i++) assert_true(fabs(x[i] - 1) < 1e-12);
  trs_plan_destroy(R);
}

TEST(factors_that_overflow_are_refused) {
  static const double last[] = {1, 3e38, -1, 3e38}, small[] = {1, 0, 1, 1e-39},
                      none[] = {1, 0, 1, 1e-50}, above[] = {1, 1, 3e38, -1, 1, 3e38, 0, 1, 1},
                      wide[] = {1, 1e308, -1, 1.7e308}, tiny[] = {1e-310, 0, 0, 1};
  trs_plan *R;
  const char *overflow = "block row 1 (0-based) overflows when factored: store as double";
  assert_failure(TRS_ERROR_UNSUPPORTED, overflow, create_with(&R, 2, last, TRS_STORE_FLOAT));
  assert_int_equal(trs_last_error()->row, 1);
  assert_failure(TRS_ERROR_UNSUPPORTED, overflow, create_with(&R, 3, above, TRS_STORE_FLOAT));
  assert_failure(TRS_ERROR_UNSUPPORTED, "too small to be inverted: store as double",
                 create_with(&R, 2, small, TRS_STORE_FLOAT));
  assert_failure(TRS_ERROR_ZERO_PIVOT, "is singular as floats",
                 create_with(&R, 2, none, TRS_STORE_FLOAT));
  const double *const kept[] = {last, small, none};
  for (int k = 0; k < 3; k++) {
    assert_success(create_with(&R, 2, kept[k], TRS_STORE_MIXED));
    trs_plan_destroy(R);
  }
  assert_failure(TRS_ERROR_UNSUPPORTED, "overflows when factored: scale the matrix",
                 create_with(&R, 2, wide, TRS_STORE_DOUBLE));
  assert_failure(TRS_ERROR_UNSUPPORTED, "too small to be inverted: scale the matrix",
                 create_with(&R, 2, tiny, TRS_STORE_DOUBLE));
}

/* A and b times a power of two: rounding and norms scale with it, or are reported as out of
 * range. */
static void check_range(const blocks *A, int power, double expected) {
  int64_t n = A->n * A->b, count = A->ptr[A->n] * A->b * A->b;
  double *rhs = malloc((size_t)n * sizeof *rhs), *x = malloc((size_t)n * sizeof *x);
  double *val = malloc((size_t)count * sizeof *val), norms[2];
  trs_relax_options options = {.struct_size = sizeof(trs_relax_options), .store = TRS_STORE_DOUBLE};
  trs_sweep_options o = {
      .struct_size = sizeof(trs_sweep_options), .residual_every = 1, .residuals = norms};
  trs_plan *R;
  trs_random_fill(rhs, n, TRS_DOUBLE, 4);
  for (int64_t i = 0; i < n; i++) rhs[i] = ldexp(rhs[i], power);
  for (int64_t e = 0; e < count; e++) val[e] = ldexp(A->val[e], power);
  assert_success(trs_relax_create_bsr(
      &R, three, BSR(TRS_DOUBLE, A->n, 0, A->b, TRS_ROW_MAJOR, TRS_PTR64, A->ptr, A->idx, val),
      &options));
  assert_success(trs_relax_sweep(R, x, n, rhs, n, 1, TRS_COL_MAJOR, &o));
  for (int k = 0; k < 2; k++)
    if (isfinite(expected) ? !(norms[k] > 0 && isfinite(norms[k]))
                           : !(isnan(expected) ? isnan(norms[k]) : norms[k] == expected))
      fail_msg("times 2^%d: norm %g", power, norms[k]);
  trs_plan_destroy(R);
  free(rhs);
  free(val);
  free(x);
}

TEST(norms_out_of_range_say_so) {
  blocks A = blocks_random(2000, 3, 7, 2, 21);
  double x[6], norms[2];
  trs_sweep_options o = {
      .struct_size = sizeof(trs_sweep_options), .residual_every = 1, .residuals = norms};
  trs_plan *R;
  check_range(&A, 480, 1);
  check_range(&A, -470, 1);
  check_range(&A, 660, INFINITY);
  check_range(&A, -660, NAN);
  const double block[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, rhs[6] = {0}; /* zero stays zero */
  assert_success(create_with(&R, 3, block, TRS_STORE_DOUBLE));
  assert_success(trs_relax_sweep(R, x, 6, rhs, 6, 1, TRS_COL_MAJOR, &o));
  assert_true(norms[0] == 0 && norms[1] == 0);
  trs_plan_destroy(R);
  blocks_free(&A);
}

/* The rounding of a third is the same in any unit. */
TEST(rounding_does_not_depend_on_the_unit) {
  const int64_t ptr[] = {0, 2, 4};
  const int32_t idx[] = {0, 1, 0, 1};
  const double units[] = {0, 120, -120};
  double rounding[3];
  for (int k = 0; k < 3; k++) {
    double d = ldexp(1, (int)units[k]), o = d / 3;
    const double val[] = {d, o, o, d};
    trs_relax_info info = {.struct_size = sizeof info};
    trs_plan *R;
    assert_success(trs_relax_create_bsr(
        &R, one, BSR(TRS_DOUBLE, 2, 0, 1, TRS_ROW_MAJOR, TRS_PTR64, ptr, idx, val), NULL));
    assert_success(trs_relax_get_info(R, &info));
    rounding[k] = info.rounding;
    trs_plan_destroy(R);
  }
  assert_true(rounding[0] > 1e-9 && rounding[1] == rounding[0] && rounding[2] == rounding[0]);
  /* Far apart: the loss of the small values is negligible against the large ones. */
  const double apart[] = {1e200, 1.23456789e30, 1.23456789e30, 1e200};
  const double below[] = {1, 1.23456789e-40, 1.23456789e-60, 1};
  const double *const val[] = {apart, below};
  for (int k = 0; k < 2; k++) {
    trs_relax_info info = {.struct_size = sizeof info};
    trs_plan *R;
    assert_success(trs_relax_create_bsr(
        &R, one, BSR(TRS_DOUBLE, 2, 0, 1, TRS_ROW_MAJOR, TRS_PTR64, ptr, idx, val[k]), NULL));
    assert_success(trs_relax_get_info(R, &info));
    assert_true(info.rounding < 1e-12);
    trs_plan_destroy(R);
  }
}

/* A row that keeps none of its values, or only some digits, is refused in every format of floats.
 */
TEST(values_below_the_range_of_floats_are_refused) {
  const int64_t ptr[] = {0, 2, 4};
  const int32_t idx[] = {0, 1, 0, 1};
  const double tiny[] = {1e-200, 1e-201, 1e-201, 1e-200}, subnormal[] = {1, .1, 1e-40, 3e-40};
  const double *const val[] = {tiny, subnormal};
  for (int k = 0; k < 2; k++)
    for (trs_store store = TRS_STORE_MIXED; store <= TRS_STORE_BFLOAT; store++) {
      trs_plan *R;
      trs_relax_options how = {.struct_size = sizeof how, .store = store};
      const trs_status status = trs_relax_create_bsr(
          &R, one, BSR(TRS_DOUBLE, 2, 0, 1, TRS_ROW_MAJOR, TRS_PTR64, ptr, idx, val[k]), &how);
      if (store == TRS_STORE_DOUBLE) {
        assert_int_equal(status, TRS_SUCCESS);
        trs_plan_destroy(R);
        continue;
      }
      assert_failure(TRS_ERROR_UNSUPPORTED, "too small to be stored as a float: store as double",
                     status);
      assert_int_equal(trs_last_error()->row, k);
    }
}

/* The largest number of x, or all of one block row's, where b is not small beside the others'. */
TEST(x_outside_the_range_of_floats_is_refused) {
  enum { N = 2 };
  static const struct {
    double diagonal[N], b[N], start;
    const char *what; /* NULL: no loss that counts */
  } cases[] = {{{1, 1}, {1, 1e60}, 0, "is beyond their range"},
               {{1, 1}, {1, 1}, 1e60, "is beyond their range"},
               {{1e-30, 1}, {1e30, 1}, 0, "is beyond their range"},
               {{1, 1}, {1e-60, 1e-61}, 0, "is below their range"},
               {{1, 1e35}, {1, 1e-10}, 0, "has parts below their range"},
               {{1e30, 1}, {1e-15, 1e-3}, 0, "has parts below their range"},
               {{1, 1}, {1, 1e-60}, 0, NULL},
               {{1, 1e35}, {1, 0}, 0, NULL},
               {{1, 1}, {1, 1}, INFINITY, NULL},
               {{1, 1}, {1, NAN}, 0, NULL},
               {{1, 1}, {0, 0}, 0, NULL}};
  const int64_t ptr[] = {0, 2, 4};
  const int32_t idx[] = {0, 1, 0, 1};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
    for (trs_store store = TRS_STORE_MIXED; store <= TRS_STORE_BFLOAT; store++)
      for (int block = 1; block <= 3; block += 2) {
        double val[4 * 9] = {0}, b[3 * N], x[3 * N];
        trs_relax_options how = {.struct_size = sizeof how, .store = store};
        /* The first row reads the second one's start. */
        const trs_sweep_options once = {.struct_size = sizeof once, .keep_x = cases[k].start != 0};
        trs_plan *R;
        for (int i = 0; i < N * block; i++) {
          const int row = i / block, e = i % block;
          val[(row * 2 + row) * block * block + e * block + e] = cases[k].diagonal[row];
          b[i] = cases[k].b[row];
          x[i] = cases[k].start;
        }
        for (int e = 0; cases[k].start != 0 && e < block; e++)
          val[block * block + e * block + e] = 0.5;
        assert_success(trs_relax_create_bsr(
            &R, three, BSR(TRS_DOUBLE, N, 0, block, TRS_ROW_MAJOR, TRS_PTR64, ptr, idx, val),
            &how));
        const trs_status status =
            trs_relax_sweep(R, x, N * block, b, N * block, 1, TRS_COL_MAJOR, &once);
        if (cases[k].what && store != TRS_STORE_DOUBLE)
          assert_failure(TRS_ERROR_UNSUPPORTED, cases[k].what, status);
        else
          assert_success(status);
        trs_plan_destroy(R);
      }
}

/* A row whose b is that of its neighbours alone has x = 0, and loses nothing. */
TEST(x_that_is_zero_is_no_loss) {
  const int64_t ptr[] = {0, 2, 4};
  const int32_t idx[] = {0, 1, 0, 1};
  const double val[] = {2, 1, 1, 2}, b[] = {2, 1};
  double x[] = {1, 0};
  const trs_sweep_options once = {.struct_size = sizeof once, .keep_x = 1};
  trs_plan *R;
  assert_success(trs_relax_create_bsr(
      &R, one, BSR(TRS_DOUBLE, 2, 0, 1, TRS_ROW_MAJOR, TRS_PTR64, ptr, idx, val), NULL));
  assert_success(trs_relax_sweep(R, x, 2, b, 2, 1, TRS_COL_MAJOR, &once));
  assert_true(x[0] == 1 && x[1] == 0);
  trs_plan_destroy(R);
}

TEST(sweeps_check_their_arguments) {
  blocks A = blocks_random(10, 2, 3, 2, 12), B = blocks_random(10, 2, 6, 2, 99);
  trs_plan *R;
  double x[20], rhs[20] = {0};
  assert_success(trs_relax_create_bsr(
      &R, one, BSR(TRS_DOUBLE, 10, 0, 2, TRS_ROW_MAJOR, TRS_PTR64, A.ptr, A.idx, A.val), NULL));
  trs_sweep_options o = {.struct_size = sizeof(trs_sweep_options), .residual_every = 1};
  assert_failure(TRS_ERROR_ARGUMENT, "residuals is NULL",
                 trs_relax_sweep(R, x, 20, rhs, 20, 1, TRS_COL_MAJOR, &o));
  o = (trs_sweep_options){.struct_size = sizeof(trs_sweep_options), .omega = NAN};
  assert_failure(TRS_ERROR_ARGUMENT, "omega",
                 trs_relax_sweep(R, x, 20, rhs, 20, 1, TRS_COL_MAJOR, &o));
  o = (trs_sweep_options){.struct_size = sizeof(trs_sweep_options), .sweeps = -1};
  assert_failure(TRS_ERROR_ARGUMENT, "sweeps is -1",
                 trs_relax_sweep(R, x, 20, rhs, 20, 1, TRS_COL_MAJOR, &o));
  assert_failure(TRS_ERROR_ARGUMENT, "ldx",
                 trs_relax_sweep(R, x, 19, rhs, 20, 1, TRS_COL_MAJOR, NULL));
  assert_failure(TRS_ERROR_STRUCTURE, "not there at creation",
                 trs_update_bsr(R, BSR((trs_scalar)0, 0, 0, 0, TRS_ROW_MAJOR, TRS_PTR64, B.ptr,
                                       B.idx, B.val)));
  assert_failure(
      TRS_ERROR_ARGUMENT, "9 x 10 blocks of size 2",
      trs_update_bsr(R, BSR(TRS_DOUBLE, 9, 0, 2, TRS_ROW_MAJOR, TRS_PTR64, A.ptr, A.idx, A.val)));
  assert_failure(TRS_ERROR_ARGUMENT, "blocks is NULL", trs_update_bsr(R, NULL));
  assert_success(
      trs_update_bsr(R, BSR(TRS_DOUBLE, 10, 10, 2, TRS_ROW_MAJOR, TRS_PTR64, A.ptr, A.idx, A.val)));
  assert_success(trs_relax_sweep(R, x, 20, rhs, 20, 1, TRS_COL_MAJOR, NULL));
  for (int i = 0; i < 20; i++) assert_true(x[i] == 0);
  trs_plan_destroy(R);
  trs_plan_destroy(NULL);
  blocks_free(&A);
  blocks_free(&B);
}

TEST(after_a_failed_update_a_relaxation_sweeps_no_more_until_one_succeeds) {
  blocks A = blocks_random(10, 2, 3, 2, 12);
  trs_matrix *M = blocks_matrix(&A, TRS_DOUBLE, TRS_CSR),
             *F = blocks_matrix(&A, TRS_FLOAT, TRS_CSR);
  const size_t bytes = (size_t)A.ptr[10] * 4 * sizeof(double);
  double *good = memcpy(malloc(bytes), A.val, bytes);
  const trs_blocks *given =
      BSR(TRS_DOUBLE, 10, 10, 2, TRS_ROW_MAJOR, TRS_PTR64, A.ptr, A.idx, A.val);
  trs_plan *R;
  double x[20], y[20], rhs[20];
  trs_random_fill(rhs, 20, TRS_DOUBLE, 4);
  assert_success(trs_relax_create_bsr(&R, three, given, NULL));
  assert_success(trs_relax_sweep(R, x, 20, rhs, 20, 1, TRS_COL_MAJOR, NULL));
  for (int k = 0; k < 5; k++) {
    const char *call = k & 1 ? "trs_update of this" : "trs_update_bsr of this";
    trs_status failed;
    if (k == 2) memset(A.val, 0, bytes);
    if (k == 4) trs_memory_fail_after(0);
    if (k & 1)
      failed = trs_update(R, k == 1 ? NULL : F);
    else
      failed = trs_update_bsr(R, k ? given : NULL);
    trs_memory_fail_after(-1);
    memcpy(A.val, good, bytes);
    assert_int_equal(failed, k == 2   ? TRS_ERROR_ZERO_PIVOT
                             : k == 4 ? TRS_ERROR_MEMORY
                                      : TRS_ERROR_ARGUMENT);
    memcpy(y, rhs, sizeof y);
    for (int again = 0; again < 2; again++)
      assert_failure(failed, call, trs_relax_sweep(R, y, 20, rhs, 20, 1, TRS_COL_MAJOR, NULL));
    assert_memory_equal(y, rhs, sizeof y);
    assert_success(k & 1 ? trs_update(R, M) : trs_update_bsr(R, given));
    assert_success(trs_relax_sweep(R, y, 20, rhs, 20, 1, TRS_COL_MAJOR, NULL));
    assert_memory_equal(y, x, sizeof y);
  }
  trs_plan_destroy(R);
  trs_matrix_destroy(M);
  trs_matrix_destroy(F);
  free(good);
  blocks_free(&A);
}

typedef struct request {
  const trs_matrix *M;
  int balanced;
} request;

static trs_status create_and_update(void *argument) {
  const request *r = argument;
  trs_plan *R = NULL;
  trs_relax_options options = {
      .struct_size = sizeof(trs_relax_options), .store = TRS_STORE_HALF, .balanced = r->balanced};
  trs_status status = trs_relax_create(&R, three, r->M, 5, &options);
  if (!status) status = trs_update(R, r->M);
  trs_plan_destroy(R);
  return status;
}

TEST(failing_allocations_leak_nothing) {
  blocks A = blocks_random(60, 5, 6, 2, 13);
  trs_matrix *M = blocks_matrix(&A, TRS_DOUBLE, TRS_CSC);
  for (int balanced = 0; balanced < 2; balanced++)
    assert_survives_failing_allocations(create_and_update, &(request){M, balanced});
  trs_matrix_destroy(M);
  blocks_free(&A);
}

const test_program program = {.begin = start, .end = stop};
