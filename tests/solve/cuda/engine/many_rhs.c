/* many_rhs.c - each way of the engine through several right-hand sides, by backward error: all
 * types, both layouts, numbers of right-hand sides that do and do not fill packs, groups and
 * strips, in place, with and without blocks of several rows. */
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
      trs_analyze(gpu_context, &plan, s->there, s->uplo, TRS_NO_TRANS, TRS_NONUNIT, &options));
  void *from = gpu_upload(b, bytes), *to = in_place ? from : gpu_space(bytes);
  for (int repeat = 0; repeat < 2; repeat++) {
    if (in_place && repeat > 0) break;
    assert_success(trs_solve(plan, to, ld, from, ld, nrhs, layout));
    assert_success(trs_plan_wait(plan));
    gpu_fetch(x, to, bytes);
    assert_success(
        trs_check(s->here, s->uplo, TRS_NO_TRANS, TRS_NONUNIT, x, ld, b, ld, nrhs, layout, &error));
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

const test_program program = {.end = gpu_stop, .lacks = gpu_lacks};
