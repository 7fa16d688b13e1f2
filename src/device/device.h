/* device.h - one GPU: every call of the CUDA runtime that is not a kernel launch.
 *
 * Without CUDA in the build, device_none.c answers: opening fails and says why, and nothing else is
 * ever called.  TRS_API: libtrireme_mpi calls these too.  A stream is a cudaStream_t; NULL is the
 * device's default stream. */
#ifndef TRS_DEVICE_DEVICE_H
#define TRS_DEVICE_DEVICE_H

#include <stdbool.h>

#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct trs_device trs_device;
typedef void *trs_stream;

typedef struct trs_device_facts {
  int ordinal;
  char name[64];
  int multiprocessors;
  int capability; /* compute capability's first number */
  int threads_per_multiprocessor;
  int64_t shared_bytes; /* that one block can have */
  int64_t l2_bytes, memory_bytes;
  int64_t persisting_bytes, window_bytes; /* of L2 that can be set aside; of a window into it */
} trs_device_facts;

/* Opens a GPU, the ordinal-th of those CUDA shows; every open of one shares it.
 * TRS_ERROR_UNSUPPORTED: no CUDA in the build, no driver, no such GPU. */
trs_status trs_device_open(trs_device **device, int ordinal);
trs_device *trs_device_retain(trs_device *device);
void trs_device_close(trs_device *device); /* NULL is fine */
const trs_device_facts *trs_device_look(const trs_device *device);

/* Makes the device the calling thread's current one and gives back the one before, for
 * trs_device_leave.  Everything below, and every launch, happens between the two. */
TRS_API int trs_device_enter(const trs_device *device);
TRS_API void trs_device_leave(int before);

/* Device memory in stream order from a pool that keeps what is freed; *pointer is NULL after a
 * failure.  Counted: bytes held now are trs_device_held. */
TRS_API trs_status trs_device_alloc(trs_device *device, void **pointer, int64_t count, size_t size,
                                    trs_stream stream);
#define TRS_DEVICE_ALLOC(device, pointer, count, stream) \
  trs_device_alloc((device), (void **)(pointer), (count), sizeof **(pointer), (stream))
TRS_API void trs_device_free(trs_device *device, void *pointer,
                             trs_stream stream); /* NULL is fine */
int64_t trs_device_held(const trs_device *device);

/* No more than so many bytes from now on (0: no limit): as the context at work wants it, and for
 * the tests, which keep their own limit.  The lower one counts. */
void trs_device_allow(trs_device *device, int64_t bytes);
void trs_device_limit(trs_device *device, int64_t bytes);
int64_t trs_device_limit_left(const trs_device *device); /* INT64_MAX: no limit */

/* A stream of the device's own, for work beside the caller's stream: nothing orders the two. */
trs_status trs_device_side_stream(trs_device *device, trs_stream *stream);

/* Sets aside L2 for accesses that launches mark as persisting, as much as can be: the bytes, which
 * may be 0.  Whoever asked gives it back; with the last one the L2 is as it was. */
int64_t trs_device_persist(trs_device *device);
void trs_device_unpersist(trs_device *device);

/* Copies between host and device, either way round, by where the pointers point.  Pageable host
 * memory makes the call wait. */
TRS_API trs_status trs_device_copy(void *to, const void *from, int64_t bytes, trs_stream stream);
/* rows of row_bytes, to_pitch and from_pitch bytes apart, which CUDA limits to 2^31 - 1: beyond, a
 * copy a row */
TRS_API trs_status trs_device_copy_rows(void *to, int64_t to_pitch, const void *from,
                                        int64_t from_pitch, int64_t row_bytes, int64_t rows,
                                        trs_stream stream);
trs_status trs_device_fill(void *pointer, int byte, int64_t bytes, trs_stream stream);
TRS_API trs_status trs_device_wait(trs_stream stream);
bool trs_device_busy(trs_stream stream); /* what was put into it is not done yet */

/* Can kernels read this address?  (Device and managed memory; false for any host pointer.) */
TRS_API bool trs_device_address(const void *pointer);
/* Bytes from there to the end of the allocation, and of what adjoins it as far as they are wanted;
 * INT64_MAX where the driver does not say. */
int64_t trs_device_extent(const void *pointer, int64_t wanted);
/* Is the stream being captured into a graph? */
bool trs_device_capturing(trs_stream stream);

/* TRS_PINNED_BYTES of host memory that copies do not have to stage. */
enum { TRS_PINNED_BYTES = 64 };
trs_status trs_device_alloc_host(trs_device *device, void **pointer);
void trs_device_free_host(trs_device *device, void *pointer); /* NULL is fine */

/* TRS_STAGE_BYTES of host memory into which kernels write what the host is to know once it has
 * waited for them: no copy. */
enum { TRS_STAGE_BYTES = 1 << 17 };
trs_status trs_device_alloc_stage(trs_device *device, void **pointer);
void trs_device_free_stage(trs_device *device, void *pointer); /* NULL is fine */

/* After a launch or a library call that gave a cudaError_t: 0 is success. */
trs_status trs_device_check(int error, const char *what);

/* Seconds between two points of a stream, by events; for tuning and benchmarks. */
typedef struct trs_device_timer trs_device_timer;
trs_status trs_device_timer_create(trs_device_timer **timer);
void trs_device_timer_start(trs_device_timer *timer, trs_stream stream);
double trs_device_timer_stop(trs_device_timer *timer, trs_stream stream); /* waits */
void trs_device_timer_destroy(trs_device_timer *timer);

#ifdef __cplusplus
}
#endif
#endif
