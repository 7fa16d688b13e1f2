/* opencl_state.h - an OpenCL device as the methods on it see it.  For builds with OpenCL. */
#ifndef TRS_DEVICE_OPENCL_STATE_H
#define TRS_DEVICE_OPENCL_STATE_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <pthread.h>
#include <stdbool.h>

#include "device/opencl.h"

struct trs_opencl {
  cl_device_id device;
  cl_context context;
  cl_command_queue queue; /* in order; its events have times */
  char name[128];
  bool has_double, is_gpu;
  double bandwidth, hop;  /* 0: not measured yet */
  pthread_mutex_t lock;   /* of programs */
  cl_program programs[2]; /* float, double; NULL: not compiled yet */
};

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
