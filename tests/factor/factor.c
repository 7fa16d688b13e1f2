/* factor.c - the options of trs_factor, its triangles, progress, and invalid input. */
#include "base/config.h"
#include "factor/kinds.h"
#include "matrix/matrix.h"
#include "matrix/values.h"
#include "sparse.h"
#include "test.h"

/* max(1, sum of absolute values of the whole row) where no diagonal entry is stored. */
static void fill_diagonal(trs_matrix **A) {
  const trs_matrix *old = *A;
  int64_t n = old->nrows, nnz = old->nnz + n;
  int32_t *row = malloc((size_t)(nnz + 1) * sizeof *row),
          *col = malloc((size_t)(nnz + 1) * sizeof *col);
  char *val = malloc((size_t)(nnz + 1) * 16);
  for (int64_t i = 0; i < n; i++) {
    double sum = 0;
    for (int64_t p = old->ptr[i]; p < old->ptr[i + 1]; p++) {
      row[p] = (int32_t)i;
      col[p] = old->idx[p];
      trs_value_set(val, p, old->scalar, trs_value_get(old->val, p, old->scalar));
      sum += trs_value_abs(old->val, p, old->scalar);
    }
    row[old->nnz + i] = col[old->nnz + i] = (int32_t)i;
    trs_value_set(val, old->nnz + i, old->scalar, sum > 1 ? sum : 1);
  }
  trs_matrix *filled;
  assert_success(trs_matrix_create_coo(&filled, old->scalar, n, n, nnz, TRS_IDX32, row, col, val));
  trs_matrix_destroy(*A);
  *A = filled;
  free(row);
  free(col);
  free(val);
}

TEST(triangles_are_those_of_the_matrix) {
  for (int c = 0; c < 16; c++) {
    trs_matrix *A = sparse_random(c, 0.3,
                                  (sparse_kind){.scalar = (trs_scalar)(TRS_FLOAT + c % 4),
                                                .format = c & 4 ? TRS_CSC : TRS_CSR,
                                                .no_diagonal = c & 8},
                                  (uint64_t)c);
    trs_factor_options options = {.struct_size = sizeof(trs_factor_options),
                                  .kind = TRS_FACTOR_TRIANGLE,
                                  .add_diagonal = c / 8 % 2};
    trs_matrix *rows, *L, *U;
    trs_factors *F;
    trs_factors_info f = {.struct_size = sizeof f};
    assert_success(trs_factor(&F, A, &options));
    assert_success(trs_matrix_convert(&rows, A, TRS_CSR, A->scalar));
    if (c & 8) fill_diagonal(&rows);
    assert_success(trs_matrix_triangle(&L, rows, TRS_LOWER, 0));
    assert_success(trs_matrix_triangle(&U, rows, TRS_UPPER, 0));
    trs_factors_get_info(F, &f);
    assert_int_equal(f.kind, TRS_FACTOR_TRIANGLE);
    assert_int_equal(f.order, TRS_ORDER_NATURAL);
    assert_int_equal(f.diag_L, TRS_NONUNIT);
    assert_int_equal(f.diag_U, TRS_NONUNIT);
    assert_null(f.row_perm);
    assert_same_matrix(f.L, L);
    assert_same_matrix(f.U, U);
    trs_factors_destroy(F);
    trs_matrix_destroy(A);
    trs_matrix_destroy(rows);
    trs_matrix_destroy(L);
    trs_matrix_destroy(U);
  }
}

TEST(triangles_follow_an_order_if_asked) {
  if (!TRS_HAVE_AMD) skip_test("this build has no AMD");
  trs_matrix *A = sparse_grid(9, 9, 1, 0.25, TRS_DOUBLE), *B, *L;
  trs_factor_options options = {.struct_size = sizeof(trs_factor_options),
                                .kind = TRS_FACTOR_TRIANGLE,
                                .order = TRS_ORDER_AMD,
                                .tree_leaves = 2};
  trs_factors *F;
  assert_success(trs_factor(&F, A, &options));
  trs_factors_info f = factors_info(F);
  assert_int_equal(f.tree_nodes, 3);
  assert_success(trs_matrix_permute(&B, A, f.row_perm, f.col_perm));
  assert_success(trs_matrix_triangle(&L, B, TRS_LOWER, 0));
  assert_same_matrix(f.L, L);
  trs_factors_destroy(F);
  trs_matrix_destroy(A);
  trs_matrix_destroy(B);
  trs_matrix_destroy(L);
}

static void check_default(const trs_matrix *A, trs_order order, const char *why) {
  trs_factors *F;
  assert_success(trs_factor(&F, A, NULL));
  trs_factors_info f = factors_info(F);
  assert_int_equal(f.kind, TRS_FACTOR_LU);
  assert_int_equal(f.order, order);
  assert_int_equal(f.tree_nodes, 15);
  assert_non_null(strstr(f.choice, why));
  trs_factors_destroy(F);
}

/* A band whose entries are all equal, without its diagonal: no entry is a better pivot. */
static trs_matrix *equal_entries(void) {
  enum { N = 400 };
  static const int offsets[] = {-21, -20, -1, 1, 20, 21};
  int32_t row[6 * N], col[6 * N];
  double val[6 * N];
  int64_t count = 0;
  trs_matrix *A;
  for (int i = 0; i < N; i++)
    for (int k = 0; k < 6; k++) {
      if (i + offsets[k] < 0 || i + offsets[k] >= N) continue;
      row[count] = i;
      col[count] = i + offsets[k];
      val[count++] = 1;
    }
  assert_success(trs_matrix_create_coo(&A, TRS_DOUBLE, N, N, count, TRS_IDX32, row, col, val));
  return A;
}

/* By predicted fill and time, with the reason. */
TEST(no_options_mean_lu_in_an_order_of_its_choice) {
  if (!TRS_HAVE_SUPERLU || !TRS_HAVE_METIS || !TRS_HAVE_AMD || !TRS_HAVE_COLAMD)
    skip_test("this build has no SuperLU, METIS, AMD or COLAMD");
  trs_matrix *A = sparse_grid(9, 9, 1, 0.25, TRS_DOUBLE);
  check_default(A, TRS_ORDER_AMD, "less time than nested dissection");
  trs_matrix_destroy(A);
  A = sparse_grid(18, 18, 18, 0, TRS_DOUBLE);
  check_default(A, TRS_ORDER_ND, "predicted: nested dissection ");
  trs_matrix_destroy(A);
  A = equal_entries();
  check_default(A, TRS_ORDER_COLAMD, "100 % of the entries are as large as pivots");
  trs_matrix_destroy(A);
}

/* A grid with 2.5 on its diagonal, and nearly zero in every third row, where no pivot can stay. */
static trs_matrix *indefinite(int64_t n) {
  trs_matrix *A = sparse_grid(n, n, 1, 0, TRS_DOUBLE);
  for (int64_t i = 0; i < A->nrows; i++)
    for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++)
      ((double *)A->val)[p] = A->idx[p] != i ? -1 : i % 3 ? 2.5 : 1e-5;
  return A;
}

static int64_t entries_by_default(const trs_matrix *A, const char *why) {
  trs_factors *F;
  assert_success(trs_factor(&F, A, NULL));
  const trs_factors_info f = factors_info(F);
  if (!strstr(f.choice, why)) fail_msg("%s: not %s", f.choice, why);
  assert_product(F, A, 1e-10, false);
  trs_factors_destroy(F);
  return f.nnz_L + f.nnz_U;
}

/* Pivots that move in AMD's order make its factors grow; another attempt has fewer entries. */
TEST(where_pivots_move_lu_is_made_again) {
  if (!TRS_HAVE_AMD || !TRS_HAVE_COLAMD) skip_test("this build has no AMD or COLAMD");
  trs_matrix *A = indefinite(50);
  trs_factors *F;
  trs_factor_options options = {.struct_size = sizeof(trs_factor_options), .order = TRS_ORDER_AMD};
  assert_success(trs_factor(&F, A, &options));
  const trs_factors_info f = factors_info(F);
  assert_true(3 * entries_by_default(A, "pivots moved") < 2 * (f.nnz_L + f.nnz_U));
  trs_factors_destroy(F);
  trs_matrix_destroy(A);
}

/* Also with its rows and columns in any order: its factors are the matrix itself. */
TEST(a_triangle_is_not_filled) {
  for (int c = 0; c < 4; c++) {
    trs_matrix *A = sparse_random(60, 0.2, (sparse_kind){.scalar = TRS_DOUBLE}, (uint64_t)c + 1),
               *T, *P;
    int32_t row[60], col[60];
    assert_success(trs_matrix_triangle(&T, A, c % 2 ? TRS_UPPER : TRS_LOWER, 0));
    for (int32_t k = 0; k < 60; k++) {
      row[k] = (k * 7 + c) % 60;
      col[k] = (k * 13 + 5 * c) % 60;
    }
    assert_success(trs_matrix_permute(&P, T, c < 2 ? NULL : row, c < 2 ? NULL : col));
    assert_int_equal(entries_by_default(P, "triangular"), T->nnz);
    trs_matrix_destroy(A);
    trs_matrix_destroy(T);
    trs_matrix_destroy(P);
  }
}

/* A full diagonal that its column's entries rival does not keep its pivots either. */
TEST(rivals_of_a_full_diagonal_count) {
  if (!TRS_HAVE_COLAMD) skip_test("this build has no COLAMD");
  trs_matrix *A = sparse_random(300, 0.02, (sparse_kind){.scalar = TRS_DOUBLE}, 3);
  for (int64_t p = 0; p < A->nnz; p++) ((double *)A->val)[p] = 1 + 0.01 * (double)(p % 17);
  trs_factors *F;
  assert_success(trs_factor(&F, A, NULL));
  assert_int_equal(factors_info(F).order, TRS_ORDER_COLAMD);
  assert_non_null(strstr(factors_info(F).choice, "100 % of the entries are as large as pivots"));
  trs_factors_destroy(F);
  trs_matrix_destroy(A);
}

typedef struct heard {
  int calls;
  char last[16];
  double done;
} heard;

/* Phases must come in order, each from 0 to 1. */
static void listen(void *user, const char *phase, double done) {
  heard *h = user;
  if (strcmp(h->last, phase) == 0)
    assert_true(done >= h->done);
  else
    assert_true(done == 0);
  snprintf(h->last, sizeof h->last, "%s", phase);
  h->done = done;
  h->calls++;
}

TEST(progress_is_told) {
  trs_matrix *A = sparse_grid(5, 5, 1, 0.25, TRS_DOUBLE);
  heard h = {0};
  trs_factor_options options = {.struct_size = sizeof(trs_factor_options),
                                .kind = TRS_FACTOR_ILU0,
                                .progress = listen,
                                .progress_user = &h};
  trs_factors *F;
  assert_success(trs_factor(&F, A, &options));
  assert_string_equal(h.last, "factoring");
  assert_true(h.calls >= 4 && h.done == 1);
  trs_factors_destroy(F);
  trs_matrix_destroy(A);
}

TEST(wrong_options_are_refused) {
  trs_matrix *A = sparse_grid(3, 3, 1, 0, TRS_DOUBLE), *wide;
  trs_factors *F;
  int64_t ptr[] = {0, 0};
  assert_success(
      trs_matrix_create(&wide, TRS_CSR, TRS_DOUBLE, 1, 2, TRS_PTR64, ptr, NULL, NULL, TRS_COPY));
  assert_failure(TRS_ERROR_ARGUMENT, "F is NULL", trs_factor(NULL, A, NULL));
  assert_failure(TRS_ERROR_ARGUMENT, "A is NULL", trs_factor(&F, NULL, NULL));
  assert_failure(TRS_ERROR_STRUCTURE, "1 x 2, not square", trs_factor(&F, wide, NULL));
  assert_failure(TRS_ERROR_ARGUMENT, "kind is 9",
                 trs_factor(&F, A,
                            &(trs_factor_options){.struct_size = sizeof(trs_factor_options),
                                                  .kind = (trs_factor_kind)9}));
  assert_failure(TRS_ERROR_ARGUMENT, "order is 9",
                 trs_factor(&F, A,
                            &(trs_factor_options){.struct_size = sizeof(trs_factor_options),
                                                  .order = (trs_order)9}));
  assert_failure(TRS_ERROR_ARGUMENT, "pivot_threshold",
                 trs_factor(&F, A,
                            &(trs_factor_options){.struct_size = sizeof(trs_factor_options),
                                                  .pivot_threshold = 1.5}));
  assert_failure(TRS_ERROR_ARGUMENT, "tree_leaves",
                 trs_factor(&F, A,
                            &(trs_factor_options){.struct_size = sizeof(trs_factor_options),
                                                  .tree_leaves = -2}));
  assert_failure(TRS_ERROR_ARGUMENT, "power of two",
                 trs_factor(&F, A,
                            &(trs_factor_options){.struct_size = sizeof(trs_factor_options),
                                                  .tree_leaves = 6}));
  assert_null(F);
  trs_lu_by_superlu = true;
  if (!TRS_HAVE_SUPERLU)
    assert_failure(TRS_ERROR_UNSUPPORTED, "libsuperlu-dev",
                   trs_factor(&F, A,
                              &(trs_factor_options){.struct_size = sizeof(trs_factor_options),
                                                    .order = TRS_ORDER_NATURAL}));
  trs_lu_by_superlu = false;
  trs_matrix_destroy(A);
  trs_matrix_destroy(wide);
}

static trs_status factor_triangles(void *A) {
  trs_factor_options options = {
      .struct_size = sizeof(trs_factor_options), .kind = TRS_FACTOR_TRIANGLE, .add_diagonal = 1};
  trs_factors *F;
  TRS_TRY(trs_factor(&F, A, &options));
  trs_factors_destroy(F);
  return TRS_SUCCESS;
}

TEST(pivots_without_a_reciprocal_are_refused) {
  static const trs_factor_kind kinds[] = {TRS_FACTOR_ILU0, TRS_FACTOR_LU, TRS_FACTOR_DILU};
  const int64_t ptr[] = {0, 1, 3};
  const int32_t idx[] = {0, 0, 1};
  const double val[] = {1, 1, 1e-310};
  trs_matrix *A;
  trs_factors *F;
  assert_success(
      trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, 2, 2, TRS_PTR64, ptr, idx, val, TRS_COPY));
  for (int k = 0; k < 3; k++) {
    const trs_factor_options how = {.struct_size = sizeof how,
                                    .kind = kinds[k],
                                    .order = TRS_ORDER_NATURAL,
                                    .no_equilibration = kinds[k] == TRS_FACTOR_LU};
    assert_failure(TRS_ERROR_NOT_FINITE, "for its reciprocal", trs_factor(&F, A, &how));
    assert_int_equal(trs_last_error()->row, 1);
  }
  trs_matrix_destroy(A);
}

TEST(failing_allocations_are_reported) {
  assert_survives_with_matrix(factor_triangles, 9, (sparse_kind){.format = TRS_CSC});
}
