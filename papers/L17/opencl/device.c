/* device.c - finds and opens OpenCL devices, compiles kernels, and measures the device's rates. */
#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/timer.h"
#include "L17/opencl/device.h"

enum { MOST_PLATFORMS = 16, MOST_DEVICES = 64, HOPS = 2000, ROUNDS = 3 };

trs_status trs_opencl_check(cl_int error, const char *what) {
  if (error == CL_SUCCESS) return TRS_SUCCESS;
  const bool memory = error == CL_MEM_OBJECT_ALLOCATION_FAILURE || error == CL_OUT_OF_RESOURCES ||
                      error == CL_OUT_OF_HOST_MEMORY || error == CL_INVALID_BUFFER_SIZE;
  return trs_fail(memory ? TRS_ERROR_MEMORY : TRS_ERROR_INTERNAL, -1, "OpenCL: %s: error %d", what,
                  (int)error);
}

/* ---- Why there is no device ---- */

/* The first line of a file that names a driver. */
static bool read_name(char *name, int size, const char *path) {
  FILE *file = fopen(path, "re");
  const bool read = file && fgets(name, size, file);
  if (file) fclose(file);
  if (read) name[strcspn(name, "\r\n")] = '\0';
  return read && *name;
}

/* The OpenCL loader leaves out in silence a driver that it cannot load, for want of memory or of
 * another library: the same attempt says why.  Success: the driver loads, and stays loaded, because
 * not every driver survives its end. */
static trs_status try_driver(const char *path) {
  char name[512];
  if (!read_name(name, sizeof name, path)) return TRS_SUCCESS;
  const char *said = dlopen(name, RTLD_LAZY | RTLD_LOCAL) ? NULL : dlerror();
  if (!said) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "the OpenCL driver that %s names cannot be loaded: %s",
                  path, said);
}

/* In the folder where the loader looks for drivers. */
static trs_status try_drivers(size_t *count) {
  const char *folder = getenv("OCL_ICD_VENDORS");
  char pattern[1024];
  glob_t found;
  trs_status status = TRS_SUCCESS;
  *count = 0;
  snprintf(pattern, sizeof pattern, "%s/*.icd", folder && *folder ? folder : "/etc/OpenCL/vendors");
  if (!glob(pattern, 0, NULL, &found)) *count = found.gl_pathc;
  for (size_t k = 0; k < *count && !status; k++) status = try_driver(found.gl_pathv[k]);
  globfree(&found);
  return status;
}

/* error: of the last call that found none. */
static trs_status no_device(cl_int error) {
  size_t drivers;
  const bool none = error == CL_SUCCESS || error == CL_DEVICE_NOT_FOUND ||
                    error == -1001; /* CL_PLATFORM_NOT_FOUND_KHR */
  if (!none) return trs_opencl_check(error, "looking for devices");
  TRS_TRY(try_drivers(&drivers));
  if (drivers == 0)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "there is no OpenCL device: install its driver (for CPUs pocl-opencl-icd)");
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                  "there is no OpenCL device: a driver is installed and finds none (clinfo says "
                  "more)");
}

/* ---- Finding a device ---- */

/* The devices of all platforms: GPUs, then all others.  *error: of a call that failed. */
static int find_devices(cl_device_id *devices, cl_int *error) {
  static const cl_device_type types[] = {
      CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_ACCELERATOR | CL_DEVICE_TYPE_CUSTOM};
  cl_platform_id platforms[MOST_PLATFORMS];
  cl_uint nplatforms = 0;
  int count = 0;
  *error = clGetPlatformIDs(MOST_PLATFORMS, platforms, &nplatforms);
  if (*error != CL_SUCCESS) return 0;
  if (nplatforms > MOST_PLATFORMS) nplatforms = MOST_PLATFORMS;
  for (int t = 0; t < 2; t++)
    for (cl_uint p = 0; p < nplatforms; p++) {
      const cl_uint room = (cl_uint)(MOST_DEVICES - count);
      cl_uint found = 0;
      if (room == 0) continue;
      const cl_int told = clGetDeviceIDs(platforms[p], types[t], room, devices + count, &found);
      if (told == CL_SUCCESS)
        count += (int)(found < room ? found : room);
      else if (told != CL_DEVICE_NOT_FOUND)
        *error = told;
    }
  return count;
}

static bool has_extension(cl_device_id device, const char *extension) {
  char text[8192] = "";
  clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, sizeof text - 1, text, NULL);
  return strstr(text, extension) != NULL;
}

/* ---- Opening it ---- */

static trs_status start(trs_opencl *d) {
  cl_int error;
  cl_device_type type = 0;
  clGetDeviceInfo(d->device, CL_DEVICE_NAME, sizeof d->name - 1, d->name, NULL);
  clGetDeviceInfo(d->device, CL_DEVICE_TYPE, sizeof type, &type, NULL);
  d->is_gpu = type & CL_DEVICE_TYPE_GPU;
  d->has_double = has_extension(d->device, "cl_khr_fp64");
  if (!has_extension(d->device, "cl_khr_int64_base_atomics"))
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "the OpenCL device %s has no 64-bit atomics (cl_khr_int64_base_atomics)",
                    d->name);
  d->context = clCreateContext(NULL, 1, &d->device, NULL, NULL, &error);
  TRS_TRY(trs_opencl_check(error, "creating a context"));
  d->queue = clCreateCommandQueue(d->context, d->device, CL_QUEUE_PROFILING_ENABLE, &error);
  return trs_opencl_check(error, "creating a queue");
}

trs_status trs_opencl_open(trs_opencl **result, int number) {
  cl_device_id devices[MOST_DEVICES];
  cl_int error;
  const int count = find_devices(devices, &error);
  trs_opencl *d;
  *result = NULL;
  if (count == 0) return no_device(error);
  if (number >= count)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "there is no OpenCL device %d: there are %d, from 0",
                    number, count);
  TRS_TRY(TRS_ALLOC_ZERO(&d, 1));
  d->device = devices[number];
  pthread_mutex_init(&d->lock, NULL);
  trs_status status = start(d);
  if (status)
    trs_opencl_close(d);
  else
    *result = d;
  return status;
}

void trs_opencl_close(trs_opencl *d) {
  if (!d) return;
  for (int k = 0; k < 2; k++)
    if (d->programs[k]) clReleaseProgram(d->programs[k]);
  pthread_mutex_destroy(&d->lock);
  if (d->queue) clReleaseCommandQueue(d->queue);
  if (d->context) clReleaseContext(d->context);
  trs_free(d);
}

const char *trs_opencl_name(const trs_opencl *d) { return d->name; }

const char *trs_opencl_refuses(const trs_opencl *d, trs_scalar scalar) {
  if (scalar == TRS_FLOAT || (scalar == TRS_DOUBLE && d->has_double)) return NULL;
  return scalar == TRS_DOUBLE ? "the OpenCL device does not compute in double precision"
                              : "OpenCL methods solve real systems";
}

/* ---- For methods ---- */

static trs_status tell_log(const trs_opencl *d, cl_program program) {
  char log[1024] = "";
  clGetProgramBuildInfo(program, d->device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
  log[strcspn(log, "\n")] = '\0';
  return trs_fail(TRS_ERROR_INTERNAL, -1, "OpenCL: %s does not compile the kernels: %s", d->name,
                  log);
}

static trs_status compile(trs_opencl *d, cl_program *program, const char *source, size_t length,
                          const char *options) {
  cl_int error;
  *program = clCreateProgramWithSource(d->context, 1, &source, &length, &error);
  TRS_TRY(trs_opencl_check(error, "creating a program"));
  if (clBuildProgram(*program, 1, &d->device, options, NULL, NULL) == CL_SUCCESS)
    return TRS_SUCCESS;
  trs_status status = tell_log(d, *program);
  clReleaseProgram(*program);
  *program = NULL;
  return status;
}

trs_status trs_opencl_program(trs_opencl *d, cl_program *program, const char *source, size_t length,
                              trs_scalar scalar) {
  const int wide = scalar == TRS_DOUBLE;
  const char *options = wide ? "-cl-std=CL1.2 -DDOUBLE" : "-cl-std=CL1.2";
  trs_status status = TRS_SUCCESS;
  pthread_mutex_lock(&d->lock);
  if (!d->programs[wide]) status = compile(d, &d->programs[wide], source, length, options);
  *program = d->programs[wide];
  pthread_mutex_unlock(&d->lock);
  return status;
}

trs_status trs_opencl_elapsed(double *seconds, cl_event first, cl_event last) {
  cl_ulong begin = 0, end = 0; /* nanoseconds */
  cl_int error =
      clGetEventProfilingInfo(first, CL_PROFILING_COMMAND_START, sizeof begin, &begin, NULL);
  error |= clGetEventProfilingInfo(last, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
  clReleaseEvent(first);
  clReleaseEvent(last);
  *seconds = 1e-9 * (double)(end - begin);
  return trs_opencl_check(error, "the times of a solve");
}

trs_status trs_opencl_buffer(trs_opencl *d, cl_mem *buffer, const void *from, size_t bytes) {
  cl_int error;
  *buffer = clCreateBuffer(d->context, CL_MEM_READ_WRITE, bytes ? bytes : 1, NULL, &error);
  TRS_TRY(trs_opencl_check(error, "allocating a buffer"));
  if (!from || !bytes) return TRS_SUCCESS;
  error = clEnqueueWriteBuffer(d->queue, *buffer, CL_TRUE, 0, bytes, from, 0, NULL, NULL);
  return trs_opencl_check(error, "writing a buffer");
}

/* ---- Rates ---- */

static trs_status time_copy(trs_opencl *d, cl_mem to, cl_mem from, size_t bytes) {
  for (int round = 0; round <= ROUNDS; round++) {
    const double begin = trs_seconds();
    cl_int error = clEnqueueCopyBuffer(d->queue, from, to, 0, 0, bytes, 0, NULL, NULL);
    if (error == CL_SUCCESS) error = clFinish(d->queue);
    TRS_TRY(trs_opencl_check(error, "copying a buffer"));
    const double rate = 2 * (double)bytes / (trs_seconds() - begin);
    if (rate > d->bandwidth) d->bandwidth = rate;
  }
  return TRS_SUCCESS;
}

trs_status trs_opencl_bandwidth(double *bandwidth, trs_opencl *d, int64_t bytes) {
  static const int64_t LEAST = 1 << 20, MOST = 1 << 28;
  const int64_t half = (bytes < LEAST ? LEAST : bytes > MOST ? MOST : bytes) / 2;
  cl_mem from = NULL, to = NULL;
  d->bandwidth = 0;
  trs_status status = trs_opencl_buffer(d, &from, NULL, (size_t)half);
  if (!status) status = trs_opencl_buffer(d, &to, NULL, (size_t)half);
  if (!status) status = time_copy(d, to, from, (size_t)half);
  if (from) clReleaseMemObject(from);
  if (to) clReleaseMemObject(to);
  *bandwidth = d->bandwidth;
  return status;
}

/* Each group waits for the group whose ticket precedes its own. */
static const char hop_source[] =
    "kernel void hop(volatile global int *ticket, volatile global int *done) {\n"
    "  const int mine = atomic_inc(ticket);\n"
    "  while (mine > 0 && atomic_add(&done[mine - 1], 0) == 0) {}\n"
    "  atomic_xchg(&done[mine], 1);\n"
    "}\n";

static trs_status time_hops(trs_opencl *d, cl_kernel kernel, cl_mem ticket, cl_mem done,
                            double *least) {
  const size_t groups = HOPS, one = 1;
  const cl_int zero = 0;
  cl_int error = clSetKernelArg(kernel, 0, sizeof ticket, &ticket);
  error |= clSetKernelArg(kernel, 1, sizeof done, &done);
  for (int round = 0; round <= ROUNDS && error == CL_SUCCESS; round++) {
    error |=
        clEnqueueFillBuffer(d->queue, ticket, &zero, sizeof zero, 0, sizeof zero, 0, NULL, NULL);
    error |= clEnqueueFillBuffer(d->queue, done, &zero, sizeof zero, 0, HOPS * sizeof zero, 0, NULL,
                                 NULL);
    error |= clFinish(d->queue);
    const double begin = trs_seconds();
    error |= clEnqueueNDRangeKernel(d->queue, kernel, 1, NULL, &groups, &one, 0, NULL, NULL);
    error |= clFinish(d->queue);
    const double seconds = (trs_seconds() - begin) / HOPS;
    if (round == 0 || seconds < *least) *least = seconds;
  }
  return trs_opencl_check(error, "timing waits");
}

trs_status trs_opencl_hop(double *seconds, trs_opencl *d) {
  cl_mem ticket = NULL, done = NULL;
  cl_program program = NULL;
  cl_kernel kernel = NULL;
  cl_int error = CL_SUCCESS;
  *seconds = d->hop;
  if (d->hop > 0) return TRS_SUCCESS;
  trs_status status = compile(d, &program, hop_source, sizeof hop_source - 1, "-cl-std=CL1.2");
  if (!status) kernel = clCreateKernel(program, "hop", &error);
  if (!status) status = trs_opencl_check(error, "the kernel hop");
  if (!status) status = trs_opencl_buffer(d, &ticket, NULL, sizeof(cl_int));
  if (!status) status = trs_opencl_buffer(d, &done, NULL, HOPS * sizeof(cl_int));
  if (!status) status = time_hops(d, kernel, ticket, done, &d->hop);
  if (ticket) clReleaseMemObject(ticket);
  if (done) clReleaseMemObject(done);
  if (kernel) clReleaseKernel(kernel);
  if (program) clReleaseProgram(program);
  *seconds = d->hop;
  return status;
}
