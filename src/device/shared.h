/* shared.h - the functions of the runtime that several GPUs need to work together: access to each
 * other's memory, streams that wait for each other.  As device.h, never called without a runtime.
 */
#ifndef TRS_DEVICE_SHARED_H
#define TRS_DEVICE_SHARED_H

#include "device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Lets kernels of `device` read and write memory of `other`: from cudaMalloc, from the library's
 * pool and from the default pool.  TRS_ERROR_UNSUPPORTED: no peer access. */
trs_status trs_device_reach(const trs_device *device, const trs_device *other);

void *trs_device_pool(const trs_device *device); /* the device's memory pool */

/* Memory outside the pool that other GPUs may access; takes milliseconds.  It counts with the
 * pool's memory against the limit. */
trs_status trs_device_alloc_plain(trs_device *device, void **pointer, int64_t bytes);
void trs_device_free_plain(trs_device *device, void *pointer, int64_t bytes); /* NULL is allowed */
/* Counts memory allocated elsewhere against the limit; negative bytes subtract. */
trs_status trs_device_count(trs_device *device, int64_t bytes);

/* The same where other processes of this machine may reach it: whoever gets the handle opens it,
 * and closes it before it is freed. */
enum { TRS_DEVICE_HANDLE_BYTES = 64 };
typedef struct trs_device_handle {
  char bytes[TRS_DEVICE_HANDLE_BYTES];
} trs_device_handle;
trs_status trs_device_alloc_open(trs_device *device, void **pointer, int64_t bytes,
                                 trs_device_handle *handle);
void trs_device_free_open(trs_device *device, void *pointer, int64_t bytes);
trs_status trs_device_open_handle(const trs_device *device, void **pointer,
                                  const trs_device_handle *handle);
void trs_device_close_handle(const trs_device *device, void *pointer); /* NULL is fine */

/* Memory that moves to whoever touches it.  check: may this GPU touch so much, while others do? */
trs_status trs_device_check_managed(const trs_device *device, int64_t bytes);
trs_status trs_device_alloc_managed(const trs_device *device, void **pointer, int64_t bytes);
void trs_device_free_managed(void *pointer); /* NULL is allowed */

/* Bytes that may still be allocated: the GPU's free memory, or less under a limit. */
trs_status trs_device_room(const trs_device *device, int64_t *bytes);

/* A number of the GPU, the same in every process of this machine. */
trs_status trs_device_identity(const trs_device *device, int64_t *identity);

/* The number of GPUs that the runtime shows.  TRS_ERROR_UNSUPPORTED: none. */
trs_status trs_device_total(int *count);

trs_status trs_device_stream_create(const trs_device *device, trs_stream *stream);
void trs_device_stream_destroy(const trs_device *device, trs_stream stream); /* NULL is fine */

/* A point in a stream that other streams can wait for without the host. */
typedef struct trs_device_event trs_device_event;
trs_status trs_device_event_create(const trs_device *device, trs_device_event **event);
void trs_device_event_destroy(trs_device_event *event); /* NULL is allowed */
trs_status trs_device_event_record(trs_device_event *event, trs_stream stream);
trs_status trs_device_event_follow(trs_device_event *event, trs_stream stream);
trs_status trs_device_event_wait(trs_device_event *event); /* blocks the host; returns at once if
                                                              never recorded */

/* to[i] += from[i] for floats or doubles in device memory; only launches. */
trs_status trs_device_add(bool doubles, int64_t count, const void *from, void *to,
                          trs_stream stream);

/* Pinned host memory, for copies without staging. */
trs_status trs_device_alloc_pinned(void **pointer, int64_t bytes);
void trs_device_free_pinned(void *pointer); /* NULL is allowed */

#ifdef __cplusplus
}
#endif
#endif
