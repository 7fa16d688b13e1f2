/* alone.c - the engine on one GPU of a group, and the time of its solves. */
#include "solve/multigpu/alone.h"

#include <string.h>

#include "base/memory.h"
#include "device/shared.h"
#include "plan/timing.h"
#include "solve/cuda/engine/state.h"

/* Arrays in device memory are complete in the plan's stream. */
static trs_status wait_for_matrix(const trs_plan *plan) {
  const trs_matrix *A = plan->matrix;
  if (!A->on_device) return TRS_SUCCESS;
  TRS_ON_DEVICE(A->device);
  return trs_device_wait(plan->stream);
}

/* A child of the plan, which has renewed the matrix and checks its diagonal by all threads. */
trs_status trs_alone_create(trs_plan **alone, trs_plan *plan, trs_device *device, trs_stream stream,
                            int64_t nrhs, bool keeps_system) {
  trs_context *context;
  *alone = NULL;
  TRS_TRY(wait_for_matrix(plan));
  TRS_TRY(trs_context_of_device(&context, device, plan->context));
  context->keeps_systems = keeps_system;
  trs_status status = trs_plan_child(alone, plan, &trs_method_engine, nrhs);
  trs_plan *made = *alone;
  if (status) {
    trs_context_destroy(context);
    return status;
  }
  trs_context_destroy(made->context);
  made->context = context;
  made->stream = stream;
  const int before = trs_plan_enter(made);
  status = trs_plan_analyze_child(made, NULL);
  trs_plan_leave(made, before);
  if (!status) return TRS_SUCCESS;
  trs_plan_destroy(made);
  *alone = NULL;
  return status;
}

trs_status trs_alone_update(trs_plan *alone, const trs_plan *plan) {
  TRS_TRY(trs_plan_finish(alone));
  TRS_TRY(wait_for_matrix(plan));
  const int before = trs_plan_enter(alone);
  const trs_status status = trs_plan_update_child(alone, plan);
  trs_plan_leave(alone, before);
  return status;
}

void trs_alone_take(trs_plan *alone, trs_gpu *gpu) {
  trs_gpu *own = &((trs_engine *)alone->state)->gpu;
  *gpu = (trs_gpu){.device = own->device, .system = own->system};
  memcpy(gpu->owned, own->owned, sizeof own->owned);
  memset(own->owned, 0, sizeof own->owned);
  trs_gpu_unload(own, alone);
  alone->context->keeps_systems = false;
}

int32_t trs_alone_levels(const trs_plan *alone) {
  const trs_engine *e = alone->state;
  const trs_engine_candidate *c = &e->sweep.c;
  if (e->substitution.order) return e->levels;
  return c->rules.most_block == 1 ? c->slices.nlevels : 0;
}

int32_t trs_alone_joint_levels(const trs_plan *alone) {
  const trs_engine *e = alone->state;
  return e->substitution.order ? e->sweep.c.slices.nlevels : 0;
}

/* The analysis needs 2.5 times the memory of the matrix. */
bool trs_alone_fits(const trs_plan *plan, int members) {
  const trs_group *group = plan->context->group;
  const int64_t need = trs_plan_solve_bytes(plan) / 2 * 5, limit = plan->context->gpu_memory;
  int64_t room;
  if (!trs_group_one_process(group)) {
    room = trs_device_look(plan->context->device)->memory_bytes;
    return need <= (limit > 0 && limit < room ? limit : room);
  }
  for (int m = 0; m < members; m++) {
    if (trs_device_room(trs_group_device(group, m), &room)) continue;
    if (need > (members > 1 ? room / trs_group_sharers(group, m) : room)) return false;
  }
  return true;
}

/* From the pool, which keeps it for the next measurement; it is open to the other members. */
static trs_status make_zeros(void **zeros, trs_device *device, int64_t bytes) {
  TRS_ON_DEVICE(device);
  trs_status status = trs_device_alloc(device, zeros, bytes, 1, NULL);
  if (!status) status = trs_device_fill(*zeros, 0, bytes, NULL);
  if (!status) status = trs_device_wait(NULL);
  return status;
}

static void free_zeros(void *zeros, trs_device *device) {
  TRS_ON_DEVICE(device);
  trs_device_free(device, zeros, NULL);
}

/* One array of zeros serves as both b and x; a solve leaves it zero.  Long solves are timed fewer
 * times, as are those of many right-hand sides: they vary less.  Processes make as many solves as
 * each other. */
trs_status trs_alone_time(trs_plan *plan, const trs_alone_arrays *where, int64_t nrhs,
                          double *seconds) {
  static const trs_timing one = {.rounds = 2, .more = 6, .solves = 3, .seconds = 1e-3},
                          shared = {.rounds = 3, .solves = 3}, many = {.rounds = 1, .solves = 2};
  const int64_t n = plan->system.n,
                bytes = n * nrhs * (int64_t)trs_scalar_size(plan->system.scalar);
  void *zeros[TRS_MOST_MEMBERS] = {NULL};
  trs_status status = TRS_SUCCESS;
  for (int k = 0; k < where->count && !status; k++)
    status = make_zeros(&zeros[k], where->device[k], bytes);
  if (where->spread) status = trs_group_agree(plan->context->group, status);
  if (!status) {
    trs_rhs rhs = trs_rhs_by_columns(zeros[0], zeros[0], n, nrhs);
    if (where->spread) rhs.x_of = zeros;
    if (where->spread) rhs.b_of = (const void *const *)zeros;
    TRS_ON_DEVICE(where->device[0]);
    const trs_timing *how = nrhs > 1 ? &many : where->spread ? &shared : &one;
    status = trs_plan_time_rhs(plan, &rhs, how, seconds);
    (void)trs_plan_finish(plan);
  }
  for (int k = 0; k < where->count; k++) free_zeros(zeros[k], where->device[k]);
  return status;
}
