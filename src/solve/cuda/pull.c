/* pull.c - solves without analysis, for plans that solve once.  One launch of pull.cu per
 * right-hand side. */
#include "solve/cuda/pull.h"

#include <stdio.h>

#include "plan/parameters.h"
#include "solve/cuda/gpu.h"

typedef struct pull {
  trs_gpu gpu;
  void *work;           /* device memory: x by row, then the ticket */
  int64_t lanes_choice; /* parameter */
  int lanes;
} pull;

static const char *const lanes_words[] = {"auto", "1", "4", "8", "32", NULL};
static const int lanes_of_word[] = {0, 1, 4, 8, 32};
enum { LANES_AUTO, LANES_LEAST, LANES_MOST = 4 }; /* places in both arrays */

static int64_t known_bytes(const trs_system *S) {
  return S->n * (int64_t)trs_scalar_size(S->scalar);
}

static int64_t work_bytes(const trs_system *S) {
  return known_bytes(S) + (int64_t)sizeof(uint32_t);
}

/* The fewest lanes per row with which a mean row is one batch per lane. */
static int lanes_for(const trs_system *S) {
  int k = LANES_LEAST;
  while (k < LANES_MOST && S->nnz > S->n * lanes_of_word[k] * TRS_PULL_BATCH) k++;
  return lanes_of_word[k];
}

static trs_status build(pull *s, trs_plan *plan) {
  TRS_TRY(trs_gpu_load(&s->gpu, plan, true, TRS_GPU_PATTERN | TRS_GPU_VALUES));
  TRS_TRY(trs_device_alloc(s->gpu.device, &s->work, work_bytes(&s->gpu.system), 1, plan->stream));
  return trs_device_wait(plan->stream);
}

static trs_status clone(trs_plan *plan) {
  pull *s;
  TRS_TRY(TRS_ALLOC_ZERO(&s, 1));
  plan->state = s;
  *s = *(const pull *)plan->origin->state;
  s->work = NULL;
  TRS_TRY(trs_gpu_separate(&s->gpu, plan));
  TRS_TRY(trs_device_alloc(s->gpu.device, &s->work, work_bytes(&s->gpu.system), 1, plan->stream));
  return trs_device_wait(plan->stream);
}

static trs_status launch(trs_plan *plan, const trs_rhs *rhs, trs_stream stream) {
  const pull *s = plan->state;
  const trs_system *S = &s->gpu.system;
  for (int64_t r = 0; r < rhs->nrhs; r++) {
    const trs_rhs column = trs_rhs_columns(rhs, S->scalar, r, 1);
    trs_pull sweep = {.system = *S,
                      .known = s->work,
                      .ticket = (uint32_t *)(void *)((char *)s->work + known_bytes(S)),
                      .fault = s->gpu.fault,
                      .x = column.x,
                      .b = column.b,
                      .x_row = rhs->x_row,
                      .b_row = rhs->b_row};
    TRS_TRY(trs_device_fill(s->work, 0xff, work_bytes(S), stream));
    TRS_TRY(trs_pull_sweep(&sweep, s->lanes, stream));
  }
  return TRS_SUCCESS;
}

static trs_status analyze(trs_plan *plan) {
  pull *s;
  TRS_TRY(TRS_ALLOC_ZERO(&s, 1));
  plan->state = s;
  const trs_parameter table[] = {{.key = "lanes", .words = lanes_words, .value = &s->lanes_choice}};
  TRS_TRY(trs_parameters_read(plan, table, sizeof table / sizeof table[0]));
  s->lanes =
      s->lanes_choice == LANES_AUTO ? lanes_for(&plan->system) : lanes_of_word[s->lanes_choice];
  TRS_TRY(trs_gpu_open(&s->gpu, plan, launch));
  return build(s, plan);
}

static trs_status update(trs_plan *plan) {
  pull *s = plan->state;
  TRS_TRY(trs_gpu_load(&s->gpu, plan, true, TRS_GPU_VALUES));
  return trs_device_wait(plan->stream);
}

/* One solve ends before the analysis of another method does. */
static trs_estimate estimate(const trs_plan *plan) {
  const bool once = plan->options.solves == 1;
  return (trs_estimate){.preference = once ? TRS_PREFERENCE_NONE : TRS_PREFERENCE_LAST};
}

static int64_t bytes(const trs_plan *plan) {
  const pull *s = plan->state;
  return trs_gpu_bytes(&s->gpu) + work_bytes(&s->gpu.system);
}

static void describe(const trs_plan *plan, char *text, size_t size) {
  const pull *s = plan->state;
  snprintf(text, size, "rows in their natural order, %d lane%s a row", s->lanes,
           s->lanes == 1 ? "" : "s");
}

static void free_state(trs_plan *plan) {
  pull *s = plan->state;
  if (s && s->gpu.device) {
    trs_device_free(s->gpu.device, s->work, plan->stream);
    trs_gpu_free(&s->gpu, plan);
  }
  trs_free(s);
}

const trs_method trs_method_pull = {
    .name = "pull",
    TRS_GPU_METHOD,
    .estimate = estimate,
    .analysis_solves = 0.1,
    .clone = clone,
    TRS_METHOD_STEPS,
};
