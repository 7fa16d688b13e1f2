/* sparse.c - small matrices and checks shared by the tests of orderings and factors. */
#include "sparse.h"

#include <math.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/scalar.h"
#include "matrix/matrix.h"
#include "matrix/values.h"
#include "test.h"

typedef struct triplets {
  int64_t count;
  int32_t *row, *col;
  void *val;
  trs_scalar scalar;
} triplets;

static triplets triplets_make(int64_t room, trs_scalar scalar) {
  return (triplets){.row = malloc((size_t)(room + 1) * sizeof(int32_t)),
                    .col = malloc((size_t)(room + 1) * sizeof(int32_t)),
                    .val = malloc((size_t)(room + 1) * sizeof(double complex)),
                    .scalar = scalar};
}

static void add(triplets *t, int64_t row, int64_t col, double complex value) {
  t->row[t->count] = (int32_t)row;
  t->col[t->count] = (int32_t)col;
  trs_value_set(t->val, t->count++, t->scalar, value);
}

static trs_matrix *triplets_take(triplets *t, int64_t n, trs_format format) {
  trs_matrix *A, *B;
  assert_success(
      trs_matrix_create_coo(&A, t->scalar, n, n, t->count, TRS_IDX32, t->row, t->col, t->val));
  free(t->row);
  free(t->col);
  free(t->val);
  if (format == TRS_CSR) return A;
  assert_success(trs_matrix_convert(&B, A, format, t->scalar));
  trs_matrix_destroy(A);
  return B;
}

static double complex random_value(uint64_t seed, int64_t at, trs_scalar scalar) {
  double re = trs_random_signed(seed, (uint64_t)(2 * at));
  return trs_scalar_is_complex(scalar) ? re + I * trs_random_signed(seed, (uint64_t)(2 * at + 1))
                                       : re;
}

trs_matrix *sparse_random(int64_t n, double density, sparse_kind kind, uint64_t seed) {
  if (!kind.scalar) kind.scalar = TRS_FLOAT;
  triplets t = triplets_make(n * n, kind.scalar);
  int64_t classes = kind.components > 1 ? kind.components : 1;
  double *sum = calloc((size_t)n + 1, sizeof *sum);
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++) {
      int64_t low = kind.symmetric && j > i ? j * n + i : i * n + j;
      if (i == j || i % classes != j % classes) continue;
      if (trs_random_unit(seed, (uint64_t)low) >= density) continue;
      double complex value = random_value(seed + 1, low, kind.scalar);
      if (kind.symmetric && j > i) value = conj(value);
      add(&t, i, j, value);
      sum[i] += cabs(value);
    }
  for (int64_t i = 0; i < n && !kind.no_diagonal; i++)
    add(&t, i, i,
        kind.dominant    ? sum[i] + 0.5
        : kind.symmetric ? creal(random_value(seed + 2, i, kind.scalar))
                         : random_value(seed + 2, i, kind.scalar));
  free(sum);
  return triplets_take(&t, n, kind.format);
}

trs_matrix *sparse_grid(int64_t nx, int64_t ny, int64_t nz, double skew, trs_scalar scalar) {
  int64_t n = nx * ny * nz;
  triplets t = triplets_make(7 * n, scalar);
  const int64_t size[3] = {nx, ny, nz}, step[3] = {1, nx, nx * ny};
  for (int64_t i = 0; i < n; i++) {
    add(&t, i, i, 6.25);
    for (int d = 0; d < 3; d++) {
      int64_t at = i / step[d] % size[d];
      if (at > 0) add(&t, i, i - step[d], -1 - skew);
      if (at < size[d] - 1) add(&t, i, i + step[d], -1 + skew);
    }
  }
  return triplets_take(&t, n, TRS_CSR);
}

trs_matrix *sparse_arrow(int64_t n, int64_t long_one) {
  int64_t count = 0;
  int32_t *row = malloc((size_t)(5 * n) * sizeof *row),
          *col = malloc((size_t)(5 * n) * sizeof *col);
  double *val = malloc((size_t)(5 * n) * sizeof *val);
  for (int64_t i = 0; i < n; i++)
    for (int64_t at = 0; at < 5; at++) {
      int64_t j = at < 3 ? i - 1 + at : long_one;
      bool turned = at == 4;
      if (j < 0 || j >= n || (at >= 3 && (i <= long_one + 1 && i >= long_one - 1))) continue;
      row[count] = (int32_t)(turned ? j : i);
      col[count] = (int32_t)(turned ? i : j);
      val[count++] = i == j ? (i == long_one ? 2 * (double)n : 8) : -1 - 1.0 / (double)(1 + i + j);
    }
  trs_matrix *A;
  assert_success(trs_matrix_create_coo(&A, TRS_DOUBLE, n, n, count, TRS_IDX32, row, col, val));
  free(row);
  free(col);
  free(val);
  return A;
}

void sparse_arrows(void (*check)(const trs_matrix *A)) {
  for (int64_t long_one = 0; long_one < 300; long_one += 149) {
    trs_matrix *A = sparse_arrow(300, long_one);
    check(A);
    trs_matrix_destroy(A);
  }
}

double complex *dense_copy(const trs_matrix *A) {
  int64_t n = A->nrows;
  assert_success(trs_matrix_fill(A));
  double complex *dense = calloc((size_t)(n * n) + 1, sizeof *dense);
  for (int64_t v = 0; v < n; v++)
    for (int64_t p = A->ptr[v]; p < A->ptr[v + 1]; p++)
      dense[A->format == TRS_CSR ? v * n + A->idx[p] : A->idx[p] * n + v] =
          trs_value_get(A->val, p, A->scalar);
  return dense;
}

bool *dense_pattern(const trs_matrix *A) {
  int64_t n = A->nrows;
  assert_success(trs_matrix_fill(A));
  bool *there = calloc((size_t)(n * n) + 1, sizeof *there);
  for (int64_t v = 0; v < n; v++)
    for (int64_t p = A->ptr[v]; p < A->ptr[v + 1]; p++)
      there[A->format == TRS_CSR ? v * n + A->idx[p] : A->idx[p] * n + v] = true;
  return there;
}

typedef struct product_row {
  double complex *sum;
  double *size;
  bool *wanted;
} product_row;

static void add_multiple(product_row *r, const trs_matrix *U, int64_t k, double complex factor,
                         bool unit) {
  for (int64_t p = U->ptr[k]; p < U->ptr[k + 1]; p++) {
    double complex value = factor * trs_value_get(U->val, p, U->scalar);
    r->sum[U->idx[p]] += value;
    r->size[U->idx[p]] += cabs(value);
  }
  if (unit) {
    r->sum[k] += factor;
    r->size[k] += cabs(factor);
  }
}

/* Subtracts row i of the permuted, scaled A. */
static void subtract_row(product_row *r, const trs_factors_info *f, const trs_matrix *A, int64_t i,
                         const int32_t *new_col) {
  int64_t row = f->row_perm ? f->row_perm[i] : i;
  for (int64_t p = A->ptr[row]; p < A->ptr[row + 1]; p++) {
    int64_t col = A->idx[p], j = new_col[col];
    double complex value = trs_value_get(A->val, p, A->scalar);
    const double by_row = f->row_scale ? f->row_scale[row] : 1;
    const double by_col = f->col_scale ? f->col_scale[col] : 1;
    r->sum[j] -=
        CMPLX(trs_scaled(creal(value), by_row, by_col), trs_scaled(cimag(value), by_row, by_col));
    r->wanted[j] = true;
  }
}

static const double underflow = 1e-41; /* some float roundings below its normal range */

static void check_row(const product_row *r, int64_t n, int64_t i, double tolerance,
                      bool on_pattern_only) {
  for (int64_t j = 0; j < n; j++) {
    if (!on_pattern_only || r->wanted[j])
      if (!(cabs(r->sum[j]) <= tolerance * r->size[j] + underflow))
        fail_msg("L U is off by %g of %g at (%lld, %lld)", cabs(r->sum[j]), r->size[j],
                 (long long)i, (long long)j);
    r->sum[j] = 0;
    r->size[j] = 0;
    r->wanted[j] = false;
  }
}

void assert_product(const trs_factors *F, const trs_matrix *A, double tolerance,
                    bool on_pattern_only) {
  trs_factors_info f = {.struct_size = sizeof f};
  trs_matrix *rows;
  trs_factors_get_info(F, &f);
  assert_success(trs_matrix_fill(f.L));
  assert_success(trs_matrix_fill(f.U));
  assert_success(trs_matrix_convert(&rows, A, TRS_CSR, A->scalar));
  assert_true(f.L->format == TRS_CSR && f.U->format == TRS_CSR);
  product_row r = {calloc((size_t)f.n + 1, sizeof *r.sum), calloc((size_t)f.n + 1, sizeof *r.size),
                   calloc((size_t)f.n + 1, sizeof *r.wanted)};
  int32_t *new_col = malloc(((size_t)f.n + 1) * sizeof *new_col);
  for (int64_t j = 0; j < f.n; j++) new_col[f.col_perm ? f.col_perm[j] : j] = (int32_t)j;
  for (int64_t i = 0; i < f.n; i++) {
    for (int64_t p = f.L->ptr[i]; p < f.L->ptr[i + 1]; p++)
      add_multiple(&r, f.U, f.L->idx[p], trs_value_get(f.L->val, p, f.scalar), f.diag_U);
    if (f.diag_L == TRS_UNIT) add_multiple(&r, f.U, i, 1, f.diag_U);
    subtract_row(&r, &f, rows, i, new_col);
    check_row(&r, f.n, i, tolerance, on_pattern_only);
  }
  free(r.sum);
  free(r.size);
  free(r.wanted);
  free(new_col);
  trs_matrix_destroy(rows);
}

void assert_same_matrix(const trs_matrix *A, const trs_matrix *B) {
  assert_success(trs_matrix_fill(A));
  assert_success(trs_matrix_fill(B));
  assert_int_equal(A->format, B->format);
  assert_int_equal(A->scalar, B->scalar);
  assert_int_equal(A->nrows, B->nrows);
  assert_int_equal(A->nnz, B->nnz);
  assert_memory_equal(A->ptr, B->ptr, (size_t)(A->nvectors + 1) * sizeof *A->ptr);
  if (A->nnz == 0) return;
  assert_memory_equal(A->idx, B->idx, (size_t)A->nnz * sizeof *A->idx);
  assert_memory_equal(A->val, B->val, (size_t)A->nnz * trs_scalar_size(A->scalar));
}

void assert_survives_failing_allocations(trs_status (*call)(void *argument), void *argument) {
  int64_t before, now, peak;
  trs_memory_usage(&before, &peak);
  for (int64_t n = 0;; n++) {
    trs_memory_fail_after(n);
    trs_status status = call(argument);
    trs_memory_fail_after(-1);
    trs_memory_usage(&now, &peak);
    assert_int_equal(now, before);
    if (!status) return;
    if (status != TRS_ERROR_MEMORY)
      fail_msg("allocation %lld: %s: %s", (long long)n, trs_status_name(status),
               trs_last_error()->message);
    assert_true(n < 1000);
  }
}

void assert_survives_with_matrix(trs_status (*call)(void *A), int64_t n, sparse_kind kind) {
  trs_matrix *A = sparse_random(n, 0.2, kind, 3);
  assert_survives_failing_allocations(call, A);
  trs_matrix_destroy(A);
}

sparse_kind sparse_case(int c) {
  return (sparse_kind){.scalar = (trs_scalar)(TRS_FLOAT + c % 4),
                       .format = c & 4 ? TRS_CSC : TRS_CSR,
                       .symmetric = c & 8,
                       .dominant = true};
}

trs_factors_info factors_info(const trs_factors *F) {
  trs_factors_info f = {.struct_size = sizeof f};
  trs_factors_get_info(F, &f);
  return f;
}
