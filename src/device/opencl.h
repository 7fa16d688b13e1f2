/* opencl.h - one OpenCL device: every call of OpenCL except those of a method.
 *
 * OpenCL 1.2.  In a build without OpenCL opencl_none.c replaces opencl.c: opening a device fails
 * with the reason, and no other function is called. */
#ifndef TRS_DEVICE_OPENCL_H
#define TRS_DEVICE_OPENCL_H

#include "base/status.h"
#include "trireme.h"

typedef struct trs_opencl trs_opencl;

/* Opens the device of this number, counted over all platforms, GPUs before other devices.
 * TRS_ERROR_UNSUPPORTED: no OpenCL in the build, no such device, or a device without 64-bit
 * atomics. */
trs_status trs_opencl_open(trs_opencl **device, int number);
void trs_opencl_close(trs_opencl *device); /* NULL is fine */
const char *trs_opencl_name(const trs_opencl *device);

/* NULL if kernels can compute with this type, else the reason as half a sentence. */
const char *trs_opencl_refuses(const trs_opencl *device, trs_scalar scalar);

/* Bytes per second that a copy of `bytes` in device memory reads and writes. */
trs_status trs_opencl_bandwidth(double *bandwidth, trs_opencl *device, int64_t bytes);
/* Seconds from one group of work items to the next that waits for it. */
trs_status trs_opencl_hop(double *seconds, trs_opencl *device);

#endif
