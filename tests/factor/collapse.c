/* collapse.c - separator trees after pivoting: nodes that the factors couple are merged, all others
 * stay. */
#include "base/random.h"
#include "factor/kinds.h"
#include "sparse.h"
#include "test.h"

/* 7 nodes of two columns each: leaves 0, 1 under 2 and 3, 4 under 5, root 6. */
enum { NODES = 7, N = 14 };
static const int32_t parent[NODES] = {2, 2, 6, 5, 5, 6, -1};

static bool above(int32_t top, int32_t node) {
  while (node != -1 && node != top) node = parent[node];
  return node == top;
}

static trs_matrix *triangle(trs_uplo uplo, const int32_t *row, const int32_t *col, int64_t count) {
  double val[N * N] = {0};
  trs_matrix *A;
  bool lower = uplo == TRS_LOWER;
  assert_success(trs_matrix_create_coo(&A, TRS_DOUBLE, N, N, count, TRS_IDX32, lower ? row : col,
                                       lower ? col : row, val));
  return A;
}

/* Factors with entries of L at (row, col) and of U at (col, row). */
static trs_factors make(const int32_t *row, const int32_t *col, int64_t in_L, int64_t in_U) {
  trs_factors parts = {.order = TRS_ORDER_NATURAL,
                       .L = triangle(TRS_LOWER, row, col, in_L),
                       .U = triangle(TRS_UPPER, row + in_L, col + in_L, in_U),
                       .tree_nodes = NODES};
  assert_success(TRS_ALLOC(&parts.tree_ptr, NODES + 1));
  assert_success(TRS_ALLOC(&parts.tree_parent, NODES));
  for (int t = 0; t <= NODES; t++) parts.tree_ptr[t] = 2 * t;
  memcpy(parts.tree_parent, parent, sizeof parent);
  return parts;
}

static void expect(const int64_t *ptr, int32_t row, int32_t col) {
  trs_factors parts = make(&row, &col, 0, 1), *F;
  assert_success(trs_collapse_tree(&parts));
  if (ptr)
    assert_memory_equal(parts.tree_ptr, ptr, (NODES + 1) * sizeof *ptr);
  else
    assert_int_equal(parts.tree_nodes, 0);
  assert_success(trs_factors_adopt(&F, &parts));
  trs_factors_destroy(F);
}

TEST(what_an_entry_couples_becomes_one_node) {
  static const int64_t whole[] = {0, 2, 4, 6, 8, 10, 12, 14}, left[] = {0, 0, 0, 6, 8, 10, 12, 14},
                       right[] = {0, 2, 4, 6, 6, 6, 12, 14};
  expect(whole, 13, 0);  /* the root above a leaf */
  expect(whole, 5, 2);   /* a separator above its leaf */
  expect(whole, 11, 10); /* within a node */
  expect(left, 3, 0);    /* leaves 0 and 1 */
  expect(right, 8, 7);   /* leaves 3 and 4 */
  expect(NULL, 10, 4);   /* separators 2 and 5 */
  expect(NULL, 6, 0);    /* leaves of different halves */
}

TEST(random_factors_get_a_tree_that_holds) {
  for (uint64_t seed = 0; seed < 200; seed++) {
    int32_t row[8], col[8];
    bool bad[NODES] = {false}, dropped = false;
    int64_t count = (int64_t)(seed % 8);
    for (int64_t k = 0; k < count; k++) {
      row[k] = 1 + (int32_t)trs_random_below(seed, (uint64_t)(2 * k), N - 1);
      col[k] = (int32_t)trs_random_below(seed, (uint64_t)(2 * k + 1), (uint64_t)row[k]);
      int32_t low = col[k] / 2, high = row[k] / 2, top = high;
      while (!above(top, low)) top = parent[top];
      if (top != high) bad[top] = true;
    }
    trs_factors parts = make(row, col, count / 2, count - count / 2), *F;
    assert_success(trs_collapse_tree(&parts));
    dropped = bad[NODES - 1];
    assert_int_equal(parts.tree_nodes, dropped ? 0 : NODES);
    for (int32_t t = 0; t < NODES && !dropped; t++) {
      bool merged = t != 6 && parent[t] != 6 && bad[parent[t]];
      int64_t columns = merged ? 0 : bad[t] ? 6 : 2;
      assert_int_equal(parts.tree_ptr[t + 1] - parts.tree_ptr[t], columns);
    }
    assert_success(trs_factors_adopt(&F, &parts));
    trs_factors_destroy(F);
  }
}
