/* cpu.c - the backends of the CPU: "serial", "threads[:T]", and "auto", which adds a GPU if one
 * exists. */
#include <stdlib.h>

#include "backend/context.h"
#include "backend/cpu_speed.h"
#include "base/cores.h"

static trs_status no_argument(const char *name, const char *argument) {
  return argument ? trs_context_unknown(name) : TRS_SUCCESS;
}

static trs_status open_serial(trs_context *context, const char *name, const char *argument) {
  (void)context;
  return no_argument(name, argument);
}

static trs_status open_auto(trs_context *context, const char *name, const char *argument) {
  TRS_TRY(no_argument(name, argument));
  return trs_default_threads(&context->threads);
}

static void close_auto(trs_context *context) { trs_device_close(context->device); }

static trs_status open_threads(trs_context *context, const char *name, const char *argument) {
  char *rest;
  if (!argument) return trs_default_threads(&context->threads);
  long threads = strtol(argument, &rest, 10);
  if (!*argument || *rest || threads < 1 || threads > TRS_MOST_THREADS)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "\"%s\": threads must be 1 to %d", name,
                    TRS_MOST_THREADS);
  context->threads = (int)threads;
  return TRS_SUCCESS;
}

static trs_status bandwidth(double *bytes_per_second, const trs_context *context, int threads,
                            int64_t bytes, trs_stream stream) {
  (void)stream;
  return trs_measure_bandwidth(bytes_per_second, context->team, threads, bytes);
}

static trs_status hop(double *seconds, const trs_context *context, trs_stream stream) {
  (void)context, (void)stream;
  *seconds = trs_measure_hop();
  return TRS_SUCCESS;
}

static const trs_backend *const serial_only[] = {&trs_backend_serial, NULL};
static const trs_backend *const any_cpu[] = {&trs_backend_serial, &trs_backend_threads, NULL};
static const trs_backend *const any[] = {&trs_backend_serial, &trs_backend_threads,
                                         &trs_backend_cuda, NULL};

#define CPU_BACKEND .kind = TRS_KIND_THREADS, .bandwidth = bandwidth, .hop = hop

const trs_backend trs_backend_serial = {
    .name = "serial", CPU_BACKEND, .offers = serial_only, .open = open_serial};

const trs_backend trs_backend_threads = {
    .name = "threads", CPU_BACKEND, .offers = any_cpu, .open = open_threads};

const trs_backend trs_backend_auto = {.name = "auto",
                                      .kind = TRS_KIND_AUTO,
                                      .finds_gpu = true,
                                      .offers = any,
                                      .open = open_auto,
                                      .close = close_auto};
