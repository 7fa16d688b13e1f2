/* levels.c - level sets and in-degrees against their definitions. */
#include "analysis/levels.h"

#include "support.h"
#include "test.h"

static trs_matrix *random_matrix(int64_t n, double density, trs_format format, trs_uplo uplo,
                                 uint64_t seed) {
  bool prefix = (uplo == TRS_LOWER) == (format == TRS_CSR);
  triangle t = triangle_random(n, density, n, prefix, TRS_DOUBLE, false, seed);
  trs_matrix *A;
  assert_success(
      trs_matrix_create(&A, format, TRS_DOUBLE, n, n, TRS_PTR64, t.ptr, t.idx, t.val, TRS_COPY));
  triangle_free(&t);
  return A;
}

/* The definition: rows and columns of op(T) by plain search. */
static void check_definition(const trs_system *S) {
  trs_levels levels;
  int64_t *rows = calloc((size_t)S->n + 1, sizeof *rows);
  int32_t *degree = malloc((size_t)(S->n + 1) * sizeof *degree);
  int32_t *highest = malloc((size_t)(S->n + 1) * sizeof *highest);
  int32_t *count = calloc((size_t)S->n + 1, sizeof *count);
  assert_success(trs_levels_create(&levels, S));
  for (int64_t i = 0; i < S->n; i++) highest[i] = -1;
  for (int64_t v = 0; v < S->n; v++)
    for (int64_t p = S->ptr[v]; p < S->ptr[v + 1]; p++) {
      int64_t row = S->rows ? v : S->idx[p], col = S->rows ? S->idx[p] : v;
      if (row == col) continue;
      count[row]++;
      assert_true(levels.level[col] < levels.level[row]);
      if (levels.level[col] > highest[row]) highest[row] = levels.level[col];
    }
  trs_in_degrees(S, degree);
  for (int64_t i = 0; i < S->n; i++) {
    assert_int_equal(levels.level[i], highest[i] + 1);
    assert_int_equal(degree[i], count[i]);
  }
  assert_int_equal(levels.ptr[levels.count], S->n);
  for (int64_t i = 0; i < S->n; i++) {
    levels.entries[levels.level[i]] -= count[i];
    rows[levels.level[i]]++;
  }
  for (int32_t k = 0; k < levels.count; k++) assert_int_equal(levels.entries[k], 0);
  for (int32_t k = 0; k < levels.count; k++)
    assert_int_equal(levels.ptr[k + 1] - levels.ptr[k], rows[k]);
  trs_levels_destroy(&levels);
  free(rows);
  free(degree);
  free(highest);
  free(count);
}

TEST(level_sets_follow_their_definition) {
  for (int c = 0; c < 12; c++) {
    trs_format format = c & 1 ? TRS_CSC : TRS_CSR;
    trs_uplo uplo = c & 2 ? TRS_UPPER : TRS_LOWER;
    trs_matrix *A = random_matrix(60 * (c / 4), 0.08, format, uplo, (uint64_t)c);
    for (trs_trans trans = TRS_NO_TRANS; trans <= TRS_TRANS; trans++) {
      trs_system S = trs_system_of(A, uplo, trans, TRS_NONUNIT);
      check_definition(&S);
    }
    trs_matrix_destroy(A);
  }
}

TEST(a_chain_has_as_many_levels_as_rows) {
  int64_t ptr[] = {0, 1, 3, 5, 7}, smallest, largest;
  int32_t idx[] = {0, 0, 1, 1, 2, 2, 3};
  double val[] = {1, 1, 1, 1, 1, 1, 1};
  trs_matrix *A;
  trs_levels levels;
  assert_success(
      trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, 4, 4, TRS_PTR64, ptr, idx, val, TRS_BORROW));
  trs_system S = trs_system_of(A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT);
  assert_success(trs_levels_create(&levels, &S));
  assert_int_equal(levels.count, 4);
  trs_levels_extremes(&levels, &smallest, &largest);
  assert_int_equal(smallest, 1);
  assert_int_equal(largest, 1);
  trs_levels_destroy(&levels);
  trs_matrix_destroy(A);
}
