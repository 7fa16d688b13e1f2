/* opencl_none.c - replaces opencl.c in builds without OpenCL. */
#include "base/config.h"
#include "device/opencl.h"

trs_status trs_opencl_open(trs_opencl **device, int number) {
  (void)number;
  *device = NULL;
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "this build has no OpenCL: " TRS_GET_OPENCL);
}

void trs_opencl_close(trs_opencl *device) { (void)device; }

const char *trs_opencl_name(const trs_opencl *device) {
  (void)device;
  return NULL;
}

trs_status trs_opencl_bandwidth(double *bandwidth, trs_opencl *device, int64_t bytes) {
  (void)device, (void)bytes;
  *bandwidth = 0;
  return TRS_ERROR_UNSUPPORTED;
}

trs_status trs_opencl_hop(double *seconds, trs_opencl *device) {
  (void)device;
  *seconds = 0;
  return TRS_ERROR_UNSUPPORTED;
}
