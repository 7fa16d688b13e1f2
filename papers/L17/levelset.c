/* levelset.c - level sets with a barrier after each: one launch of levelset.cu per level.  The
 * method that L17 sets out from (its section 2.1.2; Anderson & Saad 1989).
 *
 * The levels are found on the host in O(n + nnz).  A solve has as many launches as levels. */
#include <stdio.h>

#include "plan/parameters.h"
#include "solve/cuda/gpu.h"
#include "L17/levelset.h"

typedef struct levelset {
  trs_gpu gpu;
  int32_t *order; /* device memory: rows, level after level */
  int64_t *begin; /* host, levels + 1: the place of each level's first row in order */
  int32_t levels;
} levelset;

static trs_status launch(trs_plan *plan, const trs_rhs *rhs, trs_stream stream) {
  const levelset *s = plan->state;
  const trs_levelset job = {
      .system = s->gpu.system, .order = s->order, .columns = trs_gpu_columns_of(rhs)};
  for (int32_t l = 0; l < s->levels; l++)
    TRS_TRY(trs_levelset_level(&job, s->begin[l], s->begin[l + 1], stream));
  return TRS_SUCCESS;
}

/* next: a place per level. */
static void sort_rows(const trs_levels *L, int32_t *order, int64_t *next) {
  for (int32_t l = 0; l < L->count; l++) next[l] = L->ptr[l];
  for (int64_t i = 0; i < L->n; i++) order[next[L->level[i]]++] = (int32_t)i;
}

static trs_status find_levels(levelset *s, trs_plan *plan) {
  int32_t *order = NULL;
  int64_t *next = NULL;
  TRS_TRY(trs_plan_need_levels(plan));
  const trs_levels *L = plan->levels;
  s->levels = L->count;
  TRS_TRY(TRS_ALLOC(&s->begin, L->count + 1));
  for (int32_t l = 0; l <= L->count; l++) s->begin[l] = L->ptr[l];
  TRS_TRY(TRS_DEVICE_ALLOC(s->gpu.device, &s->order, L->n, plan->stream));
  trs_status status = TRS_ALLOC(&order, L->n);
  if (!status) status = TRS_ALLOC(&next, L->count);
  if (!status) {
    sort_rows(L, order, next);
    status = trs_device_copy(s->order, order, L->n * (int64_t)sizeof *order, plan->stream);
  }
  if (!status) status = trs_device_wait(plan->stream);
  trs_free(order);
  trs_free(next);
  return status;
}

static trs_status analyze(trs_plan *plan) {
  levelset *s;
  TRS_TRY(TRS_ALLOC_ZERO(&s, 1));
  plan->state = s;
  TRS_TRY(trs_parameters_read(plan, NULL, 0));
  TRS_TRY(trs_gpu_open(&s->gpu, plan, launch));
  TRS_TRY(trs_gpu_load(&s->gpu, plan, true, TRS_GPU_PATTERN | TRS_GPU_VALUES));
  return find_levels(s, plan);
}

static trs_status update(trs_plan *plan) {
  levelset *s = plan->state;
  TRS_TRY(trs_gpu_load(&s->gpu, plan, true, TRS_GPU_VALUES));
  return trs_device_wait(plan->stream);
}

static int64_t bytes(const trs_plan *plan) {
  const levelset *s = plan->state;
  return trs_gpu_bytes(&s->gpu) + s->gpu.system.n * (int64_t)sizeof *s->order +
         (s->levels + 1) * (int64_t)sizeof *s->begin;
}

static void describe(const trs_plan *plan, char *text, size_t size) {
  const levelset *s = plan->state;
  snprintf(text, size, "%d level%s, a launch each, a warp a row", s->levels,
           s->levels == 1 ? "" : "s");
}

static void free_state(trs_plan *plan) {
  levelset *s = plan->state;
  if (s && s->gpu.device) {
    trs_device_free(s->gpu.device, s->order, plan->stream);
    trs_gpu_free(&s->gpu, plan);
  }
  if (s) trs_free(s->begin);
  trs_free(s);
}

const trs_method trs_method_levelset = {
    .name = "levelset",
    TRS_GPU_METHOD,
    .analysis_solves = 10,
    TRS_METHOD_STEPS,
};
