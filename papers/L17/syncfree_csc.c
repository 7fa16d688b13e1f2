/* syncfree_csc.c - L17 Algorithm 3 as a method: one launch of syncfree_csc.cu per right-hand side.
 */
#include <stdio.h>

#include "plan/parameters.h"
#include "L17/syncfree_plan.h"

typedef struct csc_state {
  trs_syncfree_plan base;
  int64_t warps_choice, scratchpad; /* parameters */
} csc_state;

/* The paper's sizes of a block. */
static const char *const warps_words[] = {"4", "8", "16", "32", NULL};
enum { WARPS_LEAST = 4, WARPS_DEFAULT = 2 /* the third word */ };

static int warps_of(const csc_state *s) { return WARPS_LEAST << s->warps_choice; }

static trs_status launch(trs_plan *plan, const trs_rhs *rhs, trs_stream stream) {
  const csc_state *s = plan->state;
  trs_syncfree system;
  trs_gpu_columns one;
  for (int64_t r = 0; r < rhs->nrhs; r++) {
    TRS_TRY(trs_syncfree_begin(&s->base, &system, &one, rhs, r, stream));
    TRS_TRY(trs_syncfree_sweep(&system, &one, warps_of(s), s->scratchpad, stream));
  }
  return TRS_SUCCESS;
}

static trs_status analyze(trs_plan *plan) {
  static const char *const no_yes[] = {"no", "yes", NULL};
  csc_state *s;
  TRS_TRY(TRS_ALLOC_ZERO(&s, 1));
  plan->state = s;
  s->warps_choice = WARPS_DEFAULT;
  s->scratchpad = true;
  const trs_parameter table[] = {{.key = "warps", .words = warps_words, .value = &s->warps_choice},
                                 {.key = "scratchpad", .words = no_yes, .value = &s->scratchpad}};
  TRS_TRY(trs_parameters_read(plan, table, sizeof table / sizeof table[0]));
  return trs_syncfree_analyze(plan, launch, 1);
}

static void describe(const trs_plan *plan, char *text, size_t size) {
  const csc_state *s = plan->state;
  snprintf(text, size, "a warp per component, %d per block, %s", warps_of(s),
           s->scratchpad ? "sums within a block in scratchpad" : "no scratchpad");
  trs_syncfree_describe(&s->base, text, size);
}

const trs_method trs_method_syncfree_csc = {
    .name = "syncfree-csc", TRS_SYNCFREE_METHOD, .analyze = analyze, .describe = describe};
