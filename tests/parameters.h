/* parameters.h - what published methods say of their parameters, and solutions beside another
 * method's. */
#ifndef TRS_TEST_PARAMETERS_H
#define TRS_TEST_PARAMETERS_H

#include <complex.h>
#include <math.h>

#include "matrix/values.h"
#include "support.h"
#include "test.h"

/* Solutions x by a method and y by the serial method differ by this many roundings at most. */
static inline void assert_close(const void *x, const void *y, int64_t count, trs_scalar scalar,
                                double roundings, const char *method) {
  double largest = 0, off = 0;
  for (int64_t i = 0; i < count; i++) {
    double complex xi = trs_value_get(x, i, scalar), yi = trs_value_get(y, i, scalar);
    largest = fmax(largest, cabs(yi));
    off = fmax(off, cabs(xi - yi));
  }
  if (!(off <= roundings * scalar_eps(scalar) * largest))
    fail_msg("%s, %lld values: %g of %g from the serial method's", method, (long long)count, off,
             largest);
}

typedef struct method_words {
  const char *method, *words;
} method_words;

/* A plan by each method has the words in its description, and holds `bytes` or more. */
static inline void assert_described(trs_context *ctx, const trs_matrix *A, trs_uplo uplo,
                                    trs_trans trans, trs_diag diag, const method_words *cases,
                                    size_t count, int64_t bytes) {
  for (size_t k = 0; k < count; k++) {
    trs_options options = {
        .struct_size = sizeof(trs_options), .method = cases[k].method, .nrhs = 6};
    trs_plan_info info = {.struct_size = sizeof info};
    trs_plan *plan;
    char text[512];
    assert_success(trs_analyze(&plan, ctx, A, uplo, trans, diag, &options));
    trs_plan_describe(plan, text, sizeof text);
    if (!strstr(text, cases[k].words)) fail_msg("\"%s\" lacks \"%s\"", text, cases[k].words);
    assert_success(trs_plan_get_info(plan, &info));
    assert_true(info.plan_bytes >= bytes);
    trs_plan_destroy(plan);
  }
}

/* Each method is refused with the words. */
static inline void assert_refused(trs_context *ctx, const trs_matrix *A, trs_uplo uplo,
                                  trs_trans trans, trs_diag diag, const method_words *wrong,
                                  size_t count) {
  for (size_t k = 0; k < count; k++) {
    trs_options options = {.struct_size = sizeof(trs_options), .method = wrong[k].method};
    trs_plan *plan;
    assert_failure(TRS_ERROR_ARGUMENT, wrong[k].words,
                   trs_analyze(&plan, ctx, A, uplo, trans, diag, &options));
    assert_null(plan);
  }
}

#endif
