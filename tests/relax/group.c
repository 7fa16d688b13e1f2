/* group.c - relaxation on the available GPUs, also with several domains per GPU: the bits of one
 * GPU for every variant, storage and block size; norms, memory of either side, new values, bad
 * input, little memory, and a wait that passes its limit. */
#include "device/gpu.h"
#include "relax/cuda/group_state.h"

#include <math.h>
#include <stdio.h>

#include "bsr.h"
#include "counters.h"
#include "gpu.h"
#include "backend/context.h"
#include "relax/blocks.h"
#include "test.h"

static const char *const groups[] = {"cuda:0-0", "cuda:0,0", "cuda:0,0,0,0,0",
                                     "cuda:0-1", "cuda:0-3", "cuda:0-7"};
enum { GROUPS = COUNT(groups) };
static trs_context *context[GROUPS]; /* NULL: fewer GPUs are available */

static int start(void **state) {
  for (int g = 0; g < GROUPS; g++)
    if (trs_context_create(&context[g], groups[g])) printf("%s\n", trs_last_error()->message);
  return context[1] ? 0 : -1;
}

static int stop(void **state) {
  for (int g = 0; g < GROUPS; g++) trs_context_destroy(context[g]);
  return gpu_stop(state);
}

static trs_status create(trs_context *ctx, trs_plan **R, const blocks *A,
                         const trs_relax_options *options) {
  return trs_relax_create_bsr(
      R, ctx, BSR(TRS_DOUBLE, A->n, 0, A->b, TRS_ROW_MAJOR, TRS_PTR64, A->ptr, A->idx, A->val),
      options);
}

enum { MOST_NRHS = 4, MOST_CHECKS = 8 };

typedef struct vectors {
  int64_t n, nrhs;
  double *b, *begin, *x, *expected;
} vectors;

static vectors vectors_make(int64_t n, int64_t nrhs) {
  vectors v = {.n = n, .nrhs = nrhs};
  double **const all[] = {&v.b, &v.begin, &v.x, &v.expected};
  for (int k = 0; k < 4; k++) *all[k] = malloc((size_t)(n * nrhs + 1) * sizeof(double));
  trs_random_fill(v.b, n * nrhs, TRS_DOUBLE, 5);
  trs_random_fill(v.begin, n * nrhs, TRS_DOUBLE, 6);
  return v;
}

static void vectors_free(vectors *v) {
  double *const all[] = {v->b, v->begin, v->x, v->expected};
  for (int k = 0; k < 4; k++) free(all[k]);
}

static void sweep(trs_plan *R, const vectors *v, double *x, const trs_sweep_options *o) {
  memcpy(x, v->begin, (size_t)(v->n * v->nrhs) * sizeof *x);
  assert_success(trs_relax_sweep(R, x, v->n, v->b, v->n, v->nrhs, TRS_COL_MAJOR, o));
}

static void check_groups(const blocks *A, const trs_relax_options *options, trs_sweep_options o,
                         int64_t nrhs) {
  vectors v = vectors_make(A->n * A->b, nrhs);
  double norms[2][MOST_CHECKS * MOST_NRHS] = {{0}};
  trs_plan *one, *R;
  o.residuals = norms[0];
  assert_success(create(gpu_context, &one, A, options));
  sweep(one, &v, v.expected, &o);
  trs_plan_destroy(one);
  o.residuals = norms[1];
  for (int g = 0; g < GROUPS; g++) {
    if (!context[g]) continue;
    assert_success(create(context[g], &R, A, options));
    for (int round = 0; round < 2; round++) {
      sweep(R, &v, v.x, &o);
      if (memcmp(v.x, v.expected, (size_t)(v.n * nrhs) * sizeof *v.x) != 0)
        fail_msg("%s, %s, block %d, store %d, round %d: not the bits of one GPU", groups[g],
                 options->variant ? options->variant : "auto", A->b, options->store, round);
      for (int k = 0; k < MOST_CHECKS * MOST_NRHS; k++)
        if (norms[0][k] != norms[1][k])
          fail_msg("%s: norm %d is %.17g, not %.17g", groups[g], k, norms[1][k], norms[0][k]);
    }
    trs_plan_destroy(R);
  }
  vectors_free(&v);
}

static trs_sweep_options sweeps_of(int variant) {
  trs_sweep_options o = blocks_sweeps(variant);
  o.sweeps = 2 + variant % 3;
  o.keep_x = variant % 5 < 2;
  o.residual_every = 1 + variant % 2;
  return o;
}

TEST(every_block_size_and_store) {
  for (int b = 1; b <= 32; b += b < 9 ? 1 : 7)
    for (int store = TRS_STORE_MIXED; store <= TRS_STORE_BFLOAT; store++) {
      blocks A = blocks_random(b < 9 ? 300 : 100, b, 9, 2, (uint64_t)b);
      int variant = b + store;
      trs_relax_options options = {
          .struct_size = sizeof(trs_relax_options), .store = (trs_store)store, .nrhs = variant % 3};
      check_groups(&A, &options, sweeps_of(variant), 1 + variant % MOST_NRHS);
      blocks_free(&A);
    }
}

TEST(every_variant) {
  blocks A = blocks_random(2000, 5, 12, 2, 3);
  for (int k = 0; k < BLOCKS_VARIANTS; k++) {
    trs_relax_options options = {
        .struct_size = sizeof(trs_relax_options), .variant = blocks_variants[k], .nrhs = 2};
    check_groups(&A, &options, sweeps_of(k), 1 + k % 2);
  }
  blocks_free(&A);
}

TEST(counters_pass_32_bits) {
  static const char *const variants[] = {"rows", "slices"};
  blocks A = blocks_random(2000, 5, 12, 2, 4);
  for (int k = 0; k < 2 * COUNTER_BEGINS; k++) {
    trs_relax_options options = {
        .struct_size = sizeof(trs_relax_options), .variant = variants[k % 2], .nrhs = 2};
    trs_counters_begin = counter_begins[k / 2];
    check_groups(&A, &options, sweeps_of(k), 1 + k % 2);
  }
  trs_counters_begin = 0;
  blocks_free(&A);
}

/* Empty domains, rows that read no other row, colours of a single row. */
TEST(shapes_at_the_edge) {
  trs_relax_options options = {.struct_size = sizeof(trs_relax_options), .store = TRS_STORE_DOUBLE};
  for (int64_t n = 0; n < 9; n++) {
    blocks A = blocks_random(n, 5, (int64_t)n % 4, 2, (uint64_t)n);
    check_groups(&A, &options, sweeps_of((int)n), 1);
    blocks_free(&A);
  }
  enum { N = 90 };
  int32_t colour[N];
  for (int i = 0; i < N; i++) colour[i] = N - 1 - i;
  blocks A = blocks_random(N, 4, 5, 2, 8);
  options.colour = colour;
  check_groups(&A, &options, sweeps_of(2), 2);
  blocks_free(&A);
}

TEST(the_wing) {
  trs_matrix *A;
  trs_matrix_info m = {.struct_size = sizeof m};
  trs_plan *one, *R;
  trs_relax_info info = {.struct_size = sizeof info}, whole = {.struct_size = sizeof whole};
  trs_sweep_options o = {.struct_size = sizeof(trs_sweep_options), .sweeps = 15};
  assert_success(trs_matrix_read(&A, "gen:wingmesh:30000", NULL));
  trs_matrix_get_info(A, &m);
  vectors v = vectors_make(m.nrows, 1);
  assert_success(trs_relax_create(&one, gpu_context, A, 5, NULL));
  assert_success(trs_relax_get_info(one, &whole));
  sweep(one, &v, v.expected, &o);
  double *b = gpu_upload(v.b, (size_t)v.n * sizeof *b), *x = gpu_space((size_t)v.n * sizeof *x);
  for (int g = 0; g < GROUPS; g++) {
    if (!context[g]) continue;
    assert_success(trs_relax_create(&R, context[g], A, 5, NULL));
    assert_success(trs_relax_get_info(R, &info));
    assert_int_equal(info.colours, whole.colours);
    assert_int_equal(info.nblocks, whole.nblocks);
    assert_int_equal(info.sweep_bytes, whole.sweep_bytes);
    assert_memory_equal(info.row, whole.row, (size_t)whole.nrows * sizeof *info.row);
    assert_string_equal(info.variant, whole.variant);
    assert_int_equal(info.domains, trs_context_members(context[g], NULL, NULL));
    for (int round = 0; round < 5; round++) { /* launched in sequence */
      assert_int_equal(cudaMemset(x, 0xff, (size_t)v.n * sizeof *x), cudaSuccess);
      assert_success(trs_relax_sweep(R, x, v.n, b, v.n, 1, TRS_COL_MAJOR, &o));
    }
    assert_success(trs_plan_wait(R));
    gpu_fetch(v.x, x, (size_t)v.n * sizeof *x);
    assert_memory_equal(v.x, v.expected, (size_t)v.n * sizeof *v.x);
    assert_success(trs_update(R, A));
    sweep(R, &v, v.x, &o);
    assert_memory_equal(v.x, v.expected, (size_t)v.n * sizeof *v.x);
    trs_plan_destroy(R);
  }
  gpu_free(b);
  gpu_free(x);
  trs_plan_destroy(one);
  trs_matrix_destroy(A);
  vectors_free(&v);
}

TEST(bad_input) {
  blocks A = blocks_random(50, 2, 4, 2, 4);
  trs_plan *R;
  trs_relax_options options = {.struct_size = sizeof(trs_relax_options), .variant = "warp-seven"};
  double kept = A.val[4 * A.ptr[49]];
  assert_failure(TRS_ERROR_ARGUMENT, "there are auto", create(context[1], &R, &A, &options));
  assert_null(R);
  A.val[4 * A.ptr[49]] = NAN;
  A.val[4 * A.ptr[20]] = INFINITY;
  assert_failure(TRS_ERROR_NOT_FINITE, "block row 20", create(context[1], &R, &A, NULL));
  assert_null(R);
  A.val[4 * A.ptr[49]] = kept;
  blocks_free(&A);
}

/* Every wait passes its limit at once, or no wait was needed: an error or the result, and no
 * hang. */
TEST(a_wait_that_passes_its_limit) {
  blocks A = blocks_random(4000, 5, 12, 2, 4);
  vectors v = vectors_make(A.n * A.b, 1);
  trs_sweep_options o = {.struct_size = sizeof(trs_sweep_options), .sweeps = 20};
  uint64_t before = trs_relax_group_wait_limit;
  trs_relax_group_wait_limit = 1;
  for (int g = 1; g < GROUPS; g++) {
    trs_plan *R;
    if (!context[g]) continue;
    assert_success(create(context[g], &R, &A, NULL));
    trs_status status = trs_relax_sweep(R, v.x, v.n, v.b, v.n, 1, TRS_COL_MAJOR, &o);
    assert_true(status == TRS_SUCCESS || status == TRS_ERROR_STALLED);
    trs_plan_destroy(R);
  }
  trs_relax_group_wait_limit = before;
  vectors_free(&v);
  blocks_free(&A);
}

static trs_status create_and_sweep(void *A) { return blocks_sweep_once(context[1], A); }

TEST(too_little_memory) {
  blocks A = blocks_random(300, 5, 7, 2, 4);
  gpu_assert_survives_limits(create_and_sweep, &A, 30000);
  blocks_free(&A);
}

const test_program program = {.begin = start, .end = stop, .lacks = gpu_lacks};
