/* syncfree_plan.c - analysis, update and memory of both synchronization-free methods. */
#include "L17/syncfree_plan.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/timer.h"

/* The ticket and met, rounded up, so that left_sum behind them is aligned for every scalar. */
static int64_t counters_bytes(int64_t n) {
  static const int64_t ALIGNMENT = 256;
  int64_t bytes = (int64_t)sizeof(uint32_t) + n * (int64_t)sizeof(int32_t);
  return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static int64_t workspace_bytes(const trs_system *S, int64_t width) {
  return counters_bytes(S->n) + S->n * width * (int64_t)trs_scalar_size(S->scalar);
}

static trs_syncfree look(const trs_syncfree_plan *p) {
  const trs_system *S = &p->gpu.system;
  char *workspace = p->workspace;
  return (trs_syncfree){
      .n = S->n,
      .nnz = S->nnz,
      .scalar = S->scalar,
      .lower = S->lower,
      .unit = S->unit,
      .has_diagonal = S->has_diagonal,
      .ptr = S->ptr,
      .idx = S->idx,
      .val = S->val,
      .in_degree = p->in_degree,
      .ticket = (uint32_t *)(void *)workspace,
      .met = (int32_t *)(void *)(workspace + sizeof(uint32_t)),
      .left_sum = workspace + counters_bytes(S->n),
      .fault = p->gpu.fault,
  };
}

trs_status trs_syncfree_begin(const trs_syncfree_plan *p, trs_syncfree *s, trs_gpu_columns *columns,
                              const trs_rhs *rhs, int64_t first, trs_stream stream) {
  const trs_rhs part = trs_rhs_columns(rhs, p->gpu.system.scalar, first, p->width);
  *s = look(p);
  *columns = trs_gpu_columns_of(&part);
  return trs_device_fill(p->workspace, 0, workspace_bytes(&p->gpu.system, part.nrhs), stream);
}

static trs_status take_memory(trs_syncfree_plan *p, trs_plan *plan) {
  const trs_system *S = &p->gpu.system;
  TRS_TRY(TRS_DEVICE_ALLOC(p->gpu.device, &p->in_degree, S->n, plan->stream));
  return trs_device_alloc(p->gpu.device, &p->workspace, workspace_bytes(S, p->width), 1,
                          plan->stream);
}

static trs_status count_in_degrees(trs_syncfree_plan *p, trs_plan *plan) {
  const int64_t bytes = p->gpu.system.n * (int64_t)sizeof *p->in_degree;
  TRS_TRY(trs_device_fill(p->in_degree, 0, bytes, plan->stream));
  trs_syncfree s = look(p);
  return trs_syncfree_count(&s, plan->stream);
}

/* Ends a step: its seconds since *last. */
static trs_status end_step(const trs_plan *plan, double *last, double *seconds) {
  TRS_TRY(trs_device_wait(plan->stream));
  const double now = trs_seconds();
  *seconds = now - *last;
  *last = now;
  return TRS_SUCCESS;
}

trs_status trs_syncfree_analyze(trs_plan *plan, trs_gpu_launch launch, int64_t width) {
  trs_syncfree_plan *p = plan->state;
  double last = trs_seconds();
  p->width = width;
  TRS_TRY(trs_gpu_open(&p->gpu, plan, launch));
  TRS_TRY(end_step(plan, &last, &p->seconds.memory));
  TRS_TRY(trs_gpu_load(&p->gpu, plan, false, TRS_GPU_PATTERN | TRS_GPU_VALUES));
  TRS_TRY(end_step(plan, &last, &p->seconds.load));
  const double opened = p->seconds.memory;
  TRS_TRY(take_memory(p, plan));
  TRS_TRY(end_step(plan, &last, &p->seconds.memory));
  p->seconds.memory += opened;
  TRS_TRY(count_in_degrees(p, plan));
  return end_step(plan, &last, &p->seconds.in_degrees);
}

void trs_syncfree_describe(const trs_syncfree_plan *p, char *text, size_t size) {
  const size_t used = strlen(text);
  trs_print(text + used, size - used,
            "; preprocessing %.6g ms, loading %.6g ms, allocation %.6g ms",
            1e3 * p->seconds.in_degrees, 1e3 * p->seconds.load, 1e3 * p->seconds.memory);
}

trs_status trs_syncfree_update(trs_plan *plan) {
  trs_syncfree_plan *p = plan->state;
  TRS_TRY(trs_gpu_load(&p->gpu, plan, false, TRS_GPU_VALUES));
  return trs_device_wait(plan->stream);
}

int64_t trs_syncfree_bytes(const trs_plan *plan) {
  const trs_syncfree_plan *p = plan->state;
  const trs_system *S = &p->gpu.system;
  return trs_gpu_bytes(&p->gpu) + S->n * (int64_t)sizeof *p->in_degree +
         workspace_bytes(S, p->width);
}

void trs_syncfree_free(trs_plan *plan) {
  trs_syncfree_plan *p = plan->state;
  if (p && p->gpu.device) {
    trs_device_free(p->gpu.device, p->in_degree, plan->stream);
    trs_device_free(p->gpu.device, p->workspace, plan->stream);
    trs_gpu_free(&p->gpu, plan);
  }
  trs_free(p);
}
