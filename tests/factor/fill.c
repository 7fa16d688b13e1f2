/* fill.c - ILU(k) and IC(k): the patterns of all small matrices against the definition of levels of
 * fill, values against elimination on dense arrays, new values, and input that is refused. */
#include <math.h>

#include "base/config.h"
#include "matrix/matrix.h"
#include "matrix/values.h"
#include "sparse.h"
#include "support.h"
#include "test.h"

enum { MOST = 16 };

static trs_status try_factor(trs_factors **F, const trs_matrix *A, trs_factor_kind kind,
                             trs_order order, int levels) {
  const trs_factor_options options = {
      .struct_size = sizeof(trs_factor_options), .kind = kind, .order = order, .levels = levels};
  return trs_factor(F, A, &options);
}

static trs_factors *factor(const trs_matrix *A, trs_factor_kind kind, trs_order order, int levels) {
  trs_factors *F;
  assert_success(try_factor(&F, A, kind, order, levels));
  return F;
}

/* Row by row, as Saad 2003 defines the levels; -1: no entry. */
static void find_levels(int level[MOST][MOST], int n, int most) {
  for (int i = 0; i < n; i++)
    for (int k = 0; k < i; k++)
      for (int j = k + 1; j < n && level[i][k] >= 0; j++) {
        if (level[k][j] < 0) continue;
        const int made = level[i][k] + level[k][j] + 1;
        if (made <= most && (level[i][j] < 0 || made < level[i][j])) level[i][j] = made;
      }
}

/* The matrix in the order of F, eliminated where levels leave entries. */
static void eliminate(double complex *a, int level[MOST][MOST], int n) {
  for (int i = 0; i < n; i++)
    for (int k = 0; k < i; k++) {
      if (level[i][k] < 0) continue;
      a[i * n + k] /= a[k * n + k];
      for (int j = k + 1; j < n; j++)
        if (level[i][j] >= 0) a[i * n + j] -= a[i * n + k] * a[k * n + j];
    }
}

static double complex value_of(const trs_matrix *T, int i, int j, bool *there) {
  *there = false;
  for (int64_t p = T->ptr[i]; p < T->ptr[i + 1]; p++)
    if (T->idx[p] == j) {
      *there = true;
      return trs_value_get(T->val, p, T->scalar);
    }
  return 0;
}

/* IC: L_ij = (L of LU)_ij sqrt(pivot j). */
static void check(const trs_factors *F, const trs_matrix *A, int most) {
  const trs_factors_info f = factors_info(F);
  const int n = (int)f.n;
  double complex *given = dense_copy(A), *a = malloc(sizeof *a * (size_t)(n * n));
  bool *present = dense_pattern(A), there;
  int level[MOST][MOST];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      const int from = (f.row_perm ? f.row_perm[i] : i) * n + (f.col_perm ? f.col_perm[j] : j);
      a[i * n + j] = given[from];
      level[i][j] = present[from] || i == j ? 0 : -1;
    }
  assert_int_equal(f.levels, most);
  find_levels(level, n, most);
  eliminate(a, level, n);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      const bool cholesky = f.kind == TRS_FACTOR_IC0, below = j < i;
      double complex found = value_of(below ? f.L : f.U, i, j, &there), expected = a[i * n + j];
      assert_int_equal(there, level[i][j] >= 0);
      if (!there) continue;
      if (cholesky && below) expected *= sqrt(creal(a[j * n + j]));
      if (cholesky && !below) expected /= sqrt(creal(a[i * n + i]));
      assert_true(cabs(found - expected) <= 4e3 * scalar_eps(f.scalar) * (1 + cabs(expected)));
    }
  free(given);
  free(a);
  free(present);
}

/* Entries off the diagonal where bits has ones; symmetric: on both sides. */
static trs_matrix *of_bits(int n, unsigned bits, bool symmetric) {
  int32_t row[MOST * MOST], col[MOST * MOST];
  double val[MOST * MOST];
  int64_t count = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < (symmetric ? i + 1 : n); j++) {
      if (i != j && !(bits & 1)) {
        bits >>= 1;
        continue;
      }
      if (i != j) bits >>= 1;
      for (int side = 0; side < (symmetric && i != j ? 2 : 1); side++) {
        row[count] = side ? j : i;
        col[count] = side ? i : j;
        val[count++] = i == j ? 8 + i : symmetric ? -1 - 0.1 * (i + j) : 1 + 0.3 * i - 0.2 * j;
      }
    }
  trs_matrix *A;
  assert_success(trs_matrix_create_coo(&A, TRS_DOUBLE, n, n, count, TRS_IDX32, row, col, val));
  return A;
}

TEST(all_patterns_of_four_rows) {
  for (unsigned bits = 0; bits < 1 << 12; bits++) {
    trs_matrix *A = of_bits(4, bits, false);
    for (int levels = 1; levels <= 3; levels++) {
      trs_factors *F = factor(A, TRS_FACTOR_ILU0, TRS_ORDER_NATURAL, levels);
      check(F, A, levels);
      trs_factors_destroy(F);
    }
    trs_matrix_destroy(A);
  }
}

TEST(all_symmetric_patterns_of_six_rows) {
  for (unsigned bits = 0; bits < 1 << 15; bits++) {
    trs_matrix *A = of_bits(6, bits, true);
    for (int kind = TRS_FACTOR_ILU0; kind <= TRS_FACTOR_IC0; kind++) {
      const int levels = 1 + (int)(bits + (unsigned)kind) % 4;
      trs_factors *F = factor(A, (trs_factor_kind)kind, TRS_ORDER_NATURAL, levels);
      check(F, A, levels);
      trs_factors_destroy(F);
    }
    trs_matrix_destroy(A);
  }
}

TEST(types_formats_and_orders) {
  for (int c = 0; c < 96; c++) {
    sparse_kind kind = sparse_case(c);
    kind.dominant = true;
    trs_matrix *A = sparse_random(MOST - c % 3, 0.03 * (c % 11), kind, (uint64_t)c);
    const trs_order order = c & 8 && TRS_HAVE_AMD ? TRS_ORDER_AMD
                            : c & 16              ? TRS_ORDER_RCM
                                                  : TRS_ORDER_NATURAL;
    trs_factors *F = factor(A, kind.symmetric ? TRS_FACTOR_IC0 : TRS_FACTOR_ILU0, order, 1 + c % 5);
    check(F, A, 1 + c % 5);
    trs_factors_destroy(F);
    trs_matrix_destroy(A);
  }
}

/* With as many levels as rows nothing is dropped. */
TEST(all_levels_are_the_complete_factors) {
  trs_matrix *A = sparse_grid(6, 5, 1, 0.25, TRS_DOUBLE);
  trs_factors *F = factor(A, TRS_FACTOR_ILU0, TRS_ORDER_NATURAL, 30);
  assert_product(F, A, 100 * scalar_eps(TRS_DOUBLE), false);
  trs_factors_destroy(F);
  trs_matrix_destroy(A);
}

static void assert_same_factors(const trs_factors *F, const trs_factors *G) {
  const trs_factors_info f = factors_info(F), g = factors_info(G);
  assert_same_matrix(f.L, g.L);
  assert_same_matrix(f.U, g.U);
}

/* A times a constant, with the same or another object. */
static void scale(trs_matrix *A, double by) {
  for (int64_t p = 0; p < A->nnz; p++)
    trs_value_set(A->val, p, A->scalar, by * trs_value_get(A->val, p, A->scalar));
}

TEST(new_values_give_the_bits_of_new_factors) {
  for (int c = 0; c < 32; c++) {
    const bool symmetric = c & 1;
    const sparse_kind kind = {.scalar = (trs_scalar)(TRS_FLOAT + c / 2 % 4),
                              .format = c & 8 ? TRS_CSC : TRS_CSR,
                              .symmetric = symmetric,
                              .dominant = true};
    const trs_factor_kind how = symmetric ? TRS_FACTOR_IC0 : TRS_FACTOR_ILU0;
    const trs_order order = c & 16 ? TRS_ORDER_RCM : TRS_ORDER_NATURAL;
    trs_matrix *A = sparse_random(40, 0.06, kind, (uint64_t)c), *B;
    trs_factors *F = factor(A, how, order, 2);
    assert_success(trs_matrix_convert(&B, A, A->format, A->scalar));
    for (int turn = 0; turn < 4; turn++) {
      trs_matrix *M = turn % 2 ? A : B;
      scale(M, 3);
      assert_success(trs_factors_refactor(F, NULL, NULL, M));
      trs_factors *G = factor(M, how, order, 2);
      assert_same_factors(F, G);
      trs_factors_destroy(G);
    }
    trs_factors_destroy(F);
    trs_matrix_destroy(A);
    trs_matrix_destroy(B);
  }
}

/* Bit k of the pattern of four rows is entry (0, k + 1), and so on. */
TEST(patterns_of_new_values_lie_within_that_of_the_factors) {
  trs_matrix *A = of_bits(4, 0xfff, false), *less = of_bits(4, 0xdb6, false);
  trs_factors *F = factor(A, TRS_FACTOR_ILU0, TRS_ORDER_NATURAL, 1), *G;
  assert_success(trs_factors_refactor(F, NULL, NULL, less));
  assert_product(F, less, 100 * scalar_eps(TRS_DOUBLE), false);
  G = factor(less, TRS_FACTOR_ILU0, TRS_ORDER_NATURAL, 1);
  trs_matrix *chain = of_bits(4, 0, false);
  trs_factors *D = factor(chain, TRS_FACTOR_ILU0, TRS_ORDER_NATURAL, 1);
  assert_failure(TRS_ERROR_STRUCTURE, "row 0 (0-based) has other entries",
                 trs_factors_refactor(D, NULL, NULL, A));
  assert_int_equal(trs_last_error()->row, 0);
  assert_success(trs_factors_refactor(D, NULL, NULL, chain));
  trs_factors_destroy(F);
  trs_factors_destroy(G);
  trs_factors_destroy(D);
  trs_matrix_destroy(A);
  trs_matrix_destroy(less);
  trs_matrix_destroy(chain);
}

TEST(new_values_without_symmetry_are_refused) {
  trs_matrix *A = of_bits(5, 0x155, true), *B;
  trs_factors *F = factor(A, TRS_FACTOR_IC0, TRS_ORDER_NATURAL, 1);
  assert_success(trs_matrix_convert(&B, A, TRS_CSR, TRS_DOUBLE));
  ((double *)B->val)[1] *= 2;
  assert_failure(TRS_ERROR_STRUCTURE, "not symmetric", trs_factors_refactor(F, NULL, NULL, B));
  assert_success(trs_factors_refactor(F, NULL, NULL, A));
  trs_factors_destroy(F);
  trs_matrix_destroy(A);
  trs_matrix_destroy(B);
}

static trs_matrix *dense_two(double a, double b, double c, double d) {
  const int32_t row[] = {0, 0, 1, 1}, col[] = {0, 1, 0, 1};
  const double val[] = {a, b, c, d};
  trs_matrix *A;
  assert_success(
      trs_matrix_create_coo(&A, TRS_DOUBLE, 2, 2, d == 0 ? 3 : 4, TRS_IDX32, row, col, val));
  return A;
}

/* Fill may reach a place on the diagonal that the matrix lacks. */
TEST(absent_diagonals) {
  trs_matrix *A = dense_two(1, 2, 3, 0);
  trs_factors *F = factor(A, TRS_FACTOR_ILU0, TRS_ORDER_NATURAL, 1);
  const trs_factors_info f = factors_info(F);
  bool there;
  assert_true(value_of(f.U, 1, 1, &there) == -6);
  trs_factors_destroy(F);
  trs_matrix_destroy(A);
  A = dense_two(1, 2, 2, 0);
  assert_failure(TRS_ERROR_ZERO_PIVOT, "IC(k): the pivot of row 1",
                 try_factor(&F, A, TRS_FACTOR_IC0, TRS_ORDER_NATURAL, 1));
  trs_matrix_destroy(A);
}

TEST(wrong_input_gets_a_message) {
  trs_matrix *A = of_bits(4, 0x5a5, false);
  trs_factors *F;
  assert_failure(TRS_ERROR_ARGUMENT, "levels is -1",
                 try_factor(&F, A, TRS_FACTOR_ILU0, TRS_ORDER_NATURAL, -1));
  assert_failure(TRS_ERROR_ARGUMENT, "levels is for ILU0 and IC0",
                 try_factor(&F, A, TRS_FACTOR_LU, TRS_ORDER_NATURAL, 1));
  assert_failure(TRS_ERROR_ARGUMENT, "levels is for ILU0 and IC0",
                 try_factor(&F, A, TRS_FACTOR_BILU0, TRS_ORDER_NATURAL, 1));
  assert_failure(TRS_ERROR_STRUCTURE, "IC(k): the matrix is not symmetric",
                 try_factor(&F, A, TRS_FACTOR_IC0, TRS_ORDER_NATURAL, 1));
  trs_matrix_destroy(A);
  A = dense_two(1, 2, 2, 1);
  assert_failure(TRS_ERROR_ZERO_PIVOT, "IC(k): the pivot of row 1",
                 try_factor(&F, A, TRS_FACTOR_IC0, TRS_ORDER_NATURAL, 1));
  trs_matrix_destroy(A);
  A = dense_two(1, 1, 1, 1);
  assert_failure(TRS_ERROR_ZERO_PIVOT, "ILU(k): the pivot of row 1",
                 try_factor(&F, A, TRS_FACTOR_ILU0, TRS_ORDER_NATURAL, 1));
  trs_matrix_destroy(A);
}

TEST(shifts_keep_the_pattern) {
  trs_matrix *A = dense_two(1, 1.5, 1.5, 1);
  const trs_factor_options options = {.struct_size = sizeof(trs_factor_options),
                                      .kind = TRS_FACTOR_IC0,
                                      .shift = 0.25,
                                      .levels = 2};
  trs_factors *F;
  assert_success(trs_factor(&F, A, &options));
  assert_true(factors_info(F).shift == 1);
  trs_factors_destroy(F);
  trs_matrix_destroy(A);
}

static trs_status factor_all(void *A) {
  trs_factors *F;
  TRS_TRY(try_factor(&F, A, TRS_FACTOR_ILU0, TRS_ORDER_RCM, 2));
  const trs_status status = trs_factors_refactor(F, NULL, NULL, A);
  trs_factors_destroy(F);
  return status;
}

TEST(failing_allocations_are_reported) {
  for (int symmetric = 0; symmetric < 2; symmetric++)
    assert_survives_with_matrix(
        factor_all, 20,
        (sparse_kind){
            .scalar = TRS_SCOMPLEX, .format = TRS_CSC, .symmetric = symmetric, .dominant = true});
}
