/* published.h - what published methods say of their parameters. */
#ifndef TRS_TEST_PUBLISHED_H
#define TRS_TEST_PUBLISHED_H

#include "gpu.h"
#include "test.h"

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
    assert_success(trs_analyze(gpu_context, &plan, A, uplo, trans, diag, &options));
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
                   trs_analyze(gpu_context, &plan, A, uplo, trans, diag, &options));
    assert_null(plan);
  }
}

#endif
