/* launches.c - the host's part of relaxation on several GPUs, with a stand-in for them: domains,
 * lists, launches and their order, staging, norms; the bits of one GPU. */
#include "relax/blocks.h"
#include "bsr.h"
#include "counters.h"
#include "device_stand_in.h"
#include "relax/relaxation.h"
#include "relax/cuda/args.h"
#include "relax/stand_in.h"
#include "test.h"

enum { SWEEPS = 4, MOST = 5 * 3 };

typedef struct outcome {
  double *x, norms[MOST];
} outcome;

static void run(outcome *o, const char *where, const blocks *A, int variant, int64_t nrhs) {
  int64_t n = A->n * A->b;
  double *b = malloc((size_t)(n * nrhs + 1) * sizeof *b);
  trs_relax_options options = {.struct_size = sizeof(trs_relax_options),
                               .store = TRS_STORE_DOUBLE,
                               .nrhs = variant % 3,
                               .variant = "rows"};
  trs_sweep_options sweeps = {.struct_size = sizeof(trs_sweep_options),
                              .sweeps = SWEEPS,
                              .direction = (trs_sweep_direction)(variant % 3),
                              .omega = variant % 2 ? 0.8 : 1,
                              .keep_x = variant % 2,
                              .residual_every = 1 + variant % 2,
                              .residuals = o->norms};
  trs_context *ctx;
  trs_plan *R;
  o->x = malloc((size_t)(n * nrhs + 1) * sizeof *o->x);
  trs_random_fill(b, n * nrhs, TRS_DOUBLE, 3);
  assert_success(trs_context_create(&ctx, where));
  assert_success(trs_relax_create_bsr(
      &R, ctx, BSR(TRS_DOUBLE, A->n, 0, A->b, TRS_ROW_MAJOR, TRS_PTR64, A->ptr, A->idx, A->val),
      &options));
  for (int round = 0; round < 2; round++) { /* steps count on */
    trs_random_fill(o->x, n * nrhs, TRS_DOUBLE, 4);
    assert_success(trs_relax_sweep(R, o->x, n, b, n, nrhs, TRS_COL_MAJOR, &sweeps));
    assert_success(trs_update_bsr(
        R, BSR((trs_scalar)0, 0, 0, 0, TRS_ROW_MAJOR, TRS_PTR64, A->ptr, A->idx, A->val)));
  }
  trs_plan_destroy(R);
  trs_context_destroy(ctx);
  free(b);
  assert_int_equal(stand_in_held(), 0);
}

static void compare(const char *where) {
  for (int b = 1; b <= 9; b += 4)
    for (int variant = 0; variant < 6; variant++)
      for (int64_t nrhs = 1; nrhs <= 3; nrhs++) {
        blocks A = blocks_random(variant == 5 ? 3 : 200 + 50 * variant, b, 6, 2, (uint64_t)b);
        outcome one = {.norms = {0}}, several = {.norms = {0}};
        run(&one, "cuda:7", &A, variant, nrhs);
        run(&several, where, &A, variant, nrhs);
        assert_memory_equal(one.x, several.x, (size_t)(A.n * b * nrhs) * sizeof *one.x);
        assert_memory_equal(one.norms, several.norms, sizeof one.norms);
        free(one.x);
        free(several.x);
        blocks_free(&A);
      }
}

TEST(members_that_share_a_gpu) {
  stand_in_one_thread = true;
  compare("cuda:0-0");
  compare("cuda:0,0");
  compare("cuda:0,0,0,0,0");
}

TEST(counters_pass_32_bits) {
  stand_in_one_thread = true;
  for (int k = 0; k < COUNTER_BEGINS; k++) {
    trs_counters_begin = counter_begins[k];
    compare("cuda:0,0,0");
  }
  trs_counters_begin = 0;
}

/* One thread per member, if the machine has two cores. */
TEST(members_with_a_gpu_each) {
  stand_in_one_thread = false;
  compare("cuda:0-1");
}

/* More right-hand sides than one launch takes, with norms on the host. */
TEST(very_many_right_hand_sides) {
  enum { N = 3, COLUMNS = 2 * TRS_RELAX_MOST_ABREAST + 5 };
  static const char *const places[] = {"cuda:7", "cuda:0,0"};
  blocks A = blocks_random(N, 1, 2, 2, 5);
  static double b[N * COLUMNS], x[2][N * COLUMNS], norms[2][2 * COLUMNS];
  trs_random_fill(b, N * COLUMNS, TRS_DOUBLE, 8);
  for (int k = 0; k < 2; k++)
    for (int wide = 0; wide < 2; wide++) {
      trs_relax_options options = {.struct_size = sizeof(trs_relax_options),
                                   .store = TRS_STORE_DOUBLE,
                                   .nrhs = wide ? COLUMNS : 8,
                                   .variant = "rows"};
      trs_sweep_options o = {
          .struct_size = sizeof(trs_sweep_options), .residual_every = 1, .residuals = norms[wide]};
      trs_context *ctx;
      trs_plan *R;
      assert_success(trs_context_create(&ctx, places[k]));
      assert_success(trs_relax_create_bsr(
          &R, ctx, BSR(TRS_DOUBLE, N, 0, 1, TRS_ROW_MAJOR, TRS_PTR64, A.ptr, A.idx, A.val),
          &options));
      assert_int_equal(((const trs_relaxation *)R->state)->room, wide ? TRS_RELAX_MOST_ABREAST : 8);
      assert_success(trs_relax_sweep(R, x[wide], N, b, N, COLUMNS, TRS_COL_MAJOR, &o));
      trs_plan_destroy(R);
      trs_context_destroy(ctx);
      if (!wide) continue;
      assert_memory_equal(x[0], x[1], sizeof x[0]);
      assert_memory_equal(norms[0], norms[1], sizeof norms[0]);
    }
  blocks_free(&A);
}

/* n block rows without off-diagonal blocks, each of its own colour. */
static trs_status create_apart(trs_context *ctx, trs_plan **R, int32_t n, int b,
                               const char *variant) {
  int64_t *ptr = malloc((size_t)(n + 1) * sizeof *ptr);
  int32_t *idx = malloc((size_t)n * sizeof *idx);
  double *val = calloc((size_t)n * (size_t)(b * b), sizeof *val);
  trs_relax_options options = {
      .struct_size = sizeof(trs_relax_options), .colour = idx, .variant = variant};
  for (int32_t i = 0; i <= n; i++) ptr[i] = i;
  for (int32_t i = 0; i < n; i++) idx[i] = i;
  for (int64_t i = 0; i < (int64_t)n * b; i++) val[i / b * b * b + i % b * (b + 1)] = 1;
  trs_status status = trs_relax_create_bsr(
      R, ctx, BSR(TRS_DOUBLE, n, 0, b, TRS_ROW_MAJOR, TRS_PTR64, ptr, idx, val), &options);
  free(ptr);
  free(idx);
  free(val);
  return status;
}

/* The stand-in has no slices and returns an error for them. */
TEST(the_variant_that_auto_takes) {
  enum { COLOURS = TRS_RELAX_MOST_SLICED_COLOURS };
  static const struct {
    int32_t n;
    int b;
  } rows[] = {{40, 9}, {COLOURS + 1, 1}};
  trs_context *ctx;
  trs_plan *R;
  trs_relax_info info = {.struct_size = sizeof info};
  assert_success(trs_context_create(&ctx, "cuda:7"));
  assert_failure(TRS_ERROR_UNSUPPORTED, "no slices in a stand-in",
                 create_apart(ctx, &R, 40, 8, NULL));
  for (int k = 0; k < 2; k++) {
    assert_success(create_apart(ctx, &R, rows[k].n, rows[k].b, NULL));
    assert_success(trs_relax_get_info(R, &info));
    assert_string_equal(info.variant, "rows");
    trs_plan_destroy(R);
  }
  assert_failure(TRS_ERROR_ARGUMENT, "no variant \"row:x\", did you mean rows?: there are auto, ",
                 create_apart(ctx, &R, 40, 8, "row:x"));
  assert_failure(TRS_ERROR_ARGUMENT, "no parameter", create_apart(ctx, &R, 40, 8, "rows:x=1"));
  assert_failure(TRS_ERROR_UNSUPPORTED, "takes 524288 colours, not 524289",
                 create_apart(ctx, &R, COLOURS + 1, 1, "slices"));
  trs_context_destroy(ctx);
  assert_int_equal(stand_in_held(), 0);
}
