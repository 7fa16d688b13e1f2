/* shared.h - what several GPUs that work together need of the CUDA runtime: each other's memory,
 * streams that wait for each other.  As device.h, never called without CUDA in the build. */
#ifndef TRS_DEVICE_SHARED_H
#define TRS_DEVICE_SHARED_H

#include "device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Lets kernels of one GPU read and write memory of the other: from cudaMalloc, from ours and from
 * the default pool.  TRS_ERROR_UNSUPPORTED where they cannot. */
trs_status trs_device_reach(const trs_device *device, const trs_device *other);

void *trs_device_pool(const trs_device *device); /* its cudaMemPool_t */

/* The number of the GPU whose memory this is; -1: the host's, or managed. */
int trs_device_of(const void *pointer);

/* Memory that other GPUs may reach, outside the pool: takes milliseconds.  Counted with the pool's
 * and under its limit. */
trs_status trs_device_alloc_plain(trs_device *device, void **pointer, int64_t bytes);
void trs_device_free_plain(trs_device *device, void *pointer, int64_t bytes); /* NULL is fine */
/* Counts memory that came from elsewhere, within the limit; negative bytes give it back. */
trs_status trs_device_count(trs_device *device, int64_t bytes);

/* Memory that moves to whoever touches it.  check: may this GPU touch so much, while others do? */
trs_status trs_device_check_managed(const trs_device *device, int64_t bytes);
trs_status trs_device_alloc_managed(const trs_device *device, void **pointer, int64_t bytes);
void trs_device_free_managed(void *pointer); /* NULL is fine */

/* Bytes that may still be allocated: what the GPU has free, or less where a limit is set. */
trs_status trs_device_room(const trs_device *device, int64_t *bytes);

/* The same number for the same GPU in every process of this machine. */
TRS_API trs_status trs_device_identity(const trs_device *device, int64_t *identity);

/* How many GPUs CUDA shows; TRS_ERROR_UNSUPPORTED where there are none. */
TRS_API trs_status trs_device_total(int *count);

trs_status trs_device_stream_create(const trs_device *device, trs_stream *stream);
void trs_device_stream_destroy(const trs_device *device, trs_stream stream); /* NULL is fine */

/* A point in a stream that others can wait for, without the host. */
typedef struct trs_device_event trs_device_event;
trs_status trs_device_event_create(const trs_device *device, trs_device_event **event);
void trs_device_event_destroy(trs_device_event *event); /* NULL is fine */
trs_status trs_device_event_record(trs_device_event *event, trs_stream stream);
trs_status trs_device_event_follow(trs_device_event *event, trs_stream stream);
trs_status trs_device_event_wait(trs_device_event *event); /* the host; at once if never recorded */

/* to[i] += from[i] for numbers in device memory, floats or doubles; launches only. */
TRS_API trs_status trs_device_add(bool doubles, int64_t count, const void *from, void *to,
                                  trs_stream stream);

/* Host memory from which copies need no stage. */
TRS_API trs_status trs_device_alloc_pinned(void **pointer, int64_t bytes);
TRS_API void trs_device_free_pinned(void *pointer); /* NULL is fine */

#ifdef __cplusplus
}
#endif
#endif
