/* pull.c - the method without analysis with every number of lanes: sizes around warps and blocks,
 * rows of one warp that depend on each other, NaN with all bits set, graphs, a dependency that
 * never comes.  Types, formats and layouts in every combination are in api/conformance.c. */
#include <math.h>

#include "device/gpu.h"
#include "base/scalar.h"
#include "gpu.h"
#include "test.h"

static const char *const choices[] = {"pull", "pull:lanes=1", "pull:lanes=4", "pull:lanes=8",
                                      "pull:lanes=32"};

static both_sides make_system(int64_t n, double density, int64_t band, int c) {
  trs_scalar scalar = (trs_scalar)(TRS_FLOAT + c % 4);
  triangle t = triangle_random(n, density, band, true, scalar, false, 21);
  return both_sides_of(t, (trs_format)(c / 4 % 2), scalar);
}

static trs_plan *analyze(const both_sides *s, const trs_matrix *A, trs_trans trans,
                         const char *method, trs_options options) {
  trs_plan *plan;
  options.method = method;
  assert_success(trs_analyze(&plan, gpu_context, A, s->uplo, trans, TRS_NONUNIT, &options));
  return plan;
}

/* On the host, then in place on the device: the same bits. */
static void solve_and_judge(const both_sides *s, trs_plan *plan, trs_trans trans, int64_t nrhs) {
  int64_t n = s->t.n, elements = n * nrhs;
  size_t bytes = (size_t)elements * scalar_bytes(s->scalar);
  void *b = malloc(bytes), *x = malloc(bytes), *again = malloc(bytes);
  trs_random_fill(b, elements, s->scalar, 22);
  assert_success(trs_solve(plan, x, n, b, n, nrhs, TRS_COL_MAJOR));
  gpu_judge(s, trans, x, b, nrhs);
  void *there = gpu_upload(b, bytes);
  gpu_solve(plan, again, there, there, n, nrhs, bytes);
  assert_memory_equal(again, x, bytes);
  gpu_free(there);
  free(b);
  free(x);
  free(again);
}

static void one_system(both_sides s, int c) {
  trs_trans trans = (trs_trans)(c % 3);
  for (size_t m = 0; m < COUNT(choices); m++) {
    trs_plan *plan = analyze(&s, c % 2 ? s.there : s.here, trans, choices[m],
                             (trs_options){.struct_size = sizeof(trs_options), .nrhs = 2});
    solve_and_judge(&s, plan, trans, 1 + c % 2);
    trs_plan_destroy(plan);
  }
  both_sides_free(&s);
}

/* Chains and dense triangles: every row waits for the lanes just before its own. */
TEST(sizes_around_warps_and_blocks) {
  static const int64_t sizes[] = {1, 2, 7, 8, 9, 31, 32, 33, 63, 65, 255, 256, 257, 511, 513};
  int64_t before = gpu_held();
  int c = 0;
  for (size_t k = 0; k < COUNT(sizes); k++)
    for (int way = 0; way < 2; way++) {
      int64_t n = sizes[k];
      one_system(make_system(n, 1, 1, c), c), c++;
      one_system(make_system(n, 1, n, c), c), c++;
      one_system(make_system(n, 0.1, n, c), c), c++;
      one_system(make_system(n, 0, 1, c), c), c++;
    }
  assert_int_equal(gpu_held(), before);
}

TEST(long_chains) {
  for (int c = 0; c < 6; c++) one_system(make_system(20011, 1, c < 3 ? 1 : 3, c), c);
}

/* With 32 lanes per row. */
TEST(more_blocks_than_sixteen_bits_count) {
  for (int c = 0; c < 2; c++) one_system(make_system(70000 * 8, 0.4, 6, c), c);
}

TEST(lanes_follow_the_mean_row) {
  static const struct {
    int64_t band;
    const char *words;
  } cases[] = {{1, ", 1 lane a row"}, {6, ", 4 lanes"}, {24, ", 8 lanes"}, {60, ", 32 lanes"}};
  for (size_t k = 0; k < COUNT(cases); k++) {
    both_sides s = make_system(1000, 1, cases[k].band, 1);
    trs_plan *plan = analyze(&s, s.here, TRS_NO_TRANS, "pull",
                             (trs_options){.struct_size = sizeof(trs_options)});
    char text[512];
    trs_plan_describe(plan, text, sizeof text);
    if (!strstr(text, cases[k].words)) fail_msg("\"%s\" lacks \"%s\"", text, cases[k].words);
    trs_plan_destroy(plan);
    both_sides_free(&s);
  }
}

TEST(wrong_lanes_are_refused) {
  both_sides s = make_system(50, 1, 1, 1);
  trs_options options = {.struct_size = sizeof(trs_options), .method = "pull:lanes=2"};
  trs_plan *plan;
  assert_failure(
      TRS_ERROR_ARGUMENT, "it takes auto, 1, 4, 8, 32",
      trs_analyze(&plan, gpu_context, s.here, s.uplo, TRS_NO_TRANS, TRS_NONUNIT, &options));
  assert_null(plan);
  both_sides_free(&s);
}

/* The user gives the bits that mean pending: no row waits for ever, and NaN spreads as in
 * substitution. */
TEST(nan_with_all_bits_set) {
  enum { N = 300, FROM = 77 };
  for (int scalar = TRS_FLOAT; scalar <= TRS_DCOMPLEX; scalar++) {
    both_sides s = make_system(N, 1, 1, scalar - TRS_FLOAT); /* a chain */
    size_t size = scalar_bytes(s.scalar), parts = trs_scalar_is_complex(s.scalar) ? 2 : 1;
    char *b = malloc(N * size), *x = malloc(N * size);
    trs_random_fill(b, N, s.scalar, 22);
    memset(b + FROM * size, 0xff, size);
    for (size_t m = 0; m < COUNT(choices); m++) {
      trs_plan *plan = analyze(&s, s.there, TRS_NO_TRANS, choices[m],
                               (trs_options){.struct_size = sizeof(trs_options)});
      assert_success(trs_solve(plan, x, N, b, N, 1, TRS_COL_MAJOR));
      for (size_t p = 0; p < N * parts; p++) {
        bool lost = trs_scalar_is_double(s.scalar) ? isnan(((double *)(void *)x)[p])
                                                   : isnan(((float *)(void *)x)[p]);
        assert_int_equal(lost, p / parts >= FROM);
      }
      trs_plan_destroy(plan);
    }
    free(b);
    free(x);
    both_sides_free(&s);
  }
}

TEST(new_values) {
  for (int c = 0; c < 6; c++) {
    trs_trans trans = (trs_trans)(c % 3);
    both_sides s = make_system(400, 0.1, 400, TRS_DOUBLE - TRS_FLOAT);
    trs_plan *plan = analyze(&s, c % 2 ? s.there : s.here, trans, "pull",
                             (trs_options){.struct_size = sizeof(trs_options)});
    int64_t nnz = s.t.ptr[s.t.n];
    for (int64_t p = 0; p < nnz; p++) ((double *)s.t.val)[p] *= 0.75;
    assert_success(trs_device_copy(s.val, s.t.val, nnz * (int64_t)sizeof(double), NULL));
    assert_success(trs_update(plan, c % 2 ? s.there : s.here));
    solve_and_judge(&s, plan, trans, 1);
    trs_plan_destroy(plan);
    both_sides_free(&s);
  }
}

/* Each replay, and each right-hand side in it, finds x pending and the ticket at its beginning. */
TEST(solves_become_a_graph) {
  enum { N = 3001, NRHS = 3 };
  static double b[N * NRHS], x[N * NRHS];
  both_sides s = make_system(N, 0.002, N, TRS_DOUBLE - TRS_FLOAT);
  void *there = gpu_space(sizeof b);
  trs_stream stream = gpu_stream();
  trs_plan *plan = analyze(&s, s.there, TRS_NO_TRANS, "pull",
                           (trs_options){.struct_size = sizeof(trs_options), .stream = stream});
  gpu_graph graph = gpu_capture_solve(plan, there, N, NRHS, stream);
  for (uint64_t seed = 0; seed < 3; seed++) {
    trs_random_fill(b, N * NRHS, TRS_DOUBLE, seed);
    assert_success(trs_device_copy(there, b, sizeof b, stream));
    gpu_replay(graph, stream);
    assert_success(trs_plan_wait(plan));
    gpu_fetch(x, there, sizeof b);
    gpu_judge(&s, TRS_NO_TRANS, x, b, NRHS);
  }
  gpu_graph_free(graph);
  trs_plan_destroy(plan);
  gpu_stream_free(stream);
  gpu_free(there);
  both_sides_free(&s);
}

/* Row 1 of a chain then waits for itself. */
TEST(a_dependency_that_never_comes) {
  enum { N = 2000 };
  static double b[N], x[N];
  if (TRS_HAVE_HIP)
    skip_test("a build with HIP reads a copy of the matrix, which nobody can spoil");
  both_sides s = make_system(N, 1, 1, TRS_DOUBLE - TRS_FLOAT);
  trs_random_fill(b, N, TRS_DOUBLE, 22);
  for (size_t m = 0; m < COUNT(choices); m++) {
    int32_t itself = 1, *entry = (int32_t *)s.idx + s.t.ptr[1];
    trs_plan *plan = analyze(&s, s.there, TRS_NO_TRANS, choices[m],
                             (trs_options){.struct_size = sizeof(trs_options)});
    gpu_wait_less(plan);
    assert_success(trs_device_copy(entry, &itself, sizeof itself, NULL));
    assert_failure(TRS_ERROR_STALLED, "waited more than",
                   trs_solve(plan, x, N, b, N, 1, TRS_COL_MAJOR));
    assert_in_range(trs_last_error()->row, 1, N - 1);
    trs_plan_destroy(plan);
    assert_success(trs_device_copy(entry, &s.t.idx[s.t.ptr[1]], sizeof itself, NULL));
    plan = analyze(&s, s.there, TRS_NO_TRANS, choices[m],
                   (trs_options){.struct_size = sizeof(trs_options)});
    assert_success(trs_solve(plan, x, N, b, N, 1, TRS_COL_MAJOR));
    gpu_judge(&s, TRS_NO_TRANS, x, b, 1);
    trs_plan_destroy(plan);
  }
  both_sides_free(&s);
}

const test_program program = {.end = gpu_stop, .lacks = gpu_lacks};
