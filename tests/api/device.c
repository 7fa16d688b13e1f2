/* device.c - plans on a GPU through the public interface: matrices and right-hand sides in either
 * memory, streams, graphs, new values, too little memory, NaN and infinity, systems that hang
 * kernels which rely on an order of blocks or lanes, a busy GPU. */
#include <math.h>

#include "device/gpu.h"
#include "analysis/growth.h"
#include "analysis/shapes.h"
#include "api/hog.h"
#include "gpu.h"
#include "matrix/device.h"
#include "matrix/values.h"
#include "solve/cuda/engine/state.h"
#include "test.h"

/* Methods that add in any order come last; after them those that store zeros, with which NaN
 * spreads further.  Some may refuse a system. */
static const char *const methods[] = {NULL,           "engine",           "levelset",
                                      "syncfree-csc", "syncfree-csc-rhs", "supernodal"};
enum { SAME_BITS = 3, NO_ZEROS = 5, NMETHODS = COUNT(methods) };

static both_sides random_system(int64_t n, double density, trs_scalar scalar, uint64_t seed) {
  return both_sides_of(triangle_random(n, density, n, true, scalar, false, seed), TRS_CSR, scalar);
}

static void *random_values(int64_t count, trs_scalar scalar, uint64_t seed) {
  void *values = malloc((size_t)count * scalar_bytes(scalar) + 1);
  trs_random_fill(values, count, scalar, seed);
  return values;
}

static trs_plan *analyze(const both_sides *s, const trs_matrix *A, trs_trans trans,
                         const trs_options *options) {
  trs_plan *plan;
  assert_success(trs_analyze(&plan, gpu_context, A, s->uplo, trans, TRS_NONUNIT, options));
  return plan;
}

/* ---- The memory of b and x ---- */

/* x of a solve with b and x in host or device memory; in place if both share one. */
static void solve_at(trs_plan *plan, void *x, const void *b, bool b_there, bool x_there,
                     bool in_place, int64_t ld, int64_t nrhs, trs_layout layout, size_t bytes) {
  void *from = b_there ? gpu_upload(b, bytes) : malloc(bytes);
  void *to = in_place ? from : x_there ? gpu_upload(x, bytes) : x;
  if (!b_there) memcpy(from, b, bytes);
  assert_success(trs_solve(plan, to, ld, from, ld, nrhs, layout));
  assert_success(trs_plan_wait(plan));
  bool there = in_place ? b_there : x_there;
  if (there)
    gpu_fetch(x, to, bytes);
  else if (in_place)
    memcpy(x, to, bytes);
  if (!in_place && x_there) gpu_free(to);
  b_there ? gpu_free(from) : free(from);
}

static void judge_x(const both_sides *s, const void *x, const void *b, int64_t ld, int64_t nrhs,
                    trs_layout layout) {
  trs_backward_error error = {.struct_size = sizeof error};
  assert_success(
      trs_check(&error, s->here, s->uplo, TRS_NO_TRANS, TRS_NONUNIT, x, ld, b, ld, nrhs, layout));
  assert_true(error.componentwise <= error_limit(s->scalar, s->t.n));
}

/* More right-hand sides than this come from the host in several parts, each a solve of its own. */
enum { STAGED = 64 };

TEST(b_and_x_lie_anywhere) {
  static const int64_t counts[] = {1, 3, 70};
  for (int c = 0; c < 2 * 2 * 3 * 2; c++) {
    trs_scalar scalar = c % 2 ? TRS_SCOMPLEX : TRS_DOUBLE;
    trs_layout layout = (trs_layout)(c / 2 % 2);
    int64_t nrhs = counts[c / 4 % 3], n = 700;
    both_sides s = random_system(n, 0.02, scalar, 5);
    trs_plan *plan = analyze(&s, c / 12 ? s.there : s.here, TRS_NO_TRANS, NULL);
    int64_t ld = (layout == TRS_COL_MAJOR ? n : nrhs) + 3;
    int64_t elements = ld * (layout == TRS_COL_MAJOR ? nrhs : n);
    size_t bytes = (size_t)elements * scalar_bytes(scalar);
    void *b = random_values(elements, scalar, 7), *first = random_values(elements, scalar, 7);
    void *x = malloc(bytes);
    solve_at(plan, first, b, false, false, false, ld, nrhs, layout, bytes);
    judge_x(&s, first, b, ld, nrhs, layout);
    for (int where = 0; where < 6; where++) { /* the four places, then in place in either memory */
      memcpy(x, b, bytes);                    /* gaps between the columns stay unchanged */
      solve_at(plan, x, b, where & 1, where & 2, where >= 4, ld, nrhs, layout, bytes);
      if (nrhs <= STAGED) assert_memory_equal(x, first, bytes);
      judge_x(&s, x, b, ld, nrhs, layout);
    }
    free(b);
    free(x);
    free(first);
    trs_plan_destroy(plan);
    both_sides_free(&s);
  }
}

/* x of a solve by rows whose arrays in device memory begin `shift` elements behind a 256-byte
 * boundary and have rows of nrhs + gap. */
static void solve_by_rows(trs_plan *plan, double *x, const double *b, int64_t n, int64_t nrhs,
                          int64_t gap, int64_t shift) {
  const int64_t ld = nrhs + gap;
  const size_t bytes = (size_t)(ld * n + shift) * sizeof(double);
  double *wide = malloc(bytes);
  for (int64_t i = 0; i < n; i++)
    memcpy(wide + shift + i * ld, b + i * nrhs, (size_t)nrhs * sizeof *b);
  double *from = gpu_upload(wide, bytes), *to = gpu_space(bytes);
  assert_success(trs_solve(plan, to + shift, ld, from + shift, ld, nrhs, TRS_ROW_MAJOR));
  assert_success(trs_plan_wait(plan));
  gpu_fetch(wide, to, bytes);
  for (int64_t i = 0; i < n; i++)
    memcpy(x + i * nrhs, wide + shift + i * ld, (size_t)nrhs * sizeof *x);
  gpu_free(from);
  gpu_free(to);
  free(wide);
}

TEST(bits_do_not_depend_on_leading_dimensions_or_alignment) {
  enum { N = 4000, MOST = 64 };
  static const int64_t counts[] = {2, 8, 16, 32, MOST};
  both_sides s =
      both_sides_of(triangle_random(N, 0.1, 60, true, TRS_DOUBLE, false, 3), TRS_CSR, TRS_DOUBLE);
  double *b = random_values(N * MOST, TRS_DOUBLE, 7);
  double *x = malloc(N * MOST * sizeof *x), *same = malloc(N * MOST * sizeof *x);
  for (int c = 0; c < 2 * (int)COUNT(counts); c++) {
    const int64_t nrhs = counts[c / 2];
    const trs_options options = {.struct_size = sizeof(trs_options),
                                 .method = c % 2 ? "engine:rhs=row-groups" : "engine",
                                 .nrhs = nrhs};
    trs_plan *plan = analyze(&s, s.there, TRS_NO_TRANS, &options);
    solve_by_rows(plan, x, b, N, nrhs, 0, 0);
    judge_x(&s, x, b, nrhs, nrhs, TRS_ROW_MAJOR);
    for (int k = 1; k < 8; k++) { /* gaps and shifts of an odd and of an even number */
      solve_by_rows(plan, same, b, N, nrhs, k & 1 ? 1 : k & 4 ? 2 : 0, k & 2 ? 1 : k & 4 ? 2 : 0);
      assert_memory_equal(same, x, (size_t)(N * nrhs) * sizeof *x);
    }
    trs_plan_destroy(plan);
  }
  free(b);
  free(x);
  free(same);
  both_sides_free(&s);
}

TEST(arrays_that_are_not_aligned_to_their_elements_are_refused) {
  both_sides s = random_system(100, 0.1, TRS_DCOMPLEX, 5);
  trs_plan *plan = analyze(&s, s.there, TRS_NO_TRANS, NULL);
  char *x = gpu_space(101 * 16);
  trs_matrix *A;
  assert_failure(TRS_ERROR_ARGUMENT, "aligned to its elements of 16 bytes",
                 trs_solve(plan, x + 8, 100, x + 8, 100, 1, TRS_COL_MAJOR));
  assert_failure(TRS_ERROR_ARGUMENT, "aligned to its elements of 16 bytes",
                 trs_matrix_create_device(&A, gpu_context, TRS_CSR, TRS_DCOMPLEX, 100, 100, 0, 0, x,
                                          x, x + 8));
  gpu_free(x);
  trs_plan_destroy(plan);
  both_sides_free(&s);
}

/* One column of a row-major b into a dense x. */
TEST(b_and_x_have_strides_of_their_own) {
  enum { N = 500, LD = 3 };
  both_sides s = random_system(N, 0.02, TRS_DOUBLE, 5);
  trs_plan *plan = analyze(&s, s.here, TRS_NO_TRANS, NULL);
  double *b = random_values(N * LD, TRS_DOUBLE, 7), column[N], x[N], same[N];
  for (int i = 0; i < N; i++) column[i] = b[i * LD];
  assert_success(trs_solve(plan, x, 1, b, LD, 1, TRS_ROW_MAJOR));
  assert_success(trs_solve(plan, same, N, column, N, 1, TRS_COL_MAJOR));
  assert_memory_equal(x, same, sizeof x);
  free(b);
  trs_plan_destroy(plan);
  both_sides_free(&s);
}

TEST(overlapping_device_arrays_are_refused) {
  both_sides s = random_system(100, 0.1, TRS_DOUBLE, 5);
  trs_plan *plan = analyze(&s, s.there, TRS_NO_TRANS, NULL);
  double *x = gpu_space(300 * sizeof *x);
  assert_failure(TRS_ERROR_ARGUMENT, "overlap",
                 trs_solve(plan, x + 1, 100, x, 100, 2, TRS_COL_MAJOR));
  gpu_free(x);
  trs_plan_destroy(plan);
  both_sides_free(&s);
}

/* ---- Streams and graphs ---- */

enum { STREAMS = 4, ROUNDS = 20 };

TEST(plans_run_side_by_side) {
  both_sides s[STREAMS];
  trs_plan *plan[STREAMS];
  cudaStream_t stream[STREAMS];
  void *b[STREAMS], *there[STREAMS], *x[STREAMS];
  for (int k = 0; k < STREAMS; k++) {
    int64_t n = 3000 + 500 * k;
    s[k] = random_system(n, 0.003, TRS_DOUBLE, 11 + (uint64_t)k);
    stream[k] = gpu_stream();
    plan[k] = analyze(&s[k], s[k].there, TRS_NO_TRANS,
                      &(trs_options){.struct_size = sizeof(trs_options), .stream = stream[k]});
    b[k] = random_values(n, TRS_DOUBLE, (uint64_t)k);
    there[k] = gpu_upload(b[k], (size_t)n * sizeof(double));
    x[k] = gpu_space((size_t)n * sizeof(double));
  }
  for (int round = 0; round < ROUNDS; round++)
    for (int k = 0; k < STREAMS; k++)
      assert_success(trs_solve(plan[k], x[k], s[k].t.n, there[k], s[k].t.n, 1, TRS_COL_MAJOR));
  for (int k = 0; k < STREAMS; k++) {
    double *answer = malloc((size_t)s[k].t.n * sizeof *answer);
    assert_success(trs_plan_wait(plan[k]));
    gpu_fetch(answer, x[k], (size_t)s[k].t.n * sizeof *answer);
    gpu_judge(&s[k], TRS_NO_TRANS, answer, b[k], 1);
    free(answer);
    free(b[k]);
    gpu_free(there[k]);
    gpu_free(x[k]);
    trs_plan_destroy(plan[k]);
    both_sides_free(&s[k]);
    gpu_stream_free(stream[k]);
  }
}

/* One plan moves from stream to stream; each solve reads the result of the previous one. */
TEST(a_plan_changes_its_stream) {
  both_sides s = random_system(2000, 0.005, TRS_DOUBLE, 3);
  int64_t n = s.t.n, bytes = n * (int64_t)sizeof(double);
  trs_plan *plan = analyze(&s, s.there, TRS_NO_TRANS, NULL);
  cudaStream_t stream[2];
  double *b = random_values(n, TRS_DOUBLE, 3), *expected = malloc((size_t)bytes);
  double *x = malloc((size_t)bytes);
  memcpy(expected, b, (size_t)bytes);
  for (int k = 0; k < 3; k++)
    assert_success(trs_solve(plan, expected, n, expected, n, 1, TRS_COL_MAJOR));
  void *there = gpu_upload(b, (size_t)bytes);
  for (int k = 0; k < 2; k++) stream[k] = gpu_stream();
  for (int k = 0; k < 3; k++) {
    assert_success(trs_plan_set_stream(plan, k < 2 ? stream[k] : NULL));
    assert_success(trs_solve(plan, there, n, there, n, 1, TRS_COL_MAJOR));
  }
  assert_success(trs_plan_wait(plan));
  gpu_fetch(x, there, (size_t)bytes);
  assert_memory_equal(x, expected, (size_t)bytes);
  trs_plan_destroy(plan);
  for (int k = 0; k < 2; k++) gpu_stream_free(stream[k]);
  gpu_free(there);
  free(b);
  free(x);
  free(expected);
  both_sides_free(&s);
}

TEST(a_solve_becomes_a_graph) {
  static const int64_t counts[] = {1, 8, 40};
  for (int c = 0; c < 3; c++) {
    both_sides s = random_system(1500, 0.01, TRS_DOUBLE, 3);
    int64_t n = s.t.n, nrhs = counts[c];
    size_t bytes = (size_t)(n * nrhs) * sizeof(double);
    trs_stream stream = gpu_stream();
    trs_plan *plan =
        analyze(&s, s.there, TRS_NO_TRANS,
                &(trs_options){.struct_size = sizeof(trs_options), .stream = stream, .nrhs = nrhs});
    double *x = malloc(bytes), *direct = malloc(bytes);
    void *b_there = gpu_space(bytes), *x_there = gpu_space(bytes);
    gpu_capture_begin(stream);
    assert_success(trs_solve(plan, x_there, n, b_there, n, nrhs, TRS_COL_MAJOR));
    gpu_graph graph = gpu_capture_end(stream);
    for (uint64_t seed = 0; seed < 5; seed++) {
      double *b = random_values(n * nrhs, TRS_DOUBLE, seed);
      assert_success(trs_device_copy(b_there, b, (int64_t)bytes, stream));
      gpu_replay(graph, stream);
      assert_success(trs_plan_wait(plan));
      gpu_fetch(x, x_there, bytes);
      gpu_judge(&s, TRS_NO_TRANS, x, b, nrhs);
      assert_success(trs_solve(plan, direct, n, b, n, nrhs, TRS_COL_MAJOR));
      assert_memory_equal(x, direct, bytes);
      free(b);
    }
    gpu_graph_free(graph);
    trs_plan_destroy(plan);
    gpu_stream_free(stream);
    gpu_free(b_there);
    gpu_free(x_there);
    free(x);
    free(direct);
    both_sides_free(&s);
  }
}

/* ---- New values ---- */

/* New values off the diagonal, in host memory. */
static void change_values(const both_sides *s, uint64_t seed) {
  size_t size = scalar_bytes(s->scalar);
  int64_t n = s->t.n;
  char *val = s->t.val, *diagonal = malloc((size_t)n * size);
  for (int64_t i = 0; i < n; i++)
    memcpy(diagonal + (size_t)i * size, val + (size_t)(s->t.ptr[i + 1] - 1) * size, size);
  trs_random_fill(val, s->t.ptr[n], s->scalar, seed);
  for (int64_t i = 0; i < n; i++)
    memcpy(val + (size_t)(s->t.ptr[i + 1] - 1) * size, diagonal + (size_t)i * size, size);
  free(diagonal);
}

TEST(values_change_where_they_lie) {
  for (int c = 0; c < 8; c++) {
    trs_scalar scalar = (trs_scalar)(TRS_FLOAT + c % 4);
    trs_trans trans = c / 4 ? TRS_CONJ_TRANS : TRS_NO_TRANS;
    both_sides s = random_system(900, 0.005, scalar, 3);
    int64_t n = s.t.n, bytes = s.t.ptr[n] * (int64_t)scalar_bytes(scalar);
    trs_plan *plan = analyze(&s, s.there, trans, NULL);
    void *b = random_values(n, scalar, 3), *x = random_values(n, scalar, 4);
    for (int way = 0; way < 2; way++) { /* in the borrowed arrays, then in others */
      void *lent = way ? gpu_space((size_t)bytes) : s.val;
      change_values(&s, 9 + (uint64_t)way);
      assert_success(trs_device_copy(lent, s.t.val, bytes, NULL));
      if (way) assert_success(trs_matrix_set_values(s.there, lent));
      assert_success(trs_update(plan, s.there));
      if (way) gpu_free(s.val);
      s.val = lent;
      assert_success(trs_solve(plan, x, n, b, n, 1, TRS_COL_MAJOR));
      gpu_judge(&s, trans, x, b, 1);
    }
    free(b);
    free(x);
    trs_plan_destroy(plan);
    both_sides_free(&s);
  }
}

TEST(an_update_looks_at_the_diagonal_there) {
  both_sides s = random_system(900, 0.01, TRS_DOUBLE, 3);
  trs_plan *plan = analyze(&s, s.there, TRS_NO_TRANS, NULL);
  const double zero = 0;
  double *at = (double *)s.val + s.t.ptr[501] - 1, b[900], x[900];
  assert_success(trs_device_copy(at, &zero, sizeof zero, NULL));
  assert_failure(TRS_ERROR_ZERO_PIVOT, "row 500", trs_update(plan, s.there));
  assert_success(trs_device_copy(at, (double *)s.t.val + s.t.ptr[501] - 1, sizeof zero, NULL));
  assert_success(trs_update(plan, s.there));
  trs_random_fill(b, 900, TRS_DOUBLE, 3);
  assert_success(trs_solve(plan, x, 900, b, 900, 1, TRS_COL_MAJOR));
  gpu_judge(&s, TRS_NO_TRANS, x, b, 1);
  trs_plan_destroy(plan);
  both_sides_free(&s);
}

/* ---- Inverses that lose digits ---- */

/* Multiplies three pivots of 900: more would make x overflow in float. */
static void scale_pivots(both_sides *s, double factor) {
  enum { EVERY = 300 };
  const int64_t n = s->t.n;
  for (int64_t i = EVERY / 2; i < n; i += EVERY) {
    const int64_t p = s->t.ptr[i + 1] - 1;
    trs_value_set(s->t.val, p, s->scalar, factor * trs_value_get(s->t.val, p, s->scalar));
  }
  assert_success(
      trs_device_copy(s->val, s->t.val, s->t.ptr[n] * (int64_t)scalar_bytes(s->scalar), NULL));
}

/* The right-hand side of a random solution. */
static void *right_hand_side(const both_sides *s) {
  const int64_t n = s->t.n;
  void *x = random_values(n, s->scalar, 5), *b = random_values(n, s->scalar, 6);
  for (int64_t i = 0; i < n; i++) {
    double complex sum = 0;
    for (int64_t p = s->t.ptr[i]; p < s->t.ptr[i + 1]; p++)
      sum += trs_value_get(s->t.val, p, s->scalar) * trs_value_get(x, s->t.idx[p], s->scalar);
    trs_value_set(b, i, s->scalar, sum);
  }
  free(x);
  return b;
}

/* An error of at most the growth that inverses may have, and whether the plan says of cuts. */
static void need_cut(const both_sides *s, trs_plan *plan, bool expected) {
  char text[1024];
  trs_backward_error error = {.struct_size = sizeof error};
  void *b = right_hand_side(s), *x = random_values(s->t.n, s->scalar, 4);
  trs_plan_describe(plan, text, sizeof text);
  if (expected != (strstr(text, "blocks cut") != NULL)) fail_msg("%s", text);
  assert_success(trs_solve(plan, x, s->t.n, b, s->t.n, 1, TRS_COL_MAJOR));
  assert_success(trs_check(&error, s->here, s->uplo, TRS_NO_TRANS, TRS_NONUNIT, x, s->t.n, b,
                           s->t.n, 1, TRS_COL_MAJOR));
  if (!(error.componentwise <= 8 * TRS_MOST_GROWTH * scalar_eps(s->scalar)))
    fail_msg("error %g: %s", error.componentwise, text);
  free(b);
  free(x);
}

static both_sides supernodes(trs_scalar scalar) {
  enum { ROWS = 900 };
  trs_system S = shape_system(SHAPE_SUPERNODES, ROWS, scalar, true, true);
  const triangle t = {ROWS, (int64_t *)S.ptr, (int32_t *)S.idx, (void *)S.val};
  return both_sides_of(t, TRS_CSR, scalar);
}

/* Supernodes: good at first and weak after an update; weak at first and then good again. */
TEST(blocks_without_digits_are_cut) {
  const trs_options options = {
      .struct_size = sizeof options, .method = "engine:block=32,dense=yes", .nrhs = 1};
  for (trs_scalar scalar = TRS_FLOAT; scalar <= TRS_DCOMPLEX; scalar++) {
    both_sides s = supernodes(scalar);
    trs_plan *plan = analyze(&s, s.there, TRS_NO_TRANS, &options);
    const double weak = 0x1p-30;
    need_cut(&s, plan, false);
    scale_pivots(&s, weak);
    assert_success(trs_update(plan, s.there));
    need_cut(&s, plan, true);
    trs_plan_destroy(plan);
    plan = analyze(&s, s.there, TRS_NO_TRANS, &options);
    need_cut(&s, plan, true);
    scale_pivots(&s, 1 / weak);
    assert_success(trs_update(plan, s.there));
    need_cut(&s, plan, true); /* the cut stays */
    trs_plan_destroy(plan);
    both_sides_free(&s);
  }
}

/* ---- Facts ---- */

TEST(a_context_tells_of_its_gpu) {
  const trs_device_facts *facts = trs_device_look(gpu);
  int rank = -1, number = -1;
  assert_int_equal(trs_context_get_kind(gpu_context, &number), TRS_KIND_GPU);
  assert_int_equal(number, 1);
  assert_int_equal(trs_context_gpu(gpu_context, 0), facts->ordinal);
  assert_int_equal(trs_context_gpu(gpu_context, 1), -1);
  assert_true(trs_context_gpu_memory(gpu_context) == facts->memory_bytes);
  assert_int_equal(trs_context_processes(gpu_context, &rank), 1);
  assert_int_equal(rank, 0);
}

TEST(a_plan_tells_of_its_gpu) {
  both_sides s = random_system(3000, 0.002, TRS_DOUBLE, 3);
  trs_context *cpu;
  trs_plan *plan, *expected;
  trs_plan_info info = {.struct_size = sizeof info}, other = {.struct_size = sizeof other};
  int64_t *rows, *rows_expected, levels, levels_expected;
  double bound, again;
  assert_success(trs_context_create(&cpu, "serial"));
  assert_success(trs_analyze(&expected, cpu, s.here, s.uplo, TRS_NO_TRANS, TRS_NONUNIT, NULL));
  assert_success(trs_plan_get_info(expected, &other));
  assert_success(trs_plan_get_levels(expected, &rows_expected, &levels_expected));
  for (int side = 0; side < 2; side++) {
    plan = analyze(&s, side ? s.there : s.here, TRS_NO_TRANS, NULL);
    assert_success(trs_plan_get_info(plan, &info));
    assert_string_equal(info.backend, "cuda");
    assert_non_null(info.device);
    assert_non_null(strstr(trs_device_list(), info.device));
    assert_true(info.plan_bytes > 0);
    assert_int_equal(info.levels, other.levels);
    assert_int_equal(info.max_parallelism, other.max_parallelism);
    assert_int_equal(info.solve_bytes, other.solve_bytes);
    assert_success(trs_plan_get_levels(plan, &rows, &levels));
    assert_int_equal(levels, levels_expected);
    assert_memory_equal(rows, rows_expected, (size_t)levels * sizeof *rows);
    trs_free(rows);
    assert_success(trs_plan_bound(plan, &bound));
    assert_true(bound > (double)levels * 20e-9 && bound < (double)levels * 5e-6);
    assert_success(trs_plan_bound(plan, &again));
    assert_true(bound == again);
    trs_plan_destroy(plan);
  }
  trs_free(rows_expected);
  trs_plan_destroy(expected);
  trs_context_destroy(cpu);
  both_sides_free(&s);
}

TEST(a_plan_there_outlives_matrix_and_context) {
  both_sides s = random_system(500, 0.02, TRS_DOUBLE, 3);
  trs_context *own;
  trs_plan *plan;
  double b[500], x[500];
  trs_random_fill(b, 500, TRS_DOUBLE, 3);
  assert_success(trs_context_create(&own, "cuda:0"));
  assert_success(trs_analyze(&plan, own, s.there, s.uplo, TRS_NO_TRANS, TRS_NONUNIT, NULL));
  trs_context_destroy(own);
  trs_matrix_destroy(s.there);
  s.there = NULL;
  assert_success(trs_solve(plan, x, 500, b, 500, 1, TRS_COL_MAJOR));
  gpu_judge(&s, TRS_NO_TRANS, x, b, 1);
  trs_plan_destroy(plan);
  both_sides_free(&s);
}

/* ---- Memory ---- */

TEST(too_little_memory_is_told_and_given_back) {
  both_sides s = random_system(2000, 0.01, TRS_DOUBLE, 3);
  for (int c = 0; c < 2 * NMETHODS; c++) {
    trs_options options = {.struct_size = sizeof(trs_options), .method = methods[c / 2]};
    int64_t before = gpu_held(), host_before, host_after, peak, step = 4096;
    trs_memory_usage(&host_before, &peak);
    for (int64_t allowed = 1;; allowed += step) {
      trs_plan *plan = NULL;
      trs_device_limit(gpu, before + allowed);
      trs_status status = trs_analyze(&plan, gpu_context, c % 2 ? s.there : s.here, s.uplo,
                                      TRS_TRANS, TRS_NONUNIT, &options);
      trs_device_limit(gpu, 0);
      trs_plan_destroy(plan);
      assert_int_equal(gpu_held(), before);
      trs_memory_usage(&host_after, &peak);
      assert_int_equal(host_after, host_before);
      if (status != TRS_ERROR_MEMORY) {
        if (status != TRS_ERROR_UNSUPPORTED) assert_success(status);
        break;
      }
      assert_null(plan);
      step += step / 8;
    }
  }
  both_sides_free(&s);
}

TEST(no_room_for_right_hand_sides) {
  both_sides s = random_system(2000, 0.01, TRS_DOUBLE, 3);
  trs_plan *plan = analyze(&s, s.there, TRS_NO_TRANS, NULL);
  int64_t n = s.t.n, nrhs = 50;
  double *b = random_values(n * nrhs, TRS_DOUBLE, 3), *x = malloc((size_t)(n * nrhs) * sizeof *x);
  trs_device_limit(gpu, gpu_held() + 1000);
  trs_status status = trs_solve(plan, x, n, b, n, nrhs, TRS_COL_MAJOR);
  trs_device_limit(gpu, 0);
  assert_int_equal(status, TRS_ERROR_MEMORY);
  assert_success(trs_solve(plan, x, n, b, n, nrhs, TRS_COL_MAJOR));
  gpu_judge(&s, TRS_NO_TRANS, x, b, nrhs);
  free(b);
  free(x);
  trs_plan_destroy(plan);
  both_sides_free(&s);
}

TEST(nothing_is_left_behind) {
  both_sides s = random_system(1000, 0.01, TRS_DOUBLE, 3);
  double *b = random_values(1000, TRS_DOUBLE, 3), *x = malloc(1000 * sizeof *x);
  for (int m = 0; m < NMETHODS; m++) {
    int64_t before = gpu_held();
    for (int k = 0; k < 20; k++) {
      trs_options options = {.struct_size = sizeof(trs_options), .method = methods[m]};
      trs_plan *plan;
      trs_status status = trs_analyze(&plan, gpu_context, k % 2 ? s.there : s.here, s.uplo,
                                      k % 3 ? TRS_TRANS : TRS_NO_TRANS, TRS_NONUNIT, &options);
      if (status == TRS_ERROR_UNSUPPORTED) break;
      assert_success(status);
      assert_success(trs_solve(plan, x, 1000, b, 1000, 1, TRS_COL_MAJOR));
      assert_success(trs_update(plan, k % 2 ? s.there : s.here));
      trs_plan_destroy(plan);
    }
    assert_int_equal(gpu_held(), before);
  }
  free(b);
  free(x);
  both_sides_free(&s);
}

/* ---- NaN and infinity ---- */

static bool same_kind(double a, double b) {
  return isnan(a) ? isnan(b) : isinf(a) ? a == b : isfinite(b);
}

/* x of a plan is NaN, infinite and finite in the rows where that of serial is. */
static void same_kinds(const both_sides *s, const double *b, trs_trans trans) {
  int64_t n = s->t.n;
  trs_context *cpu;
  trs_plan *plan;
  double *expected = malloc((size_t)n * sizeof *expected), *x = malloc((size_t)n * sizeof *x);
  assert_success(trs_context_create(&cpu, "serial"));
  assert_success(trs_analyze(&plan, cpu, s->here, s->uplo, trans, TRS_NONUNIT, NULL));
  assert_success(trs_solve(plan, expected, n, b, n, 1, TRS_COL_MAJOR));
  trs_plan_destroy(plan);
  for (int m = 0; m < NMETHODS; m++) {
    trs_options options = {.struct_size = sizeof(trs_options), .method = methods[m]};
    trs_status status =
        trs_analyze(&plan, gpu_context, s->here, s->uplo, trans, TRS_NONUNIT, &options);
    if (status == TRS_ERROR_UNSUPPORTED) continue;
    assert_success(status);
    assert_success(trs_solve(plan, x, n, b, n, 1, TRS_COL_MAJOR));
    for (int64_t i = 0; i < n && m < NO_ZEROS; i++)
      if (!same_kind(x[i], expected[i]))
        fail_msg("%s: x[%lld] = %g, serial has %g", methods[m] ? methods[m] : "auto", (long long)i,
                 x[i], expected[i]);
    trs_plan_destroy(plan);
  }
  trs_context_destroy(cpu);
  free(expected);
  free(x);
}

static void set_bits(double *value, uint64_t bits) { memcpy(value, &bits, sizeof bits); }

TEST(nan_and_infinity_in_the_right_hand_side) {
  /* quiet, negative, all ones, with payloads, signalling: a kernel may use one for "not yet" */
  static const uint64_t payloads[] = {0x7ff8000000000000, 0xfff8000000000000, 0xffffffffffffffff,
                                      0x7fffffffffffffff, 0x7ff8000000000001, 0x7ff4dead0badf00d,
                                      0xfff0000000000001, 0x7ffc0ffee0ddba11};
  both_sides s = random_system(1000, 0.003, TRS_DOUBLE, 3);
  double *b = random_values(1000, TRS_DOUBLE, 3);
  for (size_t k = 0; k < COUNT(payloads); k++) {
    for (int64_t i = 0; i < 1000; i++)
      if (i % 3 == 0) set_bits(&b[i], payloads[k]);
    same_kinds(&s, b, k % 2 ? TRS_TRANS : TRS_NO_TRANS);
  }
  for (int64_t i = 0; i < 1000; i++) set_bits(&b[i], payloads[2]);
  same_kinds(&s, b, TRS_NO_TRANS);
  trs_random_fill(b, 1000, TRS_DOUBLE, 3);
  b[17] = INFINITY, b[400] = -INFINITY, b[401] = NAN;
  same_kinds(&s, b, TRS_NO_TRANS);
  same_kinds(&s, b, TRS_TRANS);
  free(b);
  both_sides_free(&s);
}

TEST(nan_and_infinity_in_the_matrix) {
  both_sides s = random_system(1000, 0.003, TRS_DOUBLE, 3);
  double *val = s.t.val, *b = random_values(1000, TRS_DOUBLE, 3);
  int placed = 0;
  for (int64_t i = 300; i < 1000 && placed < 3; i += 100)
    if (s.t.ptr[i + 1] - s.t.ptr[i] > 1)
      val[s.t.ptr[i]] = placed == 0 ? NAN : placed == 1 ? INFINITY : -INFINITY, placed++;
  assert_int_equal(placed, 3);
  same_kinds(&s, b, TRS_NO_TRANS);
  same_kinds(&s, b, TRS_TRANS);
  free(b);
  both_sides_free(&s);
}

/* ---- Systems that hang a naive kernel ---- */

/* The columns before the diagonal of row i of n, ascending; returns their number. */
typedef int64_t (*row_pattern)(int64_t i, int64_t n, int32_t *columns);

static int64_t neighbour(int64_t i, int64_t n, int32_t *columns) {
  (void)n;
  columns[0] = (int32_t)(i - 1);
  return i > 0;
}
static int64_t neighbour_in_the_warp(int64_t i, int64_t n, int32_t *columns) {
  (void)n;
  columns[0] = (int32_t)(i - 1);
  return i % 32 != 0;
}
static int64_t across_warps(int64_t i, int64_t n, int32_t *columns) {
  (void)n;
  int64_t count = 0;
  if (i >= 33) columns[count++] = (int32_t)(i - 33);
  if (i >= 31) columns[count++] = (int32_t)(i - 31);
  return count;
}
static int64_t long_row_last(int64_t i, int64_t n, int32_t *columns) {
  int64_t count = i == n - 1 ? n - 1 : 0;
  for (int64_t j = 0; j < count; j++) columns[j] = (int32_t)j;
  return count;
}
static int64_t long_column_first(int64_t i, int64_t n, int32_t *columns) {
  (void)n;
  columns[0] = 0;
  return i > 0;
}
static int64_t long_rows_between_chains(int64_t i, int64_t n, int32_t *columns) {
  int64_t count = i > 0 && i % 1000 == 0 ? (i < 2000 ? i : 2000) : 0;
  for (int64_t j = 0; j < count; j++) columns[j] = (int32_t)(i - count + j);
  return count ? count : neighbour(i, n, columns);
}
static int64_t dense_end(int64_t i, int64_t n, int32_t *columns) {
  int64_t first = n - 400, count = i > first ? i - first : 0;
  for (int64_t j = 0; j < count; j++) columns[j] = (int32_t)(first + j);
  return count;
}

static triangle triangle_of(row_pattern pattern, int64_t n) {
  triangle t = {.n = n};
  int32_t *columns = malloc((size_t)(n + 2) * sizeof *columns);
  t.ptr = malloc((size_t)(n + 1) * sizeof *t.ptr);
  t.ptr[0] = 0;
  for (int64_t i = 0; i < n; i++) t.ptr[i + 1] = t.ptr[i] + pattern(i, n, columns) + 1;
  t.idx = malloc((size_t)t.ptr[n] * sizeof *t.idx);
  double *val = t.val = malloc((size_t)t.ptr[n] * sizeof *val);
  trs_random_fill(val, t.ptr[n], TRS_DOUBLE, 3);
  for (int64_t i = 0; i < n; i++) {
    int64_t count = pattern(i, n, columns), last = t.ptr[i + 1] - 1;
    if (count) memcpy(&t.idx[t.ptr[i]], columns, (size_t)count * sizeof *columns);
    t.idx[last] = (int32_t)i;
    val[last] += val[last] < 0 ? -2 : 2;
  }
  free(columns);
  return t;
}

/* By rows and by columns, forward and backward, by every method. */
static void solve_every_way(row_pattern pattern, int64_t n, int methods_tried) {
  for (int c = 0; c < 4; c++) {
    both_sides s = both_sides_of(triangle_of(pattern, n), c % 2 ? TRS_CSC : TRS_CSR, TRS_DOUBLE);
    trs_trans trans = c / 2 ? TRS_TRANS : TRS_NO_TRANS;
    double *b = random_values(n, TRS_DOUBLE, 5), *x = malloc((size_t)n * sizeof *x);
    for (int m = 0; m < methods_tried; m++) {
      trs_options options = {.struct_size = sizeof(trs_options), .method = methods[m]};
      trs_plan *plan;
      trs_status status =
          trs_analyze(&plan, gpu_context, s.there, s.uplo, trans, TRS_NONUNIT, &options);
      if (status == TRS_ERROR_UNSUPPORTED) continue;
      assert_success(status);
      assert_success(trs_solve(plan, x, n, b, n, 1, TRS_COL_MAJOR));
      gpu_judge(&s, trans, x, b, 1);
      trs_plan_destroy(plan);
    }
    free(b);
    free(x);
    both_sides_free(&s);
  }
}

TEST(nothing_hangs) {
  solve_every_way(neighbour, 5000, NMETHODS);
  solve_every_way(neighbour_in_the_warp, 10000, NMETHODS);
  solve_every_way(across_warps, 10000, NMETHODS);
  solve_every_way(long_row_last, 100001, NMETHODS);
  solve_every_way(long_column_first, 100001, NMETHODS);
  solve_every_way(long_rows_between_chains, 7001, NMETHODS);
  solve_every_way(dense_end, 2000, NMETHODS);
}

TEST(sizes_around_the_limits_of_warps_and_blocks) {
  static const int64_t sizes[] = {1,   2,   31,  32,  33,  63,   64,   65,   127,  128, 129,
                                  255, 256, 257, 511, 513, 1023, 1024, 1025, 2047, 2049};
  for (size_t k = 0; k < COUNT(sizes); k++) {
    solve_every_way(neighbour_in_the_warp, sizes[k], NMETHODS);
    solve_every_way(across_warps, sizes[k], NMETHODS);
  }
}

/* Each row depends on the row half way to the start: few levels, more rows than a grid has
 * blocks. */
static int64_t half_way(int64_t i, int64_t n, int32_t *columns) {
  (void)n;
  columns[0] = (int32_t)(i / 2);
  return i > 0;
}

TEST(more_rows_than_65535_blocks_of_256) {
  int64_t n = (int64_t)65535 * 256 + 300;
  both_sides s = both_sides_of(triangle_of(half_way, n), TRS_CSR, TRS_DOUBLE);
  double *b = random_values(n, TRS_DOUBLE, 5), *x = malloc((size_t)n * sizeof *x);
  for (int c = 0; c < 2; c++) {
    trs_trans trans = c ? TRS_TRANS : TRS_NO_TRANS;
    trs_plan *plan = analyze(&s, s.there, trans, NULL);
    assert_success(trs_solve(plan, x, n, b, n, 1, TRS_COL_MAJOR));
    gpu_judge(&s, trans, x, b, 1);
    trs_plan_destroy(plan);
  }
  free(b);
  free(x);
  both_sides_free(&s);
}

/* ---- Many solves, and solves beside other work ---- */

TEST(a_thousand_solves_have_the_same_bits) {
  enum { N = 20000, SOLVES = 1000, NRHS = 3 };
  both_sides s =
      both_sides_of(triangle_random(N, 0.1, 60, true, TRS_DOUBLE, false, 3), TRS_CSR, TRS_DOUBLE);
  size_t bytes = (size_t)N * NRHS * sizeof(double);
  double *b = random_values((int64_t)N * NRHS, TRS_DOUBLE, 5), *x = malloc(bytes);
  double *first = malloc(bytes);
  void *b_there = gpu_upload(b, bytes), *x_there = gpu_space(bytes);
  for (int c = 0; c < 2 * SAME_BITS; c++) {
    int64_t nrhs = c % 2 ? NRHS : 1;
    size_t used = (size_t)(N * nrhs) * sizeof(double);
    trs_plan *plan = analyze(
        &s, s.there, TRS_NO_TRANS,
        &(trs_options){.struct_size = sizeof(trs_options), .method = methods[c / 2], .nrhs = nrhs});
    assert_success(trs_solve(plan, first, N, b, N, nrhs, TRS_COL_MAJOR));
    gpu_judge(&s, TRS_NO_TRANS, first, b, nrhs);
    for (int k = 0; k < SOLVES; k++) {
      assert_success(trs_device_fill(x_there, k, (int64_t)used, NULL));
      gpu_solve(plan, x, x_there, b_there, N, nrhs, used);
      assert_memory_equal(x, first, used);
    }
    trs_plan_destroy(plan);
  }
  gpu_free(b_there);
  gpu_free(x_there);
  free(b);
  free(x);
  free(first);
  both_sides_free(&s);
}

/* Another kernel occupies a part, nearly all, or all of the multiprocessors during solves. */
TEST(a_busy_gpu_changes_nothing) {
  enum { N = 30000, SOLVES = 10 };
  static const int shares[] = {1, 3, 4, 7, 8}; /* eighths of the threads */
  const trs_device_facts *facts = trs_device_look(gpu);
  both_sides s =
      both_sides_of(triangle_random(N, 0.1, 60, true, TRS_DOUBLE, false, 3), TRS_CSR, TRS_DOUBLE);
  size_t bytes = (size_t)N * sizeof(double);
  double *b = random_values(N, TRS_DOUBLE, 5), *x = malloc(bytes), *first = malloc(bytes);
  void *b_there = gpu_upload(b, bytes), *x_there = gpu_space(bytes);
  cudaStream_t own, busy;
  own = gpu_stream();
  busy = gpu_stream();
  for (int m = 0; m < NMETHODS; m++) {
    trs_options options = {.struct_size = sizeof(trs_options), .method = methods[m], .stream = own};
    trs_plan *plan;
    trs_status status =
        trs_analyze(&plan, gpu_context, s.there, s.uplo, TRS_NO_TRANS, TRS_NONUNIT, &options);
    if (status == TRS_ERROR_UNSUPPORTED) continue;
    assert_success(status);
    assert_success(trs_solve(plan, first, N, b, N, 1, TRS_COL_MAJOR));
    for (size_t k = 0; k < COUNT(shares); k++) {
      int threads = facts->threads_per_multiprocessor / 8;
      assert_int_equal(hog_start(facts->multiprocessors * shares[k], threads, 50000000, busy), 0);
      for (int again = 0; again < SOLVES; again++)
        assert_success(trs_solve(plan, x_there, N, b_there, N, 1, TRS_COL_MAJOR));
      assert_success(trs_plan_wait(plan));
      gpu_fetch(x, x_there, bytes);
      gpu_judge(&s, TRS_NO_TRANS, x, b, 1);
      if (m < SAME_BITS) assert_memory_equal(x, first, bytes);
      assert_int_equal(cudaStreamSynchronize(busy), 0);
    }
    trs_plan_destroy(plan);
  }
  gpu_stream_free(own);
  gpu_stream_free(busy);
  gpu_free(b_there);
  gpu_free(x_there);
  free(b);
  free(x);
  free(first);
  both_sides_free(&s);
}

/* ---- A deliberately broken plan ---- */

/* The rows of the first slice, of a warp-per-slice launch, never become ready. */
static void break_plan(trs_plan *plan) {
  trs_engine *e = plan->state;
  const trs_engine_candidate *first = &e->sweep.c;
  trs_slice slice;
  gpu_wait_less(plan);
  assert_success(trs_device_copy(&slice, first->slices.slice, sizeof slice, plan->stream));
  assert_success(trs_device_wait(plan->stream));
  slice.rows = 0;
  assert_success(trs_device_copy(first->slices.slice, &slice, sizeof slice, plan->stream));
  assert_success(trs_device_wait(plan->stream));
}

TEST(a_stalled_solve_is_told_of) {
  both_sides s = random_system(2000, 0.01, TRS_DOUBLE, 3);
  int64_t n = s.t.n;
  double *b = random_values(n, TRS_DOUBLE, 3), *x = malloc((size_t)n * sizeof *x);
  void *b_there = gpu_upload(b, (size_t)n * sizeof *b), *x_there = gpu_space((size_t)n * sizeof *x);
  for (int there = 0; there < 2; there++) {
    trs_options options = {.struct_size = sizeof(trs_options),
                           .method = "engine:launch-ranges=warp-per-slice"};
    trs_plan *plan = analyze(&s, s.there, TRS_NO_TRANS, &options);
    break_plan(plan);
    if (there) {
      assert_success(trs_solve(plan, x_there, n, b_there, n, 1, TRS_COL_MAJOR));
      assert_failure(TRS_ERROR_STALLED, "waited more than", trs_plan_wait(plan));
    } else {
      assert_failure(TRS_ERROR_STALLED, "waited more than",
                     trs_solve(plan, x, n, b, n, 1, TRS_COL_MAJOR));
    }
    assert_true(trs_last_error()->row >= 0 && trs_last_error()->row < n);
    assert_int_equal(trs_solve(plan, x, n, b, n, 1, TRS_COL_MAJOR), TRS_ERROR_STALLED);
    trs_plan_destroy(plan);
  }
  trs_plan *plan = analyze(&s, s.there, TRS_NO_TRANS,
                           &(trs_options){.struct_size = sizeof(trs_options), .method = "engine"});
  assert_success(trs_solve(plan, x, n, b, n, 1, TRS_COL_MAJOR));
  gpu_judge(&s, TRS_NO_TRANS, x, b, 1);
  trs_plan_destroy(plan);
  gpu_free(b_there);
  gpu_free(x_there);
  free(b);
  free(x);
  both_sides_free(&s);
}

const test_program program = {.end = gpu_stop, .lacks = gpu_lacks};
