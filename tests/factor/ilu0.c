/* ilu0.c - ILU(0) against its definition and against elimination on dense arrays. */
#include <math.h>

#include "base/config.h"
#include "base/timer.h"
#include "matrix/matrix.h"
#include "matrix/values.h"
#include "sparse.h"
#include "support.h"
#include "test.h"

static trs_factors *ilu0(const trs_matrix *A, const trs_factor_options *more) {
  trs_factor_options options =
      more ? *more : (trs_factor_options){.struct_size = sizeof(trs_factor_options)};
  trs_factors *F;
  options.kind = TRS_FACTOR_ILU0;
  assert_success(trs_factor(&F, A, &options));
  return F;
}

/* In-place elimination row by row on dense arrays, on the pattern of A alone. */
static double complex *eliminate(const trs_matrix *A, const bool *there) {
  int64_t n = A->nrows;
  double complex *a = dense_copy(A);
  for (int64_t i = 0; i < n; i++)
    for (int64_t k = 0; k < i; k++) {
      if (!there[i * n + k]) continue;
      a[i * n + k] /= a[k * n + k];
      for (int64_t j = k + 1; j < n; j++)
        if (there[i * n + j]) a[i * n + j] -= a[i * n + k] * a[k * n + j];
    }
  return a;
}

static void check_dense(const trs_factors *F, const trs_matrix *A) {
  trs_factors_info f = {.struct_size = sizeof f};
  bool *there = dense_pattern(A);
  double complex *expected = eliminate(A, there);
  trs_factors_get_info(F, &f);
  assert_int_equal(f.nnz_L + f.nnz_U, A->nnz);
  for (int64_t i = 0; i < f.n; i++)
    for (int part = 0; part < 2; part++) {
      const trs_matrix *T = part ? f.U : f.L;
      for (int64_t p = T->ptr[i]; p < T->ptr[i + 1]; p++) {
        int64_t j = T->idx[p];
        assert_true(part ? j >= i : j < i);
        assert_true(there[i * f.n + j]);
        double off = cabs(trs_value_get(T->val, p, f.scalar) - expected[i * f.n + j]);
        assert_true(off <= 4e3 * scalar_eps(f.scalar));
      }
    }
  free(there);
  free(expected);
}

TEST(random_patterns_agree_with_dense_elimination) {
  for (int c = 0; c < 64; c++) {
    trs_matrix *A = sparse_random(c, 0.02 * (c % 13), sparse_case(c), (uint64_t)c);
    trs_factors *F = ilu0(A, NULL);
    trs_factors_info f = factors_info(F);
    assert_int_equal(f.kind, TRS_FACTOR_ILU0);
    assert_int_equal(f.order, TRS_ORDER_NATURAL);
    assert_int_equal(f.diag_L, TRS_UNIT);
    assert_int_equal(f.diag_U, TRS_NONUNIT);
    assert_true(!f.row_perm && !f.col_perm && !f.row_scale && !f.col_scale && !f.tree_nodes);
    check_dense(F, A);
    assert_product(F, A, 100 * scalar_eps(f.scalar), true);
    trs_factors_destroy(F);
    trs_matrix_destroy(A);
  }
}

static void check_elimination(const trs_matrix *A) {
  trs_factors *F = ilu0(A, NULL);
  check_dense(F, A);
  trs_factors_destroy(F);
}

TEST(long_rows_agree_with_dense_elimination) { sparse_arrows(check_elimination); }

/* The limit is for an elimination that reads the long row once for each of the others: a minute. */
TEST(a_long_row_does_not_take_quadratic_time) {
  trs_matrix *A = sparse_arrow(250000, 0);
  double start = trs_seconds();
  trs_factors_destroy(ilu0(A, NULL));
  assert_true(trs_seconds() - start < 20);
  trs_matrix_destroy(A);
}

TEST(orders_apply_to_rows_and_columns) {
  for (trs_order order = TRS_ORDER_ND; order <= TRS_ORDER_NATURAL; order++) {
    if (order == TRS_ORDER_ND && !TRS_HAVE_METIS) continue;
    if (order == TRS_ORDER_AMD && !TRS_HAVE_AMD) continue;
    trs_matrix *A = sparse_grid(9, 8, 3, 0.25, TRS_DOUBLE);
    trs_factors *F =
        ilu0(A, &(trs_factor_options){
                    .struct_size = sizeof(trs_factor_options), .order = order, .tree_leaves = 4});
    trs_factors_info f = factors_info(F);
    assert_int_equal(f.order, order);
    assert_int_equal(f.tree_nodes, order == TRS_ORDER_NATURAL ? 0 : 7);
    if (f.row_perm) assert_memory_equal(f.row_perm, f.col_perm, 216 * sizeof *f.row_perm);
    assert_product(F, A, 100 * scalar_eps(f.scalar), true);
    trs_factors_destroy(F);
    trs_matrix_destroy(A);
  }
}

/* Rows of three entries each; 0 is no entry and 99 a stored zero. */
static trs_matrix *small(const double *a) {
  int32_t row[9], col[9];
  double val[9];
  int64_t count = 0;
  for (int k = 0; k < 9; k++)
    if (a[k] != 0) {
      row[count] = k / 3;
      col[count] = k % 3;
      val[count++] = a[k] == 99 ? 0 : a[k];
    }
  trs_matrix *A;
  assert_success(trs_matrix_create_coo(&A, TRS_DOUBLE, 3, 3, count, TRS_IDX32, row, col, val));
  return A;
}

static void refused(trs_status status, int64_t row, const char *words, const double *a) {
  trs_matrix *A = small(a);
  trs_factors *F;
  trs_factor_options options = {.struct_size = sizeof(trs_factor_options), .kind = TRS_FACTOR_ILU0};
  assert_failure(status, words, trs_factor(&F, A, &options));
  assert_int_equal(trs_last_error()->row, row);
  assert_null(F);
  trs_matrix_destroy(A);
}

TEST(unusable_pivots_are_refused_with_their_row) {
  refused(TRS_ERROR_STRUCTURE, 1, "no diagonal", (double[]){1, 2, 3, 4, 0, 5, 6, 7, 8});
  refused(TRS_ERROR_ZERO_PIVOT, 0, "zero", (double[]){99, 2, 3, 4, 1, 5, 6, 7, 8});
  refused(TRS_ERROR_ZERO_PIVOT, 1, "zero", (double[]){1, 2, 3, 2, 4, 5, 6, 7, 8});
  refused(TRS_ERROR_NOT_FINITE, 2, "NaN", (double[]){1, 0, 3, 0, 4, 5, 6, 7, NAN});
  refused(TRS_ERROR_NOT_FINITE, 1, "NaN", (double[]){1, 2, 3, INFINITY, 4, 5, 6, 7, 8});
  refused(TRS_ERROR_NOT_FINITE, 1, "overflowed", (double[]){1e-300, 0, 0, 1e300, 1, 0, 0, 1, 1});
  refused(TRS_ERROR_NOT_FINITE, 0, "matrix has one", (double[]){1, 0, NAN, 0, 1, 0, 0, 0, 1});
}

TEST(rows_are_named_in_the_original_numbering) {
  if (!TRS_HAVE_AMD) skip_test("this build has no AMD");
  trs_matrix *A = small((double[]){1, 1, 1, 1, 99, 0, 1, 0, 2});
  trs_factors *F;
  trs_factor_options options = {
      .struct_size = sizeof(trs_factor_options), .kind = TRS_FACTOR_ILU0, .order = TRS_ORDER_AMD};
  assert_failure(TRS_ERROR_ZERO_PIVOT, "row 1", trs_factor(&F, A, &options));
  assert_int_equal(trs_last_error()->row, 1);
  trs_matrix_destroy(A);
}

TEST(missing_diagonals_are_filled_in_on_request) {
  trs_matrix *A = small((double[]){99, 2, -3, 4, 0, 0.5, 0, 0, 0});
  trs_matrix *filled = small((double[]){5, 2, -3, 4, 4.5, 0.5, 0, 0, 1});
  trs_factors *F = ilu0(A, &(trs_factor_options){.struct_size = sizeof(trs_factor_options),
                                                 .add_diagonal = 1}),
              *G = ilu0(filled, NULL);
  trs_factors_info f = {.struct_size = sizeof f}, g = {.struct_size = sizeof g};
  trs_factors_get_info(F, &f);
  trs_factors_get_info(G, &g);
  assert_same_matrix(f.L, g.L);
  assert_same_matrix(f.U, g.U);
  trs_factors_destroy(F);
  trs_factors_destroy(G);
  trs_matrix_destroy(A);
  trs_matrix_destroy(filled);
}

static trs_status factor_all(void *A) {
  trs_factors *F;
  trs_factor_options options = {
      .struct_size = sizeof(trs_factor_options), .kind = TRS_FACTOR_ILU0, .add_diagonal = 1};
  if (TRS_HAVE_AMD) options.order = TRS_ORDER_AMD;
  TRS_TRY(trs_factor(&F, A, &options));
  trs_factors_destroy(F);
  return TRS_SUCCESS;
}

TEST(failing_allocations_are_reported) {
  assert_survives_with_matrix(
      factor_all, 20, (sparse_kind){.scalar = TRS_SCOMPLEX, .format = TRS_CSC, .dominant = true});
}
