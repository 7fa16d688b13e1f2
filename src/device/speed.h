/* speed.h - the rates of a GPU that the reference time of a solve is made of.  C and CUDA C++. */
#ifndef TRS_DEVICE_SPEED_H
#define TRS_DEVICE_SPEED_H

#include "device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes per second that kernels read from a working set of so many bytes, and seconds from a store
 * on one multiprocessor to its sight on another.  Measured once for each device and size (some
 * milliseconds), on the stream. */
trs_status trs_gpu_bandwidth(double *bandwidth, const trs_device *device, int64_t bytes,
                             trs_stream stream);
trs_status trs_gpu_hop(double *seconds, const trs_device *device, trs_stream stream);

#ifdef __cplusplus
}
#endif
#endif
