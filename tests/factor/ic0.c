/* ic0.c - IC(0) and block IC(0) against their definition, U = L^H, of the whole matrix and of one
 * triangle; matrices that are not positive definite, and their shifts. */
#include <math.h>

#include "base/config.h"
#include "base/timer.h"
#include "matrix/matrix.h"
#include "matrix/values.h"
#include "sparse.h"
#include "support.h"
#include "test.h"

static trs_status ic0(trs_factors **F, const trs_matrix *A, trs_order order) {
  trs_factor_options options = {
      .struct_size = sizeof(trs_factor_options), .kind = TRS_FACTOR_IC0, .order = order};
  return trs_factor(F, A, &options);
}

static void check_mirror(const trs_factors_info *f) {
  double complex *L = dense_copy(f->L), *U = dense_copy(f->U);
  for (int64_t i = 0; i < f->n; i++)
    for (int64_t j = 0; j < f->n; j++) assert_true(U[i * f->n + j] == conj(L[j * f->n + i]));
  for (int64_t i = 0; i < f->n; i++)
    assert_true(creal(L[i * f->n + i]) > 0 && cimag(L[i * f->n + i]) == 0);
  free(L);
  free(U);
}

TEST(random_patterns_follow_the_definition) {
  for (int c = 0; c < 64; c++) {
    sparse_kind kind = {.scalar = (trs_scalar)(TRS_FLOAT + c % 4),
                        .format = c & 4 ? TRS_CSC : TRS_CSR,
                        .symmetric = true,
                        .dominant = true};
    trs_order order = c & 8 && TRS_HAVE_AMD ? TRS_ORDER_AMD : TRS_ORDER_NATURAL;
    trs_matrix *A = sparse_random(c, 0.02 * (c % 13), kind, (uint64_t)c);
    trs_factors *F;
    assert_success(ic0(&F, A, order));
    trs_factors_info f = factors_info(F);
    assert_int_equal(f.diag_L, TRS_NONUNIT);
    assert_int_equal(f.diag_U, TRS_NONUNIT);
    assert_int_equal(f.nnz_L, (A->nnz + f.n) / 2);
    check_mirror(&f);
    assert_product(F, A, 100 * scalar_eps(f.scalar), true);
    trs_factors_destroy(F);
    trs_matrix_destroy(A);
  }
}

static void check_definition(const trs_matrix *A) {
  trs_factors *F;
  assert_success(ic0(&F, A, TRS_ORDER_NATURAL));
  assert_product(F, A, 100 * scalar_eps(TRS_DOUBLE), true);
  trs_factors_destroy(F);
}

TEST(long_rows_follow_the_definition) { sparse_arrows(check_definition); }

/* The limit is for an elimination that reads the long row once for each of the others. */
TEST(a_long_row_does_not_take_quadratic_time) {
  trs_matrix *A = sparse_arrow(250000, 125000);
  trs_factors *F;
  double start = trs_seconds();
  assert_success(ic0(&F, A, TRS_ORDER_NATURAL));
  assert_true(trs_seconds() - start < 10);
  trs_factors_destroy(F);
  trs_matrix_destroy(A);
}

/* On a full pattern no entry is dropped: L L^H is the matrix. */
TEST(a_full_pattern_gives_cholesky) {
  for (trs_scalar s = TRS_FLOAT; s <= TRS_DCOMPLEX; s++) {
    trs_matrix *A =
        sparse_random(30, 1, (sparse_kind){.scalar = s, .symmetric = true, .dominant = true}, 5);
    trs_factors *F;
    assert_success(ic0(&F, A, TRS_ORDER_NATURAL));
    assert_product(F, A, 100 * scalar_eps(s), false);
    trs_factors_destroy(F);
    trs_matrix_destroy(A);
  }
}

static trs_matrix *two(double complex a, double complex b, double complex c, double complex d) {
  int64_t ptr[] = {0, 2, 4};
  int32_t idx[] = {0, 1, 0, 1};
  double complex val[] = {a, b, c, d};
  trs_matrix *A;
  assert_success(
      trs_matrix_create(&A, TRS_CSR, TRS_DCOMPLEX, 2, 2, TRS_PTR64, ptr, idx, val, TRS_COPY));
  return A;
}

static void refused(trs_status status, int64_t row, const char *words, trs_matrix *A) {
  trs_factors *F;
  assert_failure(status, words, ic0(&F, A, TRS_ORDER_NATURAL));
  assert_int_equal(trs_last_error()->row, row);
  assert_null(F);
  trs_matrix_destroy(A);
}

TEST(other_matrices_are_refused) {
  refused(TRS_ERROR_STRUCTURE, 0, "not hermitian", two(2, 1, 1.5, 2));
  refused(TRS_ERROR_STRUCTURE, 0, "not hermitian", two(2, I, I, 2));
  refused(TRS_ERROR_STRUCTURE, 1, "not hermitian", two(2, I, -I, 2 + I));
  refused(TRS_ERROR_ZERO_PIVOT, 1, "not positive definite", two(2, 4, 4, 2));
  refused(TRS_ERROR_ZERO_PIVOT, 1, "not positive definite", two(1, 1, 1, 1));
  refused(TRS_ERROR_ZERO_PIVOT, 0, "not positive definite", two(-1, 0, 0, 1));
  refused(TRS_ERROR_NOT_FINITE, 0, "NaN", two(NAN, 1, 1, 1));
  refused(TRS_ERROR_NOT_FINITE, 1, "NaN", two(1, INFINITY, INFINITY, 1));
  trs_matrix *A = sparse_random(5, 0.5, (sparse_kind){.symmetric = true, .no_diagonal = true}, 3);
  refused(TRS_ERROR_STRUCTURE, 0, "no diagonal", A);
  A = sparse_random(9, 0.5, (sparse_kind){.scalar = TRS_DOUBLE, .dominant = true}, 3);
  refused(TRS_ERROR_STRUCTURE, 0, "not symmetric", A);
}

TEST(rounding_does_not_unmirror_a_matrix) {
  trs_matrix *A = two(2, 1 + I, (1 + 0x1p-50) - I, 2);
  trs_factors *F;
  assert_success(ic0(&F, A, TRS_ORDER_NATURAL));
  trs_factors_destroy(F);
  trs_matrix_destroy(A);
}

/* A mesh whose couplings cancel: what is left of them, and on which side, is rounding noise. */
static trs_matrix *with_noise(double noise, bool one_side) {
  enum { N = 30 };
  int32_t row[5 * N], col[5 * N];
  double val[5 * N];
  int64_t count = 0;
  for (int32_t i = 0; i < N; i++) {
    row[count] = col[count] = i, val[count++] = 4 + i % 3;
    for (int32_t j = i - 1; j <= i + 1; j += 2)
      if (0 <= j && j < N) row[count] = i, col[count] = j, val[count++] = -1;
    if (i + 5 < N) row[count] = i, col[count] = i + 5, val[count++] = noise;
    if (i >= 5 && !one_side) row[count] = i, col[count] = i - 5, val[count++] = -noise / 3;
  }
  trs_matrix *A;
  assert_success(trs_matrix_create_coo(&A, TRS_DOUBLE, N, N, count, TRS_IDX32, row, col, val));
  return A;
}

/* The largest difference of two factors L on the entries of the first. */
static double difference(const trs_factors *F, const trs_factors *G) {
  trs_factors_info f = {.struct_size = sizeof f}, g = {.struct_size = sizeof g};
  const int64_t *ptr, *other_ptr;
  const int32_t *idx, *other_idx;
  const void *val, *other;
  double most = 0;
  assert_success(trs_factors_get_info(F, &f));
  assert_success(trs_factors_get_info(G, &g));
  assert_success(trs_matrix_get_arrays(f.L, &ptr, &idx, &val));
  assert_success(trs_matrix_get_arrays(g.L, &other_ptr, &other_idx, &other));
  for (int64_t i = 0; i < f.n; i++)
    for (int64_t p = ptr[i]; p < ptr[i + 1]; p++) {
      double there = 0;
      for (int64_t q = other_ptr[i]; q < other_ptr[i + 1]; q++)
        if (other_idx[q] == idx[p]) there = ((const double *)other)[q];
      most = fmax(most, fabs(((const double *)val)[p] - there));
    }
  return most;
}

/* Judged against the diagonal: the noise itself has no common digit. */
TEST(noise_of_couplings_that_cancel_is_no_asymmetry) {
  static const trs_factor_kind kinds[] = {TRS_FACTOR_IC0, TRS_FACTOR_BIC0};
  trs_matrix *plain = with_noise(0, false);
  for (int k = 0; k < 2; k++)
    for (int one_side = 0; one_side < 2; one_side++) {
      const trs_factor_options options = {.struct_size = sizeof options, .kind = kinds[k]};
      trs_matrix *A = with_noise(3e-16, one_side), *zeros = with_noise(0, one_side),
                 *rough = with_noise(1e-6, one_side);
      trs_factors *F, *G, *H;
      assert_success(trs_factor(&F, A, &options));
      assert_success(trs_factor(&G, plain, &options));
      assert_success(trs_factor(&H, zeros, &options));
      assert_true(difference(F, G) < 1e-15);
      assert_true(difference(F, H) < 1e-15);
      trs_factors_destroy(F);
      trs_factors_destroy(G);
      trs_factors_destroy(H);
      assert_failure(TRS_ERROR_STRUCTURE, "not symmetric", trs_factor(&F, rough, &options));
      trs_matrix_destroy(A);
      trs_matrix_destroy(zeros);
      trs_matrix_destroy(rough);
    }
  trs_matrix_destroy(plain);
}

/* ---- One stored triangle ---- */

static void assert_same_factors(const trs_factors *F, const trs_factors *G) {
  const trs_factors_info f = factors_info(F), g = factors_info(G);
  assert_same_matrix(f.L, g.L);
  assert_same_matrix(f.U, g.U);
  assert_int_equal(!f.row_perm, !g.row_perm);
  if (f.row_perm) assert_memory_equal(f.row_perm, g.row_perm, (size_t)f.n * sizeof *f.row_perm);
}

/* A with NaN across the diagonal, and with a complex diagonal: values that are not read. */
static trs_matrix *spoil(const trs_matrix *A, trs_uplo uplo) {
  trs_matrix *spoilt;
  assert_success(trs_matrix_convert(&spoilt, A, A->format, A->scalar));
  for (int64_t v = 0; v < A->nvectors; v++)
    for (int64_t p = A->ptr[v]; p < A->ptr[v + 1]; p++) {
      const int64_t i = A->format == TRS_CSR ? v : A->idx[p],
                    j = A->format == TRS_CSR ? A->idx[p] : v;
      if (i == j) {
        if (trs_scalar_is_complex(A->scalar))
          trs_value_set(spoilt->val, p, A->scalar, trs_value_get(A->val, p, A->scalar) + 3 * I);
      } else if ((i > j) != (uplo == TRS_LOWER)) {
        trs_value_set(spoilt->val, p, A->scalar, NAN);
      }
    }
  return spoilt;
}

/* Of both triangles, without the other one and with nonsense in it. */
static void check_triangles(const trs_matrix *A, trs_factor_options options) {
  trs_factors *whole, *F;
  assert_success(trs_factor(&whole, A, &options));
  for (trs_uplo uplo = TRS_LOWER; uplo <= TRS_UPPER; uplo++) {
    trs_matrix *stored[2];
    assert_success(trs_matrix_triangle(&stored[0], A, uplo, 0));
    stored[1] = spoil(A, uplo);
    options.uplo = uplo;
    for (int k = 0; k < 2; k++) {
      assert_success(trs_factor(&F, stored[k], &options));
      assert_same_factors(F, whole);
      trs_factors_destroy(F);
      trs_matrix_destroy(stored[k]);
    }
  }
  trs_factors_destroy(whole);
}

TEST(one_triangle_has_the_factors_of_the_whole_matrix) {
  static const trs_order orders[] = {TRS_ORDER_NATURAL, TRS_ORDER_RCM, TRS_ORDER_COLOUR};
  for (int c = 0; c < 144; c++) {
    const sparse_kind kind = {.scalar = (trs_scalar)(TRS_FLOAT + c % 4),
                              .format = c & 4 ? TRS_CSC : TRS_CSR,
                              .symmetric = true,
                              .dominant = true};
    const bool blocks = c & 8 && !trs_scalar_is_complex(kind.scalar);
    trs_matrix *A = sparse_random(2 * (c % 9), 0.3, kind, (uint64_t)c);
    check_triangles(A, (trs_factor_options){.struct_size = sizeof(trs_factor_options),
                                            .kind = blocks ? TRS_FACTOR_BIC0 : TRS_FACTOR_IC0,
                                            .order = orders[c / 16 % 3],
                                            .block_size = blocks ? 2 : 0});
    trs_matrix_destroy(A);
  }
}

/* The sum of a row is that of the whole matrix. */
TEST(a_triangle_without_a_diagonal_gets_that_of_the_whole_matrix) {
  trs_matrix *A = sparse_random(
      9, 0.5, (sparse_kind){.scalar = TRS_DCOMPLEX, .symmetric = true, .no_diagonal = true}, 3);
  trs_factor_options options = {
      .struct_size = sizeof options, .kind = TRS_FACTOR_IC0, .add_diagonal = 1, .shift = 1e-3};
  check_triangles(A, options);
  options.add_diagonal = 0;
  options.uplo = TRS_UPPER;
  trs_factors *F;
  assert_failure(TRS_ERROR_STRUCTURE, "row 0 (0-based) has no diagonal",
                 trs_factor(&F, A, &options));
  trs_matrix_destroy(A);
}

TEST(other_kinds_have_no_triangle_and_no_shift) {
  trs_matrix *A = two(2, 1, 1, 2);
  for (trs_factor_kind kind = TRS_FACTOR_LU; kind <= TRS_FACTOR_DILU; kind++) {
    if (kind == TRS_FACTOR_IC0 || kind == TRS_FACTOR_BIC0) continue;
    trs_factor_options options = {.struct_size = sizeof options, .kind = kind, .uplo = TRS_LOWER};
    trs_factors *F;
    assert_failure(TRS_ERROR_ARGUMENT, "uplo is for IC0 and BIC0", trs_factor(&F, A, &options));
    options.uplo = TRS_GENERAL;
    options.shift = 1e-3;
    assert_failure(TRS_ERROR_ARGUMENT, "shift is for IC0 and BIC0", trs_factor(&F, A, &options));
  }
  trs_matrix_destroy(A);
}

/* ---- A shift on breakdown ---- */

enum { SMALL = 4 };

static trs_matrix *small_matrix(double a[SMALL][SMALL]) {
  int32_t row[SMALL * SMALL], col[SMALL * SMALL];
  double val[SMALL * SMALL];
  int64_t count = 0;
  for (int32_t i = 0; i < SMALL; i++)
    for (int32_t j = 0; j < SMALL; j++)
      if (a[i][j] != 0) row[count] = i, col[count] = j, val[count++] = a[i][j];
  trs_matrix *A;
  assert_success(
      trs_matrix_create_coo(&A, TRS_DOUBLE, SMALL, SMALL, count, TRS_IDX32, row, col, val));
  return A;
}

/* The row of A + shift diag(A) whose pivot is not positive, by dense loops; SMALL: there is none.
 */
static int breaks_at(double a[SMALL][SMALL], double shift) {
  double l[SMALL][SMALL] = {{0}};
  for (int i = 0; i < SMALL; i++)
    for (int k = 0; k <= i; k++) {
      if (a[i][k] == 0) continue;
      double sum = i == k ? a[i][i] * (1 + shift) : a[i][k];
      for (int j = 0; j < k; j++) sum -= l[i][j] * l[k][j];
      if (i == k && sum <= 0) return i;
      l[i][k] = i == k ? sqrt(sum) : sum / l[k][k];
    }
  return SMALL;
}

static void check_shift(double a[SMALL][SMALL], trs_factor_kind kind) {
  trs_factor_options options = {.struct_size = sizeof options, .kind = kind};
  trs_matrix *A = small_matrix(a);
  trs_factors *F;
  double shift = breaks_at(a, 0) == SMALL ? 0 : 1e-3;
  if (shift > 0) {
    assert_failure(TRS_ERROR_ZERO_PIVOT, "use a shift", trs_factor(&F, A, &options));
    assert_int_equal(trs_last_error()->row, breaks_at(a, 0));
  }
  while (shift > 0 && breaks_at(a, shift) < SMALL) shift *= 2;
  options.shift = 1e-3;
  assert_success(trs_factor(&F, A, &options));
  assert_true(factors_info(F).shift == shift);
  for (int i = 0; i < SMALL; i++) a[i][i] *= 1 + shift;
  trs_matrix *shifted = small_matrix(a);
  assert_product(F, shifted, 1e-14, true);
  trs_matrix_destroy(shifted);
  trs_matrix_destroy(A);
  trs_factors_destroy(F);
}

/* Every symmetric matrix of order 4 with off-diagonal entries -2, 0 and 2, of which Kershaw's
 * (1978) is one: positive definite, but not its incomplete factor. */
TEST(the_least_doubled_shift_is_taken) {
  static const int row[] = {1, 2, 2, 3, 3, 3}, col[] = {0, 0, 1, 0, 1, 2};
  int broken = 0;
  for (int c = 0; c < 729; c++)
    for (int k = 0; k < 2; k++) {
      double a[SMALL][SMALL] = {{3, 0, 0, 0}, {0, 3, 0, 0}, {0, 0, 3, 0}, {0, 0, 0, 3}};
      for (int e = 0, rest = c; e < 6; e++, rest /= 3)
        a[row[e]][col[e]] = a[col[e]][row[e]] = 2 * (rest % 3 - 1);
      broken += breaks_at(a, 0) < SMALL;
      check_shift(a, k ? TRS_FACTOR_BIC0 : TRS_FACTOR_IC0);
    }
  assert_in_range(broken, 200, 1200);
  double kershaw[SMALL][SMALL] = {{3, -2, 0, 2}, {-2, 3, -2, 0}, {0, -2, 3, -2}, {2, 0, -2, 3}};
  assert_int_equal(breaks_at(kershaw, 0), 3);
  check_shift(kershaw, TRS_FACTOR_IC0);
}

/* A ring of Kershaw's matrices, in every type, order and block size. */
static trs_matrix *ring(trs_scalar scalar, trs_format format) {
  enum { N = 24 };
  int32_t row[5 * N], col[5 * N];
  double val[5 * N];
  int64_t count = 0;
  for (int32_t i = 0; i < N; i++) {
    const int32_t first = i - i % 4, next = first + (i + 1) % 4, before = first + (i + 3) % 4;
    row[count] = i, col[count] = i, val[count++] = 3;
    row[count] = i, col[count] = next, val[count++] = i % 4 == 3 ? 2 : -2;
    row[count] = i, col[count] = before, val[count++] = i % 4 == 0 ? 2 : -2;
    if (i >= 4) row[count] = i, col[count] = i - 4, val[count++] = 1e-2;
    if (i + 4 < N) row[count] = i, col[count] = i + 4, val[count++] = 1e-2;
  }
  trs_matrix *A, *B;
  assert_success(trs_matrix_create_coo(&A, TRS_DOUBLE, N, N, count, TRS_IDX32, row, col, val));
  assert_success(trs_matrix_convert(&B, A, format, scalar));
  trs_matrix_destroy(A);
  return B;
}

TEST(every_type_order_and_block_size_has_shifts) {
  static const trs_order orders[] = {TRS_ORDER_NATURAL, TRS_ORDER_RCM, TRS_ORDER_COLOUR};
  for (int c = 0; c < 48; c++) {
    const trs_scalar scalar = (trs_scalar)(TRS_FLOAT + c % 4);
    const bool blocks = c >= 24 && !trs_scalar_is_complex(scalar);
    trs_matrix *A = ring(scalar, c & 4 ? TRS_CSC : TRS_CSR);
    trs_factor_options options = {.struct_size = sizeof options,
                                  .kind = blocks ? TRS_FACTOR_BIC0 : TRS_FACTOR_IC0,
                                  .order = orders[c / 8 % 3],
                                  .block_size = blocks ? 1 + c % 4 : 0,
                                  .shift = 1e-3};
    trs_factors *F;
    assert_success(trs_factor(&F, A, &options));
    const trs_factors_info f = factors_info(F);
    assert_true(f.shift < 1);
    if (options.order == TRS_ORDER_NATURAL && options.block_size < 2) assert_true(f.shift > 0.01);
    for (int64_t v = 0; v < A->nvectors; v++)
      for (int64_t p = A->ptr[v]; p < A->ptr[v + 1]; p++)
        if (A->idx[p] == v) trs_value_set(A->val, p, scalar, 3 * (1 + f.shift));
    assert_product(F, A, 100 * scalar_eps(scalar), true);
    if (!trs_scalar_is_complex(scalar)) check_triangles(A, options); /* complex: zeros have signs */
    trs_factors_destroy(F);
    trs_matrix_destroy(A);
  }
}

TEST(shifts_that_do_not_help_are_errors) {
  const trs_factor_options options = {
      .struct_size = sizeof options, .kind = TRS_FACTOR_IC0, .shift = 1e-3};
  const trs_factor_options tiny = {
      .struct_size = sizeof tiny, .kind = TRS_FACTOR_IC0, .shift = 1e-30};
  trs_matrix *A = two(1, 2, 2, -1), *B = two(1, 3, 3, 1), *C = two(1, NAN, NAN, 1);
  trs_factors *F;
  assert_failure(TRS_ERROR_ZERO_PIVOT, "entry of row 1 (0-based) is not positive, which no shift",
                 trs_factor(&F, A, &options));
  assert_int_equal(trs_last_error()->row, 1);
  assert_success(trs_factor(&F, B, &options));
  trs_factors_destroy(F);
  assert_failure(TRS_ERROR_ZERO_PIVOT, "any of 40 shifts", trs_factor(&F, B, &tiny));
  assert_int_equal(trs_last_error()->row, 1);
  assert_failure(TRS_ERROR_NOT_FINITE, "NaN", trs_factor(&F, C, &options));
  trs_matrix_destroy(A);
  trs_matrix_destroy(B);
  trs_matrix_destroy(C);
}

TEST(the_row_of_a_diagonal_entry_is_that_of_the_matrix) {
  static const trs_order orders[] = {TRS_ORDER_NATURAL, TRS_ORDER_RCM, TRS_ORDER_COLOUR};
  for (int c = 0; c < 6; c++)
    for (int64_t row = 0; row < 24; row += 5) {
      const trs_factor_options options = {.struct_size = sizeof options,
                                          .kind = c % 2 ? TRS_FACTOR_BIC0 : TRS_FACTOR_IC0,
                                          .order = orders[c / 2],
                                          .shift = 1e-3};
      trs_matrix *A = ring(TRS_DOUBLE, TRS_CSR);
      trs_factors *F;
      for (int64_t p = A->ptr[row]; p < A->ptr[row + 1]; p++)
        if (A->idx[p] == row) trs_value_set(A->val, p, A->scalar, -1);
      assert_failure(TRS_ERROR_ZERO_PIVOT, "which no shift", trs_factor(&F, A, &options));
      assert_int_equal(trs_last_error()->row, row);
      trs_matrix_destroy(A);
    }
}

static trs_status factor_triangle_with_shift(void *A) {
  const trs_factor_options options = {.struct_size = sizeof options,
                                      .kind = TRS_FACTOR_IC0,
                                      .order = TRS_ORDER_RCM,
                                      .uplo = TRS_UPPER,
                                      .shift = 1e-3};
  trs_factors *F;
  TRS_TRY(trs_factor(&F, A, &options));
  trs_factors_destroy(F);
  return TRS_SUCCESS;
}

TEST(failing_allocations_of_shifts_are_reported) {
  trs_matrix *A = ring(TRS_DOUBLE, TRS_CSC);
  assert_survives_failing_allocations(factor_triangle_with_shift, A);
  trs_matrix_destroy(A);
}

static trs_status factor_all(void *A) {
  trs_factors *F;
  TRS_TRY(ic0(&F, A, TRS_HAVE_AMD ? TRS_ORDER_AMD : TRS_ORDER_NATURAL));
  trs_factors_destroy(F);
  return TRS_SUCCESS;
}

TEST(failing_allocations_are_reported) {
  assert_survives_with_matrix(
      factor_all, 20, (sparse_kind){.scalar = TRS_DCOMPLEX, .symmetric = true, .dominant = true});
}
