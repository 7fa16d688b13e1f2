/* push_first.c - the system by rows in the memory of the group's first GPU, and its joint system.
 */
#include "solve/cuda/engine/choice.h"
#include "solve/multigpu/push_state.h"

/* What trs_gpu_load reads of a plan. */
static trs_plan in_first_stream(const trs_push_state *p, const trs_plan *plan) {
  return (trs_plan){.context = plan->context,
                    .matrix = plan->matrix,
                    .system = plan->system,
                    .stream = p->member[0].stream};
}

trs_status trs_push_load(trs_push_state *p, const trs_plan *plan) {
  trs_plan own = in_first_stream(p, plan);
  if (p->loaded.device) return TRS_SUCCESS;
  p->loaded = (trs_gpu){.device = p->member[0].device};
  TRS_ON_DEVICE(p->loaded.device);
  /* Arrays in device memory are complete in the plan's stream. */
  trs_status status = plan->matrix->on_device ? trs_device_wait(plan->stream) : TRS_SUCCESS;
  if (!status) status = trs_gpu_load(&p->loaded, &own, true, TRS_GPU_PATTERN | TRS_GPU_VALUES);
  return status;
}

void trs_push_unload(trs_push_state *p, const trs_plan *plan) {
  if (!p->loaded.device) return;
  trs_plan own = in_first_stream(p, plan);
  const int before = trs_device_enter(p->loaded.device);
  trs_gpu_unload(&p->loaded, &own);
  trs_device_leave(before);
  p->loaded = (trs_gpu){0};
}

trs_status trs_push_features(trs_push_state *p, trs_pattern_features *features) {
  trs_device *device = p->loaded.device;
  const trs_system *S = &p->loaded.system;
  const trs_stream stream = p->member[0].stream;
  void *stage;
  TRS_ON_DEVICE(device);
  trs_status status = trs_gpu_begin_features(&stage, device, S, stream);
  if (!status) status = trs_gpu_end_features(features, stage, device, S->n, stream);
  return status;
}

trs_status trs_push_join(trs_push_state *p, trs_first *first, bool *made) {
  const trs_joint_way way = trs_push_joint_way(p, &p->loaded.system);
  return trs_joint_create_there(&first->joint, made, &p->loaded.system, &way);
}
