/* many_rhs.c - each way of the engine through several right-hand sides, by backward error: all
 * types, both layouts, numbers of right-hand sides that do and do not fill packs, groups and
 * strips, in place, with and without blocks of several rows; and levels with a launch of their
 * own. */
#include "gpu.h"
#include "test.h"

static const char *const ways[] = {"engine:rhs=batched",
                                   "engine:rhs=many-rhs",
                                   "engine:rhs=row-groups,block=1",
                                   "engine:rhs=row-groups,block=4,dense=no",
                                   "engine:rhs=row-groups,block=8,dense=yes", /* falls back */
                                   "engine"};

static void solve(const both_sides *s, const char *way, int64_t nrhs, trs_layout layout,
                  bool in_place) {
  const int64_t n = s->t.n, ld = layout == TRS_COL_MAJOR ? n : nrhs;
  const size_t bytes = (size_t)(n * nrhs) * scalar_bytes(s->scalar);
  void *b = malloc(bytes), *x = malloc(bytes);
  trs_options options = {.struct_size = sizeof options, .method = way, .nrhs = nrhs};
  trs_backward_error error = {.struct_size = sizeof error};
  trs_plan *plan;
  trs_random_fill(b, n * nrhs, s->scalar, 7);
  assert_success(
      trs_analyze(&plan, gpu_context, s->there, s->uplo, TRS_NO_TRANS, TRS_NONUNIT, &options));
  void *from = gpu_upload(b, bytes), *to = in_place ? from : gpu_space(bytes);
  for (int repeat = 0; repeat < 2; repeat++) {
    if (in_place && repeat > 0) break;
    assert_success(trs_solve(plan, to, ld, from, ld, nrhs, layout));
    assert_success(trs_plan_wait(plan));
    gpu_fetch(x, to, bytes);
    assert_success(
        trs_check(&error, s->here, s->uplo, TRS_NO_TRANS, TRS_NONUNIT, x, ld, b, ld, nrhs, layout));
    if (!(error.componentwise <= error_limit(s->scalar, n)))
      fail_msg("%s, scalar %d, %d right-hand sides, layout %d, in place %d: error %g", way,
               (int)s->scalar, (int)nrhs, (int)layout, in_place, error.componentwise);
  }
  trs_plan_destroy(plan);
  gpu_free(from);
  if (!in_place) gpu_free(to);
  free(b);
  free(x);
}

/* Rows near the diagonal make many levels, rows anywhere few. */
TEST(every_way_solves_all_types) {
  static const int64_t counts[] = {16, 31, 33, 64, 100};
  for (int type = TRS_FLOAT; type <= TRS_DCOMPLEX; type++)
    for (int band = 0; band < 2; band++) {
      const int64_t n = 3000;
      both_sides s =
          both_sides_of(triangle_random(n, 0.004, band ? n : 90, true, (trs_scalar)type, false, 3),
                        TRS_CSR, (trs_scalar)type);
      for (size_t way = 0; way < COUNT(ways); way++)
        for (size_t c = 0; c < COUNT(counts); c++) {
          const bool by_rows = (c + way) % 2 == 0, in_place = (c + (size_t)band) % 3 == 0;
          solve(&s, ways[way], counts[c], by_rows ? TRS_ROW_MAJOR : TRS_COL_MAJOR, in_place);
        }
      both_sides_free(&s);
    }
}

/* Two levels of blocks: rows without entries, and rows of up to 40 entries in these rows.  The
 * second has a launch of its own.  With blocks of 3 rows each row of a block also needs the one
 * before. */
static triangle two_levels(bool blocks) {
  enum { FIRST = 500, ROWS = 18000, MOST = 40 };
  const int64_t n = FIRST + ROWS;
  triangle t = {.n = n, .ptr = malloc((size_t)(n + 1) * sizeof *t.ptr)};
  t.idx = malloc((size_t)(n * (MOST + 2)) * sizeof *t.idx);
  double *val = t.val = malloc((size_t)(n * (MOST + 2)) * sizeof *val);
  int64_t at = 0;
  for (int64_t i = 0; i < n; i++) {
    const int64_t entries = i < FIRST ? 0 : 1 + i % MOST;
    t.ptr[i] = at;
    for (int64_t k = 0; k < entries; k++) {
      t.idx[at] = (int32_t)(i % 100 + k * (FIRST / MOST));
      val[at++] = 0.5 / (double)(1 + (i + k) % 7);
    }
    if (blocks && i >= FIRST && (i - FIRST) % 3 != 0) {
      t.idx[at] = (int32_t)(i - 1);
      val[at++] = -0.25;
    }
    t.idx[at] = (int32_t)i;
    val[at++] = 2;
  }
  t.ptr[n] = at;
  return t;
}

TEST(levels_with_a_launch_of_their_own_are_solved) {
  static const int64_t counts[] = {33, 32, 64, 100};
  for (int blocks = 0; blocks < 2; blocks++) {
    both_sides s = both_sides_of(two_levels(blocks), TRS_CSR, TRS_DOUBLE);
    for (size_t c = 0; c < COUNT(counts); c++)
      for (int by_rows = 0; by_rows < 2; by_rows++)
        solve(&s, blocks ? ways[3] : ways[2], counts[c], by_rows ? TRS_ROW_MAJOR : TRS_COL_MAJOR,
              c % 2 == 0);
    both_sides_free(&s);
  }
}

const test_program program = {.end = gpu_stop, .lacks = gpu_lacks};
