/* alone.c - the engine on one GPU of a group, and the time of its solves. */
#include "solve/multigpu/alone.h"

#include <string.h>

#include "base/memory.h"
#include "device/shared.h"
#include "plan/timing.h"
#include "solve/cuda/engine/state.h"

/* A matrix in device memory is read on its own GPU, where the member's stream does not exist; the
 * default stream is valid for both. */
trs_status trs_alone_create(trs_plan **alone, const trs_plan *plan, trs_device *device,
                            trs_stream stream, int64_t nrhs) {
  trs_context *context;
  trs_options options = {.method = "engine",
                         .nrhs = nrhs,
                         .solves = plan->options.solves,
                         .store = plan->options.store,
                         .tune = plan->options.tune,
                         .stream = plan->matrix->on_device ? NULL : stream};
  *alone = NULL;
  TRS_TRY(trs_context_of_device(&context, device, plan->context));
  context->keeps_systems = true;
  trs_status status =
      trs_plan_create(alone, context, plan->matrix, plan->uplo, plan->trans, plan->diag, &options);
  trs_context_destroy(context); /* the plan keeps it */
  if (!status) trs_plan_use_stream(*alone, stream);
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

static trs_status make_zeros(void **zeros, trs_device *device, int64_t bytes) {
  int before = trs_device_enter(device);
  trs_status status = trs_device_alloc_plain(device, zeros, bytes);
  if (!status) status = trs_device_fill(*zeros, 0, bytes, NULL);
  if (!status) status = trs_device_wait(NULL);
  trs_device_leave(before);
  return status;
}

static void free_zeros(void *zeros, trs_device *device, int64_t bytes) {
  int before = trs_device_enter(device);
  trs_device_free_plain(device, zeros, bytes);
  trs_device_leave(before);
}

/* One array of zeros serves as both b and x; a solve leaves it zero.  Solves of many right-hand
 * sides are timed fewer times: they take longer, and vary less. */
trs_status trs_alone_time(trs_plan *plan, const trs_alone_arrays *where, int64_t nrhs,
                          double *seconds) {
  static const trs_timing one = {.rounds = 2, .more = 1, .solves = 5},
                          many = {.rounds = 1, .solves = 2};
  const int64_t n = plan->system.n,
                bytes = n * nrhs * (int64_t)trs_scalar_size(plan->system.scalar);
  void *zeros[TRS_MOST_MEMBERS] = {NULL};
  trs_status status = TRS_SUCCESS;
  for (int k = 0; k < where->count && !status; k++)
    status = make_zeros(&zeros[k], where->device[k], bytes);
  if (where->spread) status = trs_group_agree(plan->context->group, status);
  if (!status) {
    trs_rhs rhs = {.x = zeros[0], .b = zeros[0], .nrhs = nrhs};
    rhs.x_row = rhs.b_row = 1;
    rhs.x_col = rhs.b_col = n;
    if (where->spread) rhs.x_of = zeros;
    if (where->spread) rhs.b_of = (const void *const *)zeros;
    int before = trs_device_enter(where->device[0]);
    status = trs_plan_time_rhs(plan, &rhs, nrhs > 1 ? &many : &one, seconds);
    (void)trs_plan_finish(plan);
    trs_device_leave(before);
  }
  for (int k = 0; k < where->count; k++) free_zeros(zeros[k], where->device[k], bytes);
  return status;
}
