/* tree.c - separator trees cut from elimination trees: always valid, balanced if possible. */
#include "order/tree.h"

#include "base/random.h"
#include "sparse.h"
#include "test.h"

typedef struct forest {
  int64_t n;
  int32_t *etree, *cost, *order;
} forest;

static forest forest_make(int64_t n) {
  size_t bytes = (size_t)(n + 1) * sizeof(int32_t);
  forest f = {n, malloc(bytes), malloc(bytes), malloc(bytes)};
  for (int64_t j = 0; j < n; j++) {
    f.etree[j] = -1;
    f.cost[j] = 1;
  }
  return f;
}

static void forest_free(forest *f) {
  free(f->etree);
  free(f->cost);
  free(f->order);
}

/* A random postordered forest: each vertex adopts some of the roots just before it. */
static forest forest_random(int64_t n, uint64_t bound, uint64_t seed) {
  forest f = forest_make(n);
  int32_t *roots = malloc((size_t)(n + 1) * sizeof *roots);
  int64_t count = 0;
  for (int64_t j = 0; j < n; j++) {
    for (uint64_t k = trs_random_below(seed, (uint64_t)j, bound); k > 0 && count > 0; k--)
      f.etree[roots[--count]] = (int32_t)j;
    roots[count++] = (int32_t)j;
    f.cost[j] = 1 + (int32_t)trs_random_below(seed + 1, (uint64_t)j, 9);
  }
  free(roots);
  return f;
}

static bool above(const trs_tree *tree, int32_t top, int32_t node) {
  while (node != -1 && node != top) node = tree->parent[node];
  return node == top;
}

/* A complete binary tree in postorder, with all leaves at one depth. */
static void check_shape(const trs_tree *tree, int64_t n, int64_t leaves) {
  assert_int_equal(tree->nodes, 2 * leaves - 1);
  assert_int_equal(tree->ptr[0], 0);
  assert_int_equal(tree->ptr[tree->nodes], n);
  int64_t children = 0;
  for (int32_t t = 0; t < tree->nodes; t++) {
    assert_true(tree->ptr[t] <= tree->ptr[t + 1]);
    assert_true(t == tree->nodes - 1 ? tree->parent[t] == -1 : tree->parent[t] > t);
    int32_t depth = 0;
    int64_t mine = 0;
    for (int32_t s = t; tree->parent[s] != -1; s = tree->parent[s]) depth++;
    for (int32_t s = 0; s < t; s++) mine += tree->parent[s] == t;
    assert_true(mine == ((int64_t)1 << depth == leaves ? 0 : 2));
    children += mine;
  }
  assert_int_equal(children, tree->nodes - 1);
}

/* The parent of every column lies in its node or above; within a node the order is preserved. */
static void check_columns(const trs_tree *tree, const forest *f) {
  int32_t *node = malloc((size_t)(f->n + 1) * sizeof *node);
  for (int64_t j = 0; j < f->n; j++) node[j] = -1;
  for (int32_t t = 0; t < tree->nodes; t++)
    for (int64_t k = tree->ptr[t]; k < tree->ptr[t + 1]; k++) {
      assert_true(f->order[k] >= 0 && f->order[k] < f->n && node[f->order[k]] == -1);
      node[f->order[k]] = t;
      if (k > tree->ptr[t]) assert_true(f->order[k] > f->order[k - 1]);
    }
  for (int64_t j = 0; j < f->n; j++)
    if (f->etree[j] != -1) assert_true(above(tree, node[f->etree[j]], node[j]));
  free(node);
}

TEST(random_forests_give_valid_trees) {
  for (uint64_t seed = 0; seed < 100; seed++)
    for (int64_t leaves = 1; leaves <= 32; leaves *= 2) {
      forest f = forest_random((int64_t)(3 * seed), 1 + seed % 5, seed);
      trs_tree tree;
      assert_success(trs_tree_cut(&tree, f.order, f.etree, f.cost, f.n, leaves));
      check_shape(&tree, f.n, leaves);
      check_columns(&tree, &f);
      trs_tree_free(&tree);
      forest_free(&f);
    }
}

static int64_t columns(const trs_tree *tree, int32_t node) {
  return tree->ptr[node + 1] - tree->ptr[node];
}

TEST(independent_columns_are_dealt_evenly) {
  forest f = forest_make(1000);
  trs_tree tree;
  assert_success(trs_tree_cut(&tree, f.order, f.etree, f.cost, f.n, 8));
  for (int32_t t = 0; t < tree.nodes; t++) {
    bool leaf = true;
    for (int32_t s = 0; s < t; s++) leaf &= tree.parent[s] != t;
    assert_int_equal(columns(&tree, t), leaf ? 125 : 0);
  }
  trs_tree_free(&tree);
  forest_free(&f);
}

TEST(a_chain_stays_in_one_leaf) {
  forest f = forest_make(100);
  trs_tree tree;
  for (int32_t j = 0; j + 1 < 100; j++) f.etree[j] = j + 1;
  assert_success(trs_tree_cut(&tree, f.order, f.etree, f.cost, f.n, 4));
  assert_int_equal(columns(&tree, 0), 100);
  trs_tree_free(&tree);
  forest_free(&f);
}

/* A complete binary elimination tree of 2^7 - 1 chains of 5 vertices is cut at its own
 * separators. */
static int64_t add_chains(forest *f, int64_t at, int depth) {
  int64_t left = depth > 0 ? add_chains(f, at, depth - 1) : -1;
  int64_t right = depth > 0 ? add_chains(f, left + 1, depth - 1) : -1;
  int64_t begin = depth > 0 ? right + 1 : at;
  if (depth > 0) f->etree[left] = f->etree[right] = (int32_t)begin;
  for (int64_t j = begin; j < begin + 4; j++) f->etree[j] = (int32_t)j + 1;
  f->etree[begin + 4] = -1;
  return begin + 4;
}

TEST(a_dissection_is_found_again) {
  forest f = forest_make(127 * 5);
  trs_tree tree;
  assert_int_equal(add_chains(&f, 0, 6), f.n - 1);
  assert_success(trs_tree_cut(&tree, f.order, f.etree, f.cost, f.n, 8));
  static const int64_t size[] = {75, 75, 5, 75, 75, 5, 5, 75, 75, 5, 75, 75, 5, 5, 5};
  for (int32_t t = 0; t < 15; t++) assert_int_equal(columns(&tree, t), size[t]);
  for (int64_t k = 0; k < f.n; k++) assert_int_equal(f.order[k], k);
  trs_tree_free(&tree);
  forest_free(&f);
}

static trs_status cut(void *argument) {
  forest *f = argument;
  trs_tree tree;
  trs_status status = trs_tree_cut(&tree, f->order, f->etree, f->cost, f->n, 4);
  trs_tree_free(&tree);
  return status;
}

TEST(failing_allocations_are_reported) {
  forest f = forest_random(50, 3, 1);
  assert_survives_failing_allocations(cut, &f);
  forest_free(&f);
}
