/* backend.c - the backend "opencl[:N]": one OpenCL device.  x, b and the matrix lie in host memory;
 * each method copies them. */
#include <stdlib.h>

#include "backend/context.h"
#include "L17/opencl/device.h"

enum { MOST_DEVICES = 1024 };

static trs_status open(trs_context *context, const char *name, const char *argument) {
  char *rest = NULL;
  const long number = argument ? strtol(argument, &rest, 10) : 0;
  if (argument && (!*argument || *rest || number < 0 || number > MOST_DEVICES))
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "\"%s\": a device's number follows opencl:, from 0",
                    name);
  trs_opencl *device;
  TRS_TRY(trs_opencl_open(&device, (int)number));
  context->paper = device;
  return TRS_SUCCESS;
}

static void close(trs_context *context) { trs_opencl_close(context->paper); }

static const char *describe(const trs_context *context) { return trs_opencl_name(context->paper); }

static trs_status bandwidth(double *bytes_per_second, const trs_context *context, int threads,
                            int64_t bytes, trs_stream stream) {
  (void)threads, (void)stream;
  return trs_opencl_bandwidth(bytes_per_second, context->paper, bytes);
}

static trs_status hop(double *seconds, const trs_context *context, trs_stream stream) {
  (void)stream;
  return trs_opencl_hop(seconds, context->paper);
}

static const trs_backend *const opencl_only[] = {&trs_backend_opencl, NULL};

const trs_backend trs_backend_opencl = {.name = "opencl",
                                        .kind = TRS_KIND_OPENCL,
                                        .offers = opencl_only,
                                        .elsewhere = "it is for contexts of \"opencl\"",
                                        .open = open,
                                        .close = close,
                                        .describe = describe,
                                        .bandwidth = bandwidth,
                                        .hop = hop};
