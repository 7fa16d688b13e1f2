/* boxes.c - boxes from the GPU equal those of the host; solves by them against the same without, by
 * backward error and by bits; updates, and inverses that lose digits; who gets boxes; memory. */
#include "solve/cuda/engine/boxes.h"

#include "analysis/boxed.h"
#include "analysis/growth.h"
#include "analysis/shapes.h"
#include "base/memory.h"
#include "gpu.h"
#include "solve/cuda/engine/choice.h"
#include "solve/cuda/engine/state.h"
#include "test.h"

/* ---- The same as on the host. ---- */

static void same(const char *what, const void *here, const void *there, size_t bytes) {
  char *got = malloc(bytes + 1);
  if (bytes) gpu_fetch(got, there, bytes);
  if (memcmp(here, got, bytes)) fail_msg("%s differ", what);
  free(got);
}

static void same_joint(const boxed *here, const trs_gpu_substitution *there) {
  const trs_system *S = &here->joint, *T = &there->joint;
  const size_t n = (size_t)S->n, nnz = (size_t)S->nnz;
  assert_true(T->n == S->n && T->nnz >= S->nnz && T->lower && T->unit == S->unit);
  same("order", here->order, there->order, n * sizeof *here->order);
  same("starts", here->starts, there->starts, n);
  same("ptr", S->ptr, T->ptr, (n + 1) * sizeof *S->ptr);
  same("idx", S->idx, T->idx, nnz * sizeof *S->idx);
  same("values", S->val, T->val, nnz * scalar_bytes(S->scalar));
}

static void compare(shape kind, const trs_system *S, int number) {
  static const trs_box_classes classes[] = {{2, 64}, {1, 8}, {8, 37}, {INT32_MAX, INT32_MAX}};
  const trs_slice_rules rules = trs_rows_rules(4, false);
  (void)kind;
  if (S->n == 0) return;
  const int64_t before = gpu_held();
  trs_system p = gpu_upload_system(S);
  trs_gpu_substitution there;
  trs_gpu_cut *cut;
  trs_slices slices;
  trs_slice_level *level;
  boxed here = boxed_of(S, classes[number % 4]);
  assert_success(trs_gpu_cut_begin(&cut, gpu, &p, NULL, &rules, NULL, NULL, NULL));
  assert_success(trs_gpu_cut_finish(cut, &slices, &level));
  assert_success(trs_gpu_box(&there, cut, &classes[number % 4]));
  assert_success(trs_device_wait(NULL));
  same_joint(&here, &there);
  trs_gpu_substitution_drop_arrays(&there, gpu, NULL);
  for (int again = 0; again < 2; again++) {
    assert_success(trs_gpu_box_again(&there, gpu, &p, NULL));
    assert_success(trs_device_wait(NULL));
    same_joint(&here, &there);
  }
  trs_gpu_substitution_free(&there, gpu, NULL);
  trs_free(level);
  trs_gpu_cut_free(cut);
  boxed_free(&here);
  gpu_free_system(&p);
  assert_int_equal(gpu_held(), before);
}

TEST(boxes_are_those_of_the_host) {
  static const int64_t sizes[] = {1, 2, 33, 257, 1500};
  shapes_of_sizes(sizes, COUNT(sizes), compare);
}

/* ---- Solves. ---- */

static const trs_engine *engine_of(const trs_plan *plan) { return plan->state; }
static bool has_boxes(const trs_plan *plan) { return engine_of(plan)->substitution.starts; }

static trs_plan *analyze(const both_sides *s, const char *method, trs_trans trans, int64_t nrhs,
                         trs_store stored) {
  trs_options options = {
      .struct_size = sizeof options, .method = method, .nrhs = nrhs, .store = stored};
  trs_plan *plan;
  assert_success(trs_analyze(&plan, gpu_context, s->there, s->uplo, trans, TRS_NONUNIT, &options));
  return plan;
}

static void judge(const both_sides *s, trs_trans trans, const void *x, const void *b,
                  int64_t nrhs) {
  trs_backward_error error = {.struct_size = sizeof error};
  assert_success(trs_check(&error, s->here, s->uplo, trans, TRS_NONUNIT, x, s->t.n, b, s->t.n, nrhs,
                           TRS_COL_MAJOR));
  if (!(error.componentwise <= TRS_MOST_GROWTH * error_limit(s->scalar, 64)))
    fail_msg("scalar %d, %d right-hand sides: error %g", (int)s->scalar, (int)nrhs,
             error.componentwise);
}

/* Two solves give the same bits; so does one in place. */
static void solve(const both_sides *s, trs_plan *plan, trs_trans trans, int64_t nrhs) {
  const int64_t n = s->t.n;
  const size_t bytes = (size_t)(n * nrhs) * scalar_bytes(s->scalar);
  void *b = malloc(bytes), *x = malloc(bytes), *again = malloc(bytes);
  trs_random_fill(b, n * nrhs, s->scalar, 7);
  void *from = gpu_upload(b, bytes), *to = gpu_space(bytes);
  for (int turn = 0; turn < 3; turn++) {
    void *into = turn == 2 ? from : to;
    assert_success(trs_solve(plan, into, n, from, n, nrhs, TRS_COL_MAJOR));
    assert_success(trs_plan_wait(plan));
    gpu_fetch(turn ? again : x, into, bytes);
    if (turn && memcmp(x, again, bytes)) fail_msg("other bits in turn %d", turn);
  }
  judge(s, trans, x, b, nrhs);
  gpu_free(from);
  gpu_free(to);
  free(b);
  free(x);
  free(again);
}

TEST(all_types_and_transposes_are_solved) {
  static const int64_t counts[] = {1, 3, 8, 33};
  for (int type = TRS_FLOAT; type <= TRS_DCOMPLEX; type++)
    for (int way = 0; way < 6; way++) {
      const trs_trans trans = (trs_trans)(TRS_NO_TRANS + way % 3);
      both_sides s = both_sides_of(
          triangle_random(way < 3 ? 2500 : 20000, way < 3 ? 0.06 : 0.004, way < 3 ? 60 : 900, true,
                          (trs_scalar)type, false, 3 + (unsigned)way),
          way % 2 ? TRS_CSR : TRS_CSC, (trs_scalar)type);
      for (size_t c = 0; c < COUNT(counts); c++) {
        trs_plan *plan = analyze(&s, "engine:boxes=yes", trans, counts[c], TRS_STORE_DEFAULT);
        assert_true(has_boxes(plan));
        solve(&s, plan, trans, counts[c]);
        solve(&s, plan, trans, 1);
        trs_plan_destroy(plan);
      }
      both_sides_free(&s);
    }
}

/* The plan of a triangle of a generated matrix, and the error of its solve. */
static void need_grid(const char *name, const char *method, bool boxes) {
  char text[2000];
  trs_matrix *A, *T;
  trs_plan *plan;
  trs_backward_error error = {.struct_size = sizeof error};
  trs_options options = {.struct_size = sizeof options, .method = method};
  assert_success(trs_matrix_read(&A, name, NULL));
  assert_success(trs_matrix_triangle(&T, A, TRS_UPPER, 1));
  assert_success(
      trs_analyze(&plan, gpu_context, T, TRS_UPPER, TRS_NO_TRANS, TRS_NONUNIT, &options));
  trs_plan_describe(plan, text, sizeof text);
  if (has_boxes(plan) != boxes || (strstr(text, "of which boxes") != NULL) != boxes)
    fail_msg("%s, %s: %s", name, method, text);
  trs_matrix_info info = {.struct_size = sizeof info};
  trs_matrix_get_info(T, &info);
  const size_t bytes = (size_t)info.nrows * sizeof(double);
  double *b = malloc(bytes), *x = malloc(bytes);
  trs_random_fill(b, info.nrows, TRS_DOUBLE, 3);
  for (int turn = 0; turn < 2; turn++) {
    if (turn) assert_success(trs_update(plan, T));
    assert_success(trs_solve(plan, x, info.nrows, b, info.nrows, 1, TRS_COL_MAJOR));
    assert_success(trs_check(&error, T, TRS_UPPER, TRS_NO_TRANS, TRS_NONUNIT, x, info.nrows, b,
                             info.nrows, 1, TRS_COL_MAJOR));
    assert_true(error.componentwise <= TRS_MOST_GROWTH * error_limit(TRS_DOUBLE, 64));
  }
  free(b);
  free(x);
  trs_plan_destroy(plan);
  trs_matrix_destroy(T);
  trs_matrix_destroy(A);
}

TEST(grids_of_three_dimensions_get_boxes) {
  need_grid("gen:poisson3d27:30", "engine", true);
  need_grid("gen:poisson3d27:41", "engine", true);
  need_grid("gen:poisson3d27:41", "engine:boxes=no", false);
  need_grid("gen:poisson3d27:41", "engine:block=4", false);
  need_grid("gen:poisson3d27:12", "engine", false);
  need_grid("gen:poisson3d27:20", "engine", false);
  need_grid("gen:poisson3d27:20", "engine:boxes=yes", true);
  need_grid("gen:poisson3d7:70", "engine", true);
  need_grid("gen:poisson3d7:50", "engine", false);
  need_grid("gen:poisson3d7:50", "engine:boxes=yes", true);
  need_grid("gen:poisson2d5:300", "engine", false);
  need_grid("gen:elasticity3d:14,14,14", "engine", false);
  need_grid("gen:random:20000,4", "engine", false);
}

/* ---- Values that lose digits. ---- */

/* Every 29th pivot is smaller than before by this factor. */
static void weaken(both_sides *s, double factor) {
  double *val = s->t.val;
  for (int64_t i = 0; i < s->t.n; i++)
    for (int64_t p = s->t.ptr[i]; p < s->t.ptr[i + 1]; p++)
      if (s->t.idx[p] == i && i % 29 == 14) val[p] *= factor;
  assert_success(trs_device_copy(s->val, val, s->t.ptr[s->t.n] * (int64_t)sizeof *val, NULL));
  assert_success(trs_device_wait(NULL));
}

TEST(boxes_are_cut_where_inverses_lose_digits) {
  for (int late = 0; late < 2; late++) {
    both_sides s = both_sides_of(triangle_random(6000, 0.01, 300, true, TRS_DOUBLE, false, 5),
                                 TRS_CSR, TRS_DOUBLE);
    if (!late) weaken(&s, 1e-9);
    const int64_t before = gpu_held();
    trs_plan *plan = analyze(&s, "engine:boxes=yes", TRS_NO_TRANS, 1, TRS_STORE_DEFAULT);
    if (late) weaken(&s, 1e-9);
    for (int turn = 0; turn < 3; turn++) {
      if (turn || late) assert_success(trs_update(plan, s.there));
      assert_true(has_boxes(plan));
      assert_true(engine_of(plan)->refused > 0);
      solve(&s, plan, TRS_NO_TRANS, 1);
    }
    trs_plan_destroy(plan);
    assert_int_equal(gpu_held(), before);
    both_sides_free(&s);
  }
}

static trs_status try_analysis(void *argument) {
  const both_sides *s = argument;
  trs_options options = {.struct_size = sizeof options, .method = "engine:boxes=yes", .nrhs = 4};
  trs_plan *plan;
  TRS_TRY(trs_analyze(&plan, gpu_context, s->there, s->uplo, TRS_NO_TRANS, TRS_NONUNIT, &options));
  trs_plan_destroy(plan);
  return TRS_SUCCESS;
}

TEST(too_little_memory_is_given_back) {
  both_sides s = both_sides_of(triangle_random(1500, 0.06, 60, true, TRS_DOUBLE, false, 3), TRS_CSR,
                               TRS_DOUBLE);
  gpu_assert_survives_limits(try_analysis, &s, 16384);
  both_sides_free(&s);
}

static void *found; /* in pinned memory */
static int enter(void **state) { return gpu_enter(&found); }
static int leave(void **state) { return gpu_leave(found); }

const test_program program = {.begin = enter, .end = leave, .lacks = gpu_lacks};
