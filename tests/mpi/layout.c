/* layout.c - src/solve/grid3d/layout.c: supernodes partition the tree's nodes, blocks are those of
 * L and U, and every two supernodes with a common block share grids. */
#include "test.h"

#include "solve/grid3d/layout.h"

static trs_factors *factored(const char *name, int leaves) {
  trs_matrix *A;
  trs_factors *F;
  trs_factor_options options = {.struct_size = sizeof(trs_factor_options), .tree_leaves = leaves};
  assert_success(trs_matrix_read(&A, name, NULL));
  assert_success(trs_factor(&F, A, &options));
  trs_matrix_destroy(A);
  return F;
}

static trs_status create(trs_grid_layout *l, const trs_factors *F, int pz,
                         const trs_layout_options *options) {
  trs_grid_pattern pattern = trs_grid_pattern_of(F);
  return trs_grid_layout_create(l, &pattern, pz, options);
}

static int64_t supernode_of(const trs_grid_layout *l, int64_t column) {
  int64_t K = 0;
  while (l->first[K + 1] <= column) K++;
  return K;
}

static int has_block(const trs_grid_layout *l, int side, int64_t I, int64_t K) {
  for (int64_t b = l->blocks[side].ptr[K]; b < l->blocks[side].ptr[K + 1]; b++)
    if (l->blocks[side].row[b] == I) return 1;
  return 0;
}

static void check_entries(const trs_grid_layout *l, const trs_matrix *T, int side) {
  const int64_t *ptr;
  const int32_t *idx;
  trs_matrix_get_arrays(T, &ptr, &idx, NULL);
  for (int64_t i = 0; i < l->n; i++)
    for (int64_t p = ptr[i]; p < ptr[i + 1]; p++) {
      int64_t I = supernode_of(l, i), K = supernode_of(l, idx[p]);
      if (I != K) assert_true(has_block(l, side, I, K));
    }
}

static void check_blocks(const trs_grid_layout *l) {
  for (int side = 0; side < 2; side++)
    for (int64_t K = 0; K < l->count; K++)
      for (int64_t b = l->blocks[side].ptr[K]; b < l->blocks[side].ptr[K + 1]; b++) {
        int64_t I = l->blocks[side].row[b], low = side ? I : K, high = side ? K : I;
        assert_true(low < high);
        if (b > l->blocks[side].ptr[K]) assert_true(l->blocks[side].row[b - 1] < I);
        for (int z = 0; z < l->pz; z++)
          if (trs_on_grid(l, low, z)) assert_true(trs_on_grid(l, high, z));
      }
}

TEST(test_layouts) {
  static const char *const names[] = {"gen:poisson2d5:17", "gen:poisson3d7:6", "gen:poisson2d9:3"};
  for (int g = 0; g < 3; g++)
    for (int pz = 1; pz <= 8; pz *= 2) {
      trs_factors *F = factored(names[g], 8);
      trs_grid_layout l;
      trs_layout_options options = {.width = 6, .relax = 20};
      assert_success(create(&l, F, pz, &options));
      assert_int_equal(l.first[l.count], l.n);
      for (int64_t K = 0; K < l.count; K++) {
        assert_true(l.first[K] < l.first[K + 1]);
        assert_true(l.lo[K] % (1 << l.height[K]) == 0);
        assert_true(l.lo[K] + (1 << l.height[K]) <= pz);
      }
      check_blocks(&l);
      check_entries(&l, F->L, 0);
      check_entries(&l, F->U, 1);
      trs_grid_layout_destroy(&l);
      trs_factors_destroy(F);
    }
}

/* Without a tree: the same checks, and one leaf for every grid. */
TEST(test_forest) {
  trs_factors *tree = factored("gen:poisson2d5:30", 8), *F;
  trs_factors_info info = {.struct_size = sizeof info};
  trs_factors_get_info(tree, &info);
  assert_success(
      trs_factors_create(&F, info.L, info.diag_L, info.U, info.diag_U, NULL, NULL, NULL, NULL));
  for (int pz = 2; pz <= 8; pz *= 2) {
    trs_grid_layout l;
    trs_layout_options options = {.width = 16, .relax = 20};
    assert_success(create(&l, F, pz, &options));
    check_blocks(&l);
    check_entries(&l, F->L, 0);
    check_entries(&l, F->U, 1);
    for (int z = 1; z < pz; z++) assert_true(l.leaf[z] > 0 && l.leaf[z] < 3 * l.leaf[0]);
    trs_grid_layout_destroy(&l);
  }
  trs_factors_destroy(F);
  trs_factors_destroy(tree);
}

/* Every grid of a regular problem has a leaf, of nearly the same size. */
TEST(test_balance) {
  trs_factors *F = factored("gen:poisson2d5:40", 8);
  trs_grid_layout l;
  trs_layout_options options = {.width = 32, .relax = 20};
  assert_success(create(&l, F, 8, &options));
  for (int z = 1; z < 8; z++) assert_true(l.leaf[z] > 0 && l.leaf[z] < 2 * l.leaf[0]);
  trs_grid_layout_destroy(&l);
  trs_factors_destroy(F);
}

TEST(test_refusals) {
  trs_factors *F = factored("gen:poisson2d5:8", 4);
  trs_grid_layout l;
  trs_layout_options options = {.width = 6, .relax = 20};
  assert_failure(TRS_ERROR_ARGUMENT, "power of two", create(&l, F, 3, &options));
  assert_failure(TRS_ERROR_ARGUMENT, "power of two", create(&l, F, 0, &options));
  assert_failure(TRS_ERROR_ARGUMENT, "4 leaves", create(&l, F, 8, &options));
  for (int64_t k = 0;; k++) {
    trs_memory_fail_after(k);
    trs_status status = create(&l, F, 4, &options);
    trs_memory_fail_after(-1);
    if (!status) break;
    assert_int_equal(status, TRS_ERROR_MEMORY);
  }
  trs_grid_layout_destroy(&l);
  trs_factors_destroy(F);
}
