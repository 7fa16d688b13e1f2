/* context.c - creates contexts from names such as "auto", "threads:4" and "cuda:0-3", and frees
 * them. */
#include "backend/context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/config.h"
#include "base/cores.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "base/process.h"
#include "base/text.h"
#include "base/thread.h"

/* The list is included thrice, each time with other macros. */
#define TRS_CONTEXT(name, backend, lacks)
#define TRS_BACKEND(id, name, contexts, place) extern const trs_backend trs_backend_##id;
#define TRS_PAPER_OPENCL TRS_BACKEND
#include "backend/backends.def"
#undef TRS_BACKEND

#define TRS_BACKEND(id, name, contexts, place) name "  " contexts "  " place "\n"
static const char list[] =
#include "backend/backends.def"
    ;
#undef TRS_CONTEXT
#undef TRS_BACKEND

const char *trs_backend_list(void) { return list; }

static const struct {
  const char *name;
  const trs_backend *backend;
  const char *lacks;
} names[] = {
#define TRS_CONTEXT(name, backend, lacks) {name, backend, lacks},
#define TRS_BACKEND(id, name, contexts, place)
#include "backend/backends.def"
};

/* What other programs call the same. */
static const struct {
  const char *name, *ours;
} elsewhere[] = {{"cpu", "threads"}, {"host", "threads"},      {"openmp", "threads"},
                 {"omp", "threads"}, {"gpu", TRS_GPU_BACKEND}, {"device", TRS_GPU_BACKEND},
                 {"nvidia", "cuda"}, {"amd", "hip"},           {"rocm", "hip"}};
static const char known[] = "auto|serial|threads|cuda|hip|nvshmem|opencl";

trs_status trs_context_unknown(const char *name) {
  char word[32], near[32] = "";
  snprintf(word, sizeof word, "%.*s", (int)strcspn(name, ":"), name);
  for (size_t k = 0; k < sizeof elsewhere / sizeof *elsewhere; k++)
    if (trs_same_letters(elsewhere[k].name, word, sizeof word))
      snprintf(near, sizeof near, "%s", elsewhere[k].ours);
  const bool found = (*near || trs_nearest(near, sizeof near, word, known)) && strcmp(near, word);
  return trs_fail(TRS_ERROR_ARGUMENT, -1,
                  "no backend \"%s\"%s%s%s: there are auto, serial (one thread of the CPU), "
                  "threads (every thread) or threads:T, cuda or cuda:N, cuda:0-3 or cuda:0,2 for "
                  "several GPUs, hip or hip:N, nvshmem and opencl or opencl:N",
                  name, found ? ", did you mean " : "", found ? near : "", found ? "?" : "");
}

static trs_status open_backend(trs_context *context, const char *name) {
  const size_t length = strcspn(name, ":");
  const char *argument = name[length] ? name + length + 1 : NULL;
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    if (strlen(names[k].name) == length && memcmp(names[k].name, name, length) == 0) {
      if (!names[k].backend) return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "%s", names[k].lacks);
      context->backend = names[k].backend;
      return context->backend->open(context, name, argument);
    }
  return trs_context_unknown(name);
}

static trs_status make(trs_context **result) {
  trs_context *context;
  TRS_TRY(TRS_ALLOC_ZERO(&context, 1));
  atomic_init(&context->references, 1);
  context->process = trs_process();
  context->threads = 1;
  *result = context;
  return TRS_SUCCESS;
}

/* True if the caller or the user asks for a number of threads. */
static bool is_number_given(const char *where) {
  const char *number = getenv("TRIREME_NUM_THREADS");
  return (number && *number) || (where && !strncmp(where, "threads:", 8));
}

/* A default number is a wish: a limit on processes may leave fewer threads. */
static trs_status start_team(trs_context *context, bool all) {
  if (context->threads < 2) return TRS_SUCCESS;
  TRS_TRY((all ? trs_team_create : trs_team_create_any)(&context->team, context->threads));
  context->threads = trs_team_size(context->team);
  return TRS_SUCCESS;
}

static trs_status create(trs_context **result, const char *where) {
  trs_context *context;
  TRS_TRY(trs_isa_check());
  TRS_TRY(make(&context));
  context->cores = trs_cores();
  sigset_t before;
  trs_signals_block(&before); /* CUDA and OpenCL start threads, which inherit the mask */
  trs_status status = open_backend(context, where ? where : "auto");
  trs_signals_restore(&before);
  if (!status) status = start_team(context, is_number_given(where));
  if (status)
    trs_context_destroy(context);
  else
    *result = context;
  return status;
}

trs_status trs_context_create(trs_context **result, const char *where) {
  if (!result) return trs_fail(TRS_ERROR_ARGUMENT, -1, "ctx is NULL");
  *result = NULL;
  int cancel = trs_cancel_defer();
  trs_status status = create(result, where);
  trs_cancel_restore(cancel);
  return status;
}

trs_status trs_context_of_device(trs_context **result, trs_device *device,
                                 const trs_context *like) {
  TRS_TRY(make(result));
  atomic_store(&(*result)->gpu_memory, atomic_load(&like->gpu_memory));
  (*result)->backend = &trs_backend_cuda;
  (*result)->device = trs_device_retain(device);
  return TRS_SUCCESS;
}

trs_context *trs_context_retain(trs_context *context) {
  atomic_fetch_add(&context->references, 1);
  return context;
}

void trs_context_destroy(trs_context *context) {
  if (!context || atomic_fetch_sub(&context->references, 1) > 1) return;
  trs_team_destroy(context->team);
  const trs_backend *backend = context->backend;
  if (backend && backend->close && !trs_context_is_inherited(context)) backend->close(context);
  trs_free(context);
}

const char trs_context_inherited[] =
    "the context was made before this process was forked, and CUDA and OpenCL do not survive a "
    "fork: make "
    "contexts of GPUs in the child alone, or start it with exec (Python: the start method "
    "\"spawn\")";

bool trs_context_is_inherited(const trs_context *context) {
  return context->process != trs_process();
}

trs_status trs_context_check(const trs_context *context) {
  if (!trs_context_is_inherited(context)) return TRS_SUCCESS;
  if (context->backend->gpu || context->paper)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "%s", trs_context_inherited);
  return trs_team_renew(context->team);
}

/* A missing GPU is no failure: the last error stays unchanged. */
static void look_for_device(trs_context *context) {
  trs_device *device;
  trs_failure before;
  trs_failure_get(&before);
  if (trs_device_open(&device, 0))
    snprintf(context->no_device, sizeof context->no_device, "%s", trs_last_error()->message);
  else
    context->device = device;
  trs_failure_set(&before);
  context->looked = true; /* written last: other threads read it without the lock */
}

const char *trs_context_find_device(trs_context *context) {
  if (trs_context_is_inherited(context)) return trs_context_inherited;
  trs_single_wait(&context->looking);
  if (!context->looked && !context->device && context->backend->finds_gpu) look_for_device(context);
  (void)trs_single_give(&context->looking, TRS_SUCCESS);
  return context->device ? NULL : context->no_device;
}

const trs_gpu_costs *trs_context_gpu_costs(const trs_context *context) {
  const bool alike = context->group && !trs_group_one_process(context->group);
  if (alike || !context->device) return &trs_gpu_measured;
  return &trs_device_look(context->device)->costs;
}

void trs_context_limit_gpus(const trs_context *context) {
  const int64_t bytes = atomic_load(&context->gpu_memory);
  const trs_group *group = context->group;
  if (context->device) trs_device_allow(context->device, bytes);
  for (int k = 0; group && k < trs_group_local(group); k++)
    trs_device_allow(trs_group_device(group, trs_group_first(group) + k), bytes);
}

trs_context_kind trs_context_get_kind(const trs_context *context, int *number) {
  const trs_context_kind kind = context ? context->backend->kind : TRS_KIND_NONE;
  const bool host = kind == TRS_KIND_AUTO || kind == TRS_KIND_THREADS;
  if (number) *number = host ? context->threads : trs_context_members(context, NULL, NULL);
  return kind;
}

int trs_context_members(const trs_context *context, int *first, int *local) {
  const trs_group *group = context ? context->group : NULL;
  if (first) *first = group ? trs_group_first(group) : 0;
  if (local) *local = group ? trs_group_local(group) : context != NULL;
  return group ? trs_group_members(group) : context != NULL;
}
