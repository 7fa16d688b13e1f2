/* move.c - plans over factors whose sweeps both run on a GPU.  Permutations and scalings give the
 * same as on the host, with arrays on either side, in place and in a graph. */

#include "device/gpu.h"
#include "base/random.h"
#include "factor/factors.h"
#include "gpu.h"
#include "test.h"

enum { N = 1200 };

/* Random triangles, permutations and scalings; the bits of `which` leave some out. */
typedef struct factors_case {
  trs_scalar scalar;
  triangle lower, upper;
  trs_matrix *L, *U;
  trs_factors *F;
} factors_case;

static void random_permutation(int32_t *perm, uint64_t seed) {
  for (int32_t i = 0; i < N; i++) perm[i] = i;
  for (int32_t i = N - 1; i > 0; i--) {
    int32_t j = (int32_t)(trs_random_unit(seed, (uint64_t)i) * (i + 1)), kept = perm[i];
    perm[i] = perm[j];
    perm[j] = kept;
  }
}

static factors_case make_factors(trs_scalar scalar, int which) {
  static int32_t row_perm[N], col_perm[N];
  static double row_scale[N], col_scale[N];
  factors_case f = {.scalar = scalar};
  random_permutation(row_perm, 5);
  random_permutation(col_perm, 6);
  for (int i = 0; i < N; i++) row_scale[i] = 0.5 + trs_random_unit(7, (uint64_t)i);
  for (int i = 0; i < N; i++) col_scale[i] = -0.5 - trs_random_unit(8, (uint64_t)i);
  f.lower = triangle_random(N, 0.005, N, true, scalar, true, 3);
  f.upper = triangle_random(N, 0.005, N, true, scalar, false, 4);
  assert_success(trs_matrix_create(&f.L, TRS_CSR, scalar, N, N, TRS_PTR64, f.lower.ptr, f.lower.idx,
                                   f.lower.val, TRS_BORROW));
  assert_success(trs_matrix_create(&f.U, TRS_CSC, scalar, N, N, TRS_PTR64, f.upper.ptr, f.upper.idx,
                                   f.upper.val, TRS_BORROW));
  assert_success(trs_factors_create(&f.F, f.L, TRS_UNIT, f.U, TRS_NONUNIT,
                                    which & 1 ? row_perm : NULL, which & 2 ? col_perm : NULL,
                                    which & 4 ? row_scale : NULL, which & 8 ? col_scale : NULL));
  return f;
}

static void free_factors(factors_case *f) {
  trs_factors_destroy(f->F);
  trs_matrix_destroy(f->L);
  trs_matrix_destroy(f->U);
  triangle_free(&f->lower);
  triangle_free(&f->upper);
}

static void judge(const factors_case *f, trs_trans trans, const void *x, const void *b, int64_t ld,
                  int64_t nrhs, trs_layout layout) {
  trs_backward_error error = {.struct_size = sizeof error};
  assert_success(trs_check_factors(&error, f->F, trans, x, ld, b, ld, nrhs, layout));
  double limit = 4 * error_limit(f->scalar, N);
  if (!(error.componentwise <= limit))
    fail_msg("error %g, limit %g, row %lld", error.componentwise, limit,
             (long long)error.worst_row);
}

static trs_plan *analyze(const factors_case *f, trs_trans trans, trs_options options) {
  trs_plan *plan;
  trs_plan_info info = {.struct_size = sizeof info};
  assert_success(trs_analyze_factors(&plan, gpu_context, f->F, trans, &options));
  assert_success(trs_plan_get_info(plan, &info));
  assert_string_equal(info.backend, TRS_HAVE_HIP ? "hip" : "cuda");
  assert_non_null(info.device);
  return plan;
}

/* ---- All combinations. ---- */

static void one_case(int c) {
  static const int64_t counts[] = {1, 5, 33};
  trs_scalar scalar = (trs_scalar)(TRS_FLOAT + c % 4);
  trs_trans trans = (trs_trans)(c % 3);
  trs_layout layout = (trs_layout)(c / 3 % 2);
  int64_t nrhs = counts[c / 2 % 3], ld = (layout == TRS_COL_MAJOR ? N : nrhs) + 2;
  int64_t elements = ld * (layout == TRS_COL_MAJOR ? nrhs : N);
  size_t bytes = (size_t)elements * scalar_bytes(scalar);
  factors_case f = make_factors(scalar, c % 16);
  trs_plan *plan =
      analyze(&f, trans, (trs_options){.struct_size = sizeof(trs_options), .nrhs = c % 5 * 10});
  void *b = malloc(bytes), *x = malloc(bytes), *other = malloc(bytes);
  trs_random_fill(b, elements, scalar, 9);
  memcpy(x, b, bytes);
  assert_success(trs_solve(plan, x, ld, b, ld, nrhs, layout));
  judge(&f, trans, x, b, ld, nrhs, layout);
  memcpy(other, b, bytes);
  assert_success(trs_solve(plan, other, ld, other, ld, nrhs, layout));
  assert_memory_equal(other, x, bytes);
  void *b_there = gpu_upload(b, bytes), *x_there = gpu_upload(b, bytes);
  assert_success(trs_solve(plan, x_there, ld, b_there, ld, nrhs, layout));
  assert_success(trs_solve(plan, b_there, ld, b_there, ld, nrhs, layout));
  assert_success(trs_plan_wait(plan));
  for (int in_place = 0; in_place < 2; in_place++) {
    gpu_fetch(other, in_place ? b_there : x_there, bytes);
    assert_memory_equal(other, x, bytes);
  }
  trs_plan_destroy(plan);
  gpu_free(b_there);
  gpu_free(x_there);
  free(b);
  free(x);
  free(other);
  free_factors(&f);
}

TEST(both_sweeps_run_there) {
  int64_t before = gpu_held();
  for (int c = 0; c < 48; c++) one_case(c);
  assert_int_equal(gpu_held(), before);
}

/* ---- Other functions of a plan. ---- */

TEST(both_sweeps_become_a_graph) {
  enum { NRHS = 11 };
  factors_case f = make_factors(TRS_DOUBLE, 15);
  size_t bytes = sizeof(double) * N * NRHS;
  double *b = malloc(bytes), *x = malloc(bytes);
  void *there = gpu_space(bytes);
  trs_stream stream = gpu_stream();
  trs_plan *plan = analyze(&f, TRS_NO_TRANS,
                           (trs_options){.struct_size = sizeof(trs_options), .stream = stream});
  gpu_graph graph = gpu_capture_solve(plan, there, N, NRHS, stream);
  for (uint64_t seed = 0; seed < 3; seed++) {
    trs_random_fill(b, N * NRHS, TRS_DOUBLE, seed);
    assert_success(trs_device_copy(there, b, (int64_t)bytes, stream));
    gpu_replay(graph, stream);
    assert_success(trs_plan_wait(plan));
    gpu_fetch(x, there, bytes);
    judge(&f, TRS_NO_TRANS, x, b, N, NRHS, TRS_COL_MAJOR);
  }
  gpu_graph_free(graph);
  trs_plan_destroy(plan);
  gpu_stream_free(stream);
  gpu_free(there);
  free(b);
  free(x);
  free_factors(&f);
}

TEST(new_values_and_another_stream) {
  factors_case f = make_factors(TRS_DOUBLE, 15);
  static double b[N], x[N];
  cudaStream_t stream;
  trs_random_fill(b, N, TRS_DOUBLE, 9);
  trs_plan *plan = analyze(&f, TRS_TRANS, (trs_options){.struct_size = sizeof(trs_options)});
  for (int64_t p = 0; p < f.lower.ptr[N]; p++) ((double *)f.lower.val)[p] *= 0.75;
  for (int64_t p = 0; p < f.upper.ptr[N]; p++) ((double *)f.upper.val)[p] *= 1.25;
  assert_success(trs_update_factors(plan, f.F));
  stream = gpu_stream();
  assert_success(trs_plan_set_stream(plan, stream));
  assert_success(trs_solve(plan, x, N, b, N, 1, TRS_COL_MAJOR));
  judge(&f, TRS_TRANS, x, b, N, 1, TRS_COL_MAJOR);
  trs_plan_destroy(plan);
  gpu_stream_free(stream);
  free_factors(&f);
}

TEST(too_little_memory_is_given_back) {
  factors_case f = make_factors(TRS_DOUBLE, 15);
  int64_t before = gpu_held(), step = 4096;
  for (int64_t allowed = 1;; allowed += step, step += step / 8) {
    trs_plan *plan;
    trs_device_limit(gpu, before + allowed);
    trs_status status = trs_analyze_factors(&plan, gpu_context, f.F, TRS_NO_TRANS, NULL);
    trs_device_limit(gpu, 0);
    trs_plan_destroy(plan);
    assert_int_equal(gpu_held(), before);
    if (!status) break;
    assert_int_equal(status, TRS_ERROR_MEMORY);
    assert_null(plan);
  }
  free_factors(&f);
}

/* With any amount of GPU memory, enough for no sweep, for one or for both, auto makes a plan. */
TEST(auto_leaves_what_has_no_room_to_the_cpu) {
  enum { STEPS = 12 };
  const trs_factor_options split = {.struct_size = sizeof(trs_factor_options),
                                    .kind = TRS_FACTOR_TRIANGLE};
  trs_context *context;
  trs_matrix *A;
  trs_factors *F;
  trs_plan *plan;
  trs_backward_error error = {.struct_size = sizeof error};
  trs_matrix_info info = {.struct_size = sizeof info};
  assert_success(trs_context_create(&context, "auto"));
  assert_success(trs_matrix_read(&A, "gen:poisson3d7:90", NULL));
  assert_success(trs_factor(&F, A, &split));
  trs_matrix_get_info(A, &info);
  trs_matrix_destroy(A);
  double *b = malloc((size_t)info.nrows * sizeof *b), *x = malloc((size_t)info.nrows * sizeof *x);
  trs_random_fill(b, info.nrows, TRS_DOUBLE, 3);
  int64_t before = gpu_held();
  assert_success(trs_analyze_factors(&plan, context, F, TRS_NO_TRANS, NULL));
  int64_t needs = gpu_held() - before;
  trs_plan_destroy(plan);
  for (int k = 0; k <= STEPS; k++) {
    trs_device_limit(gpu, before + 1 + needs * k / STEPS);
    trs_status status = trs_analyze_factors(&plan, context, F, TRS_NO_TRANS, NULL);
    trs_device_limit(gpu, 0);
    assert_success(status);
    assert_success(trs_solve(plan, x, info.nrows, b, info.nrows, 1, TRS_COL_MAJOR));
    assert_success(
        trs_check_factors(&error, F, TRS_NO_TRANS, x, info.nrows, b, info.nrows, 1, TRS_COL_MAJOR));
    assert_true(error.componentwise <= error_limit(TRS_DOUBLE, info.longest_row));
    trs_plan_destroy(plan);
    assert_int_equal(gpu_held(), before);
  }
  free(b);
  free(x);
  trs_factors_destroy(F);
  trs_context_destroy(context);
}

const test_program program = {.end = gpu_stop, .lacks = gpu_lacks};
