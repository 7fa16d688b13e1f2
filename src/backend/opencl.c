/* opencl.c - the backend "opencl[:N]": one OpenCL device.  x, b and the matrix lie in host memory;
 * each method copies them. */
#include <stdlib.h>

#include "backend/context.h"
#include "device/opencl.h"

enum { MOST_DEVICES = 1024 };

static trs_status open(trs_context *context, const char *name, const char *argument) {
  char *rest = NULL;
  const long number = argument ? strtol(argument, &rest, 10) : 0;
  if (argument && (!*argument || *rest || number < 0 || number > MOST_DEVICES))
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "\"%s\": a device's number follows opencl:, from 0",
                    name);
  return trs_opencl_open(&context->opencl, (int)number);
}

static void close(trs_context *context) { trs_opencl_close(context->opencl); }

static const char *describe(const trs_context *context) { return trs_opencl_name(context->opencl); }

static trs_status bandwidth(double *bytes_per_second, const trs_context *context, int threads,
                            int64_t bytes, trs_stream stream) {
  (void)threads, (void)stream;
  return trs_opencl_bandwidth(bytes_per_second, context->opencl, bytes);
}

static trs_status hop(double *seconds, const trs_context *context, trs_stream stream) {
  (void)stream;
  return trs_opencl_hop(seconds, context->opencl);
}

static const trs_backend *const opencl_only[] = {&trs_backend_opencl, NULL};

const trs_backend trs_backend_opencl = {.name = "opencl",
                                        .place = "one OpenCL device",
                                        .kind = TRS_KIND_OPENCL,
                                        .contexts = "opencl",
                                        .offers = opencl_only,
                                        .elsewhere = "it is for contexts of \"opencl\"",
                                        .open = open,
                                        .close = close,
                                        .describe = describe,
                                        .bandwidth = bandwidth,
                                        .hop = hop};
