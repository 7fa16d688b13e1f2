/* bilu0.c - the block kinds against their definitions: L U agrees with A on A's block pattern
 * (block ILU(0), block IC(0)), or on its diagonal blocks (DILU). */
#include <malloc.h>
#include <math.h>
#include <stdlib.h>

#include "factor/bilu0.h"
#include "matrix/blocks.h"
#include "matrix/matrix.h"
#include "bsr.h"
#include "sparse.h"
#include "support.h"
#include "test.h"

typedef struct block_kind {
  trs_scalar scalar;
  int size;
  bool chain;     /* block tridiagonal, else a random pattern */
  bool symmetric; /* with positive definite diagonal blocks */
  bool weak;      /* diagonal blocks whose diagonals are zero, but for blocks of 1 */
} block_kind;

static double value_of(int64_t row, int64_t col, bool symmetric) {
  double value;
  if (symmetric && row < col) return value_of(col, row, symmetric);
  trs_random_fill(&value, 1, TRS_DOUBLE, (uint64_t)(row * 65537 + col + 1));
  return value;
}

static double element(const block_kind *kind, int64_t row, int64_t col, int64_t longest) {
  const double value = value_of(row, col, kind->symmetric);
  const int b = kind->size;
  if (row / b != col / b) return value;
  if (kind->weak && b > 1) {
    if (row == col) return 0;
    return (row % b + 1) % b == col % b ? (double)(2 * b) * (double)longest : 0.1 * value;
  }
  return row == col ? (double)(2 * b) * (double)longest : value;
}

/* n block rows by trs_matrix_create_bsr, blocks row-major. */
static trs_matrix *block_matrix(int64_t n, block_kind kind) {
  const sparse_kind pattern = {.scalar = TRS_DOUBLE, .symmetric = kind.symmetric};
  trs_matrix *P =
      kind.chain ? sparse_grid(n, 1, 1, 0, TRS_DOUBLE) : sparse_random(n, 0.2, pattern, 5);
  const int64_t b = kind.size, count = P->ptr[n] * b * b;
  double *val = malloc((size_t)(count + 1) * sizeof *val);
  float *narrow = malloc((size_t)(count + 1) * sizeof *narrow);
  int64_t at = 0;
  for (int64_t i = 0; i < n; i++)
    for (int64_t p = P->ptr[i]; p < P->ptr[i + 1]; p++)
      for (int64_t e = 0; e < b * b; e++, at++)
        narrow[at] =
            (float)(val[at] = element(&kind, i * b + e / b, P->idx[p] * b + e % b, P->longest));
  trs_matrix *A;
  assert_success(trs_matrix_create_bsr(
      &A, BSR(kind.scalar, n, n, kind.size, TRS_ROW_MAJOR, TRS_PTR64, P->ptr, P->idx,
              kind.scalar == TRS_FLOAT ? (void *)narrow : (void *)val)));
  free(val);
  free(narrow);
  trs_matrix_destroy(P);
  return A;
}

static trs_factors *factor(const trs_matrix *A, trs_factor_kind kind, trs_order order, int size) {
  trs_factors *F;
  const trs_factor_options options = {
      .struct_size = sizeof options, .kind = kind, .order = order, .block_size = size};
  assert_success(trs_factor(&F, A, &options));
  return F;
}

static trs_factors_info info_of(const trs_factors *F) {
  trs_factors_info info = {.struct_size = sizeof info};
  trs_factors_get_info(F, &info);
  return info;
}

static void assert_same(const trs_matrix *A, const trs_matrix *B) {
  const size_t size = A->scalar == TRS_FLOAT ? sizeof(float) : sizeof(double);
  assert_success(trs_matrix_fill(A));
  assert_success(trs_matrix_fill(B));
  assert_int_equal(A->nnz, B->nnz);
  assert_memory_equal(A->idx, B->idx, (size_t)A->nnz * sizeof *A->idx);
  assert_memory_equal(A->val, B->val, (size_t)A->nnz * size);
}

/* 2.2 million entries: enough for two threads. */
TEST(threads_make_the_factors_of_one) {
  enum { CELLS = 2900 };
  trs_matrix *A = block_matrix(CELLS, (block_kind){TRS_FLOAT, 16, true, false, true});
  const trs_order orders[] = {TRS_ORDER_NATURAL, TRS_ORDER_COLOUR};
  for (int o = 0; o < 2; o++) {
    trs_factors_info info[2];
    trs_factors *F[2];
    for (int k = 0; k < 2; k++) {
      assert_int_equal(setenv("TRIREME_NUM_THREADS", k ? "2" : "1", 1), 0);
      F[k] = factor(A, TRS_FACTOR_BILU0, orders[o], 16);
      info[k] = info_of(F[k]);
    }
    assert_same(info[0].L, info[1].L);
    assert_same(info[0].U, info[1].U);
    for (int k = 0; k < 2; k++) trs_factors_destroy(F[k]);
  }
  assert_int_equal(unsetenv("TRIREME_NUM_THREADS"), 0);
  trs_matrix_destroy(A);
}

TEST(elements_of_blocks_are_where_the_layout_says) {
  const int32_t ptr[] = {1, 3, 4}, idx[] = {2, 1, 2};
  const double val[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const double rows[4][4] = {{5, 6, 1, 2}, {7, 8, 3, 4}, {0, 0, 9, 10}, {0, 0, 11, 12}};
  for (int layout = 0; layout < 2; layout++) {
    trs_matrix *A;
    trs_matrix_info info = {.struct_size = sizeof info};
    assert_success(trs_matrix_create_bsr(
        &A, BSR(TRS_DOUBLE, 2, 2, 2, (trs_layout)layout, TRS_PTR32 | TRS_BASE1, ptr, idx, val)));
    trs_matrix_get_info(A, &info);
    assert_int_equal(info.block_size, 2);
    double complex *dense = dense_copy(A);
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++) {
        const int e = layout == TRS_ROW_MAJOR ? i % 2 * 2 + j % 2 : j % 2 * 2 + i % 2;
        assert_true(creal(dense[i * 4 + j]) == rows[i / 2 * 2 + e / 2][j / 2 * 2 + e % 2]);
      }
    free(dense);
    trs_matrix_destroy(A);
  }
}

TEST(bad_blocks_are_refused) {
  const int32_t ptr[] = {0, 1, 2}, idx[] = {0, 5};
  const double val[8] = {0};
  trs_matrix *A;
  assert_failure(
      TRS_ERROR_STRUCTURE, "block column 5 in block row 1",
      trs_matrix_create_bsr(&A, BSR(TRS_DOUBLE, 2, 2, 2, TRS_COL_MAJOR, TRS_PTR32, ptr, idx, val)));
  assert_failure(TRS_ERROR_ARGUMENT, "block_size 33",
                 trs_matrix_create_bsr(
                     &A, BSR(TRS_DOUBLE, 2, 2, 33, TRS_COL_MAJOR, TRS_PTR32, ptr, idx, val)));
  assert_failure(TRS_ERROR_ARGUMENT, "val is NULL",
                 trs_matrix_create_bsr(
                     &A, BSR(TRS_DOUBLE, 2, 2, 2, TRS_COL_MAJOR, TRS_PTR32, ptr, idx, NULL)));
}

/* A borrowed val is read by the factorisation, and stays the caller's; blocks that do not ascend
 * are copied. */
TEST(borrowed_values_are_read_where_they_lie) {
  const int64_t ptr[] = {0, 2, 4}, idx[] = {0, 1, 0, 1}, falling[] = {1, 0, 0, 1};
  double val[] = {9, 2, 3, 8, 1, 2, 3, 4, 4, 3, 2, 1, 7, 1, 2, 9};
  for (int k = 0; k < 2; k++) {
    trs_matrix *A, *B;
    trs_blocks blocks = *BSR(TRS_DOUBLE, 2, 2, 2, TRS_ROW_MAJOR, TRS_PTR64 | TRS_IDX64, ptr,
                             k ? falling : idx, val);
    assert_success(trs_matrix_create_bsr(&B, &blocks));
    blocks.ownership = TRS_BORROW;
    assert_success(trs_matrix_create_bsr(&A, &blocks));
    if (!k) assert_ptr_equal(trs_block_source_of(A, 2).val, val);
    trs_factors *F = factor(A, TRS_FACTOR_BILU0, TRS_ORDER_DEFAULT, 0);
    trs_factors *G = factor(B, TRS_FACTOR_BILU0, TRS_ORDER_DEFAULT, 0);
    assert_same(info_of(F).L, info_of(G).L);
    assert_same(info_of(F).U, info_of(G).U);
    assert_same(A, B);
    trs_factors_destroy(F);
    trs_factors_destroy(G);
    trs_matrix_destroy(A);
    trs_matrix_destroy(B);
    assert_true(val[0] == 9 && val[15] == 9);
    blocks.ownership = TRS_TAKE;
    assert_failure(TRS_ERROR_ARGUMENT, "ownership is 2", trs_matrix_create_bsr(&A, &blocks));
  }
}

TEST(new_values_come_in_the_order_of_the_blocks) {
  const int32_t ptr[] = {0, 2}, idx[] = {1, 0};
  double val[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  trs_matrix *A, *B;
  assert_success(
      trs_matrix_create_bsr(&A, BSR(TRS_DOUBLE, 1, 2, 2, TRS_COL_MAJOR, TRS_PTR32, ptr, idx, val)));
  for (int k = 0; k < 8; k++) val[k] *= 3;
  assert_success(trs_matrix_set_values(A, val));
  assert_success(
      trs_matrix_create_bsr(&B, BSR(TRS_DOUBLE, 1, 2, 2, TRS_COL_MAJOR, TRS_PTR32, ptr, idx, val)));
  assert_same_matrix(A, B);
  trs_matrix_destroy(A);
  trs_matrix_destroy(B);
}

/* Blocks in ascending order stay as they are until entries are needed. */
TEST(entries_of_blocks_are_written_when_they_are_needed) {
  const int32_t ptr[] = {0, 2, 4}, idx[] = {0, 1, 0, 1};
  double val[] = {9, 2, 3, 8, 1, 2, 3, 4, 4, 3, 2, 1, 7, 1, 2, 9};
  const double row[] = {9, 3, 1, 3};
  {
    const int64_t *p;
    const int32_t *j;
    const void *v;
    trs_matrix *A;
    trs_matrix_info info = {.struct_size = sizeof info};
    assert_success(trs_matrix_create_bsr(
        &A, BSR(TRS_DOUBLE, 2, 2, 2, TRS_COL_MAJOR, TRS_PTR32, ptr, idx, val)));
    trs_factors *F = factor(A, TRS_FACTOR_BILU0, TRS_ORDER_DEFAULT, 0);
    assert_product(F, A, 1e-14, true);
    assert_success(trs_matrix_get_arrays(A, &p, &j, &v));
    assert_success(trs_matrix_get_info(A, &info));
    assert_int_equal(info.nnz, 16);
    assert_int_equal(info.nlower, 6);
    assert_int_equal(p[4], 16);
    assert_int_equal(j[3], 3);
    assert_memory_equal(v, row, sizeof row);
    trs_factors_destroy(F);
    trs_matrix_destroy(A);
    assert_success(trs_matrix_create_bsr(
        &A, BSR(TRS_DOUBLE, 2, 2, 2, TRS_COL_MAJOR, TRS_PTR32, ptr, idx, val)));
    val[0] += 1;
    assert_success(trs_matrix_set_values(A, val));
    F = factor(A, TRS_FACTOR_BILU0, TRS_ORDER_DEFAULT, 0);
    assert_product(F, A, 1e-14, true);
    val[0] -= 1;
    trs_factors_destroy(F);
    trs_matrix_destroy(A);
  }
}

TEST(products_agree_with_the_matrix_on_its_blocks) {
  static const int sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 17, 32};
  for (int c = 0; c < 88; c++) {
    const int size = sizes[c % 11];
    const trs_order order = c & 1 ? TRS_ORDER_COLOUR : c & 2 ? TRS_ORDER_RCM : TRS_ORDER_NATURAL;
    const block_kind kind = {.scalar = c % 4 < 2 ? TRS_DOUBLE : TRS_FLOAT,
                             .size = size,
                             .symmetric = c >= 44,
                             .weak = c >= 22 && c < 44};
    trs_matrix *A = block_matrix(1 + 60 / size, kind);
    trs_factors *F = factor(A, c >= 44 ? TRS_FACTOR_BIC0 : TRS_FACTOR_BILU0, order, 0);
    const trs_factors_info f = info_of(F);
    assert_int_equal(f.block_size, size);
    assert_int_equal(f.order, order);
    if (c >= 44) assert_true(!f.row_perm == !f.col_perm);
    if (kind.weak && size > 1) assert_non_null(f.row_perm);
    /* inverses of diagonal blocks leave errors in proportion to the block, not to its elements */
    assert_product(F, A, 1000 * size * scalar_eps(kind.scalar), true);
    trs_factors_destroy(F);
    trs_matrix_destroy(A);
  }
}

/* Its pattern has no fill, and the blocks above the diagonal keep their values. */
TEST(block_tridiagonal_matrices_are_factored_exactly) {
  for (trs_factor_kind kind = TRS_FACTOR_BILU0; kind <= TRS_FACTOR_DILU; kind++)
    for (int size = 1; size <= 9; size += 4) {
      trs_matrix *A = block_matrix(20, (block_kind){.scalar = TRS_DOUBLE,
                                                    .size = size,
                                                    .chain = true,
                                                    .symmetric = kind == TRS_FACTOR_BIC0});
      trs_factors *F = factor(A, kind, TRS_ORDER_DEFAULT, size);
      assert_product(F, A, 100 * size * scalar_eps(TRS_DOUBLE), false);
      trs_factors_destroy(F);
      trs_matrix_destroy(A);
    }
}

TEST(one_dense_block_is_factored_with_row_exchanges) {
  trs_matrix *A = block_matrix(1, (block_kind){.scalar = TRS_DOUBLE, .size = 32, .weak = true});
  trs_factors *F = factor(A, TRS_FACTOR_BILU0, TRS_ORDER_DEFAULT, 0);
  assert_non_null(info_of(F).row_perm);
  assert_product(F, A, 1000 * scalar_eps(TRS_DOUBLE), false);
  trs_factors_destroy(F);
  trs_matrix_destroy(A);
}

/* Sum over the blocks of a row: |(L U - A) of the diagonal block| against |L U|. */
TEST(dilu_keeps_diagonal_blocks_and_couplings) {
  const int b = 3;
  trs_matrix *A = block_matrix(15, (block_kind){.scalar = TRS_DOUBLE, .size = b});
  trs_factors *F = factor(A, TRS_FACTOR_DILU, TRS_ORDER_DEFAULT, 0);
  const trs_factors_info f = info_of(F);
  double complex *l = dense_copy(f.L), *u = dense_copy(f.U), *a = dense_copy(A);
  const int64_t n = f.n;
  assert_null(f.row_perm);
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++) {
      double complex sum = 0, own = 0;
      for (int64_t k = 0; k < n; k++) {
        sum += l[i * n + k] * u[k * n + j];
        if (k / b == i / b) own += l[i * n + k] * u[k * n + j]; /* l_i U_ij is A_ij */
      }
      if (i / b == j / b) assert_true(cabs(sum - a[i * n + j]) < 1e-12);
      if (i / b < j / b) assert_true(cabs(own - a[i * n + j]) < 1e-12);
    }
  free(l);
  free(u);
  free(a);
  trs_factors_destroy(F);
  trs_matrix_destroy(A);
}

/* With blocks of one, the same numbers as the scalar kinds, but for L's stored diagonal. */
TEST(blocks_of_one_are_the_scalar_kinds) {
  trs_matrix *A = sparse_grid(6, 5, 4, 0.25, TRS_DOUBLE), *S = sparse_grid(6, 5, 4, 0, TRS_DOUBLE);
  trs_factors *blocks[] = {factor(A, TRS_FACTOR_BILU0, TRS_ORDER_DEFAULT, 1),
                           factor(S, TRS_FACTOR_BIC0, TRS_ORDER_DEFAULT, 1)};
  trs_factors *scalars[] = {factor(A, TRS_FACTOR_ILU0, TRS_ORDER_DEFAULT, 0),
                            factor(S, TRS_FACTOR_IC0, TRS_ORDER_DEFAULT, 0)};
  for (int k = 0; k < 2; k++) {
    double complex *mine = dense_copy(info_of(blocks[k]).U),
                   *expected = dense_copy(info_of(scalars[k]).U);
    for (int64_t e = 0; e < A->nrows * A->nrows; e++)
      assert_true(cabs(mine[e] - expected[e]) <= 1e-14 * (1 + cabs(expected[e])));
    free(mine);
    free(expected);
    trs_factors_destroy(blocks[k]);
    trs_factors_destroy(scalars[k]);
  }
  trs_matrix_destroy(A);
  trs_matrix_destroy(S);
}

static void refused(trs_status status, int64_t row, const char *words, const trs_matrix *A,
                    trs_factor_kind kind, int size) {
  trs_factors *F;
  const trs_factor_options options = {
      .struct_size = sizeof options, .kind = kind, .block_size = size};
  assert_failure(status, words, trs_factor(&F, A, &options));
  assert_null(F);
  if (row >= 0) assert_int_equal(trs_last_error()->row, row);
}

/* Row 2 of L is infinite; its pivot is not. */
static void refuse_overflow(trs_scalar scalar, const void *val) {
  trs_matrix *A;
  assert_success(trs_matrix_create_coo(&A, scalar, 3, 3, 4, TRS_IDX32, (int32_t[]){0, 1, 2, 2},
                                       (int32_t[]){0, 1, 0, 2}, val));
  refused(TRS_ERROR_NOT_FINITE, 2, "overflowed", A, TRS_FACTOR_BILU0, 1);
  refused(TRS_ERROR_NOT_FINITE, 2, "overflowed", A, TRS_FACTOR_DILU, 1);
  trs_matrix_destroy(A);
}

/* A row with a fault has no pivots.  Threads go on to rows that read them, as places to write to.
 */
TEST(rows_after_a_fault_write_in_bounds) {
  enum { N = 6, B = 4, SIZE = B * B };
  int32_t ptr[N + 1] = {0}, idx[2 * N];
  double val[2 * N * SIZE] = {0};
  trs_matrix *A;
  trs_factors *F;
  trs_plan *plan;
  trs_context *two;
  trs_bilu0 *w;
  for (int i = 0, count = 0; i < N; ptr[++i] = count)
    for (int j = i ? i - 1 : 0; j <= i; j++, count++) {
      for (int r = 0; r < B; r++) val[count * SIZE + r * (B + 1)] = j == i ? 4 : -1;
      idx[count] = j;
    }
  const trs_blocks blocks = {.struct_size = sizeof blocks,
                             .scalar = TRS_DOUBLE,
                             .block_size = B,
                             .nrows = N,
                             .indexing = TRS_PTR32,
                             .ptr = ptr,
                             .idx = idx,
                             .val = val};
  const trs_factor_options options = {.struct_size = sizeof options, .kind = TRS_FACTOR_BILU0};
  assert_success(trs_matrix_create_bsr(&A, &blocks));
  assert_success(trs_factor(&F, A, &options));
  assert_success(trs_context_create(&two, "threads:2"));
  assert_success(trs_analyze_factors(&plan, two, F, TRS_NO_TRANS, NULL));
#ifdef M_PERTURB
  mallopt(M_PERTURB, 0x80); /* memory is not zero by chance */
#endif
  val[0] = NAN;
  assert_failure(TRS_ERROR_NOT_FINITE, "block row 0", trs_update_bsr(plan, &blocks));
  assert_success(trs_bilu0_create_like(&w, trs_bilu0_of(info_of(F).L)));
  for (int r = 0; r < N * B; r++) assert_true((w->pivot[r] & ~TRS_BLOCK_INVERTED) < B);
#ifdef M_PERTURB
  mallopt(M_PERTURB, 0);
#endif
  trs_bilu0_free(w);
  trs_plan_destroy(plan);
  trs_context_destroy(two);
  trs_factors_destroy(F);
  trs_matrix_destroy(A);
}

TEST(unusable_matrices_are_refused_with_their_row) {
  const int32_t row[] = {0, 1, 2, 2, 3, 3}, col[] = {0, 1, 2, 3, 2, 3};
  double val[] = {1, 1, 2, 4, 1, 2};
  trs_matrix *A, *holes,
      *complex_one = sparse_random(4, 1, (sparse_kind){.scalar = TRS_DCOMPLEX}, 1);
  assert_success(trs_matrix_create_coo(&A, TRS_DOUBLE, 4, 4, 6, TRS_IDX32, row, col, val));
  assert_success(trs_matrix_create_coo(&holes, TRS_DOUBLE, 4, 4, 2, TRS_IDX32, row, col, val));
  refused(TRS_ERROR_ZERO_PIVOT, 3, "block row 1 (0-based) is singular: no pivot in its column 1", A,
          TRS_FACTOR_DILU, 2);
  refused(TRS_ERROR_STRUCTURE, 2, "block row 1 (0-based) has no diagonal block", holes,
          TRS_FACTOR_BILU0, 2);
  refused(TRS_ERROR_STRUCTURE, 2, "not symmetric", A, TRS_FACTOR_BIC0, 2);
  refused(TRS_ERROR_ARGUMENT, -1, "block_size 3", A, TRS_FACTOR_BILU0, 3);
  refused(TRS_ERROR_ARGUMENT, -1, "block_size is for", A, TRS_FACTOR_ILU0, 2);
  refused(TRS_ERROR_UNSUPPORTED, -1, "complex", complex_one, TRS_FACTOR_BILU0, 2);
  val[2] = NAN;
  assert_success(trs_matrix_set_values(A, val));
  refused(TRS_ERROR_NOT_FINITE, 2, "NaN or infinite", A, TRS_FACTOR_BILU0, 2);
  val[2] = -2;
  val[3] = 1;
  assert_success(trs_matrix_set_values(A, val));
  refused(TRS_ERROR_ZERO_PIVOT, 2, "not positive definite", A, TRS_FACTOR_BIC0, 2);
  refuse_overflow(TRS_DOUBLE, (double[]){1e-300, 1, 1e300, 1});
  refuse_overflow(TRS_FLOAT, (float[]){1e-30F, 1, 1e30F, 1});
  trs_matrix_destroy(A);
  trs_matrix_destroy(holes);
  trs_matrix_destroy(complex_one);
}

static trs_status factor_all(void *A) {
  trs_factors *F;
  const trs_factor_options options = {.struct_size = sizeof options,
                                      .kind = TRS_FACTOR_BILU0,
                                      .order = TRS_ORDER_COLOUR,
                                      .block_size = 3};
  TRS_TRY(trs_factor(&F, A, &options));
  trs_factors_destroy(F);
  return TRS_SUCCESS;
}

TEST(failing_allocations_are_reported) {
  trs_matrix *A = block_matrix(8, (block_kind){.scalar = TRS_DOUBLE, .size = 3, .weak = true});
  assert_survives_failing_allocations(factor_all, A);
  trs_matrix_destroy(A);
}
