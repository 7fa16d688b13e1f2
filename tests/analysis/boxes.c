/* boxes.c - boxes of monotone coordinates: in every pattern of a small universe the order of boxes
 * is a sweep; on grids they have eight rows and halve the levels; a solve by them. */
#include "analysis/boxes.h"

#include <math.h>

#include "analysis/boxed.h"
#include "analysis/shapes.h"
#include "support.h"
#include "test.h"

static const trs_slice_rules boxes = {.most_block = TRS_LIGHT_BLOCK,
                                      .loose = 1,
                                      .lane_length = 4,
                                      .large_level_lane_length = 16,
                                      .large_level_rows = 16384,
                                      .small_level_heavy_width = 32,
                                      .other_heavy_width = 32};

/* ---- Classes. ---- */

static void need_classes(uint32_t octaves, bool enough, int32_t line, int32_t plane) {
  trs_box_classes found;
  assert_int_equal(trs_box_classes_of(&found, octaves), enough);
  assert_int_equal(found.line, line);
  assert_int_equal(found.plane, plane);
}

TEST(gaps_between_octaves_part_classes) {
  need_classes(0, false, INT32_MAX, INT32_MAX);
  need_classes(1, false, INT32_MAX, INT32_MAX);
  need_classes(0xff, false, INT32_MAX, INT32_MAX);
  need_classes(1 | 1 << 5, false, 32, INT32_MAX);
  need_classes(1 | 1 << 5 | 1 << 11, true, 32, 2048);
  need_classes(1 | 3 << 5 | 3 << 10, true, 32, 1024);
  need_classes(1u | 1u << 5 | 1u << 11 | 1u << 30, true, 32, 2048);
}

static void need_sides(uint32_t near, uint32_t line, uint32_t plane, int a, int b, int c) {
  const uint32_t largest[] = {near, line, plane};
  const trs_box_sides sides = trs_box_sides_of(largest);
  assert_true(sides.bits[0] == a && sides.bits[1] == b && sides.bits[2] == c);
}

TEST(long_sides_lie_along_long_paths) {
  need_sides(60, 60, 60, 1, 1, 1);
  need_sides(236, 118, 59, 2, 1, 0);
  need_sides(59, 236, 118, 0, 2, 1);
  need_sides(1000, 10, 10, 3, 0, 0);
  need_sides(0, 500, 400, 0, 2, 1);
}

/* ---- Orders. ---- */

/* No coordinate falls along an entry, that of its class rises, and rows follow what they need. */
static bool is_sweep(const trs_system *S, const boxed *b, trs_box_classes classes) {
  const uint32_t largest = (1u << TRS_COORDINATE_BITS) - 1;
  for (int64_t k = 0; k < S->n; k++) {
    int64_t begin, end;
    trs_off_diagonal(S, trs_in_sweep(S, k), S->lower, S->has_diagonal, &begin, &end);
    for (int64_t p = begin; p < end; p++) {
      const int64_t j = trs_in_sweep(S, S->idx[p]), distance = k - j;
      const int own = (distance >= classes.line) + (distance >= classes.plane);
      if (b->place[j] >= b->place[k]) return false;
      for (int c = 0; c < TRS_COORDINATES; c++) {
        const uint32_t from = trs_coordinate(b->coordinates[j], c),
                       to = trs_coordinate(b->coordinates[k], c);
        if (to < from || (c == own && to == from && to < largest)) return false;
      }
    }
  }
  return true;
}

/* Rows from one start to the next are those of one box, in the order of the sweep. */
static bool starts_are_right(const boxed *b) {
  for (int64_t p = 1; p < b->joint.n; p++) {
    const uint32_t left = b->coordinates[b->order[p - 1]], right = b->coordinates[b->order[p]];
    bool same = true;
    for (int c = 0; c < TRS_COORDINATES; c++)
      same = same && trs_coordinate(left, c) >> b->sides.bits[c] ==
                         trs_coordinate(right, c) >> b->sides.bits[c];
    if (b->starts[p] == same || (same && b->order[p - 1] > b->order[p])) return false;
  }
  return b->joint.n == 0 || b->starts[0];
}

/* All patterns of so many rows, with classes by all pairs of distances. */
TEST(every_small_pattern_keeps_its_sweep) {
  enum { N = 5, PAIRS = N * (N - 1) / 2 };
  int64_t ptr[N + 1];
  int32_t idx[PAIRS + N];
  double val[PAIRS + N] = {0};
  for (int pattern = 0; pattern < 1 << PAIRS; pattern++)
    for (int line = 1; line <= N; line++)
      for (int plane = line; plane <= N; plane++) {
        int64_t nnz = 0;
        ptr[0] = 0;
        for (int i = 0; i < N; i++) {
          for (int j = 0; j <= i; j++)
            if (j == i || pattern >> (i * (i - 1) / 2 + j) & 1) idx[nnz++] = j;
          ptr[i + 1] = nnz;
        }
        const trs_system S = {.n = N,
                              .nnz = nnz,
                              .scalar = TRS_DOUBLE,
                              .ptr = ptr,
                              .idx = idx,
                              .val = val,
                              .rows = true,
                              .lower = true,
                              .has_diagonal = true};
        const trs_box_classes classes = {line, plane};
        boxed b = boxed_of(&S, classes);
        if (!is_sweep(&S, &b, classes) || !starts_are_right(&b))
          fail_msg("pattern %d, classes from %d and %d", pattern, line, plane);
        boxed_free(&b);
      }
}

static void shape_keeps_its_sweep(shape kind, const trs_system *S, int number) {
  static const trs_box_classes classes[] = {{2, 64}, {1, 1}, {8, 37}, {INT32_MAX, INT32_MAX}};
  const trs_box_classes its = classes[number % 4];
  boxed b = boxed_of(S, its);
  if (!is_sweep(S, &b, its) || !starts_are_right(&b))
    fail_msg("%s, n %d, lower %d", shape_name(kind), (int)S->n, S->lower);
  boxed_free(&b);
}

/* SHAPE_CHAIN has more rows than a coordinate can count. */
TEST(shapes_keep_their_sweep) {
  static const int64_t sizes[] = {0, 1, 2, 33, 1500};
  shapes_of_sizes(sizes, COUNT(sizes), shape_keeps_its_sweep);
}

/* ---- Grids. ---- */

typedef struct grid {
  trs_matrix *A, *T;
  trs_system S;
} grid;

static grid grid_of(const char *name, trs_uplo uplo) {
  grid g;
  assert_success(trs_matrix_read(&g.A, name, NULL));
  assert_success(trs_matrix_triangle(&g.T, g.A, uplo, 1));
  g.S = trs_system_of(g.T, uplo, TRS_NO_TRANS, TRS_NONUNIT);
  return g;
}

static void grid_free(grid *g) {
  trs_matrix_destroy(g->T);
  trs_matrix_destroy(g->A);
}

static uint32_t octaves_of(const trs_system *S) {
  uint32_t found = 0;
  for (int64_t i = 0; i < S->n; i++)
    for (int64_t p = S->ptr[i]; p < S->ptr[i + 1]; p++)
      if (S->idx[p] != i) found |= 1u << (int)log2(fabs((double)(S->idx[p] - i)));
  return found;
}

static void need_boxes(const char *name, trs_uplo uplo, double levels, double blocks) {
  grid g = grid_of(name, uplo);
  trs_box_classes classes;
  trs_slice_rules rows = boxes;
  trs_slices plain, s;
  int64_t refused;
  rows.most_block = 1;
  assert_true(trs_box_classes_of(&classes, octaves_of(&g.S)));
  boxed b = boxed_of(&g.S, classes);
  assert_true(is_sweep(&g.S, &b, classes));
  assert_success(shape_slices(&plain, &g.S, &rows));
  assert_success(shape_slices_cut(&s, &b.joint, &boxes, b.starts, NULL, &refused));
  if (s.nlevels > levels * plain.nlevels || s.nblocks > blocks * (double)g.S.n || refused)
    fail_msg("%s: %d levels of %d, %d blocks of %d rows, %d refused", name, s.nlevels,
             plain.nlevels, s.nblocks, (int)g.S.n, (int)refused);
  trs_slices_destroy(&plain);
  trs_slices_destroy(&s);
  boxed_free(&b);
  grid_free(&g);
}

TEST(boxes_halve_the_levels_of_grids) {
  for (int uplo = 0; uplo < 2; uplo++) {
    need_boxes("gen:poisson3d7:20", uplo ? TRS_UPPER : TRS_LOWER, 0.5, 0.126);
    need_boxes("gen:poisson3d7:31", uplo ? TRS_UPPER : TRS_LOWER, 0.52, 0.15);
    need_boxes("gen:poisson3d27:20", uplo ? TRS_UPPER : TRS_LOWER, 0.45, 0.16);
    need_boxes("gen:poisson3d27:31", uplo ? TRS_UPPER : TRS_LOWER, 0.45, 0.15);
  }
}
