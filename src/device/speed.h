/* speed.h - a GPU's rates for the reference time of a solve.  C and CUDA C++. */
#ifndef TRS_DEVICE_SPEED_H
#define TRS_DEVICE_SPEED_H

#include "device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes per second that kernels read from a working set of `bytes`; seconds from a store on one
 * multiprocessor until another one sees it.  Measured once per device and size (some milliseconds),
 * on the stream. */
trs_status trs_gpu_bandwidth(double *bandwidth, const trs_device *device, int64_t bytes,
                             trs_stream stream);
trs_status trs_gpu_hop(double *seconds, const trs_device *device, trs_stream stream);

#ifdef __cplusplus
}
#endif
#endif
