/* gpu.c - the system, right-hand sides and failures between host and device. */
#include "solve/cuda/gpu.h"

#include "base/config.h"
#include "device/fault.h"
#include "solve/cuda/transpose.h"

enum { MOST_STAGED = 64 }; /* right-hand sides in the stage at once */

const char *trs_gpu_refuses(const trs_plan *plan) {
  if (plan->context->device) return NULL;
  return "the context has no GPU: make one with \"" TRS_GPU_BACKEND "\" or \"" TRS_GPU_BACKEND
         ":N\"";
}

void trs_gpu_begin(trs_gpu *gpu, const trs_plan *plan, trs_gpu_launch launch) {
  gpu->device = gpu->stage.device = plan->context->device;
  gpu->launch = launch;
}

trs_status trs_gpu_arm(trs_gpu *gpu, const trs_plan *plan) {
  TRS_TRY(trs_device_alloc_host(gpu->device, (void **)&gpu->host_fault));
  *gpu->host_fault = (trs_fault){.row = -1, .limit = TRS_WAIT_LIMIT};
  TRS_TRY(TRS_DEVICE_ALLOC(gpu->device, &gpu->fault, 1, plan->stream));
  return trs_device_copy(gpu->fault, gpu->host_fault, sizeof *gpu->host_fault, plan->stream);
}

trs_status trs_gpu_open(trs_gpu *gpu, trs_plan *plan, trs_gpu_launch launch) {
  trs_gpu_begin(gpu, plan, launch);
  return trs_gpu_arm(gpu, plan);
}

static void drop(trs_gpu *gpu, int which, trs_stream stream) {
  trs_device_free(gpu->device, gpu->owned[which], stream);
  gpu->owned[which] = NULL;
}

static void drop_system(trs_gpu *gpu, trs_stream stream) {
  for (int k = 0; k < 4; k++) drop(gpu, k, stream);
  gpu->system.ptr = NULL;
  gpu->system.idx = NULL;
  gpu->system.val = NULL;
}

void trs_gpu_unload(trs_gpu *gpu, trs_plan *plan) {
  if (!plan->options.launch_updates) drop_system(gpu, plan->stream);
}

void trs_gpu_free(trs_gpu *gpu, trs_plan *plan) {
  if (!gpu->device) return;
  drop_system(gpu, plan->stream);
  trs_stage_close(&gpu->stage, plan->stream);
  trs_device_free(gpu->device, gpu->fault, plan->stream);
  (void)trs_device_wait(plan->stream); /* the copy of the fault may still run */
  trs_device_free_host(gpu->device, gpu->host_fault);
  gpu->fault = gpu->host_fault = NULL;
}

trs_status trs_gpu_separate(trs_gpu *gpu, const trs_plan *clone) {
  for (int k = 0; k < 4; k++) gpu->owned[k] = NULL;
  gpu->stage = (trs_stage){.device = gpu->device};
  gpu->fault = gpu->host_fault = NULL;
  return trs_gpu_arm(gpu, clone);
}

int64_t trs_gpu_bytes(const trs_gpu *gpu) {
  const trs_system *S = &gpu->system;
  int64_t size = (int64_t)trs_scalar_size(S->scalar);
  return (gpu->owned[0] ? (S->n + 1) * 8 : 0) + (gpu->owned[1] ? S->nnz * 4 : 0) +
         (gpu->owned[2] ? S->nnz * size : 0) + (gpu->owned[3] ? S->nnz * 8 : 0) + gpu->stage.bytes;
}

/* Array `which` of the plan's system (0 ptr, 1 idx, 2 val) in device memory: the caller's if it
 * lies there, else a copy. */
static trs_status bring(trs_gpu *gpu, trs_plan *plan, int which, const void **result) {
  const trs_system *S = &plan->system;
  const void *arrays[] = {S->ptr, S->idx, S->val};
  int64_t bytes[] = {(S->n + 1) * 8, S->nnz * 4, S->nnz * (int64_t)trs_scalar_size(S->scalar)};
  *result = arrays[which];
  if (plan->matrix->on_device) return TRS_SUCCESS;
  if (!gpu->owned[which])
    TRS_TRY(trs_device_alloc(gpu->device, &gpu->owned[which], bytes[which], 1, plan->stream));
  *result = gpu->owned[which];
  return trs_device_copy(gpu->owned[which], arrays[which], bytes[which], plan->stream);
}

/* Replaces the loaded arrays by those of the other storage order. */
static trs_status transpose(trs_gpu *gpu, trs_plan *plan, int what) {
  trs_system *S = &gpu->system;
  trs_transposed other = {0};
  TRS_TRY(trs_gpu_transpose(&other, gpu->device, S->n, S->nnz, S->scalar, S->ptr, S->idx,
                            what & TRS_GPU_VALUES ? S->val : NULL, plan->options.launch_updates,
                            plan->stream));
  drop_system(gpu, plan->stream);
  gpu->owned[0] = other.ptr;
  gpu->owned[1] = other.idx;
  gpu->owned[2] = other.val;
  gpu->owned[3] = other.entry;
  S->ptr = other.ptr;
  S->idx = other.idx;
  S->val = other.val;
  S->rows = !S->rows;
  return TRS_SUCCESS;
}

/* Once here, so that no kernel conjugates. */
static trs_status conjugate(trs_gpu *gpu, trs_plan *plan) {
  trs_system *S = &gpu->system;
  S->conj = false;
  if (!trs_scalar_is_complex(S->scalar) || !S->val) return TRS_SUCCESS;
  if (S->val != gpu->owned[2]) {
    const int64_t bytes = S->nnz * (int64_t)trs_scalar_size(S->scalar);
    if (!gpu->owned[2])
      TRS_TRY(trs_device_alloc(gpu->device, &gpu->owned[2], bytes, 1, plan->stream));
    TRS_TRY(trs_device_copy(gpu->owned[2], S->val, bytes, plan->stream));
    S->val = gpu->owned[2];
  }
  return trs_gpu_conjugate(gpu->owned[2], S->nnz, S->scalar, plan->stream);
}

trs_status trs_gpu_load(trs_gpu *gpu, trs_plan *plan, bool rows, int what) {
  const void *ptr = gpu->system.ptr, *idx = gpu->system.idx, *val = NULL;
  bool transposes = plan->system.rows != rows;
  if (plan->matrix->on_device)
    what |= TRS_GPU_PATTERN; /* costs only pointers, which may have changed */
  else if (ptr != gpu->owned[0])
    what |= TRS_GPU_PATTERN; /* those of a matrix in device memory before this one */
  if (transposes) {
    drop_system(gpu, plan->stream);
    what |= TRS_GPU_PATTERN;
  }
  if (what & TRS_GPU_PATTERN) {
    TRS_TRY(bring(gpu, plan, 0, &ptr));
    TRS_TRY(bring(gpu, plan, 1, &idx));
  }
  if (what & TRS_GPU_VALUES) TRS_TRY(bring(gpu, plan, 2, &val));
  gpu->system = plan->system;
  gpu->system.ptr = ptr;
  gpu->system.idx = idx;
  gpu->system.val = val;
  if (transposes) TRS_TRY(transpose(gpu, plan, what));
  return gpu->system.conj ? conjugate(gpu, plan) : TRS_SUCCESS;
}

trs_status trs_gpu_load_values(trs_gpu *gpu, trs_plan *plan) {
  const trs_system *given = &plan->system;
  trs_system *S = &gpu->system;
  if (gpu->owned[3]) {
    TRS_TRY(trs_gpu_transpose_values(gpu->owned[2], given->val, gpu->owned[3], S->nnz, S->scalar,
                                     plan->stream));
    S->val = gpu->owned[2];
  } else {
    S->ptr = given->ptr;
    S->idx = given->idx;
    S->val = given->val;
  }
  S->conj = given->conj;
  return S->conj ? conjugate(gpu, plan) : TRS_SUCCESS;
}

/* ---- Solving. ---- */

static trs_status check_fault(const trs_gpu *gpu) {
  if (!gpu->host_fault->stalled) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_STALLED, gpu->host_fault->row,
                  "GPU %d: row %lld waited more than %.3g s for the rows it depends on (0-based); "
                  "x is not complete, analyse anew",
                  trs_device_look(gpu->device)->ordinal, (long long)gpu->host_fault->row,
                  1e-9 * (double)gpu->host_fault->limit);
}

static trs_status finish(trs_plan *plan, trs_gpu *gpu) {
  TRS_TRY(trs_device_copy(gpu->host_fault, gpu->fault, sizeof *gpu->host_fault, plan->stream));
  TRS_TRY(trs_device_wait(plan->stream));
  return check_fault(gpu);
}

trs_status trs_gpu_wait(trs_plan *plan) { return finish(plan, plan->state); }

/* x or b, or both, lie in host memory. */
static trs_status solve_staged(trs_plan *plan, trs_gpu *gpu, const trs_rhs *rhs) {
  const trs_system *S = &plan->system;
  trs_passage p = {.all = trs_span_of(rhs, S->n, S->scalar, 0, rhs->nrhs),
                   .end = rhs->nrhs,
                   .width = trs_stage_width(plan, rhs->nrhs, MOST_STAGED),
                   .stage = &gpu->stage,
                   .stream = plan->stream};
  if (trs_device_capturing(plan->stream))
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "a solve becomes part of a graph where b and x are in device memory");
  TRS_TRY(trs_stage_need(&gpu->stage, S->n * p.width * p.all.size, plan->stream));
  TRS_TRY(trs_gpu_pass(plan, &p, gpu->launch));
  return finish(plan, gpu);
}

/* Kernels load and store whole elements. */
static trs_status check_alignment(const trs_plan *plan, const trs_rhs *rhs) {
  const size_t size = trs_scalar_size(plan->system.scalar);
  const bool x = (uintptr_t)rhs->x % size != 0;
  if (!x && (uintptr_t)rhs->b % size == 0) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_ARGUMENT, -1,
                  "%s in device memory is not aligned to its elements of %zu bytes: copy it into "
                  "an array that is",
                  x ? "x" : "b", size);
}

trs_status trs_gpu_solve_by(trs_plan *plan, trs_gpu *gpu, const trs_rhs *rhs) {
  TRS_TRY(check_fault(gpu));
  const bool there = trs_rhs_is_there(rhs);
  if (there) TRS_TRY(check_alignment(plan, rhs));
  return there ? gpu->launch(plan, rhs, plan->stream) : solve_staged(plan, gpu, rhs);
}

trs_status trs_gpu_solve(trs_plan *plan, const trs_rhs *rhs) {
  return trs_gpu_solve_by(plan, plan->state, rhs);
}
