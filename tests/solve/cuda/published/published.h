/* published.h - the context of the tests of published methods, and what methods say of their
 * parameters. */
#ifndef TRS_TEST_PUBLISHED_H
#define TRS_TEST_PUBLISHED_H

#include "test.h"

static trs_context *ctx; /* NULL without a GPU */

static int start(void **state) {
  (void)state;
  trs_status status = trs_context_create(&ctx, "cuda");
  if (!status || status == TRS_ERROR_UNSUPPORTED) return 0;
  printf("%s\n", trs_last_error()->message);
  return -1;
}

static int stop(void **state) {
  (void)state;
  trs_context_destroy(ctx);
  return 0;
}

static void need_gpu(void) {
  if (!ctx) skip_test(trs_last_error()->message);
}

typedef struct method_words {
  const char *method, *words;
} method_words;

/* A plan by each method has the words in its description, and holds `bytes` or more. */
static inline void assert_described(const trs_matrix *A, trs_uplo uplo, trs_trans trans,
                                    trs_diag diag, const method_words *cases, size_t count,
                                    int64_t bytes) {
  for (size_t k = 0; k < count; k++) {
    trs_options options = {
        .struct_size = sizeof(trs_options), .method = cases[k].method, .nrhs = 6};
    trs_plan_info info = {.struct_size = sizeof info};
    trs_plan *plan;
    char text[512];
    assert_success(trs_analyze(ctx, &plan, A, uplo, trans, diag, &options));
    trs_plan_describe(plan, text, sizeof text);
    if (!strstr(text, cases[k].words)) fail_msg("\"%s\" lacks \"%s\"", text, cases[k].words);
    assert_success(trs_plan_get_info(plan, &info));
    assert_true(info.plan_bytes >= bytes);
    trs_plan_destroy(plan);
  }
}

/* Each method is refused with the words. */
static inline void assert_refused(const trs_matrix *A, trs_uplo uplo, trs_trans trans,
                                  trs_diag diag, const method_words *wrong, size_t count) {
  for (size_t k = 0; k < count; k++) {
    trs_options options = {.struct_size = sizeof(trs_options), .method = wrong[k].method};
    trs_plan *plan;
    assert_failure(TRS_ERROR_ARGUMENT, wrong[k].words,
                   trs_analyze(ctx, &plan, A, uplo, trans, diag, &options));
    assert_null(plan);
  }
}

#endif
