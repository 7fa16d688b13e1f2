/* condition.c - the estimate beside the condition number by a dense inverse: never above, seldom
 * far below; of factors in every order, scaled and exchanged, and of one matrix that holds both. */
#include <complex.h>
#include <math.h>

#include "base/config.h"
#include "base/random.h"
#include "matrix/matrix.h"
#include "matrix/values.h"
#include "sparse.h"
#include "support.h"
#include "test.h"

enum { MOST = 40 };

typedef double complex dense[MOST][MOST];

static double norm(dense A, int n) {
  double most = 0;
  for (int j = 0; j < n; j++) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += cabs(A[i][j]);
    most = fmax(most, sum);
  }
  return most;
}

static void exchange(dense A, int a, int b, int n) {
  for (int j = 0; j < n; j++) {
    const double complex kept = A[a][j];
    A[a][j] = A[b][j];
    A[b][j] = kept;
  }
}

/* By Gauss and Jordan. */
static void invert(dense inverse, dense A, int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) inverse[i][j] = i == j;
  for (int k = 0; k < n; k++) {
    int best = k;
    for (int i = k; i < n; i++)
      if (cabs(A[i][k]) > cabs(A[best][k])) best = i;
    exchange(A, k, best, n);
    exchange(inverse, k, best, n);
    for (int i = 0; i < n; i++) {
      const double complex l = i == k ? 0 : A[i][k] / A[k][k];
      for (int j = 0; j < n && l != 0; j++) {
        A[i][j] -= l * A[k][j];
        inverse[i][j] -= l * inverse[k][j];
      }
    }
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) inverse[i][j] /= A[i][i];
}

static double exact(const trs_matrix *A) {
  static dense D, inverse;
  const int n = (int)A->nrows;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) D[i][j] = 0;
  for (int i = 0; i < n; i++)
    for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++)
      if (A->format == TRS_CSR)
        D[i][A->idx[p]] = trs_value_get(A->val, p, A->scalar);
      else
        D[A->idx[p]][i] = trs_value_get(A->val, p, A->scalar);
  const double size = norm(D, n);
  invert(inverse, D, n);
  return size * norm(inverse, n);
}

static double estimate(const trs_factors *F) {
  double made = -1;
  assert_success(trs_factors_condition(&made, F));
  return made;
}

TEST(the_estimate_is_close_to_the_condition_number) {
  int cases = 0, close = 0;
  if (!TRS_HAVE_SUPERLU) skip_test("this build has no SuperLU");
  for (int c = 0; c < 400; c++) {
    sparse_kind kind = sparse_case(c);
    kind.dominant = c & 16;
    kind.no_diagonal = c & 32;
    trs_matrix *A = sparse_random(1 + c % MOST, 0.1 + 0.03 * (c % 9), kind, (uint64_t)c);
    trs_factor_options how = {.struct_size = sizeof how,
                              .order = c & 1 ? TRS_ORDER_NATURAL : TRS_ORDER_DEFAULT,
                              .no_equilibration = c & 2};
    if (!TRS_HAVE_METIS && !TRS_HAVE_AMD) how.order = TRS_ORDER_NATURAL;
    trs_factors *F;
    const trs_status status = trs_factor(&F, A, &how);
    if (!status) {
      const double right = exact(A), found = estimate(F), eps = scalar_eps(A->scalar);
      if (right >= 1 && right * eps < 1e-4) { /* not singular to working precision */
        const double rounding = 1 + 1000 * eps * right;
        assert_true(found <= right * rounding);
        assert_true(found * rounding >= right / 10);
        close += found * rounding >= right / 3;
        cases++;
      }
      trs_factors_destroy(F);
    }
    trs_matrix_destroy(A);
  }
  assert_in_range(cases, 100, 400);
  assert_in_range(close, cases * 9 / 10, cases);
}

/* Networks of resistors with a few large conductances: rows add up to nearly zero, and the largest
 * column is found from no vector of equal numbers. */
TEST(networks_whose_rows_add_up_to_nothing) {
  enum { N = 24, CASES = 200 };
  int close = 0;
  if (!TRS_HAVE_SUPERLU) skip_test("this build has no SuperLU");
  for (int c = 0; c < CASES; c++) {
    double draw[4 * N];
    int32_t row[6 * N], col[6 * N];
    double val[6 * N], own[N] = {0};
    int64_t nnz = 0;
    trs_random_fill(draw, 4 * N, TRS_DOUBLE, (uint64_t)c);
    for (int k = 0; k < 2 * N; k++) {
      const int i = k < N - 1 ? k : (int)(fabs(draw[k]) * 0.999 * N);
      const int j = k < N - 1 ? k + 1 : (int)(fabs(draw[2 * N + k]) * 0.999 * N);
      if (i == j) continue;
      const double conductance = k % 12 ? 1 : pow(10, 6 * fabs(draw[(7 * k) % (4 * N)]));
      own[i] += conductance;
      own[j] += conductance;
      row[nnz] = i, col[nnz] = j, val[nnz++] = -conductance;
      row[nnz] = j, col[nnz] = i, val[nnz++] = -conductance;
    }
    for (int i = 0; i < N; i++) row[nnz] = col[nnz] = i, val[nnz++] = own[i] + 1e-3;
    trs_matrix *A;
    trs_factors *F;
    assert_success(trs_matrix_create_coo(&A, TRS_DOUBLE, N, N, nnz, TRS_IDX32, row, col, val));
    assert_success(trs_factor(&F, A, NULL));
    const double right = exact(A), found = estimate(F);
    assert_true(found <= right * (1 + 1e-12 * right));
    close += found >= right / 3;
    trs_factors_destroy(F);
    trs_matrix_destroy(A);
  }
  assert_in_range(close, CASES * 98 / 100, CASES);
}

/* Norms of A, or of its inverse, near the ends of the range; of 1e-310 with subnormal values. */
TEST(the_unit_of_A_does_not_matter) {
  static const double units[] = {1e307, 1e290, 1e-290, 1e-307};
  trs_factor_options ilu = {.struct_size = sizeof ilu, .kind = TRS_FACTOR_ILU0};
  double first = 0;
  for (size_t k = 0; k <= COUNT(units); k++) {
    trs_matrix *A = sparse_grid(30, 1, 1, 0.25, TRS_DOUBLE);
    double *val = A->val;
    trs_factors *F;
    for (int64_t p = 0; p < A->nnz && k; p++) val[p] *= units[k - 1];
    assert_success(trs_factor(&F, A, &ilu));
    const double found = estimate(F);
    if (!k) first = found;
    assert_true(fabs(found - first) < 1e-9 * first);
    trs_factors_destroy(F);
    trs_matrix_destroy(A);
  }
}

/* L and U in one matrix, by rows and by columns. */
TEST(factors_in_every_form_have_one_estimate) {
  int32_t row[] = {0, 0, 1, 1, 1, 2, 2, 2}, col[] = {0, 1, 0, 1, 2, 0, 1, 2};
  double val[] = {2, -1, 0.5, 3, 1, -0.25, 0.5, 4};
  trs_matrix *both, *columns;
  trs_factors *F;
  double found[2];
  assert_success(trs_matrix_create_coo(&both, TRS_DOUBLE, 3, 3, 8, TRS_IDX32, row, col, val));
  assert_success(trs_matrix_convert(&columns, both, TRS_CSC, TRS_DOUBLE));
  for (int k = 0; k < 2; k++) {
    trs_matrix *M = k ? columns : both;
    assert_success(trs_factors_create(&F, M, TRS_UNIT, M, TRS_NONUNIT, NULL, NULL, NULL, NULL));
    found[k] = estimate(F);
    trs_factors_destroy(F);
  }
  /* A = L U */
  const double L[3][3] = {{1}, {0.5, 1}, {-0.25, 0.5, 1}},
               U[3][3] = {{2, -1}, {0, 3, 1}, {0, 0, 4}};
  static dense A, inverse;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      A[i][j] = 0;
      for (int k = 0; k < 3; k++) A[i][j] += L[i][k] * U[k][j];
    }
  const double size = norm(A, 3);
  invert(inverse, A, 3);
  const double right = size * norm(inverse, 3);
  for (int k = 0; k < 2; k++) assert_true(found[k] > 0.9 * right && found[k] < right);
  trs_matrix_destroy(both);
  trs_matrix_destroy(columns);
}

TEST(missing_arguments_are_refused) {
  double made;
  assert_failure(TRS_ERROR_ARGUMENT, "F is NULL", trs_factors_condition(&made, NULL));
}
