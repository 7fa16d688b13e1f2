/* cuda.c - the backends of GPUs: "cuda[:N]" is one GPU, "cuda:0-3" and "nvshmem" are groups.  In a
 * build with HIP "hip[:N]" is one GPU. */
#include <stdlib.h>
#include <string.h>

#include "backend/context.h"
#include "base/config.h"
#include "base/cores.h"
#include "device/speed.h"

enum { MOST_DEVICES = 1024 };

static trs_status open_group(trs_context *context, const char *members) {
  context->backend = &trs_backend_cuda_group;
  TRS_TRY(trs_group_open(&context->group, members));
  trs_device *first = trs_group_device(context->group, trs_group_first(context->group));
  context->device = trs_device_retain(first);
  return TRS_SUCCESS;
}

/* A build has the GPUs of one runtime. */
static trs_status check_runtime(const char *name) {
  const bool hip = !strncmp(name, "hip", 3);
  if (hip == (TRS_HAVE_HIP != 0)) return TRS_SUCCESS;
  if (hip) return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "this build has no HIP: " TRS_GET_HIP);
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                  "this build has HIP, and no CUDA: use \"hip\" for one of its GPUs");
}

static trs_status open_one(trs_context *context, const char *name, const char *number) {
  char *rest = NULL;
  long ordinal = number ? strtol(number, &rest, 10) : 0;
  if (number && (!*number || *rest || ordinal < 0 || ordinal > MOST_DEVICES))
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "\"%s\": a GPU's number follows %.*s:, from 0", name,
                    (int)strcspn(name, ":"), name);
  trs_device *device;
  TRS_TRY(check_runtime(name));
  TRS_TRY(trs_device_open(&device, (int)ordinal));
  context->device = device;
  return TRS_SUCCESS;
}

static trs_status open_cuda(trs_context *context, const char *name, const char *argument) {
  TRS_TRY(trs_default_threads(&context->threads));
  if (argument && strpbrk(argument, "-,")) return open_group(context, argument);
  return open_one(context, name, argument);
}

static trs_status open_nvshmem(trs_context *context, const char *name, const char *argument) {
  if (argument) return trs_context_unknown(name);
  TRS_TRY(trs_default_threads(&context->threads));
  return open_group(context, name);
}

static void close(trs_context *context) {
  trs_group_close(context->group);
  trs_device_close(context->device);
}

static int enter(const trs_context *context) { return trs_device_enter(context->device); }

static const char *describe(const trs_context *context) {
  return trs_device_look(context->device)->name;
}

static trs_status bandwidth(double *bytes_per_second, const trs_context *context, int threads,
                            int64_t bytes, trs_stream stream) {
  (void)threads;
  return trs_gpu_bandwidth(bytes_per_second, context->device, bytes, stream);
}

/* Each member reads its own share. */
static trs_status group_bandwidth(double *bytes_per_second, const trs_context *context, int threads,
                                  int64_t bytes, trs_stream stream) {
  TRS_TRY(bandwidth(bytes_per_second, context, threads, bytes, stream));
  *bytes_per_second *= trs_group_members(context->group);
  return TRS_SUCCESS;
}

static trs_status hop(double *seconds, const trs_context *context, trs_stream stream) {
  return trs_gpu_hop(seconds, context->device, stream);
}

static const trs_backend *const one_gpu[] = {&trs_backend_cuda, NULL};
static const trs_backend *const several_gpus[] = {&trs_backend_cuda, &trs_backend_cuda_group, NULL};

#define CUDA_BACKEND                                                                            \
  .gpu = true, .close = close, .enter = enter, .leave = trs_device_leave, .describe = describe, \
  .hop = hop

const trs_backend trs_backend_cuda = {
    .name = TRS_GPU_BACKEND,
    .kind = TRS_KIND_GPU,
    CUDA_BACKEND,
    .offers = one_gpu,
    .open = open_cuda,
    .bandwidth = bandwidth,
};

/* enter uses the first member of this process */
const trs_backend trs_backend_cuda_group = {
    .name = "cuda-group",
    .kind = TRS_KIND_GPUS,
    CUDA_BACKEND,
    .offers = several_gpus,
    .elsewhere =
        "it is for several GPUs: take a context such as \"cuda:0-3\", or \"cuda:0-0\" for "
        "one",
    .open = open_nvshmem,
    .bandwidth = group_bandwidth,
};
