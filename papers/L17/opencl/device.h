/* device.h - one OpenCL device: every call of OpenCL 1.2 except those of a method.  For builds with
 * OpenCL. */
#ifndef TRS_L17_OPENCL_DEVICE_H
#define TRS_L17_OPENCL_DEVICE_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <pthread.h>
#include <stdbool.h>

#include "backend/backend.h"
#include "base/status.h"

extern const trs_backend trs_backend_opencl;

typedef struct trs_opencl {
  cl_device_id device;
  cl_context context;
  cl_command_queue queue; /* in order; its events have times */
  char name[128];
  bool has_double, is_gpu;
  double bandwidth, hop;  /* 0: not measured yet */
  pthread_mutex_t lock;   /* of programs */
  cl_program programs[2]; /* float, double; NULL: not compiled yet */
} trs_opencl;

/* Opens the device of this number, counted over all platforms, GPUs before other devices.
 * TRS_ERROR_UNSUPPORTED: no such device, or a device without 64-bit atomics. */
trs_status trs_opencl_open(trs_opencl **device, int number);
void trs_opencl_close(trs_opencl *device); /* NULL is fine */
const char *trs_opencl_name(const trs_opencl *device);

/* NULL if kernels can compute with this type, else the reason as half a sentence. */
const char *trs_opencl_refuses(const trs_opencl *device, trs_scalar scalar);

/* Bytes per second that a copy of `bytes` in device memory reads and writes. */
trs_status trs_opencl_bandwidth(double *bandwidth, trs_opencl *device, int64_t bytes);
/* Seconds from one group of work items to the next that waits for it. */
trs_status trs_opencl_hop(double *seconds, trs_opencl *device);

/* TRS_SUCCESS, or the failure of a call of OpenCL; what: after "OpenCL: ". */
trs_status trs_opencl_check(cl_int error, const char *what);

/* The methods' kernels for a type that trs_opencl_refuses accepts, with DOUBLE defined for double.
 * Compiled once per device and type; the device owns the program.  A failure has the first line of
 * the compiler's log. */
trs_status trs_opencl_program(trs_opencl *device, cl_program *program, const char *source,
                              size_t length, trs_scalar scalar);

/* Seconds on the device from the beginning of one command to the end of another, both complete.
 * Releases both. */
trs_status trs_opencl_elapsed(double *seconds, cl_event first, cl_event last);

/* A buffer of `bytes`, and at least one byte, with the bytes of from if it is not NULL. */
trs_status trs_opencl_buffer(trs_opencl *device, cl_mem *buffer, const void *from, size_t bytes);

#endif
