/* context.c - parses "auto", "serial", "threads[:T]", "cuda[:N]", "cuda:0-3" and "nvshmem"; starts
 * the team, opens the GPUs.
 */
#include "plan/context.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/cores.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "base/process.h"

enum { MOST_DEVICES = 1024 };

static trs_status parse_device(trs_context *context, const char *where, const char *number) {
  char *rest = NULL;
  long ordinal = number ? strtol(number, &rest, 10) : 0;
  if (number && (!*number || *rest || ordinal < 0 || ordinal > MOST_DEVICES))
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "\"%s\": a GPU's number follows cuda:, from 0", where);
  trs_device *device;
  TRS_TRY(trs_device_open(&device, (int)ordinal));
  context->device = device;
  return TRS_SUCCESS;
}

/* where: of several GPUs, what stands behind "cuda:", or "nvshmem". */
static trs_status open_group(trs_context *context, const char *where) {
  snprintf(context->backend, sizeof context->backend, "cuda-group");
  TRS_TRY(trs_group_open(&context->group, where));
  trs_device *first = trs_group_device(context->group, trs_group_first(context->group));
  context->device = trs_device_retain(first);
  return TRS_SUCCESS;
}

static trs_status parse(trs_context *context, const char *where) {
  size_t length = strcspn(where, ":");
  const char *count = where[length] ? where + length + 1 : NULL;
  if (length >= sizeof context->backend) length = 0;
  memcpy(context->backend, where, length);
  context->cores = trs_cores();
  context->threads = 1;
  bool given = strcmp(context->backend, "serial") == 0 ||
               (strcmp(context->backend, "threads") == 0 && count);
  if (!given) TRS_TRY(trs_default_threads(&context->threads));
  if (strcmp(context->backend, "serial") == 0) {
    if (!count) return TRS_SUCCESS;
  } else if (strcmp(context->backend, "auto") == 0) {
    if (!count) return TRS_SUCCESS;
  } else if (strcmp(context->backend, "cuda") == 0) {
    if (count && strpbrk(count, "-,")) return open_group(context, count);
    return parse_device(context, where, count);
  } else if (strcmp(context->backend, "nvshmem") == 0) {
    if (!count) return open_group(context, where);
  } else if (strcmp(context->backend, "threads") == 0) {
    if (!count) return TRS_SUCCESS;
    char *rest;
    long threads = strtol(count, &rest, 10);
    if (*count && !*rest && threads >= 1 && threads <= TRS_MOST_THREADS) {
      context->threads = (int)threads;
      return TRS_SUCCESS;
    }
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "\"%s\": threads must be 1 to %d", where,
                    TRS_MOST_THREADS);
  }
  return trs_fail(TRS_ERROR_ARGUMENT, -1,
                  "no backend \"%s\": there are auto, serial, threads, threads:T, cuda, cuda:N, "
                  "cuda:0-3 or cuda:0,2 for several GPUs, and nvshmem",
                  where);
}

trs_status trs_context_create(trs_context **result, const char *where) {
  if (!result) return trs_fail(TRS_ERROR_ARGUMENT, -1, "ctx is NULL");
  trs_context *context;
  *result = NULL;
  TRS_TRY(trs_isa_check());
  TRS_TRY(TRS_ALLOC_ZERO(&context, 1));
  atomic_init(&context->references, 1);
  context->process = trs_process();
  trs_status status = parse(context, where ? where : "auto");
  if (!status && context->threads > 1) status = trs_team_create(&context->team, context->threads);
  if (status) {
    trs_device_close(context->device);
    trs_group_close(context->group);
    trs_free(context);
    return status;
  }
  *result = context;
  return TRS_SUCCESS;
}

trs_context *trs_context_retain(trs_context *context) {
  atomic_fetch_add(&context->references, 1);
  return context;
}

void trs_context_destroy(trs_context *context) {
  if (!context || atomic_fetch_sub(&context->references, 1) > 1) return;
  trs_team_destroy(context->team);
  if (!trs_context_is_inherited(context)) {
    trs_device_close(context->device);
    trs_group_close(context->group);
  }
  trs_free(context);
}

const char trs_context_inherited[] =
    "the context was made before this process was forked, and CUDA does not survive a fork: make "
    "contexts of GPUs in the child alone, or start it with exec (Python: the start method "
    "\"spawn\")";

bool trs_context_is_inherited(const trs_context *context) {
  return context->process != trs_process();
}

trs_status trs_context_check(const trs_context *context) {
  if (!trs_context_is_inherited(context)) return TRS_SUCCESS;
  if (strncmp(context->backend, "cuda", 4) == 0)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "%s", trs_context_inherited);
  return trs_team_renew(context->team);
}

/* That there is no GPU fails no call: the last failure stays what it was. */
static void look_for_device(trs_context *context) {
  trs_device *device;
  trs_failure before;
  trs_failure_get(&before);
  if (trs_device_open(&device, 0))
    snprintf(context->no_device, sizeof context->no_device, "%s", trs_last_error()->message);
  else
    context->device = device;
  trs_failure_set(&before);
  context->looked = true; /* last: others read without the lock */
}

const char *trs_context_find_device(trs_context *context) {
  if (trs_context_is_inherited(context)) return trs_context_inherited;
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&lock);
  if (!context->looked && !context->device && strcmp(context->backend, "auto") == 0)
    look_for_device(context);
  pthread_mutex_unlock(&lock);
  return context->device ? NULL : context->no_device;
}

trs_status trs_context_set_gpu_memory(trs_context *context, int64_t bytes) {
  if (!context) return trs_fail(TRS_ERROR_ARGUMENT, -1, "ctx is NULL");
  if (bytes < 0) return trs_fail(TRS_ERROR_ARGUMENT, -1, "bytes is %lld", (long long)bytes);
  atomic_store(&context->gpu_memory, bytes);
  return TRS_SUCCESS;
}

void trs_context_limit_gpus(const trs_context *context) {
#if TRS_HAVE_CUDA
  const int64_t bytes = atomic_load(&context->gpu_memory);
  if (context->device) trs_device_allow(context->device, bytes);
  for (int m = 0; context->group && m < trs_group_local(context->group); m++)
    trs_device_allow(trs_group_device(context->group, trs_group_first(context->group) + m), bytes);
#else
  (void)context;
#endif
}

int trs_context_threads(const trs_context *context) { return context ? context->threads : 0; }

int trs_context_members(const trs_context *context, int *first, int *local) {
  const trs_group *group = context ? context->group : NULL;
  if (first) *first = group ? trs_group_first(group) : 0;
  if (local) *local = group ? trs_group_local(group) : context != NULL;
  return group ? trs_group_members(group) : context != NULL;
}

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
