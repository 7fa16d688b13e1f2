/* context.c - queries of a context, and the limit of its memory. */
#include "backend/context.h"

trs_status trs_context_set_gpu_memory(trs_context *context, int64_t bytes) {
  if (!context) return trs_fail(TRS_ERROR_ARGUMENT, -1, "ctx is NULL");
  if (bytes < 0) return trs_fail(TRS_ERROR_ARGUMENT, -1, "bytes is %lld", (long long)bytes);
  atomic_store(&context->gpu_memory, bytes);
  return TRS_SUCCESS;
}

int trs_context_threads(const trs_context *context) { return context ? context->threads : 0; }

int64_t trs_context_gpu_memory(const trs_context *context) {
  int first, local;
  if (!context) return 0;
  const trs_group *group = context->group;
  (void)trs_context_members(context, &first, &local);
  int64_t least = context->device ? trs_device_look(context->device)->memory_bytes : 0;
  for (int member = first; group && member < first + local; member++) {
    int64_t bytes = trs_device_look(trs_group_device(group, member))->memory_bytes;
    if (bytes < least) least = bytes;
  }
  return least;
}

int trs_context_gpu(const trs_context *context, int member) {
  int first, local;
  (void)trs_context_members(context, &first, &local);
  if (member < first || member >= first + local) return -1;
  const trs_device *device =
      context->group ? trs_group_device(context->group, member) : context->device;
  return device ? trs_device_look(device)->ordinal : -1;
}

int trs_context_processes(const trs_context *context, int *rank) {
  bool several = context && context->group && !trs_group_one_process(context->group);
  if (rank) *rank = several ? trs_group_first(context->group) : 0;
  return several ? trs_group_members(context->group) : context != NULL;
}
