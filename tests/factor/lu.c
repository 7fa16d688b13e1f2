/* lu.c - complete LU: L U equals the permuted, scaled matrix up to rounding; singular matrices,
 * pivoting and the separator tree. */
#include <math.h>
#include <string.h>

#include "base/config.h"
#include "base/random.h"
#include "factor/kinds.h"
#include "matrix/matrix.h"
#include "matrix/values.h"
#include "order/order.h"
#include "order/orders.h"
#include "silence.h"
#include "sparse.h"
#include "support.h"
#include "test.h"

static const trs_order lu_orders[] = {
#if TRS_HAVE_COLAMD
    TRS_ORDER_COLAMD,
#endif
#if TRS_HAVE_AMD
    TRS_ORDER_AMD,
#endif
#if TRS_HAVE_METIS
    TRS_ORDER_ND,
#endif
    TRS_ORDER_NATURAL};
enum { NLU = sizeof lu_orders / sizeof *lu_orders };

/* By SuperLU and in this process, three calls each. */
static trs_status lu(trs_factors **F, const trs_matrix *A, trs_order order, int leaves) {
  static int calls;
  trs_lu_by_superlu = calls++ / 3 % 2;
  trs_factor_options options = {
      .struct_size = sizeof(trs_factor_options), .order = order, .tree_leaves = leaves};
  return trs_factor(F, A, &options);
}

/* Every column is in a supernode.  A tree that is present couples columns of a node upwards only.
 */
static void check_info(const trs_factors *F, trs_order order) {
  trs_factors_info f = factors_info(F);
  assert_success(trs_factors_check_parts(F));
  assert_int_equal(f.kind, TRS_FACTOR_LU);
  assert_int_equal(f.order, order);
  assert_int_equal(f.diag_L, TRS_UNIT);
  assert_int_equal(f.diag_U, TRS_NONUNIT);
  assert_int_equal(f.L->ndiagonal, 0);
  assert_int_equal(f.U->missing_diagonal, -1);
  if (order == TRS_ORDER_NATURAL) assert_int_equal(f.tree_nodes, 0);
  if (f.n == 0) return;
  assert_true(f.nsupernodes > 0);
  assert_int_equal(f.supernode_ptr[0], 0);
  assert_int_equal(f.supernode_ptr[f.nsupernodes], f.n);
  for (int64_t k = 0; k < f.nsupernodes; k++)
    assert_true(f.supernode_ptr[k] < f.supernode_ptr[k + 1]);
}

TEST(random_matrices_are_factored) {
  for (int c = 0; c < 320; c++) {
    sparse_kind kind = sparse_case(c);
    kind.dominant = c & 16;
    kind.components = c % 7 ? 1 : 5;
    int64_t n = c < 40 ? c / 4 : 10 + c % 50;
    trs_matrix *A = sparse_random(n, 0.03 * (c % 11), kind, (uint64_t)c);
    trs_factors *F;
    trs_order order = lu_orders[c % NLU];
    assert_success(lu(&F, A, order, 1 << c % 5));
    check_info(F, order);
    assert_product(F, A, ((double)n + 8) * 8 * scalar_eps(kind.scalar), false);
    trs_factors_destroy(F);
    trs_matrix_destroy(A);
  }
}

/* Without a diagonal every pivot is off the diagonal; half of these matrices are singular. */
TEST(matrices_without_a_diagonal_are_factored) {
  int factored = 0;
  for (int c = 0; c < 120; c++) {
    sparse_kind kind = {.scalar = (trs_scalar)(TRS_FLOAT + c % 4), .no_diagonal = true};
    trs_matrix *A = sparse_random(2 + c % 30, 0.25, kind, (uint64_t)c);
    trs_factors *F;
    trs_status status = lu(&F, A, lu_orders[c % NLU], 4);
    if (status) {
      assert_int_equal(status, TRS_ERROR_ZERO_PIVOT);
    } else {
      factored++;
      check_info(F, lu_orders[c % NLU]);
      assert_product(F, A, 400 * scalar_eps(kind.scalar), false);
      trs_factors_destroy(F);
    }
    trs_matrix_destroy(A);
  }
  assert_in_range(factored, 20, 119);
}

TEST(a_permutation_matrix_has_empty_factors) {
  int32_t row[] = {0, 1, 2, 3}, col[] = {1, 2, 3, 0};
  double val[] = {2, 3, 4, 5};
  trs_matrix *A;
  assert_success(trs_matrix_create_coo(&A, TRS_DOUBLE, 4, 4, 4, TRS_IDX32, row, col, val));
  for (int r = 0; r < NORDERS; r++) {
    trs_factors *F;
    assert_success(lu(&F, A, orders[r], 2));
    trs_factors_info f = factors_info(F);
    assert_int_equal(f.nnz_L, 0);
    assert_int_equal(f.nnz_U, 4);
    assert_product(F, A, 0, false);
    trs_factors_destroy(F);
  }
  trs_matrix_destroy(A);
}

/* If no pivot moves, the factors have the fill that the ordering predicts, without padding. */
TEST(grids_have_the_fill_of_their_graph) {
  static const int64_t grids[][3] = {{45, 44, 1}, {12, 13, 13}, {700, 3, 1}};
  for (int g = 0; g < 3; g++)
    for (int r = 0; r < NORDERS; r++) {
      trs_scalar scalar = (trs_scalar)(TRS_FLOAT + (g + r) % 4);
      trs_matrix *A = sparse_grid(grids[g][0], grids[g][1], grids[g][2], 0.25, scalar);
      trs_factors *F;
      trs_factors_info f = {.struct_size = sizeof f};
      trs_ordering o;
      assert_success(lu(&F, A, orders[r], 8));
      assert_success(trs_ordering_compute(&o, A, orders[r], 8));
      check_info(F, orders[r]);
      trs_factors_get_info(F, &f);
      assert_int_equal(f.nnz_L + f.n, o.fill);
      assert_int_equal(f.nnz_U, o.fill);
      assert_int_equal(f.tree_nodes, orders[r] == TRS_ORDER_NATURAL ? 0 : 15);
      if (f.tree_nodes) assert_memory_equal(f.tree_ptr, o.tree.ptr, 16 * sizeof *f.tree_ptr);
      assert_null(f.row_scale);
      assert_product(F, A, 100 * scalar_eps(scalar), false);
      trs_ordering_free(&o);
      trs_factors_destroy(F);
      trs_matrix_destroy(A);
    }
}

/* The first column of each leaf's chain gets a zero on its diagonal and must pivot on its
 * neighbour: the tree stays if the two lie in one node, and is collapsed if they do not. */
TEST(pivoting_leaves_a_tree_that_holds) {
  int kept = 0;
  for (int c = 0; c < 40; c++) {
    trs_matrix *grid = sparse_grid(16, 12, 1, 0.25, TRS_DOUBLE);
    double *val = (double *)grid->val;
    for (int64_t i = 0; i < grid->nrows; i++)
      for (int64_t p = grid->ptr[i]; p < grid->ptr[i + 1]; p++)
        if (grid->idx[p] == i && (i * 37 + c) % 29 == 0) val[p] = 0;
    for (int r = 0; r < NORDERS; r++) {
      trs_factors *F;
      assert_success(lu(&F, grid, orders[r], 8));
      trs_factors_info f = factors_info(F);
      check_info(F, orders[r]);
      kept += f.tree_nodes > 0;
      assert_product(F, grid, 400 * scalar_eps(TRS_DOUBLE), false);
      trs_factors_destroy(F);
    }
    trs_matrix_destroy(grid);
  }
  if (NORDERS > 1) assert_true(kept > 0);
}

TEST(badly_scaled_matrices_are_scaled_exactly) {
  for (trs_scalar s = TRS_FLOAT; s <= TRS_DCOMPLEX; s++) {
    trs_matrix *A = sparse_random(40, 0.2, (sparse_kind){.scalar = s}, 5);
    for (int64_t i = 0; i < A->nrows; i++)
      for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++)
        trs_value_set(A->val, p, s,
                      trs_value_get(A->val, p, s) * pow(10, (double)(i % 7 - A->idx[p] % 5)));
    trs_factors *F;
    assert_success(lu(&F, A, orders[0], 0));
    trs_factors_info f = factors_info(F);
    assert_non_null(f.row_scale);
    assert_non_null(f.col_scale);
    for (int64_t i = 0; i < f.n; i++) {
      int exponent;
      assert_true(frexp(f.row_scale[i], &exponent) == 0.5);
      assert_true(frexp(f.col_scale[i], &exponent) == 0.5);
    }
    assert_product(F, A, 400 * scalar_eps(s), false);
    trs_factors_destroy(F);
    trs_factor_options plain = {
        .struct_size = sizeof(trs_factor_options), .no_equilibration = 1, .order = orders[0]};
    assert_success(trs_factor(&F, A, &plain));
    trs_factors_get_info(F, &f);
    assert_true(!f.row_scale && !f.col_scale);
    assert_product(F, A, 400 * scalar_eps(s), false);
    trs_factors_destroy(F);
    trs_matrix_destroy(A);
  }
}

/* By rows, by columns, and with exchanged rows, which leave a zero on the diagonal: the same bits
 * from both formats, whatever makes the factors. */
TEST(both_formats_give_the_same_factors) {
  for (int c = 0; c < 48; c++) {
    const trs_scalar s = (trs_scalar)(TRS_FLOAT + c % 4);
    trs_matrix *A = c % 3 == 2 ? sparse_grid(8, 9, 1, c % 2 ? 0.2 : 0, s)
                               : sparse_random(60, 0.06, (sparse_kind){.scalar = s}, 90 + c),
               *B, *C;
    int32_t row[100];
    for (int64_t i = 0; i < A->nrows; i++) row[i] = (int32_t)((i + c / 24 * 7) % A->nrows);
    assert_success(trs_matrix_permute(&B, A, row, NULL));
    assert_success(trs_matrix_convert(&C, B, TRS_CSC, s));
    trs_factors *F, *G;
    trs_factor_options options = {.struct_size = sizeof(trs_factor_options)};
    trs_lu_by_superlu = c % 8 == 7;
    assert_success(trs_factor(&F, B, &options));
    assert_success(trs_factor(&G, C, &options));
    assert_success(trs_factors_check_parts(F));
    assert_product(F, B, 1e4 * scalar_eps(s), false);
    const trs_factors_info f = factors_info(F), g = factors_info(G);
    assert_same_matrix(f.L, g.L);
    assert_same_matrix(f.U, g.U);
    trs_factors_destroy(F);
    trs_factors_destroy(G);
    trs_matrix_destroy(A);
    trs_matrix_destroy(B);
    trs_matrix_destroy(C);
  }
}

/* Rows times 2^r and columns times 2^c: the factor of a row alone brings entries below the range.
 */
TEST(products_of_scale_factors_leave_the_range) {
  for (trs_scalar s = TRS_FLOAT; s <= TRS_DCOMPLEX; s++) {
    const int most = trs_scalar_is_double(s) ? 900 : 100;
    trs_matrix *B = sparse_random(20, 0.7, (sparse_kind){.scalar = s}, 5), *A;
    assert_success(trs_matrix_convert(&A, B, TRS_CSR, s));
    for (int64_t i = 0; i < A->nrows; i++)
      for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++) {
        const int r = i % 2 ? most / 4 : -most / 4, c = (A->idx[p] % 3 ? most : -most) * 5 / 8;
        trs_value_set(A->val, p, s, trs_value_get(A->val, p, s) * ldexp(1, r + c));
      }
    trs_factors *F;
    assert_success(lu(&F, A, TRS_ORDER_NATURAL, 0));
    assert_product(F, A, 400 * scalar_eps(s), false);
    assert_success(trs_factors_refactor(F, NULL, NULL, A));
    assert_product(F, A, 400 * scalar_eps(s), false);
    trs_factors_destroy(F);
    trs_matrix_destroy(A);
    trs_matrix_destroy(B);
  }
}

TEST(an_empty_row_or_column_is_named) {
  static const double cases[][9] = {{1, 2, 3, 0, 0, 0, 4, 5, 6}, {1, 0, 3, 2, 0, 1, 4, 0, 6}};
  static const char *const words[] = {"row 1 (0-based) has only zero",
                                      "column 1 (0-based) has only zero"};
  for (int k = 0; k < 2; k++) {
    int32_t row[9], col[9];
    int64_t count = 0;
    double val[9];
    for (int e = 0; e < 9; e++)
      if (cases[k][e] != 0) row[count] = e / 3, col[count] = e % 3, val[count++] = cases[k][e];
    trs_matrix *A;
    trs_factors *F;
    assert_success(trs_matrix_create_coo(&A, TRS_DOUBLE, 3, 3, count, TRS_IDX32, row, col, val));
    assert_failure(TRS_ERROR_ZERO_PIVOT, words[k], lu(&F, A, TRS_ORDER_DEFAULT, 0));
    assert_int_equal(trs_last_error()->row, 1);
    trs_matrix_destroy(A);
  }
}

/* Each search of a matching would visit the whole ring, since costs of the last rows ascend. */
TEST(a_matching_that_takes_too_long_is_given_up) {
  enum { RING = 1001, ALL = 3 * RING + 2 };
  static int32_t row[2 * ALL], col[2 * ALL];
  static double val[2 * ALL];
  int64_t p = 0;
  for (int32_t k = 0; k < RING; k++) {
    const int32_t rows[] = {k, k, RING + k, RING + k, 2 * RING + k, 2 * RING + k};
    const int32_t cols[] = {k, (k + 1) % RING, RING + k, 2 * RING + k, k, 2 * RING + k};
    const double values[] = {1, 1, 1, 1, 1, exp(-1e-3 * (k + 1))};
    for (int e = 0; e < 6; e++, p++) row[p] = rows[e], col[p] = cols[e], val[p] = values[e];
  }
  for (int e = 0; e < 2; e++, p++) row[p] = ALL - 2 + e, col[p] = ALL - 1 - e, val[p] = 1;
  trs_matrix *A;
  trs_matching m;
  trs_factors *F;
  assert_success(trs_matrix_create_coo(&A, TRS_DOUBLE, ALL, ALL, p, TRS_IDX32, row, col, val));
  assert_success(trs_match_rows(&m, A));
  assert_null(m.row);
  for (int k = 0; k < NLU; k++) {
    assert_success(lu(&F, A, lu_orders[k], 0));
    assert_product(F, A, 400 * scalar_eps(TRS_DOUBLE), false);
    trs_factors_destroy(F);
  }
  assert_success(lu(&F, A, TRS_ORDER_DEFAULT, 0));
  assert_product(F, A, 400 * scalar_eps(TRS_DOUBLE), false);
  if (TRS_HAVE_COLAMD) assert_non_null(strstr(factors_info(F).choice, "given up"));
  trs_factors_destroy(F);
  trs_matrix_destroy(A);
}

TEST(extreme_values_are_within_reach) {
  float val[] = {1e-44f, 3e38f};
  int64_t ptr[] = {0, 1, 2};
  int32_t idx[] = {0, 1};
  trs_matrix *A;
  trs_factors *F;
  assert_success(
      trs_matrix_create(&A, TRS_CSR, TRS_FLOAT, 2, 2, TRS_PTR64, ptr, idx, val, TRS_BORROW));
  assert_success(lu(&F, A, TRS_ORDER_NATURAL, 0));
  assert_product(F, A, 0, false);
  trs_factors_destroy(F);
  trs_matrix_destroy(A);
}

static void refused(trs_status status, int64_t row, const char *words, const trs_matrix *A) {
  for (int r = 0; r < NORDERS; r++)
    for (int plain = 0; plain < 4; plain++) {
      trs_factors *F;
      trs_factor_options options = {.struct_size = sizeof(trs_factor_options),
                                    .order = orders[r],
                                    .no_equilibration = plain % 2};
      trs_lu_by_superlu = plain / 2;
      assert_failure(status, words, trs_factor(&F, A, &options));
      if (row >= 0) assert_int_equal(trs_last_error()->row, row);
      assert_null(F);
    }
}

/* A grid whose row or column of vertex 5, or both, is zero, stored or not. */
TEST(singular_matrices_are_refused) {
  for (int c = 0; c < 3; c++) {
    trs_matrix *A = sparse_grid(6, 5, 1, 0.25, TRS_DOUBLE);
    double *val = (double *)A->val;
    for (int64_t i = 0; i < A->nrows; i++)
      for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++)
        if ((i == 5 && c != 1) || (A->idx[p] == 5 && c != 0)) val[p] = 0;
    refused(TRS_ERROR_ZERO_PIVOT, c == 2 ? 5 : -1, "singular", A);
    trs_matrix_destroy(A);
  }
  trs_matrix *A = sparse_random(7, 0, (sparse_kind){.scalar = TRS_DOUBLE, .no_diagonal = true}, 1);
  refused(TRS_ERROR_ZERO_PIVOT, -1, "singular", A); /* no entry at all */
  trs_matrix_destroy(A);
  A = sparse_random(9, 1, (sparse_kind){.scalar = TRS_DCOMPLEX}, 1);
  for (int64_t p = 0; p < A->nnz; p++) trs_value_set(A->val, p, TRS_DCOMPLEX, 1);
  refused(TRS_ERROR_ZERO_PIVOT, -1, "singular", A); /* rank one */
  trs_matrix_destroy(A);
}

/* Random patterns with few entries are mostly structurally singular.  In every case memory stays
 * valid (as the address sanitizer checks) and the product holds. */
TEST(structurally_singular_matrices_are_refused) {
  int singular = 0;
  for (int c = 0; c < 300; c++) {
    trs_matrix *A = sparse_random(
        5 + c % 60, 1.5 / (5 + c % 60),
        (sparse_kind){.scalar = (trs_scalar)(TRS_FLOAT + c % 4), .no_diagonal = c % 3},
        (uint64_t)c);
    for (int64_t p = 0; p < A->nnz; p++) /* some also numerically */
      if (p % 7 == 0) trs_value_set(A->val, p, A->scalar, 0);
    trs_factors *F;
    trs_status status = lu(&F, A, orders[c % NORDERS], 2);
    if (status) {
      assert_int_equal(status, TRS_ERROR_ZERO_PIVOT);
      assert_in_range(trs_last_error()->row, 0, A->nrows - 1);
      singular++;
    } else {
      assert_product(F, A, 400 * scalar_eps(A->scalar), false);
      trs_factors_destroy(F);
    }
    trs_matrix_destroy(A);
  }
  assert_true(singular > 100);
}

static int64_t fill_of(const trs_matrix *A, trs_order order) {
  trs_factors *F;
  assert_success(lu(&F, A, order, 4));
  assert_product(F, A, 1e4 * scalar_eps(A->scalar), false);
  const trs_factors_info f = factors_info(F);
  const int64_t nnz = f.L->nnz + f.U->nnz;
  trs_factors_destroy(F);
  return nnz;
}

/* Exchanged rows cost nothing: LU finds the rows that belong on the diagonal. */
TEST(exchanged_rows_leave_the_fill) {
  for (int c = 0; c < 8; c++) {
    trs_matrix *A = sparse_grid(15, 12 + c, 1, c % 2 ? 0.25 : 0, (trs_scalar)(TRS_FLOAT + c / 2)),
               *B;
    int32_t row[300];
    uint64_t seed = 77 + (uint64_t)c;
    for (int64_t i = 0; i < A->nrows; i++) row[i] = (int32_t)i;
    for (int64_t i = A->nrows - 1; i > 0; i--) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      const int64_t k = (int64_t)((seed >> 33) % (uint64_t)(i + 1));
      const int32_t kept = row[i];
      row[i] = row[k];
      row[k] = kept;
    }
    assert_success(trs_matrix_permute(&B, A, row, NULL));
    if (TRS_HAVE_METIS) assert_true(fill_of(B, TRS_ORDER_ND) <= fill_of(A, TRS_ORDER_ND));
    if (TRS_HAVE_AMD) assert_true(fill_of(B, TRS_ORDER_AMD) <= fill_of(A, TRS_ORDER_AMD));
    trs_matrix_destroy(A);
    trs_matrix_destroy(B);
  }
}

/* Of a grid whose rows and columns are scaled by up to 2^20 and whose rows are exchanged, the
 * matching's scales undo both: pivots stay, and the fill is the grid's. */
TEST(a_matching_scales_its_rows_and_columns) {
  for (int c = 0; c < 8; c++) {
    trs_matrix *A = sparse_grid(20, 20, 1, 0, (trs_scalar)(TRS_FLOAT + c % 4)), *B;
    int32_t row[400];
    for (int64_t i = 0; i < 400; i++) row[i] = (int32_t)((i * 171 + 7 * c) % 400);
    for (int64_t i = 0; i < 400; i++)
      for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++) {
        const int power = (int)(i * 37 % 41) - 20 + (int)(A->idx[p] * 29 % 41) - 20;
        trs_value_set(A->val, p, A->scalar, ldexp(1, power) * trs_value_get(A->val, p, A->scalar));
      }
    assert_success(trs_matrix_permute(&B, A, row, NULL));
    for (int r = 0; r < NORDERS; r++) {
      trs_ordering o;
      if (orders[r] == TRS_ORDER_NATURAL) continue;
      assert_success(trs_ordering_compute(&o, A, orders[r], 4));
      assert_true((double)fill_of(B, orders[r]) < 1.2 * 2 * (double)o.fill);
      trs_ordering_free(&o);
    }
    trs_matrix_destroy(A);
    trs_matrix_destroy(B);
  }
}

/* The row and the column of the matching: every permutation of up to six rows with random values,
 * by trying all, against the product of the matched entries. */
static double best_product(const double *a, int n, int i, unsigned used) {
  double best = 0;
  if (i == n) return 1;
  for (int j = 0; j < n; j++)
    if (!(used >> j & 1))
      best = fmax(best, fabs(a[i * n + j]) * best_product(a, n, i + 1, used | 1u << j));
  return best;
}

/* Scaled, matched entries lie within a power of two of one, and no entry lies far above it. */
static void check_scales(const trs_matrix *A, const trs_matching *m) {
  for (int32_t j = 0; j < A->nrows; j++)
    for (int64_t p = A->ptr[m->row[j]]; p < A->ptr[m->row[j] + 1]; p++) {
      const double size =
          trs_value_abs(A->val, p, A->scalar) * m->row_scale[j] * m->col_scale[A->idx[p]];
      assert_true(size < 4.1);
      if (A->idx[p] == j) assert_true(size > 0.24);
    }
}

TEST(matchings_have_the_greatest_product) {
  int matched = 0;
  for (int c = 0; c < 600; c++) {
    const int n = 1 + c % 6;
    double a[36] = {0}, product = 1;
    trs_matrix *A =
        sparse_random(n, 0.15 * (1 + c % 6),
                      (sparse_kind){.scalar = TRS_DOUBLE, .no_diagonal = c % 2}, (uint64_t)c);
    for (int64_t i = 0; i < n; i++)
      for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++) {
        if (c % 5 == 0 && p % 3 == 0) ((double *)A->val)[p] = 0;
        a[i * n + A->idx[p]] = ((double *)A->val)[p];
      }
    const double best = best_product(a, n, 0, 0);
    trs_matching m;
    const trs_status status = trs_match_rows(&m, A);
    assert_int_equal(status, best > 0 ? TRS_SUCCESS : TRS_ERROR_ZERO_PIVOT);
    if (!status) {
      unsigned used = 0;
      for (int j = 0; j < n; j++) {
        used |= 1u << m.row[j];
        product *= fabs(a[m.row[j] * n + j]);
      }
      assert_int_equal(used, (1u << n) - 1);
      assert_true(product >= best * (1 - 1e-12));
      check_scales(A, &m);
      trs_matching_free(&m);
      matched++;
    }
    trs_matrix_destroy(A);
  }
  assert_in_range(matched, 100, 599);
}

/* The moduli of these entries overflow; the matrix is a permutation all the same. */
TEST(moduli_beyond_the_largest_number_are_matched) {
  double complex val[] = {CMPLX(1.7e308, 1.7e308), CMPLX(1.7e308, -1.7e308)};
  int64_t ptr[] = {0, 1, 2};
  int32_t idx[] = {1, 0};
  trs_matching m;
  trs_matrix *A;
  assert_success(
      trs_matrix_create(&A, TRS_CSR, TRS_DCOMPLEX, 2, 2, TRS_PTR64, ptr, idx, val, TRS_COPY));
  assert_success(trs_match_rows(&m, A));
  assert_int_equal(m.row[0], 1);
  assert_int_equal(m.row[1], 0);
  trs_matching_free(&m);
  trs_matrix_destroy(A);
}

TEST(values_that_are_not_finite_are_refused) {
  trs_matrix *A = sparse_grid(4, 4, 1, 0, TRS_FLOAT);
  ((float *)A->val)[A->ptr[6]] = NAN;
  refused(TRS_ERROR_NOT_FINITE, 6, "row 6", A);
  ((float *)A->val)[A->ptr[6]] = -INFINITY;
  refused(TRS_ERROR_NOT_FINITE, 6, "row 6", A);
  trs_matrix_destroy(A);
}

TEST(overflow_is_reported) {
  double val[] = {1e-290, 1, 1e10, 1};
  int64_t ptr[] = {0, 2, 4};
  int32_t idx[] = {0, 1, 0, 1};
  trs_matrix *A;
  trs_factors *F;
  assert_success(
      trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, 2, 2, TRS_PTR64, ptr, idx, val, TRS_BORROW));
  trs_factor_options options = {.struct_size = sizeof(trs_factor_options),
                                .order = TRS_ORDER_NATURAL,
                                .no_equilibration = 1,
                                .pivot_threshold = 1e-305};
  assert_success(trs_factor(&F, A, &options));
  trs_factors_destroy(F);
  val[1] = 1e300;
  assert_failure(TRS_ERROR_NOT_FINITE, "overflowed", trs_factor(&F, A, &options));
  trs_matrix_destroy(A);
}

TEST(the_threshold_decides_the_pivot) {
  double val[] = {1, 2, 4, 3};
  int64_t ptr[] = {0, 2, 4};
  int32_t idx[] = {0, 1, 0, 1};
  trs_matrix *A;
  assert_success(
      trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, 2, 2, TRS_PTR64, ptr, idx, val, TRS_BORROW));
  for (int strict = 0; strict < 2; strict++) {
    trs_factor_options options = {.struct_size = sizeof(trs_factor_options),
                                  .order = TRS_ORDER_NATURAL,
                                  .no_equilibration = 1,
                                  .pivot_threshold = strict ? 0.5 : 0.2};
    trs_factors *F;
    assert_success(trs_factor(&F, A, &options));
    trs_factors_info f = factors_info(F);
    assert_int_equal(f.row_perm ? f.row_perm[0] : 0, strict);
    assert_null(f.col_perm);
    assert_product(F, A, 4 * scalar_eps(TRS_DOUBLE), false);
    trs_factors_destroy(F);
  }
  trs_matrix_destroy(A);
}

/* Where SuperLU keeps the diagonal, this process does, and nowhere else.  SuperLU has another
 * modulus of complex numbers, and ties between other rows are open. */
TEST(pivots_leave_the_diagonal_where_those_of_superlu_do) {
  int stay = 0, move = 0;
  for (int c = 0; c < 120; c++) {
    const sparse_kind kind = {
        .scalar = c % 2 ? TRS_FLOAT : TRS_DOUBLE, .symmetric = true, .dominant = c % 3 == 0};
    trs_matrix *A = sparse_random(3 + c % 40, 0.15, kind, (uint64_t)c);
    const trs_factor_options options = {.struct_size = sizeof options,
                                        .order = TRS_ORDER_NATURAL,
                                        .pivot_threshold = c % 4 < 2 ? 0.01 : 0.1};
    trs_factors *F, *G;
    trs_lu_by_superlu = true;
    const trs_status status = trs_factor(&F, A, &options);
    trs_lu_by_superlu = false;
    assert_int_equal(trs_factor(&G, A, &options), status);
    if (!status) {
      const trs_factors_info f = factors_info(F), g = factors_info(G);
      assert_int_equal(!f.row_perm, !g.row_perm);
      *(f.row_perm ? &move : &stay) += 1;
      assert_product(G, A, 4000 * scalar_eps(kind.scalar), false);
      trs_factors_destroy(G);
      trs_factors_destroy(F);
    }
    trs_matrix_destroy(A);
  }
  assert_true(stay > 30 && move > 20);
}

/* The first values and the same values again give the same bits. */
TEST(refactorisation_repeats_the_first_factors) {
  for (int c = 0; c < 8; c++) {
    trs_matrix *A = sparse_grid(20, 20, 1 + c / 4 * 3, 0.3, (trs_scalar)(TRS_FLOAT + c % 4));
    trs_factors *F;
    assert_success(trs_factor(&F, A, NULL));
    const trs_factors_info f = factors_info(F);
    const size_t size = trs_scalar_size(A->scalar);
    void *L = malloc((size_t)f.nnz_L * size), *U = malloc((size_t)f.nnz_U * size);
    memcpy(L, f.L->val, (size_t)f.nnz_L * size);
    memcpy(U, f.U->val, (size_t)f.nnz_U * size);
    memset(f.U->val, 0, (size_t)f.nnz_U * size);
    assert_success(trs_factors_refactor(F, NULL, NULL, A));
    assert_memory_equal(f.L->val, L, (size_t)f.nnz_L * size);
    assert_memory_equal(f.U->val, U, (size_t)f.nnz_U * size);
    free(L);
    free(U);
    trs_factors_destroy(F);
    trs_matrix_destroy(A);
  }
}

TEST(the_same_pattern_gives_the_same_factors_pattern) {
  trs_matrix *A = sparse_grid(20, 20, 1, 0, TRS_DOUBLE),
             *B = sparse_grid(20, 20, 1, 0.3, TRS_DOUBLE);
  trs_factors *F, *G;
  trs_factors_info f = {.struct_size = sizeof f}, g = {.struct_size = sizeof g};
  assert_success(lu(&F, A, orders[0], 4));
  assert_success(lu(&G, B, orders[0], 4));
  trs_factors_get_info(F, &f);
  trs_factors_get_info(G, &g);
  assert_int_equal(f.nnz_L, g.nnz_L);
  assert_memory_equal(f.L->idx, g.L->idx, (size_t)f.nnz_L * sizeof(int32_t));
  assert_memory_equal(f.U->idx, g.U->idx, (size_t)f.nnz_U * sizeof(int32_t));
  trs_factors_destroy(F);
  trs_factors_destroy(G);
  trs_matrix_destroy(A);
  trs_matrix_destroy(B);
}

TEST(nothing_is_printed) {
  const silence s = silence_begin();
  for (int r = 0; r < NORDERS; r++) {
    trs_matrix *A = sparse_grid(20, 20, 1, 0.25, TRS_DOUBLE);
    trs_factors *F;
    assert_success(lu(&F, A, orders[r], 8));
    trs_factors_destroy(F);
    trs_matrix_destroy(A);
  }
  singular_matrices_are_refused(state);
  silence_end(s);
}

static trs_status factor_all(void *A) {
  trs_factors *F;
  TRS_TRY(lu(&F, A, orders[0], 4));
  trs_factors_destroy(F);
  return TRS_SUCCESS;
}

TEST(failing_allocations_are_reported) {
  trs_matrix *A =
      sparse_random(20, 0.2, (sparse_kind){.scalar = TRS_SCOMPLEX, .format = TRS_CSC}, 3);
  for (int64_t p = 0; p < A->nnz; p++)
    if (p % 3 == 0) trs_value_set(A->val, p, A->scalar, 1e4 * trs_value_get(A->val, p, A->scalar));
  assert_survives_failing_allocations(factor_all, A);
  trs_matrix_destroy(A);
}

/* SuperLU's first estimate, 30 times the entries, does not fit integers that count to 200,000; the
 * factors do, until these count less than they have. */
TEST(estimates_fit_the_integers) {
  trs_matrix *A = sparse_grid(90, 90, 1, 0.25, TRS_DOUBLE);
  trs_factors *F;
  trs_ordering o;
  trs_factor_options options = {.struct_size = sizeof(trs_factor_options), .order = orders[0]};
  trs_lu_by_superlu = true;
  assert_success(trs_ordering_compute(&o, A, orders[0], 8));
  assert_true(A->nnz * 30 > 1000000);
  for (trs_lu_most = 1000000; trs_lu_most > o.fill + o.fill / 4; trs_lu_most -= trs_lu_most / 5) {
    assert_success(trs_factor(&F, A, &options));
    assert_int_equal(factors_info(F).nnz_L + A->nrows, o.fill);
    trs_factors_destroy(F);
  }
  assert_failure(TRS_ERROR_UNSUPPORTED, "too large for SuperLU's 32-bit",
                 trs_factor(&F, A, &options));
  trs_lu_most = INT32_MAX;
  trs_ordering_free(&o);
  trs_matrix_destroy(A);
}

/* Zeros on the diagonal get no place in L and U, also in the order of A: a cycle has none. */
TEST(zeros_on_the_diagonal_are_not_filled) {
  enum { N = 50 };
  int32_t row[2 * N], col[2 * N];
  double val[2 * N];
  trs_matrix *A;
  for (int k = 0; k < N; k++) {
    row[k] = row[N + k] = k;
    col[k] = (k + 1) % N;
    col[N + k] = (k + 2) % N;
    val[k] = 2;
    val[N + k] = 1;
  }
  assert_success(trs_matrix_create_coo(&A, TRS_DOUBLE, N, N, 2 * N, TRS_IDX32, row, col, val));
  for (int superlu = 0; superlu < 2; superlu++) {
    trs_factors *F;
    trs_factor_options options = {.struct_size = sizeof(trs_factor_options),
                                  .order = TRS_ORDER_NATURAL};
    trs_lu_by_superlu = superlu;
    assert_success(trs_factor(&F, A, &options));
    const trs_factors_info f = factors_info(F);
    assert_in_range(f.nnz_L + f.nnz_U, 2 * N, 5 * N);
    assert_product(F, A, 1e-13, false);
    trs_factors_destroy(F);
  }
  trs_matrix_destroy(A);
}

/* ---- Block triangular forms. ---- */

static double value(uint64_t seed, uint64_t at) {
  const double v = (double)(trs_random(seed, at) >> 11) * 0x1p-53;
  return at % 2 ? 0.5 + v : -0.5 - v;
}

/* Whether some product of n entries of distinct rows and columns has no zero. */
static bool has_transversal(unsigned pattern, int n, int i, unsigned used) {
  if (i == n) return true;
  for (int j = 0; j < n; j++)
    if (pattern >> (i * n + j) & 1 && !(used >> j & 1) &&
        has_transversal(pattern, n, i + 1, used | 1U << j))
      return true;
  return false;
}

/* Of every small pattern LU exists, or the message says that none does. */
TEST(every_pattern_of_three_and_four_rows) {
  for (int n = 1; n <= 4; n++)
    for (unsigned pattern = 0; pattern < 1U << (n * n); pattern += n < 4 ? 1 : 3) {
      int32_t row[16], col[16], count = 0;
      double val[16];
      trs_matrix *A;
      trs_factors *F;
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
          if (pattern >> (i * n + j) & 1) {
            row[count] = i;
            col[count] = j;
            val[count++] = value(pattern, (uint64_t)(i * n + j));
          }
      assert_success(trs_matrix_create_coo(&A, TRS_DOUBLE, n, n, count, TRS_IDX32, row, col, val));
      trs_factor_options options = {.struct_size = sizeof(trs_factor_options)};
      trs_lu_by_superlu = false;
      if (has_transversal(pattern, n, 0, 0)) {
        assert_success(trs_factor(&F, A, &options));
        assert_product(F, A, 1e-12, false);
        trs_factors_destroy(F);
      } else {
        assert_failure(TRS_ERROR_ZERO_PIVOT, "singular", trs_factor(&F, A, &options));
      }
      trs_matrix_destroy(A);
    }
}

static void shuffle(int32_t *place, int n, uint64_t seed) {
  for (int k = 0; k < n; k++) place[k] = k;
  for (int k = n - 1; k > 0; k--) {
    const int other = (int)(trs_random(seed, (uint64_t)k) % (uint64_t)(k + 1));
    const int32_t moved = place[k];
    place[k] = place[other];
    place[other] = moved;
  }
}

/* Blocks of 1 to 12 rows, full inside, with some larger entries before them; mixed rows and
 * columns. */
enum { BLOCK_ROWS = 120 };
static trs_matrix *block_triangle(int32_t *row_block, int32_t *col_block, uint64_t seed) {
  enum { N = BLOCK_ROWS };
  int32_t row[N * N], col[N * N], row_place[N], col_place[N], count = 0;
  double val[N * N];
  trs_matrix *A;
  shuffle(row_place, N, seed);
  shuffle(col_place, N, seed + seed % 2); /* the same: no zeros on the diagonal */
  for (int begin = 0, end; begin < N; begin = end) {
    end = begin + 1 + (int)(trs_random(seed, (uint64_t)begin) % 12);
    if (end > N) end = N;
    for (int i = begin; i < end; i++) {
      row_block[row_place[i]] = col_block[col_place[i]] = begin;
      for (int j = 0; j < end; j++) {
        const uint64_t at = (uint64_t)(i * N + j);
        if (j < begin && trs_random(seed + 2, at) % 20) continue;
        row[count] = row_place[i];
        col[count] = col_place[j];
        val[count++] = value(seed, at) * (j < begin ? 1000 : i == j && j % 5 ? 1 : 0.05);
      }
    }
  }
  assert_success(trs_matrix_create_coo(&A, TRS_DOUBLE, N, N, count, TRS_IDX32, row, col, val));
  return A;
}

/* Pivots stay inside their blocks, also where entries beside these are much larger; new values are
 * taken. */
TEST(block_triangles_keep_their_blocks) {
  int moved = 0;
  if (!TRS_HAVE_AMD) return;
  for (uint64_t seed = 0; seed < 60; seed++) {
    int32_t row_block[BLOCK_ROWS], col_block[BLOCK_ROWS];
    trs_matrix *A = block_triangle(row_block, col_block, seed);
    trs_factors *F;
    trs_pivots pivots = {.struct_size = sizeof pivots};
    trs_factor_options options = {.struct_size = sizeof(trs_factor_options)};
    trs_lu_by_superlu = false;
    assert_success(trs_factor(&F, A, &options));
    const trs_factors_info f = factors_info(F);
    assert_int_equal(f.order, TRS_ORDER_AMD);
    assert_non_null(strstr(f.choice, "diagonal blocks"));
    for (int k = 0; k < BLOCK_ROWS; k++) {
      assert_int_equal(row_block[f.row_perm[k]], col_block[f.col_perm[k]]);
      moved += seed % 2 == 0 && f.row_perm[k] != f.col_perm[k];
    }
    assert_product(F, A, 1e-11, false);
    assert_success(trs_factors_refactor(F, &pivots, NULL, A));
    assert_true(pivots.least_share > 0.0999); /* the threshold */
    double *val = (double *)A->val;
    for (int64_t p = 0; p < A->nnz; p++) val[p] *= 1 + 0.01 * value(seed + 3, (uint64_t)p);
    assert_success(trs_factors_refactor(F, &pivots, NULL, A));
    assert_product(F, A, 1e-11, false);
    trs_factors_destroy(F);
    trs_matrix_destroy(A);
  }
  assert_true(moved > 100);
}

static const char *superlu(void) { return TRS_HAVE_SUPERLU ? NULL : "no SuperLU in this build"; }

const test_program program = {.lacks = superlu};
