/* cuda.c - relaxation on a GPU against the CPU's serial sweep: every variant, storage and block
 * size; the same bits in every run; streams, graphs, memory of either side, and failures. */
#include <math.h>
#include <stdbool.h>

#include "device/gpu.h"
#include "api/hog.h"
#include "bsr.h"
#include "gpu.h"
#include "relax/blocks.h"
#include "test.h"

static trs_context *serial;

static int start(void **state) { return trs_context_create(&serial, "serial"); }

static int stop(void **state) {
  trs_context_destroy(serial);
  return gpu_stop(state);
}

static const char *const more_variants[] = {"slices:warps=1", /* many slices per warp */
                                            "slices:warps=1,stages=5",
                                            "slices:warps=1,stages=12", /* a ring longer than some
                                                                           rows */
                                            "slices:warps=20", "auto"};
enum { VARIANTS = BLOCKS_VARIANTS + COUNT(more_variants), NRHS = 3 };

static const char *variant_at(int k) {
  return k < BLOCKS_VARIANTS ? blocks_variants[k] : more_variants[k - BLOCKS_VARIANTS];
}

static bool takes(const char *variant, int b) {
  return strncmp(variant, "slices", 6) != 0 || b <= 8;
}

static trs_status create(trs_context *ctx, trs_plan **R, const blocks *A,
                         const trs_relax_options *options) {
  return trs_relax_create_bsr(
      R, ctx, BSR(TRS_DOUBLE, A->n, 0, A->b, TRS_ROW_MAJOR, TRS_PTR64, A->ptr, A->idx, A->val),
      options);
}

/* Rounding in another order: of sums in double or float, of x in float. */
static const double tolerance[] = {0, 2e-6, 1e-13, 2e-5, 2e-6, 2e-6};

static void assert_near(const double *x, const double *expected, int64_t count, double limit,
                        const char *what) {
  double most = 0, worst = 0;
  for (int64_t i = 0; i < count; i++) {
    most = fmax(most, fabs(expected[i]));
    if (!(fabs(x[i] - expected[i]) <= worst)) worst = fabs(x[i] - expected[i]);
  }
  if (!(worst <= limit * most)) fail_msg("%s: error %g of %g", what, worst, most);
}

/* The data of a case; `begin` is the start of x. */
typedef struct vectors {
  int64_t count;
  double *b, *begin, *expected, *x, *again;
} vectors;

static vectors vectors_make(int64_t count) {
  vectors v = {.count = count};
  double **const all[] = {&v.b, &v.begin, &v.expected, &v.x, &v.again};
  for (int k = 0; k < 5; k++) *all[k] = malloc((size_t)(count + 1) * sizeof(double));
  trs_random_fill(v.b, count, TRS_DOUBLE, 5);
  trs_random_fill(v.begin, count, TRS_DOUBLE, 6);
  return v;
}

static void vectors_free(vectors *v) {
  double *const all[] = {v->b, v->begin, v->expected, v->x, v->again};
  for (int k = 0; k < 5; k++) free(all[k]);
}

static void sweep_from(trs_plan *R, vectors *v, double *x, int64_t n, int64_t nrhs,
                       const trs_sweep_options *o) {
  memcpy(x, v->begin, (size_t)v->count * sizeof *x);
  assert_success(trs_relax_sweep(R, x, n, v->b, n, nrhs, TRS_COL_MAJOR, o));
}

/* All variants on one matrix.  `number` varies sweeps, direction, omega and start. */
static void check_variants(const blocks *A, trs_store store, int number) {
  int64_t n = A->n * A->b;
  trs_plan *R, *G;
  char what[128];
  trs_relax_options options = blocks_options(store, number);
  trs_sweep_options o = blocks_sweeps(number);
  vectors v = vectors_make(n * NRHS);
  assert_success(create(serial, &R, A, &options));
  sweep_from(R, &v, v.expected, n, NRHS, &o);
  trs_plan_destroy(R);
  for (int k = 0; k < VARIANTS; k++) {
    if (!takes(variant_at(k), A->b)) continue;
    options.variant = variant_at(k);
    assert_success(create(gpu_context, &G, A, &options));
    sweep_from(G, &v, v.x, n, NRHS, &o);
    snprintf(what, sizeof what, "block %d, store %d, case %d, %s", A->b, store, number,
             variant_at(k));
    assert_near(v.x, v.expected, v.count, tolerance[store], what);
    sweep_from(G, &v, v.again, n, NRHS, &o);
    assert_memory_equal(v.x, v.again, (size_t)v.count * sizeof *v.x);
    trs_plan_destroy(G);
  }
  vectors_free(&v);
}

TEST(every_variant_store_and_block_size) { blocks_every_size_and_store(300, check_variants); }

TEST(shapes_at_the_edge) { blocks_at_the_edge(check_variants); }

TEST(many_rows) {
  for (int b = 3; b <= 8; b++) {
    blocks A = blocks_random(20000, b, 16, 2, 77);
    check_variants(&A, TRS_STORE_MIXED, 2 * b);
    check_variants(&A, TRS_STORE_HALF, 2 * b + 1);
    blocks_free(&A);
  }
}

/* Rows that exceed every stage of shared memory, beside short ones. */
TEST(long_rows) {
  blocks A = blocks_random(400, 5, 300, 2, 3);
  for (int store = TRS_STORE_MIXED; store <= TRS_STORE_BFLOAT; store++)
    check_variants(&A, (trs_store)store, store);
  blocks_free(&A);
}

/* As many colours as rows. */
TEST(colours_of_one_row) {
  enum { N = 90 };
  blocks A = blocks_random(N, 4, 5, 2, 8);
  int32_t colour[N];
  for (int i = 0; i < N; i++) colour[i] = N - 1 - i;
  trs_relax_options options = {
      .struct_size = sizeof(trs_relax_options), .store = TRS_STORE_DOUBLE, .colour = colour};
  trs_sweep_options o = {
      .struct_size = sizeof(trs_sweep_options), .sweeps = 3, .direction = TRS_SWEEP_SYMMETRIC};
  trs_plan *R, *G;
  vectors v = vectors_make(4 * N);
  assert_success(create(serial, &R, &A, &options));
  sweep_from(R, &v, v.expected, 4 * N, 1, &o);
  for (int k = 0; k < VARIANTS; k++) {
    options.variant = variant_at(k);
    assert_success(create(gpu_context, &G, &A, &options));
    sweep_from(G, &v, v.x, 4 * N, 1, &o);
    assert_near(v.x, v.expected, 4 * N, 1e-13, variant_at(k));
    trs_plan_destroy(G);
  }
  trs_plan_destroy(R);
  vectors_free(&v);
  blocks_free(&A);
}

TEST(norms_are_those_of_the_cpu) {
  enum { CHECKS = 4, COLUMNS = 2 };
  blocks A = blocks_random(3000, 5, 12, 2, 9);
  int64_t n = A.n * 5;
  double expected[CHECKS * COLUMNS], norms[CHECKS * COLUMNS], *there;
  trs_plan *R, *G;
  trs_relax_options options = {.struct_size = sizeof(trs_relax_options), .store = TRS_STORE_MIXED};
  trs_sweep_options o = {.struct_size = sizeof(trs_sweep_options),
                         .sweeps = 7,
                         .residual_every = 2,
                         .residuals = expected};
  vectors v = vectors_make(n * COLUMNS);
  assert_success(create(serial, &R, &A, &options));
  assert_success(create(gpu_context, &G, &A, &options));
  sweep_from(R, &v, v.x, n, COLUMNS, &o);
  o.residuals = norms;
  sweep_from(G, &v, v.x, n, COLUMNS, &o);
  for (int k = 0; k < CHECKS * COLUMNS; k++)
    if (!(fabs(norms[k] - expected[k]) <= 1e-4 * expected[k] + 1e-6 * expected[k % COLUMNS]))
      fail_msg("norm %d: %g, %g expected", k, norms[k], expected[k]);
  there = gpu_space(sizeof norms);
  o.residuals = there;
  sweep_from(G, &v, v.again, n, COLUMNS, &o);
  gpu_fetch(expected, there, sizeof norms);
  assert_memory_equal(norms, expected, sizeof norms);
  assert_memory_equal(v.x, v.again, (size_t)v.count * sizeof *v.x);
  gpu_free(there);
  trs_plan_destroy(R);
  trs_plan_destroy(G);
  vectors_free(&v);
  blocks_free(&A);
}

/* Blocks, b and x in device memory, a stream of the caller's, and a graph replayed. */
TEST(device_memory_streams_and_graphs) {
  blocks A = blocks_random(2000, 5, 12, 2, 12);
  int64_t n = A.n * 5, count = A.ptr[A.n];
  vectors v = vectors_make(n);
  trs_relax_options options = {.struct_size = sizeof(trs_relax_options), .store = TRS_STORE_MIXED};
  trs_sweep_options o = {.struct_size = sizeof(trs_sweep_options), .sweeps = 4};
  trs_plan *R, *G;
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  void *ptr = gpu_upload(A.ptr, (size_t)(A.n + 1) * sizeof *A.ptr);
  void *idx = gpu_upload(A.idx, (size_t)count * sizeof *A.idx);
  void *val = gpu_upload(A.val, (size_t)count * 25 * sizeof *A.val);
  double *b = gpu_upload(v.b, (size_t)n * sizeof *b), *x = gpu_space((size_t)n * sizeof *x);
  assert_success(create(serial, &R, &A, &options));
  sweep_from(R, &v, v.expected, n, 1, &o);
  assert_int_equal(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  for (int k = 0; k < VARIANTS; k++) {
    options.variant = variant_at(k);
    assert_success(trs_relax_create_bsr(
        &G, gpu_context, BSR(TRS_DOUBLE, A.n, 0, 5, TRS_ROW_MAJOR, TRS_PTR64, ptr, idx, val),
        &options));
    assert_success(
        trs_update_bsr(G, BSR((trs_scalar)0, 0, 0, 0, TRS_ROW_MAJOR, TRS_PTR64, ptr, idx, val)));
    assert_success(trs_plan_set_stream(G, stream));
    assert_success(trs_relax_sweep(G, x, n, b, n, 1, TRS_COL_MAJOR, &o));
    assert_success(trs_plan_wait(G));
    gpu_fetch(v.x, x, (size_t)n * sizeof *x);
    assert_near(v.x, v.expected, n, 2e-6, variant_at(k));
    assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    assert_failure(TRS_ERROR_UNSUPPORTED, "captured",
                   trs_relax_sweep(G, v.x, n, b, n, 1, TRS_COL_MAJOR, &o));
    assert_success(trs_relax_sweep(G, x, n, b, n, 1, TRS_COL_MAJOR, &o));
    assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    assert_int_equal(cudaGraphInstantiate(&ready, graph, 0), cudaSuccess);
    for (int round = 0; round < 3; round++) {
      assert_int_equal(cudaMemset(x, 0, (size_t)n * sizeof *x), cudaSuccess);
      assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
      assert_int_equal(cudaGraphLaunch(ready, stream), cudaSuccess);
      assert_success(trs_plan_wait(G));
      gpu_fetch(v.again, x, (size_t)n * sizeof *x);
      assert_memory_equal(v.x, v.again, (size_t)n * sizeof *v.x);
    }
    assert_int_equal(cudaGraphExecDestroy(ready), cudaSuccess);
    assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
    trs_plan_destroy(G);
  }
  trs_plan_destroy(R);
  assert_int_equal(cudaStreamDestroy(stream), cudaSuccess);
  void *const device[] = {ptr, idx, val, b, x};
  for (int k = 0; k < 5; k++) gpu_free(device[k]);
  vectors_free(&v);
  blocks_free(&A);
}

/* An update on a stream uses values that the stream writes before it, after a slow kernel. */
static void check_update_behind(trs_context *ctx) {
  blocks A = blocks_random(500, 5, 7, 2, 31);
  int64_t n = A.n * 5, count = A.ptr[A.n];
  size_t bytes = (size_t)count * 25 * sizeof *A.val;
  vectors v = vectors_make(n);
  trs_sweep_options o = {.struct_size = sizeof(trs_sweep_options), .sweeps = 2};
  trs_plan *R, *G;
  cudaStream_t stream;
  void *ptr = gpu_upload(A.ptr, (size_t)(A.n + 1) * sizeof *A.ptr);
  void *idx = gpu_upload(A.idx, (size_t)count * sizeof *A.idx);
  void *val = gpu_upload(A.val, bytes);
  assert_success(trs_relax_create_bsr(
      &G, ctx, BSR(TRS_DOUBLE, A.n, 0, 5, TRS_ROW_MAJOR, TRS_PTR64, ptr, idx, val), NULL));
  for (int64_t e = 0; e < count * 25; e++) A.val[e] *= 2;
  void *fresh = gpu_upload(A.val, bytes);
  assert_success(create(serial, &R, &A, NULL));
  sweep_from(R, &v, v.expected, n, 1, &o);
  assert_int_equal(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  assert_success(trs_plan_set_stream(G, stream));
  assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
  assert_int_equal(hog_start(1, 32, 200000000, stream), 0);
  assert_int_equal(cudaMemcpyAsync(val, fresh, bytes, cudaMemcpyDefault, stream), cudaSuccess);
  assert_success(
      trs_update_bsr(G, BSR((trs_scalar)0, 0, 0, 0, TRS_ROW_MAJOR, TRS_PTR64, ptr, idx, val)));
  sweep_from(G, &v, v.x, n, 1, &o);
  assert_near(v.x, v.expected, n, 2e-6, "after an update behind a stream's work");
  trs_plan_destroy(R);
  trs_plan_destroy(G);
  assert_int_equal(cudaStreamDestroy(stream), cudaSuccess);
  void *const device[] = {ptr, idx, val, fresh};
  for (int k = 0; k < 4; k++) gpu_free(device[k]);
  vectors_free(&v);
  blocks_free(&A);
}

TEST(updates_follow_the_stream) {
  trs_context *group;
  check_update_behind(gpu_context);
  assert_success(trs_context_create(&group, "cuda:0,0"));
  check_update_behind(group);
  trs_context_destroy(group);
}

/* Row-major right-hand sides, and x in place of b. */
TEST(layouts) {
  blocks A = blocks_random(500, 3, 7, 2, 4);
  enum { N = 1500 };
  trs_plan *G;
  vectors v = vectors_make(2 * N);
  assert_success(create(gpu_context, &G, &A, NULL));
  assert_success(trs_relax_sweep(G, v.x, N, v.b, N, 2, TRS_COL_MAJOR, NULL));
  for (int i = 0; i < 2 * N; i++) v.again[i % N * 2 + i / N] = v.b[i];
  assert_success(trs_relax_sweep(G, v.again, 2, v.again, 2, 2, TRS_ROW_MAJOR, NULL));
  for (int i = 0; i < 2 * N; i++) assert_true(v.x[i] == v.again[i % N * 2 + i / N]);
  trs_plan_destroy(G);
  vectors_free(&v);
  blocks_free(&A);
}

/* NaN in b reaches x, and no sweep hangs. */
TEST(nan_goes_through) {
  blocks A = blocks_random(500, 5, 7, 2, 4);
  enum { N = 2500 };
  trs_plan *G, *R;
  vectors v = vectors_make(N);
  trs_sweep_options o = {.struct_size = sizeof(trs_sweep_options), .sweeps = 2};
  v.b[77] = NAN;
  v.b[1200] = INFINITY;
  assert_success(create(serial, &R, &A, NULL));
  assert_success(trs_relax_sweep(R, v.expected, N, v.b, N, 1, TRS_COL_MAJOR, &o));
  for (int k = 0; k < VARIANTS; k++) {
    const trs_relax_options how = {.struct_size = sizeof how, .variant = variant_at(k)};
    assert_success(create(gpu_context, &G, &A, &how));
    assert_success(trs_relax_sweep(G, v.x, N, v.b, N, 1, TRS_COL_MAJOR, &o));
    for (int i = 0; i < N; i++)
      if (isfinite(v.x[i]) != isfinite(v.expected[i]))
        fail_msg("%s: x[%d] is %g, %g expected", variant_at(k), i, v.x[i], v.expected[i]);
    trs_plan_destroy(G);
  }
  trs_plan_destroy(R);
  vectors_free(&v);
  blocks_free(&A);
}

/* x that floats cannot hold fails in the call that waits for it, once. */
TEST(x_outside_the_range_of_floats_is_refused) {
  static const struct {
    double value, b;
    const char *what; /* NULL: no loss */
  } cases[] = {{1, 1, NULL},
               {1, 1e60, "is beyond their range, for a largest |b| of 1e+60: scale b"},
               {1, 1e-60, "is below their range, for a largest |b| of 1e-60: scale b"},
               {1e-20, 1e-25 * 1e-20, "has products with A below their range"},
               {1, INFINITY, NULL}};
  enum { N = 900 };
  blocks A = blocks_random(N / 3, 3, 5, 2, 31);
  for (size_t k = 0; k < COUNT(cases); k++)
    for (int variant = 0; variant < VARIANTS; variant++)
      for (trs_store store = TRS_STORE_MIXED; store <= TRS_STORE_BFLOAT; store++) {
        trs_relax_options how = {
            .struct_size = sizeof how, .store = store, .variant = variant_at(variant), .nrhs = 2};
        const bool lost = cases[k].what && store != TRS_STORE_DOUBLE;
        blocks B = A;
        double b[2 * N] = {0}, x[2 * N];
        trs_plan *R;
        B.val = malloc((size_t)A.ptr[A.n] * 9 * sizeof *B.val);
        for (int64_t e = 0; e < A.ptr[A.n] * 9; e++) B.val[e] = A.val[e] * cases[k].value;
        for (int i = 0; i < N; i++)
          b[N + i] = cases[k].b; /* the second of two; the first is zero */
        assert_success(create(gpu_context, &R, &B, &how));
        for (int again = 0; again < 2; again++) {
          const trs_status status = trs_relax_sweep(R, x, N, b, N, 2, TRS_COL_MAJOR, NULL);
          if (lost) assert_failure(TRS_ERROR_UNSUPPORTED, cases[k].what, status);
          if (!lost) assert_success(status);
        }
        double *there = gpu_upload(b, sizeof b), *solution = gpu_space(sizeof b);
        assert_success(trs_relax_sweep(R, solution, N, there, N, 2, TRS_COL_MAJOR, NULL));
        const trs_status status = trs_plan_wait(R);
        if (lost) assert_failure(TRS_ERROR_UNSUPPORTED, cases[k].what, status);
        if (!lost) assert_success(status);
        assert_success(trs_plan_wait(R));
        gpu_free(there);
        gpu_free(solution);
        trs_plan_destroy(R);
        free(B.val);
      }
  blocks_free(&A);
}

TEST(bad_variants_are_refused) {
  blocks A = blocks_random(50, 9, 4, 2, 4);
  trs_plan *G;
  trs_relax_options options = {.struct_size = sizeof(trs_relax_options), .variant = "warp-seven"};
  assert_failure(TRS_ERROR_ARGUMENT, "there are auto, slices",
                 create(gpu_context, &G, &A, &options));
  assert_null(G);
  assert_failure(TRS_ERROR_ARGUMENT, "is a GPU's", create(serial, &G, &A, &options));
  options.variant = "slices";
  assert_failure(TRS_ERROR_UNSUPPORTED, "blocks of 1 to 8", create(gpu_context, &G, &A, &options));
  options.variant = "rows:blocks=3";
  assert_failure(TRS_ERROR_ARGUMENT, "no parameter \"blocks\"",
                 create(gpu_context, &G, &A, &options));
  assert_null(G);
  blocks_free(&A);
}

static trs_status create_and_sweep(void *A) { return blocks_sweep_once(gpu_context, A); }

TEST(too_little_memory) {
  blocks A = blocks_random(300, 5, 7, 2, 4);
  gpu_assert_survives_limits(create_and_sweep, &A, 20000);
  blocks_free(&A);
}

const test_program program = {.begin = start, .end = stop, .lacks = gpu_lacks};
