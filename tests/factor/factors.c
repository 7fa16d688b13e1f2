/* factors.c - factors from the user's own arrays: kept alive, described, and rejected if
 * invalid. */
#include "factor/factors.h"

#include <math.h>

#include "sparse.h"
#include "test.h"

/* 4 x 4 triangles whose entries (2, 0), (2, 1), (3, 2) make node 2 a separator of 0 and 1. */
static trs_matrix *triangle(trs_uplo uplo, trs_scalar scalar, trs_format format) {
  static const int32_t row[] = {0, 1, 2, 2, 2, 3, 3}, col[] = {0, 1, 0, 1, 2, 2, 3};
  double val[14] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
  bool lower = uplo == TRS_LOWER;
  trs_matrix *A, *B;
  assert_success(trs_matrix_create_coo(&A, TRS_DOUBLE, 4, 4, 7, TRS_IDX32, lower ? row : col,
                                       lower ? col : row, val));
  assert_success(trs_matrix_convert(&B, A, format, scalar));
  trs_matrix_destroy(A);
  return B;
}

static int32_t row_perm[] = {3, 2, 1, 0}, col_perm[] = {1, 0, 3, 2};
static double row_scale[] = {1, 2, 4, 8}, col_scale[] = {-1, 0.5, 0.25, 1};

TEST(created_factors_tell_what_they_were_given) {
  for (trs_scalar s = TRS_FLOAT; s <= TRS_DCOMPLEX; s++) {
    trs_matrix *L = triangle(TRS_LOWER, s, TRS_CSC), *U = triangle(TRS_UPPER, s, TRS_CSR);
    trs_factors *F;
    trs_factors_info f = {.struct_size = sizeof f};
    assert_success(trs_factors_create(&F, L, TRS_UNIT, U, TRS_NONUNIT, row_perm, col_perm,
                                      row_scale, col_scale));
    trs_matrix_destroy(L);
    trs_matrix_destroy(U);
    trs_factors_get_info(F, &f);
    assert_int_equal(f.scalar, s);
    assert_int_equal(f.n, 4);
    assert_int_equal(f.nnz_L, 7);
    assert_int_equal(f.nnz_U, 7);
    assert_int_equal(f.diag_L, TRS_UNIT);
    assert_int_equal(f.diag_U, TRS_NONUNIT);
    assert_ptr_equal(f.L, L);
    assert_ptr_equal(f.U, U);
    assert_ptr_not_equal(f.row_perm, row_perm);
    assert_memory_equal(f.row_perm, row_perm, sizeof row_perm);
    assert_memory_equal(f.col_perm, col_perm, sizeof col_perm);
    assert_memory_equal(f.row_scale, row_scale, sizeof row_scale);
    assert_memory_equal(f.col_scale, col_scale, sizeof col_scale);
    assert_int_equal(f.nsupernodes, 0);
    assert_int_equal(f.tree_nodes, 0);
    assert_null(f.supernode_ptr);
    assert_null(f.tree_ptr);
    trs_factors *shared = trs_factors_retain(F);
    trs_factors_destroy(F);
    trs_factors_get_info(shared, &f);
    assert_int_equal(f.L->nnz, 7);
    trs_factors_destroy(shared);
  }
  trs_factors_destroy(NULL);
}

TEST(permutations_and_scalings_are_optional) {
  trs_matrix *L = triangle(TRS_LOWER, TRS_DOUBLE, TRS_CSR);
  trs_matrix *U = triangle(TRS_UPPER, TRS_DOUBLE, TRS_CSR);
  trs_factors *F;
  assert_success(trs_factors_create(&F, L, TRS_NONUNIT, U, TRS_NONUNIT, NULL, NULL, NULL, NULL));
  trs_factors_info f = factors_info(F);
  assert_true(!f.row_perm && !f.col_perm && !f.row_scale && !f.col_scale);
  trs_factors_destroy(F);
  trs_matrix_destroy(L);
  trs_matrix_destroy(U);
}

static trs_status create(const trs_matrix *L, const trs_matrix *U, const int32_t *perm,
                         const double *scale) {
  trs_factors *F;
  trs_status status =
      trs_factors_create(&F, L, TRS_NONUNIT, U, TRS_NONUNIT, perm, NULL, NULL, scale);
  if (!status) trs_factors_destroy(F);
  return status;
}

/* L and U in one matrix, as ILU codes leave them: L strictly below the diagonal, U in the rest. */
TEST(one_matrix_may_hold_both_factors) {
  int32_t ptr[] = {0, 2, 5, 7}, idx[] = {0, 1, 0, 1, 2, 1, 2};
  double val[] = {4, 1, 0.5, 3, 2, 0.25, 5}, twice[7], x[3], b[] = {1, 2, 3};
  trs_context *ctx;
  trs_matrix *M;
  trs_factors *F;
  trs_plan *plan;
  trs_factors_info f = {.struct_size = sizeof f};
  trs_backward_error error = {.struct_size = sizeof error};
  for (int k = 0; k < 7; k++) twice[k] = 2 * val[k];
  assert_success(trs_context_create(&ctx, "serial"));
  assert_success(
      trs_matrix_create(&M, TRS_CSR, TRS_DOUBLE, 3, 3, TRS_PTR32, ptr, idx, val, TRS_BORROW));
  for (int crout = 0; crout < 2; crout++) {
    assert_success(trs_factors_create(&F, M, TRS_NONUNIT, M, crout ? TRS_UNIT : TRS_NONUNIT, NULL,
                                      NULL, NULL, NULL));
    assert_success(trs_factors_get_info(F, &f));
    assert_int_equal(f.diag_L, crout ? TRS_NONUNIT : TRS_UNIT);
    assert_int_equal(f.diag_U, crout ? TRS_UNIT : TRS_NONUNIT);
    assert_success(trs_analyze_factors(&plan, ctx, F, TRS_NO_TRANS, NULL));
    for (int turn = 0; turn < 3; turn++) { /* the same values; changed in place; set anew */
      if (turn == 1) val[6] = 7;
      if (turn == 2) assert_success(trs_matrix_set_values(M, twice));
      if (turn > 0) assert_success(trs_update_factors(plan, F));
      assert_success(trs_solve(plan, x, 3, b, 3, 1, TRS_COL_MAJOR));
      assert_success(trs_check_factors(&error, F, TRS_NO_TRANS, x, 3, b, 3, 1, TRS_COL_MAJOR));
      assert_true(error.componentwise < 1e-15);
      double last = crout ? 1 : turn == 0 ? 5 : turn == 1 ? 7 : 10;
      if (!crout) { /* L y = b by hand, x[2] = y[2] / U[2][2] */
        double factor = turn == 2 ? 2 : 1, y1 = 2 - factor * 0.5 * 1;
        assert_true(fabs(x[2] - (3 - factor * 0.25 * y1) / last) < 1e-15);
      }
    }
    trs_plan_destroy(plan);
    trs_factors_destroy(F);
    assert_success(trs_matrix_set_values(M, val));
    val[6] = 5;
  }
  trs_matrix_destroy(M);
  trs_context_destroy(ctx);
}

TEST(wrong_arguments_are_refused) {
  trs_matrix *L = triangle(TRS_LOWER, TRS_DOUBLE, TRS_CSR);
  trs_matrix *U = triangle(TRS_UPPER, TRS_DOUBLE, TRS_CSR);
  trs_matrix *single = triangle(TRS_UPPER, TRS_FLOAT, TRS_CSR);
  trs_matrix *other = triangle(TRS_LOWER, TRS_DOUBLE, TRS_CSR);
  trs_matrix *small = sparse_random(3, 0, (sparse_kind){.scalar = TRS_DOUBLE}, 1);
  trs_matrix *wide;
  trs_factors *F;
  int64_t ptr[] = {0, 0};
  assert_success(
      trs_matrix_create(&wide, TRS_CSR, TRS_DOUBLE, 1, 2, TRS_PTR64, ptr, NULL, NULL, TRS_COPY));
  assert_failure(TRS_ERROR_ARGUMENT, "F is NULL",
                 trs_factors_create(NULL, L, TRS_UNIT, U, TRS_UNIT, NULL, NULL, NULL, NULL));
  assert_failure(TRS_ERROR_ARGUMENT, "L is NULL", create(NULL, U, NULL, NULL));
  assert_failure(TRS_ERROR_ARGUMENT, "U is NULL", create(L, NULL, NULL, NULL));
  assert_failure(TRS_ERROR_ARGUMENT, "trs_matrix_convert", create(L, single, NULL, NULL));
  assert_failure(TRS_ERROR_ARGUMENT, "L has 4 rows, U has 3", create(L, small, NULL, NULL));
  assert_failure(TRS_ERROR_STRUCTURE, "L is 1 x 2", create(wide, U, NULL, NULL));
  assert_failure(TRS_ERROR_STRUCTURE, "L is not lower", create(U, other, NULL, NULL));
  assert_failure(TRS_ERROR_STRUCTURE, "U is not upper", create(other, L, NULL, NULL));
  assert_int_equal(trs_last_error()->row, 2);
  assert_failure(TRS_ERROR_ARGUMENT, "row_perm[2] = 1 is there twice",
                 create(L, U, (int32_t[]){0, 1, 1, 3}, NULL));
  assert_failure(TRS_ERROR_ARGUMENT, "row_perm[3] = 4 is out of range",
                 create(L, U, (int32_t[]){0, 1, 2, 4}, NULL));
  assert_failure(TRS_ERROR_ARGUMENT, "col_scale[1]", create(L, U, NULL, (double[]){1, 0, 1, 1}));
  assert_failure(TRS_ERROR_ARGUMENT, "col_scale[3]", create(L, U, NULL, (double[]){1, 1, 1, NAN}));
  assert_failure(TRS_ERROR_ARGUMENT, "diag_L",
                 trs_factors_create(&F, L, (trs_diag)5, U, TRS_UNIT, NULL, NULL, NULL, NULL));
  assert_null(F);
  trs_matrix_destroy(L);
  trs_matrix_destroy(U);
  trs_matrix_destroy(single);
  trs_matrix_destroy(other);
  trs_matrix_destroy(small);
  trs_matrix_destroy(wide);
}

typedef struct shape {
  int64_t nsupernodes, supernode[5], tree_nodes, tree[6];
  int32_t parent[5];
} shape;

static trs_status adopt(const shape *s) {
  trs_factors parts = {.order = TRS_ORDER_NATURAL,
                       .L = triangle(TRS_LOWER, TRS_DOUBLE, TRS_CSR),
                       .U = triangle(TRS_UPPER, TRS_DOUBLE, TRS_CSC),
                       .nsupernodes = s->nsupernodes,
                       .tree_nodes = s->tree_nodes};
  trs_factors *F;
  if (s->nsupernodes) {
    assert_success(TRS_ALLOC(&parts.supernode_ptr, s->nsupernodes + 1));
    memcpy(parts.supernode_ptr, s->supernode, ((size_t)s->nsupernodes + 1) * sizeof(int64_t));
  }
  if (s->tree_nodes) {
    assert_success(TRS_ALLOC(&parts.tree_ptr, s->tree_nodes + 1));
    assert_success(TRS_ALLOC(&parts.tree_parent, s->tree_nodes));
    memcpy(parts.tree_ptr, s->tree, ((size_t)s->tree_nodes + 1) * sizeof(int64_t));
    memcpy(parts.tree_parent, s->parent, (size_t)s->tree_nodes * sizeof(int32_t));
  }
  trs_status status = trs_factors_adopt(&F, &parts);
  if (!status) trs_factors_destroy(F);
  return status;
}

TEST(supernodes_and_trees_are_checked) {
  assert_success(adopt(&(shape){.nsupernodes = 2, .supernode = {0, 1, 4}}));
  assert_success(adopt(&(shape){.tree_nodes = 3, .tree = {0, 1, 2, 4}, .parent = {2, 2, -1}}));
  assert_success(
      adopt(&(shape){.tree_nodes = 4, .tree = {0, 1, 1, 2, 4}, .parent = {3, 2, 3, -1}}));
  assert_success(adopt(&(shape){.tree_nodes = 1, .tree = {0, 4}, .parent = {-1}}));
  assert_failure(TRS_ERROR_STRUCTURE, "supernode_ptr runs from 0 to 3",
                 adopt(&(shape){.nsupernodes = 2, .supernode = {0, 1, 3}}));
  assert_failure(TRS_ERROR_STRUCTURE, "supernode_ptr[2]",
                 adopt(&(shape){.nsupernodes = 3, .supernode = {0, 2, 1, 4}}));
  assert_failure(TRS_ERROR_STRUCTURE, "tree_ptr runs",
                 adopt(&(shape){.tree_nodes = 1, .tree = {1, 4}, .parent = {-1}}));
  assert_failure(TRS_ERROR_STRUCTURE, "children come before parents",
                 adopt(&(shape){.tree_nodes = 2, .tree = {0, 1, 4}, .parent = {-1, 0}}));
  assert_failure(TRS_ERROR_STRUCTURE, "children come before parents",
                 adopt(&(shape){.tree_nodes = 2, .tree = {0, 1, 4}, .parent = {5, -1}}));
  assert_failure(
      TRS_ERROR_STRUCTURE, "not postordered",
      adopt(&(shape){.tree_nodes = 4, .tree = {0, 1, 2, 3, 4}, .parent = {2, 3, 3, -1}}));
  assert_failure(TRS_ERROR_STRUCTURE, "couples columns 0 and 2 (0-based)",
                 adopt(&(shape){.tree_nodes = 3, .tree = {0, 2, 3, 4}, .parent = {2, 2, -1}}));
  assert_failure(TRS_ERROR_STRUCTURE, "couples columns",
                 adopt(&(shape){.tree_nodes = 2, .tree = {0, 2, 4}, .parent = {-1, -1}}));
}

static trs_status create_all(void *argument) {
  trs_matrix **m = argument;
  trs_factors *F;
  TRS_TRY(trs_factors_create(&F, m[0], TRS_NONUNIT, m[1], TRS_NONUNIT, row_perm, col_perm,
                             row_scale, col_scale));
  trs_factors_destroy(F);
  return TRS_SUCCESS;
}

TEST(failing_allocations_are_reported) {
  trs_matrix *m[2] = {triangle(TRS_LOWER, TRS_DOUBLE, TRS_CSR),
                      triangle(TRS_UPPER, TRS_DOUBLE, TRS_CSR)};
  assert_survives_failing_allocations(create_all, m);
  trs_matrix_destroy(m[0]);
  trs_matrix_destroy(m[1]);
}
