/* syncfree_csc_rhs.c - L17 Algorithm 4 as a method: one launch of syncfree_csc_rhs.cu per tile of
 * right-hand sides.  A tile is as wide as the plan expects. */
#include <stdio.h>

#include "plan/parameters.h"
#include "L17/syncfree_plan.h"

enum { MOST_WIDTH = 256 }; /* of a tile */

typedef struct csc_rhs_state {
  trs_syncfree_plan base;
  int64_t lanes, p, q; /* parameters */
} csc_rhs_state;

static const char *const lanes_words[] = {[TRS_SYNCFREE_ADAPTIVE] = "adaptive",
                                          [TRS_SYNCFREE_RHS] = "rhs",
                                          [TRS_SYNCFREE_NNZ] = "nnz",
                                          NULL};

static int64_t width_for(int64_t nrhs) {
  if (nrhs < 1) return 1;
  return nrhs < MOST_WIDTH ? nrhs : MOST_WIDTH;
}

static trs_status launch(trs_plan *plan, const trs_rhs *rhs, trs_stream stream) {
  const csc_rhs_state *s = plan->state;
  const trs_syncfree_strategy strategy = {(trs_syncfree_lanes)s->lanes, s->p, s->q};
  trs_syncfree system;
  trs_gpu_columns tile;
  for (int64_t first = 0; first < rhs->nrhs; first += s->base.width) {
    TRS_TRY(trs_syncfree_begin(&s->base, &system, &tile, rhs, first, stream));
    TRS_TRY(trs_syncfree_sweep_rhs(&system, &tile, &strategy, stream));
  }
  return TRS_SUCCESS;
}

static trs_status analyze(trs_plan *plan) {
  csc_rhs_state *s;
  TRS_TRY(TRS_ALLOC_ZERO(&s, 1));
  plan->state = s;
  s->lanes = TRS_SYNCFREE_ADAPTIVE;
  s->p = 8; /* L17 */
  s->q = 8192;
  const trs_parameter table[] = {{.key = "strategy", .words = lanes_words, .value = &s->lanes},
                                 {.key = "p", .most = INT32_MAX, .value = &s->p},
                                 {.key = "q", .most = INT32_MAX, .value = &s->q}};
  TRS_TRY(trs_parameters_read(plan, table, sizeof table / sizeof table[0]));
  return trs_syncfree_analyze(plan, launch, width_for(plan->options.nrhs));
}

static void describe(const trs_plan *plan, char *text, size_t size) {
  const csc_rhs_state *s = plan->state;
  int used =
      snprintf(text, size, "a warp per component, up to %lld right-hand sides at once, lanes: %s",
               (long long)s->base.width, lanes_words[s->lanes]);
  if (s->lanes == TRS_SYNCFREE_ADAPTIVE && used > 0 && (size_t)used < size)
    snprintf(text + used, size - (size_t)used, ", p %lld, q %lld", (long long)s->p,
             (long long)s->q);
  trs_syncfree_describe(&s->base, text, size);
}

const trs_method trs_method_syncfree_csc_rhs = {
    .name = "syncfree-csc-rhs", TRS_SYNCFREE_METHOD, .analyze = analyze, .describe = describe};
