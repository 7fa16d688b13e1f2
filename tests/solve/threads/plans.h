/* plans.h - a triangle of a generated matrix, and its plan by the method threads. */
#ifndef TESTS_SOLVE_THREADS_PLANS_H
#define TESTS_SOLVE_THREADS_PLANS_H

#include <stdio.h>

#include "plan/plan.h"
#include "solve/threads/kernels.h"
#include "support.h"
#include "test.h"

static inline trs_matrix *read_triangle(const char *name, trs_uplo uplo, trs_scalar scalar) {
  trs_matrix *A, *T;
  trs_read_options how = {.struct_size = sizeof how, .scalar = scalar};
  assert_success(trs_matrix_read(&A, name, &how));
  assert_success(trs_matrix_triangle(&T, A, uplo, 1));
  trs_matrix_destroy(A);
  return T;
}

static inline trs_plan *analyse_with(const trs_matrix *T, trs_uplo uplo, trs_trans trans,
                                     trs_diag diag, int threads) {
  char where[32];
  trs_context *ctx;
  trs_plan *plan;
  trs_options how = {.struct_size = sizeof how, .method = "threads"};
  snprintf(where, sizeof where, "threads:%d", threads);
  assert_success(trs_context_create(&ctx, where));
  assert_success(trs_analyze(&plan, ctx, T, uplo, trans, diag, &how));
  trs_context_destroy(ctx);
  return plan;
}

static inline trs_plan *analyse(const trs_matrix *T, trs_uplo uplo, trs_trans trans, int threads) {
  return analyse_with(T, uplo, trans, TRS_NONUNIT, threads);
}

/* All solves with such right-hand sides go that way from now on. */
static inline void keep_way(trs_plan *plan, int kind, int way) {
  trs_threads_state *s = plan->state;
  trs_pace *pace = &s->pace[kind];
  const int members = way < TRS_THREADS_HALF     ? s->schedule.threads
                      : way == TRS_THREADS_ALONE ? 1
                                                 : s->schedule.threads / 2;
  *pace = (trs_pace){.best = way, .last = members};
  pace->way[way].members = members;
}

#endif
