/* symbolic.c - structures of factors: what elimination demands of them, what they lose and keep
 * when separators are inverted, files that are none. */
#include "simulate/symbolic.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "simulate/structure.h"
#include "test.h"

static void make(trs_symbolic *s, const char *matrix, trs_symbolic_options set) {
  trs_matrix *A;
  assert_int_equal(trs_matrix_read(&A, matrix, NULL), TRS_SUCCESS);
  assert_int_equal(trs_symbolic_create(s, A, &set), TRS_SUCCESS);
  trs_matrix_destroy(A);
}

static bool has_block(const trs_symbolic *s, int64_t I, int64_t K) {
  for (int64_t b = s->ptr[K]; b < s->ptr[K + 1]; b++)
    if (s->row[b] == I) return true;
  return false;
}

/* Blocks below K are clique: whatever elimination of K couples has a block. */
static void check_closed(const trs_symbolic *s) {
  for (int64_t K = 0; K < s->count; K++)
    for (int64_t a = s->ptr[K]; a < s->ptr[K + 1]; a++) {
      assert_true(s->row[a] > K && (a == s->ptr[K] || s->row[a] > s->row[a - 1]));
      assert_true(s->rows[a] > 0 && s->rows[a] <= s->first[s->row[a] + 1] - s->first[s->row[a]]);
      for (int64_t b = a + 1; b < s->ptr[K + 1]; b++)
        assert_true(has_block(s, s->row[b], s->row[a]));
    }
}

static void check_tree(const trs_symbolic *s) {
  for (int64_t K = 0; K < s->count; K++)
    for (int64_t b = s->ptr[K]; b < s->ptr[K + 1]; b++) {
      int64_t I = s->row[b];
      assert_true(s->height[I] >= s->height[K]);
      assert_true(s->lo[K] >= s->lo[I] && s->lo[K] < s->lo[I] + (1 << s->height[I]));
    }
}

static int64_t entries(const trs_symbolic *s) {
  int64_t sum = 0;
  for (int64_t K = 0; K < s->count; K++) {
    int64_t width = s->first[K + 1] - s->first[K];
    sum += width * (width + 1) / 2;
    for (int64_t b = s->ptr[K]; b < s->ptr[K + 1]; b++) sum += width * s->rows[b];
  }
  return sum;
}

static const char *const matrices[] = {"gen:poisson2d9:23", "gen:poisson3d7:9", "gen:kkt3d:5",
                                       "gen:chain:50"};

TEST(test_exact) {
  for (size_t m = 0; m < COUNT(matrices); m++) {
    trs_symbolic s;
    make(&s, matrices[m], (trs_symbolic_options){.leaves = 4, .width = 1000});
    assert_int_equal(entries(&s), s.fill); /* by supernodes and by column counts */
    check_closed(&s);
    check_tree(&s);
    trs_symbolic_free(&s);
  }
}

TEST(test_relaxed) {
  for (size_t m = 0; m < COUNT(matrices); m++) {
    trs_symbolic s;
    make(&s, matrices[m],
         (trs_symbolic_options){
             .leaves = 8, .width = 16, .relax = 20, .few = 6, .subtrees = m % 2 ? 12 : 0});
    assert_true(entries(&s) >= s.fill && s.stored >= entries(&s));
    for (int64_t K = 0; K < s.count; K++) assert_true(s.first[K + 1] - s.first[K] <= 16);
    check_closed(&s);
    check_tree(&s);
    trs_symbolic_free(&s);
  }
}

/* Inverting a dense triangle adds nothing where its supernodes' blocks were full. */
TEST(test_inverted) {
  trs_symbolic s, to;
  make(&s, "gen:poisson2d9:40", (trs_symbolic_options){.leaves = 8, .width = 4, .relax = 4});
  assert_int_equal(trs_symbolic_invert(&to, &s), TRS_SUCCESS);
  check_tree(&to);
  assert_true(to.count > s.count && to.n > s.n);
  for (int64_t K = 0; K < to.count; K++)
    for (int64_t b = to.ptr[K]; b < to.ptr[K + 1]; b++) assert_true(to.row[b] > K);
  trs_symbolic_free(&s);
  trs_symbolic_free(&to);
}

TEST(test_layouts) {
  trs_symbolic s;
  trs_grid_layout layout;
  make(&s, "gen:poisson2d9:30", (trs_symbolic_options){.leaves = 8, .width = 16, .relax = 8});
  for (int pz = 1; pz <= 8; pz *= 2) {
    trs_grid_shape shape = {2, 3, pz};
    assert_int_equal(trs_structure_layout(&layout, &s, shape, pz == 2), TRS_SUCCESS);
    for (int64_t K = 0; K < layout.count; K++)
      for (int64_t b = layout.blocks[0].ptr[K]; b < layout.blocks[0].ptr[K + 1]; b++)
        assert_true(trs_on_grid(&layout, layout.blocks[0].row[b], layout.lo[K]));
    trs_grid_layout_destroy(&layout);
  }
  for (int pz = 3; pz <= 16; pz += 13)
    assert_int_equal(trs_structure_layout(&layout, &s, (trs_grid_shape){1, 1, pz}, false),
                     TRS_ERROR_ARGUMENT);
  trs_symbolic_free(&s);
}

TEST(test_files) {
  trs_symbolic s, again;
  char path[] = "structure-XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  make(&s, "gen:poisson2d9:20", (trs_symbolic_options){.leaves = 4, .width = 16, .relax = 8});
  assert_int_equal(trs_symbolic_write(&s, path), TRS_SUCCESS);
  assert_int_equal(trs_symbolic_read(&again, path), TRS_SUCCESS);
  assert_int_equal(again.count, s.count);
  assert_memory_equal(again.rows, s.rows, (size_t)s.ptr[s.count] * sizeof *s.rows);
  trs_symbolic_free(&again);
  assert_int_equal(truncate(path, 200), 0);
  assert_int_equal(trs_symbolic_read(&again, path), TRS_ERROR_FORMAT);
  assert_int_equal(truncate(path, 0), 0);
  assert_int_equal(trs_symbolic_read(&again, path), TRS_ERROR_FORMAT);
  close(fd);
  remove(path);
  assert_int_equal(trs_symbolic_read(&again, path), TRS_ERROR_FILE);
  trs_symbolic_free(&s);
}
