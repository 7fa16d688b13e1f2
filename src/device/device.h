/* device.h - one GPU: every call of the runtime of its vendor except kernel launches.
 *
 * In a build without CUDA and HIP device_none.c replaces it: opening a GPU fails with the reason,
 * and no other function is called.  A stream is a cudaStream_t or a hipStream_t; NULL is the
 * device's default stream. */
#ifndef TRS_DEVICE_DEVICE_H
#define TRS_DEVICE_DEVICE_H

#include <stdbool.h>

#include "base/machine_model.h"
#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Most GPUs that solve together: a lane of a warp and a bit of a mask for each. */
enum { TRS_MOST_MEMBERS = 32 };

typedef struct trs_device trs_device;
typedef void *trs_stream;

typedef struct trs_device_facts {
  int ordinal;
  char name[64];
  int multiprocessors;
  int capability; /* major compute capability; 0 on AMD's */
  int warp;       /* threads of a warp: 32 or 64 */
  int threads_per_multiprocessor;
  int64_t shared_bytes; /* largest shared memory of a block */
  int64_t l2_bytes, memory_bytes;
  trs_gpu_costs costs; /* its row of the machine model */
} trs_device_facts;

/* Opens the GPU of this ordinal.  All opens of one GPU share one object.
 * TRS_ERROR_UNSUPPORTED: neither CUDA nor HIP in the build, no driver, no such GPU. */
trs_status trs_device_open(trs_device **device, int ordinal);
trs_device *trs_device_retain(trs_device *device);
void trs_device_close(trs_device *device); /* NULL is fine */
const trs_device_facts *trs_device_look(const trs_device *device);

/* Makes the device the calling thread's current one and returns the previous one, for
 * trs_device_leave.  All functions below, and all launches, are called between the two. */
int trs_device_enter(const trs_device *device);
void trs_device_leave(int before);

/* The device is current until the end of the block, whichever way it is left. */
#define TRS_ON_DEVICE(device)                                                     \
  __attribute__((cleanup(trs_device_leave_at), unused)) const int device_before = \
      trs_device_enter(device)
static inline void trs_device_leave_at(const int *before) { trs_device_leave(*before); }

/* Device memory in stream order, from a pool that keeps freed memory.  *pointer is NULL after a
 * failure.  trs_device_held is the number of bytes allocated now. */
trs_status trs_device_alloc(trs_device *device, void **pointer, int64_t count, size_t size,
                            trs_stream stream);
#define TRS_DEVICE_ALLOC(device, pointer, count, stream) \
  trs_device_alloc((device), (void **)(pointer), (count), sizeof **(pointer), (stream))
void trs_device_free(trs_device *device, void *pointer, trs_stream stream); /* NULL is allowed */
int64_t trs_device_held(const trs_device *device);

/* Limits on the bytes allocated from now on (0: no limit): _allow sets that of the context in use,
 * _limit that of the tests.  The lower one applies. */
void trs_device_allow(trs_device *device, int64_t bytes);
void trs_device_limit(trs_device *device, int64_t bytes);
int64_t trs_device_limit_left(const trs_device *device); /* INT64_MAX: no limit */

/* A stream of the device for work concurrent with the caller's stream.  Nothing orders the two. */
trs_status trs_device_side_stream(trs_device *device, trs_stream *stream);

/* Copies between host and device in either direction; the pointers determine which.  The call
 * blocks for pageable host memory. */
trs_status trs_device_copy(void *to, const void *from, int64_t bytes, trs_stream stream);
/* Copies rows of row_bytes, to_pitch and from_pitch bytes apart.  Pitches beyond CUDA's limit of
 * 2^31 - 1 take one copy per row. */
trs_status trs_device_copy_rows(void *to, int64_t to_pitch, const void *from, int64_t from_pitch,
                                int64_t row_bytes, int64_t rows, trs_stream stream);
trs_status trs_device_fill(void *pointer, int byte, int64_t bytes, trs_stream stream);
trs_status trs_device_wait(trs_stream stream);
bool trs_device_busy(trs_stream stream); /* true if work in the stream is not complete */

/* What an address is of, and of device memory the ordinal of its GPU.  Loads no driver: a process
 * without one has host memory alone. */
typedef enum trs_device_memory {
  TRS_HOST_MEMORY,
  TRS_DEVICE_MEMORY,
  TRS_MANAGED_MEMORY
} trs_device_memory;
trs_device_memory trs_device_memory_of(const void *pointer, int *ordinal);

/* True if kernels can read this address: device and managed memory, no host memory. */
static inline bool trs_device_address(const void *pointer) {
  int ordinal;
  return trs_device_memory_of(pointer, &ordinal) != TRS_HOST_MEMORY;
}

/* The ordinal of the GPU that allocated the address as memory of its own; -1: host or managed
 * memory. */
static inline int trs_device_of(const void *pointer) {
  int ordinal;
  return trs_device_memory_of(pointer, &ordinal) == TRS_DEVICE_MEMORY ? ordinal : -1;
}
static inline bool trs_device_owns(const trs_device *device, const void *pointer) {
  return trs_device_of(pointer) == trs_device_look(device)->ordinal;
}
/* Bytes from the pointer to the end of its allocation, and of adjoining allocations up to `wanted`;
 * INT64_MAX if the driver cannot tell. */
int64_t trs_device_extent(const void *pointer, int64_t wanted);
/* True if the stream is being captured into a graph. */
bool trs_device_capturing(trs_stream stream);

/* TRS_PINNED_BYTES of pinned host memory, for copies without staging. */
enum { TRS_PINNED_BYTES = 64 };
trs_status trs_device_alloc_host(trs_device *device, void **pointer);
void trs_device_free_host(trs_device *device, void *pointer); /* NULL is allowed */

/* TRS_STAGE_BYTES of pinned host memory, into which kernels write results for the host directly. */
enum { TRS_STAGE_BYTES = 1 << 17 };
trs_status trs_device_alloc_stage(trs_device *device, void **pointer);
void trs_device_free_stage(trs_device *device, void *pointer); /* NULL is allowed */

/* Checks a cudaError_t or hipError_t of a launch or of a library call; 0 is success. */
trs_status trs_device_check(int error, const char *what);

/* Seconds between two points of a stream, measured by events; for tuning and benchmarks. */
typedef struct trs_device_timer trs_device_timer;
trs_status trs_device_timer_create(trs_device_timer **timer);
void trs_device_timer_start(trs_device_timer *timer, trs_stream stream);
double trs_device_timer_stop(trs_device_timer *timer, trs_stream stream); /* waits for the stream */
void trs_device_timer_destroy(trs_device_timer *timer);

#ifdef __cplusplus
}
#endif
#endif
