/* syncfree_plan.c - analysis, update and memory of both synchronization-free methods. */
#include "L17/syncfree_plan.h"

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

static trs_status count_in_degrees(trs_syncfree_plan *p, trs_plan *plan) {
  int64_t n = p->gpu.system.n;
  TRS_TRY(TRS_DEVICE_ALLOC(p->gpu.device, &p->in_degree, n, plan->stream));
  TRS_TRY(trs_device_fill(p->in_degree, 0, n * (int64_t)sizeof *p->in_degree, plan->stream));
  trs_syncfree s = look(p);
  return trs_syncfree_count(&s, plan->stream);
}

trs_status trs_syncfree_analyze(trs_plan *plan, trs_gpu_launch launch, int64_t width) {
  trs_syncfree_plan *p = plan->state;
  p->width = width;
  TRS_TRY(trs_gpu_open(&p->gpu, plan, launch));
  TRS_TRY(trs_gpu_load(&p->gpu, plan, false, TRS_GPU_PATTERN | TRS_GPU_VALUES));
  TRS_TRY(trs_device_alloc(p->gpu.device, &p->workspace, workspace_bytes(&p->gpu.system, width), 1,
                           plan->stream));
  TRS_TRY(count_in_degrees(p, plan));
  return trs_device_wait(plan->stream);
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
