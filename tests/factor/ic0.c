/* ic0.c - IC(0) against its definition, U = L^H, and matrices that are not positive definite. */
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
