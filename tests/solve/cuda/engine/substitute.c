/* substitute.c - joint systems from the GPU equal those of the host; solves by them, updates and
 * several right-hand sides, by backward error; new values that lose digits; memory. */
#include "solve/cuda/engine/substitute.h"

#include <complex.h>
#include <math.h>

#include "analysis/shapes.h"
#include "base/memory.h"
#include "gpu.h"
#include "matrix/values.h"
#include "solve/cuda/engine/choice.h"
#include "solve/cuda/engine/state.h"
#include "test.h"

static trs_engine_found *found; /* in pinned memory */

/* ---- The same as on the host. ---- */

static void same_numbers(const char *what, const void *here, const void *there, size_t bytes) {
  char *got = malloc(bytes + 1);
  if (bytes) gpu_fetch(got, there, bytes);
  for (size_t k = 0; k < bytes; k++)
    if (((const char *)here)[k] != got[k]) fail_msg("%s differs at byte %d", what, (int)k);
  free(got);
}

/* Compilers fuse products and sums in different places. */
static void same_values(const char *what, const trs_system *here, const void *there) {
  const size_t bytes = (size_t)here->nnz * scalar_bytes(here->scalar);
  const double limit = error_limit(here->scalar, TRS_SUBSTITUTED_ENTRIES);
  void *got = malloc(bytes + 1);
  if (bytes) gpu_fetch(got, there, bytes);
  for (int64_t p = 0; p < here->nnz; p++) {
    const double complex x = trs_value_get(here->val, p, here->scalar),
                         y = trs_value_get(got, p, here->scalar);
    if (!(cabs(x - y) <= limit * (1 + cabs(x)))) fail_msg("%s: value %d", what, (int)p);
  }
  free(got);
}

static void same_system(const char *what, const trs_system *here, const trs_system *there) {
  if (here->nnz != there->nnz)
    fail_msg("%s: %d entries and %d", what, (int)here->nnz, (int)there->nnz);
  assert_true(here->unit == there->unit && here->has_diagonal == there->has_diagonal);
  same_numbers("ptr", here->ptr, there->ptr, (size_t)(here->n + 1) * sizeof *here->ptr);
  same_numbers("idx", here->idx, there->idx, (size_t)here->nnz * sizeof *here->idx);
  same_values(what, here, there->val);
}

/* The cut into single rows, which the caller frees, and bands. */
static trs_gpu_cut *cut_rows(const trs_system *p, int32_t depth, trs_bands *bands) {
  const trs_slice_rules rules = trs_rows_rules(4, false);
  trs_gpu_cut *cut;
  trs_slices slices;
  trs_slice_level *level;
  assert_success(trs_gpu_cut_begin(&cut, gpu, p, NULL, &rules, NULL, NULL, NULL));
  assert_success(trs_gpu_cut_finish(cut, &slices, &level));
  assert_success(trs_bands_create(bands, level, slices.nlevels, depth, &trs_gpu_measured));
  trs_free(level);
  return cut;
}

static void renew(const trs_system *S, trs_system *p, const trs_bands *bands,
                  trs_gpu_substitution *there) {
  trs_joint here;
  for (int64_t k = 0; k < S->nnz; k++)
    trs_value_set((void *)S->val, k, S->scalar, 0.75 * trs_value_get(S->val, k, S->scalar));
  gpu_free((void *)p->val);
  p->val = gpu_upload(S->val, (size_t)S->nnz * scalar_bytes(S->scalar));
  assert_success(trs_gpu_substitute_again(there, gpu, p, &found->substitution, NULL));
  assert_int_equal(found->substitution.guarded, 0);
  assert_success(trs_substitute(&here, S, bands));
  same_system("new values", &here.system, &there->joint);
  trs_joint_destroy(&here);
}

/* The pattern read back from the slices of a joint system, with long rows in parts. */
static void restore(const trs_joint *here, trs_gpu_substitution *there) {
  const trs_system *T = &here->system;
  const trs_slice_rules rules = {.most_block = 1,
                                 .dense = 1,
                                 .lane_length = 2,
                                 .large_level_lane_length = 4,
                                 .large_level_rows = 64,
                                 .small_level_heavy_width = 2,
                                 .other_heavy_width = 2,
                                 .small_level_rows = 8};
  const trs_known_levels levels = {there->known, there->nlevels};
  trs_gpu_cut *cut;
  trs_slices slices;
  trs_slices_map map;
  trs_slice_level *level;
  int32_t *of = gpu_space((size_t)T->n * sizeof *of);
  assert_success(trs_gpu_cut_begin(&cut, gpu, &there->joint, NULL, &rules, NULL, &levels, NULL));
  assert_success(trs_gpu_cut_finish(cut, &slices, &level));
  assert_success(trs_gpu_cut_build(cut, &slices, &map, 0, NULL, &found->fill));
  assert_success(trs_gpu_substitution_rows(there, slices.row, of, NULL));
  trs_gpu_substitution_drop_arrays(there, gpu, NULL);
  assert_success(trs_gpu_substitution_restore(there, gpu, &slices, &map, of, NULL));
  assert_success(trs_device_wait(NULL));
  same_numbers("ptr", T->ptr, there->joint.ptr, (size_t)(T->n + 1) * sizeof *T->ptr);
  same_numbers("idx", T->idx, there->joint.idx, (size_t)T->nnz * sizeof *T->idx);
  same_numbers("of", here->of, there->of, (size_t)T->n * sizeof *here->of);
  trs_free(level);
  trs_gpu_cut_free(cut);
  trs_gpu_slices_free(&slices, &map, gpu, NULL);
  gpu_free(of);
}

static void compare(shape kind, const trs_system *S, int number) {
  static const int32_t depths[] = {2, 3, 8, 20, TRS_SUBSTITUTION_DEPTH};
  if (S->n == 0) return;
  const int64_t before = gpu_held();
  trs_system p = gpu_upload_system(S);
  trs_joint here;
  trs_gpu_substitution there;
  trs_bands bands;
  bool made;
  trs_gpu_cut *cut = cut_rows(&p, depths[number % 5], &bands);
  assert_success(trs_substitute(&here, S, &bands));
  assert_success(trs_gpu_substitute(&there, &made, cut, &bands, INT64_MAX, false, NULL, NULL,
                                    &found->substitution));
  assert_true(made);
  assert_true(there.guarded == here.guarded);
  assert_true(there.ny == here.ny && there.nlevels == here.nlevels);
  same_system(shape_name(kind), &here.system, &there.joint);
  same_numbers("of", here.of, there.of, (size_t)here.system.n * sizeof *here.of);
  same_numbers("known", here.known, there.known, (size_t)here.system.n * sizeof *here.known);
  restore(&here, &there);
  trs_joint_destroy(&here);
  renew(S, &p, &bands, &there);
  trs_gpu_substitution_free(&there, gpu, NULL);
  assert_success(trs_gpu_substitute(&there, &made, cut, &bands, S->nnz / 2, false, NULL, NULL,
                                    &found->substitution));
  assert_true(made == (there.order != NULL));
  trs_gpu_substitution_free(&there, gpu, NULL);
  trs_gpu_cut_free(cut);
  trs_bands_destroy(&bands);
  gpu_free_system(&p);
  assert_int_equal(gpu_held(), before);
}

TEST(joint_systems_are_those_of_the_host) {
  static const int64_t sizes[] = {1, 2, 33, 257, 1500};
  shapes_of_sizes(sizes, COUNT(sizes), compare);
}

/* ---- Solves. ---- */

static const trs_engine *engine_of(const trs_plan *plan) { return plan->state; }

static trs_plan *analyze(const both_sides *s, const char *method, int64_t nrhs) {
  trs_options options = {.struct_size = sizeof options, .method = method, .nrhs = nrhs};
  trs_plan *plan;
  assert_success(
      trs_analyze(&plan, gpu_context, s->there, s->uplo, TRS_NO_TRANS, TRS_NONUNIT, &options));
  return plan;
}

static void judge(const both_sides *s, const void *x, const void *b, int64_t ld, int64_t nrhs,
                  trs_layout layout) {
  trs_backward_error error = {.struct_size = sizeof error};
  assert_success(
      trs_check(&error, s->here, s->uplo, TRS_NO_TRANS, TRS_NONUNIT, x, ld, b, ld, nrhs, layout));
  if (!(error.componentwise <= TRS_SUBSTITUTION_GROWTH * error_limit(s->scalar, 64)))
    fail_msg("scalar %d, %d right-hand sides: error %g", (int)s->scalar, (int)nrhs,
             error.componentwise);
}

/* Two solves give the same bits; so does one in place. */
static void solve(const both_sides *s, trs_plan *plan, int64_t nrhs, trs_layout layout) {
  const int64_t n = s->t.n, ld = layout == TRS_COL_MAJOR ? n : nrhs;
  const size_t bytes = (size_t)(n * nrhs) * scalar_bytes(s->scalar);
  void *b = malloc(bytes), *x = malloc(bytes), *again = malloc(bytes);
  trs_random_fill(b, n * nrhs, s->scalar, 7);
  void *from = gpu_upload(b, bytes), *to = gpu_space(bytes);
  for (int turn = 0; turn < 3; turn++) {
    void *into = turn == 2 ? from : to;
    assert_success(trs_solve(plan, into, ld, from, ld, nrhs, layout));
    assert_success(trs_plan_wait(plan));
    gpu_fetch(turn ? again : x, into, bytes);
    if (turn == 0) judge(s, x, b, ld, nrhs, layout);
    if (turn && memcmp(x, again, bytes)) fail_msg("other bits in turn %d", turn);
  }
  gpu_free(from);
  gpu_free(to);
  free(b);
  free(x);
  free(again);
}

TEST(all_types_and_layouts_are_solved) {
  static const char *const methods[] = {"engine:substitute=2",
                                        "engine:substitute=8",
                                        "engine:substitute=32",
                                        "engine:substitute=8,rhs=batched",
                                        "engine:substitute=8,rhs=many-rhs",
                                        "engine:substitute=8,rhs=row-groups"};
  static const int64_t counts[] = {1, 3, 8, 33, 64};
  for (int type = TRS_FLOAT; type <= TRS_DCOMPLEX; type++) {
    both_sides s = both_sides_of(triangle_random(2500, 0.06, 60, true, (trs_scalar)type, false, 3),
                                 type % 2 ? TRS_CSR : TRS_CSC, (trs_scalar)type);
    for (size_t m = 0; m < COUNT(methods); m++)
      for (size_t c = 0; c < COUNT(counts); c++) {
        trs_plan *plan = analyze(&s, methods[m], counts[c]);
        assert_non_null(engine_of(plan)->substitution.order);
        solve(&s, plan, counts[c], (c + m) % 2 ? TRS_ROW_MAJOR : TRS_COL_MAJOR);
        solve(&s, plan, 1, TRS_COL_MAJOR);
        trs_plan_destroy(plan);
      }
    both_sides_free(&s);
  }
}

/* Entries of a row off the diagonal become `entry`; the rest of the plan's life follows. */
static void set_entries(both_sides *s, double entry) {
  double *val = s->t.val;
  for (int64_t i = 0; i < s->t.n; i++)
    for (int64_t p = s->t.ptr[i]; p < s->t.ptr[i + 1]; p++)
      val[p] =
          s->t.idx[p] == i ? 1 : (p % 3 ? entry : -entry) / (double)(s->t.ptr[i + 1] - s->t.ptr[i]);
  assert_success(trs_device_copy(s->val, val, s->t.ptr[s->t.n] * (int64_t)sizeof *val, NULL));
  assert_success(trs_device_wait(NULL));
}

TEST(an_update_takes_values_of_any_growth) {
  static const double entries[] = {0.5, 0.9, 2, 1e-170, 0.25, 1e170, 0.5};
  both_sides s = both_sides_of(triangle_random(2000, 0.1, 40, true, TRS_DOUBLE, false, 5), TRS_CSR,
                               TRS_DOUBLE);
  set_entries(&s, 0.5);
  trs_plan *plan = analyze(&s, "engine:substitute=8", 1);
  assert_non_null(engine_of(plan)->substitution.order);
  for (size_t k = 0; k < COUNT(entries); k++) {
    set_entries(&s, entries[k]);
    assert_success(trs_update(plan, s.there));
    if (fabs(entries[k]) < 1e100) solve(&s, plan, 1, TRS_COL_MAJOR);
  }
  trs_plan_destroy(plan);
  both_sides_free(&s);
}

/* Entries as floats, the diagonal in double precision: an error of x is that of the rounded
 * entries, however large the diagonal. */
TEST(entries_stored_as_floats_keep_the_diagonal) {
  static const double diagonals[] = {1, 1e6, 1e39};
  both_sides s = both_sides_of(triangle_random(2000, 0.1, 40, true, TRS_DOUBLE, false, 5), TRS_CSR,
                               TRS_DOUBLE);
  const int64_t n = s.t.n, nnz = s.t.ptr[n];
  const size_t bytes = (size_t)n * sizeof(double);
  double *val = s.t.val, *b = malloc(bytes), *x = malloc(bytes), *y = malloc(bytes);
  trs_random_fill(b, n, TRS_DOUBLE, 3);
  void *from = gpu_upload(b, bytes), *to = gpu_space(bytes);
  for (size_t k = 0; k < COUNT(diagonals); k++) {
    for (int64_t i = 0; i < n; i++)
      for (int64_t p = s.t.ptr[i]; p < s.t.ptr[i + 1]; p++)
        val[p] = s.t.idx[p] == i
                     ? diagonals[k] * 1.1
                     : diagonals[k] * (float)(0.5 / (double)(s.t.ptr[i + 1] - s.t.ptr[i]));
    assert_success(trs_device_copy(s.val, val, nnz * (int64_t)sizeof *val, NULL));
    assert_success(trs_device_wait(NULL));
    for (int narrow = 0; narrow < 2; narrow++) {
      trs_options options = {.struct_size = sizeof options,
                             .method = "engine:substitute=8",
                             .store = narrow ? TRS_STORE_MIXED : TRS_STORE_DEFAULT};
      trs_plan *plan;
      assert_success(
          trs_analyze(&plan, gpu_context, s.there, s.uplo, TRS_NO_TRANS, TRS_NONUNIT, &options));
      for (int turn = 0; turn < 2; turn++) {
        if (turn) assert_success(trs_update(plan, s.there));
        assert_success(trs_solve(plan, to, n, from, n, 1, TRS_COL_MAJOR));
        assert_success(trs_plan_wait(plan));
        gpu_fetch(narrow ? y : x, to, bytes);
      }
      trs_plan_destroy(plan);
    }
    for (int64_t i = 0; i < n; i++)
      if (!(fabs(x[i] - y[i]) <= 1e-5 * fabs(x[i]) + 1e-12 / diagonals[k]))
        fail_msg("diagonal %g, row %d: %g, and as floats %g", diagonals[k], (int)i, x[i], y[i]);
  }
  gpu_free(from);
  gpu_free(to);
  free(b);
  free(x);
  free(y);
  both_sides_free(&s);
}

TEST(the_plan_says_what_it_does) {
  char text[2000];
  both_sides s = both_sides_of(triangle_random(2000, 0.1, 40, true, TRS_DOUBLE, false, 5), TRS_CSR,
                               TRS_DOUBLE);
  trs_plan *plan = analyze(&s, "engine:substitute=16", 1),
           *other = analyze(&s, "engine:substitute=0", 1);
  trs_plan_describe(plan, text, sizeof text);
  assert_non_null(strstr(text, "of which substitution"));
  trs_plan_describe(other, text, sizeof text);
  assert_null(strstr(text, "substitution"));
  trs_plan_destroy(plan);
  trs_plan_destroy(other);
  both_sides_free(&s);
}

static trs_status try_analysis(void *argument) {
  const both_sides *s = argument;
  trs_options options = {.struct_size = sizeof options, .method = "engine:substitute=8", .nrhs = 4};
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

static int enter(void **state) { return gpu_enter((void **)&found); }
static int leave(void **state) { return gpu_leave(found); }

const test_program program = {.begin = enter, .end = leave, .lacks = gpu_lacks};
