/* speed_none.c - a build without CUDA: no GPU is opened, so none is measured. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#include "device/speed.h"

static trs_status none(void) {
  return trs_fail(TRS_ERROR_INTERNAL, -1, "this build has no CUDA, but a device is in use");
}

trs_status trs_gpu_bandwidth(double *bandwidth, const trs_device *device, int64_t bytes,
                             trs_stream stream) {
  return none();
}

trs_status trs_gpu_hop(double *seconds, const trs_device *device, trs_stream stream) {
  return none();
}
