/* launches.c - what the host does for relaxation on several GPUs, on a stand-in for them: domains,
 * lists, launches and their order, staging, norms; the bits of one GPU. */
#include "relax/blocks.h"
#include "device_stand_in.h"
#include "relax/stand_in.h"
#include "test.h"

enum { SWEEPS = 4, MOST = 5 * 3 };

typedef struct outcome {
  double *x, norms[MOST];
} outcome;

static void run(outcome *o, const char *where, const blocks *A, int variant, int64_t nrhs) {
  int64_t n = A->n * A->b;
  double *b = malloc((size_t)(n * nrhs + 1) * sizeof *b);
  trs_relax_options options = {.store = TRS_RELAX_DOUBLE,
                               .nrhs = variant % 3,
                               .variant = variant % 2 ? "warp-row" : "warp-six-rows-l2"};
  trs_sweep_options sweeps = {.sweeps = SWEEPS,
                              .direction = (trs_sweep_direction)(variant % 3),
                              .omega = variant % 2 ? 0.8 : 1,
                              .keep_x = variant % 2,
                              .residual_every = 1 + variant % 2,
                              .residuals = o->norms};
  trs_context *ctx;
  trs_relaxation *R;
  o->x = malloc((size_t)(n * nrhs + 1) * sizeof *o->x);
  trs_random_fill(b, n * nrhs, TRS_DOUBLE, 3);
  assert_success(trs_context_create(&ctx, where));
  assert_success(trs_relax_create_bsr(ctx, &R, TRS_DOUBLE, A->n, A->b, TRS_ROW_MAJOR, A->ptr,
                                      A->idx, A->val, &options));
  for (int round = 0; round < 2; round++) { /* turns count on */
    trs_random_fill(o->x, n * nrhs, TRS_DOUBLE, 4);
    assert_success(trs_relax_sweep(R, o->x, n, b, n, nrhs, TRS_COL_MAJOR, &sweeps));
    assert_success(trs_relax_set_variant(R, "warp-six-rows"));
    assert_success(trs_relax_update_bsr(R, TRS_ROW_MAJOR, A->ptr, A->idx, A->val));
  }
  trs_relax_destroy(R);
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

static void members_that_share_a_gpu(void **state) {
  (void)state;
  stand_in_one_thread = true;
  compare("cuda:0-0");
  compare("cuda:0,0");
  compare("cuda:0,0,0,0,0");
}

/* A thread each, where the machine has two cores. */
static void members_with_a_gpu_each(void **state) {
  (void)state;
  stand_in_one_thread = false;
  compare("cuda:0-1");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(members_that_share_a_gpu),
                                     cmocka_unit_test(members_with_a_gpu_each)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
