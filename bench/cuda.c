/* cuda.c - device memory and time for the benchmark, through the CUDA runtime opened at run time:
 * the build does not need CUDA.  Device memory and default stream are shared with the library,
 * because both use the device's primary context. */
#include "cuda.h"

#include <stdio.h>
#include <stdlib.h>

#include "leave.h"
#include "library.h"
#include "machine.h"
#include "trireme.h"

enum { TO_DEVICE = 1, TO_HOST = 2, ON_DEVICE = 3 }; /* enum cudaMemcpyKind */

static struct {
  void *library, *start, *stop; /* start, stop: events */
  int (*set_device)(int);
  int (*malloc)(void **, size_t);
  int (*free)(void *);
  int (*copy)(void *, const void *, size_t, int);
  int (*copy_later)(void *, const void *, size_t, int, void *);
  int (*fill)(void *, int, size_t);
  int (*wait)(void);
  int (*create_event)(void **);
  int (*record)(void *, void *);
  int (*wait_event)(void *);
  int (*elapsed)(float *, void *, void *);
  int (*driver_version)(int *);
  int (*runtime_version)(int *);
  int (*properties)(void *, int);
  const char *(*error_text)(int);
  int error; /* the last code other than 0; bench_cuda_error clears it */
  char device[320];
} cuda;

static bool find(void *function, const char *name) {
  return bench_library_find(cuda.library, function, name);
}

static bool find_all(void) {
  return find(&cuda.set_device, "cudaSetDevice") && find(&cuda.malloc, "cudaMalloc") &&
         find(&cuda.free, "cudaFree") && find(&cuda.copy, "cudaMemcpy") &&
         find(&cuda.copy_later, "cudaMemcpyAsync") && find(&cuda.fill, "cudaMemset") &&
         find(&cuda.wait, "cudaDeviceSynchronize") && find(&cuda.create_event, "cudaEventCreate") &&
         find(&cuda.record, "cudaEventRecord") && find(&cuda.wait_event, "cudaEventSynchronize") &&
         find(&cuda.elapsed, "cudaEventElapsedTime") &&
         find(&cuda.driver_version, "cudaDriverGetVersion") &&
         find(&cuda.runtime_version, "cudaRuntimeGetVersion") &&
         find(&cuda.error_text, "cudaGetErrorString") &&
         (find(&cuda.properties, "cudaGetDeviceProperties_v2") ||
          find(&cuda.properties, "cudaGetDeviceProperties"));
}

static bool good(int error) {
  if (error) cuda.error = error;
  return !error;
}

bool bench_cuda_find(void *function, const char *name) { return find(function, name); }
bool bench_cuda_good(int error) { return good(error); }

const char *bench_cuda_error(void) {
  int error = cuda.error;
  cuda.error = 0;
  return error ? cuda.error_text(error) : NULL;
}

/* "NVIDIA H200, driver 13.0, runtime 13.0" */
static void describe(int device) {
  /* cudaDeviceProp starts with the name in every version, and has about 1 kB. */
  union {
    char name[256];
    char room[16384];
  } p = {.name = "unknown"};
  int driver = 0, runtime = 0;
  (void)good(cuda.properties(&p, device));
  (void)good(cuda.driver_version(&driver));
  (void)good(cuda.runtime_version(&runtime));
  snprintf(cuda.device, sizeof cuda.device, "%.200s, driver %d.%d, runtime %d.%d", p.name,
           driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
}

static const char *load(int device) {
  static const char *const names[] = {"libcudart.so.13", "libcudart.so.12", "libcudart.so", NULL};
  const char *missing;
  if (cuda.library) return NULL;
  cuda.library = bench_library_open("TRIREME_CUDART", names, &missing);
  if (missing) return missing;
  bool found = find_all();
  bool works = found && good(cuda.set_device(device)) && good(cuda.create_event(&cuda.start)) &&
               good(cuda.create_event(&cuda.stop));
  if (works) describe(device);
  if (!works) cuda.library = NULL;
  return works ? NULL : found ? bench_cuda_error() : "libcudart lacks functions";
}

int bench_cuda_open(int device) {
  const char *missing = load(device);
  if (missing)
    return leave(LEAVE_UNAVAILABLE, trs_status_name(TRS_ERROR_UNSUPPORTED), -1,
                 "the CUDA runtime: %s", missing);
  bench_machine_note_gpu(bench_cuda_device());
  return -1;
}

bool bench_cuda_use(int device) { return good(cuda.set_device(device)); }

const char *bench_cuda_device(void) { return cuda.device; }

bool bench_cuda_alloc(void *pointer, size_t bytes) {
  void **p = pointer;
  *p = NULL;
  return good(cuda.malloc(p, bytes ? bytes : 1));
}

void bench_cuda_free(void *const *pointers, size_t count) {
  for (size_t k = 0; k < count; k++)
    if (pointers[k]) (void)good(cuda.free(pointers[k]));
}

bool bench_cuda_put(void *device, const void *host, size_t bytes) {
  return good(cuda.copy(device, host, bytes, TO_DEVICE));
}

bool bench_cuda_get(void *host, const void *device, size_t bytes) {
  return good(cuda.copy(host, device, bytes, TO_HOST));
}

bool bench_cuda_move(void *to, const void *from, size_t bytes) {
  return good(cuda.copy(to, from, bytes, ON_DEVICE));
}

bool bench_cuda_move_later(void *to, const void *from, size_t bytes) {
  return good(cuda.copy_later(to, from, bytes, ON_DEVICE, NULL));
}

bool bench_cuda_fill(void *device, int byte, size_t bytes) {
  return good(cuda.fill(device, byte, bytes));
}

bool bench_cuda_wait(void) { return good(cuda.wait()); }

bool bench_cuda_start(void) { return good(cuda.record(cuda.start, NULL)); }

double bench_cuda_stop(void) {
  float milliseconds = 0;
  bool done = good(cuda.record(cuda.stop, NULL)) && good(cuda.wait_event(cuda.stop)) &&
              good(cuda.elapsed(&milliseconds, cuda.start, cuda.stop));
  return done ? 1e-3 * (double)milliseconds : -1;
}

bool bench_cuda_upload(void *device, const void *host, size_t bytes) {
  void **to = device;
  return bench_cuda_alloc(to, bytes) && bench_cuda_put(*to, host, bytes);
}
