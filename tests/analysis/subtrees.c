/* subtrees.c - the tree of supernodes and its distribution: threads share no dependency but with
 * the top; solves with small tops; when auto takes the method; new values; failures. */
#include "analysis/subtrees.h"

#include <stdlib.h>
#include <string.h>

#include "sparse.h"
#include "support.h"
#include "test.h"

static int owner_of(const trs_subtrees *s, int64_t count, int32_t k) {
  for (int64_t at = 0; at < count; at++) {
    if (s->node[at] != k) continue;
    int thread = -1;
    while (thread + 1 < s->threads && at >= s->first[thread + 1]) thread++;
    return thread;
  }
  fail_msg("supernode %d is nobody's", k);
  return -2;
}

/* Supernodes of different threads have no common block. */
static void check_separate(const trs_panels *P, const trs_subtrees *s) {
  for (int64_t k = 0; k < P->count; k++)
    for (int64_t r = P->panel[k].list; r < P->panel[k].list + P->panel[k].length; r++) {
      const int one = owner_of(s, P->count, (int32_t)k);
      const int other = owner_of(s, P->count, P->owner[P->list[r]]);
      assert_true(one == other || one == -1 || other == -1);
      if (P->by_rows) /* the top comes first */
        assert_true(one != -1 || other == -1);
      else
        assert_true(one == -1 ? other == -1 : true);
    }
}

static void check_ascending(const trs_subtrees *s, int64_t count) {
  assert_int_equal(s->first[0], s->ntop);
  assert_int_equal(s->first[s->threads], count);
  for (int part = -1; part < s->threads; part++)
    for (int64_t at = (part < 0 ? 0 : s->first[part]) + 1; at < s->first[part + 1]; at++)
      assert_true(s->node[at - 1] < s->node[at]);
}

TEST(threads_share_nothing_but_the_top) {
  static const double densities[] = {0, 0.01, 0.03, 0.3};
  for (int c = 0; c < 64; c++) {
    const int64_t n = 1 + 3 * c;
    const bool lower = c % 2;
    trs_panels P;
    trs_subtrees s;
    triangle t = triangle_random(n, densities[c / 2 % 4], c % 3 ? n : 5, lower, TRS_DOUBLE, false,
                                 (uint64_t)c);
    const trs_panels_source T = {n, t.ptr, t.idx, lower, true};
    const trs_panels_options options = {
        .by_rows = !lower, .width = 1 + c % 5, .relax = 20, .few = 1};
    assert_success(trs_panels_create(&P, &T, &options));
    trs_subtrees_waits = c % 4 == 3;
    assert_success(trs_subtrees_create(&s, &P, 1 + c % 7));
    check_ascending(&s, P.count);
    check_separate(&P, &s);
    trs_subtrees_destroy(&s);
    trs_panels_destroy(&P);
    triangle_free(&t);
  }
  trs_subtrees_waits = 1;
}

static trs_matrix *make(uint64_t seed) {
  trs_matrix *A;
  triangle t = triangle_random(900, 0.02, 900, true, TRS_DOUBLE, false, seed);
  assert_success(trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, t.n, t.n, TRS_PTR64, t.ptr, t.idx,
                                   t.val, TRS_COPY));
  triangle_free(&t);
  return A;
}

static trs_status analyse(trs_plan **plan, trs_context *ctx, const trs_matrix *A) {
  trs_options options = {.struct_size = sizeof options, .method = "subtrees"};
  return trs_analyze(plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options);
}

/* Equal numbers of threads give equal bits. */
TEST(solves_repeat) {
  enum { N = 900, NRHS = 3 };
  trs_context *ctx;
  trs_plan *plan;
  trs_matrix *A = make(1);
  double b[N * NRHS], x[N * NRHS], again[N * NRHS];
  trs_backward_error error = {.struct_size = sizeof error};
  trs_subtrees_waits = 0;
  trs_random_fill(b, N * NRHS, TRS_DOUBLE, 2);
  assert_success(trs_context_create(&ctx, "threads:5"));
  assert_success(analyse(&plan, ctx, A));
  assert_success(trs_solve(plan, x, N, b, N, NRHS, TRS_COL_MAJOR));
  assert_success(
      trs_check(&error, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, x, N, b, N, NRHS, TRS_COL_MAJOR));
  assert_true(error.componentwise <= error_limit(TRS_DOUBLE, N));
  for (int k = 0; k < 100; k++) {
    assert_success(trs_solve(plan, again, N, b, N, NRHS, TRS_COL_MAJOR));
    assert_memory_equal(x, again, sizeof x);
  }
  trs_subtrees_waits = 1;
  trs_plan_destroy(plan);
  trs_context_destroy(ctx);
  trs_matrix_destroy(A);
}

static trs_status analyse_one(void *A) {
  trs_context *ctx;
  trs_plan *plan;
  TRS_TRY(trs_context_create(&ctx, "threads:2"));
  trs_status status = analyse(&plan, ctx, A);
  if (!status) trs_plan_destroy(plan);
  trs_context_destroy(ctx);
  return status;
}

TEST(failing_allocations_are_reported) {
  trs_matrix *A = make(3);
  trs_subtrees_waits = 0;
  assert_survives_failing_allocations(analyse_one, A);
  trs_subtrees_waits = 1;
  trs_matrix_destroy(A);
}
