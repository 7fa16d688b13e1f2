/* device_stand_in.c - host memory in the place of GPUs, for builds without CUDA: what device.h has,
 * done at once. */
#include "device_stand_in.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device/shared.h"

struct trs_device {
  trs_device_facts facts;
};

static trs_device devices[STAND_IN_DEVICES];
static _Atomic int64_t allocations;
int64_t stand_in_fails_after = INT64_MAX;
bool stand_in_fails_lastingly;
_Atomic uint64_t *stand_in_kernel;
trs_stream stand_in_captures;
void (*stand_in_followed)(trs_stream stream, trs_stream other);
void (*stand_in_work)(void);
bool stand_in_addresses;

static void finish_work(void) {
  if (stand_in_work) stand_in_work();
}

int64_t stand_in_held(void) { return allocations; }

/* ---- Memory ---- */

trs_status trs_device_open(trs_device **device, int ordinal) {
  *device = &devices[ordinal];
  (*device)->facts = (trs_device_facts){
      .ordinal = ordinal, .memory_bytes = (int64_t)1 << 30, .costs = trs_gpu_measured};
  return TRS_SUCCESS;
}
const char *trs_device_list(void) { return ""; }
trs_device *trs_device_retain(trs_device *device) { return device; }
void trs_device_close(trs_device *device) { (void)device; }
const trs_device_facts *trs_device_look(const trs_device *device) { return &device->facts; }
void trs_device_allow(trs_device *device, int64_t bytes) { (void)device, (void)bytes; }
int trs_device_enter(const trs_device *device) { return device->facts.ordinal; }
void trs_device_leave(int before) { (void)before; }

/* Full of NaN. */
trs_status trs_device_alloc(trs_device *device, void **pointer, int64_t count, size_t size,
                            trs_stream stream) {
  (void)device;
  (void)stream;
  *pointer = NULL;
  if (stand_in_fails_after < INT64_MAX && (stand_in_fails_after >= 0 || stand_in_fails_lastingly) &&
      stand_in_fails_after-- <= 0)
    return trs_fail(TRS_ERROR_MEMORY, -1, "an allocation that is to fail");
  *pointer = malloc((size_t)count * size + 1);
  memset(*pointer, 0xff, (size_t)count * size + 1);
  allocations++;
  return TRS_SUCCESS;
}
void trs_device_free(trs_device *device, void *pointer, trs_stream stream) {
  (void)device;
  (void)stream;
  allocations -= pointer != NULL;
  free(pointer);
}
trs_status trs_device_alloc_plain(trs_device *device, void **pointer, int64_t bytes) {
  return trs_device_alloc(device, pointer, bytes, 1, NULL);
}
void trs_device_free_plain(trs_device *device, void *pointer, int64_t bytes) {
  (void)bytes;
  trs_device_free(device, pointer, NULL);
}
/* A file that other processes map; its name is the handle. */
static void *map_file(const char *name, int64_t bytes, int flags) {
  int file = shm_open(name, flags, 0600);
  if (file < 0) return NULL;
  void *memory = NULL;
  if (ftruncate(file, bytes) == 0)
    memory = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  (void)close(file);
  return memory == MAP_FAILED ? NULL : memory;
}

enum { MOST_OPEN = 64 };
static struct {
  void *memory;
  int64_t bytes;
  char name[TRS_DEVICE_HANDLE_BYTES];
} opened[MOST_OPEN];

static trs_status remember(void *memory, int64_t bytes, const char *name) {
  int k = 0;
  while (k < MOST_OPEN && opened[k].memory) k++;
  if (!memory || k == MOST_OPEN) return trs_fail(TRS_ERROR_MEMORY, -1, "no shared memory");
  opened[k].memory = memory;
  opened[k].bytes = bytes;
  snprintf(opened[k].name, sizeof opened[k].name, "%s", name);
  allocations++;
  return TRS_SUCCESS;
}

static void forget(void *memory, bool removes) {
  for (int k = 0; k < MOST_OPEN && memory; k++)
    if (opened[k].memory == memory) {
      (void)munmap(memory, (size_t)opened[k].bytes);
      if (removes) (void)shm_unlink(opened[k].name);
      opened[k].memory = NULL;
      allocations--;
    }
}

trs_status trs_device_alloc_open(trs_device *device, void **pointer, int64_t bytes,
                                 trs_device_handle *handle) {
  static int made;
  (void)device;
  memset(handle, 0, sizeof *handle);
  bytes = bytes ? bytes : 1;
  snprintf(handle->bytes, 40, "/trireme-test-%d-%d", (int)getpid(), made++);
  memcpy(handle->bytes + 48, &bytes, sizeof bytes);
  *pointer = map_file(handle->bytes, bytes, O_RDWR | O_CREAT | O_EXCL);
  return remember(*pointer, bytes, handle->bytes);
}
void trs_device_free_open(trs_device *device, void *pointer, int64_t bytes) {
  (void)device, (void)bytes;
  forget(pointer, true);
}
trs_status trs_device_open_handle(const trs_device *device, void **pointer,
                                  const trs_device_handle *handle) {
  int64_t bytes;
  (void)device;
  memcpy(&bytes, handle->bytes + 48, sizeof bytes);
  *pointer = map_file(handle->bytes, bytes, O_RDWR);
  return remember(*pointer, bytes, handle->bytes);
}
void trs_device_close_handle(const trs_device *device, void *pointer) {
  (void)device;
  forget(pointer, false);
}
trs_status trs_device_alloc_host(trs_device *device, void **pointer) {
  return trs_device_alloc(device, pointer, TRS_PINNED_BYTES, 1, NULL);
}
void trs_device_free_host(trs_device *device, void *pointer) {
  trs_device_free(device, pointer, NULL);
}
trs_status trs_device_alloc_stage(trs_device *device, void **pointer) {
  return trs_device_alloc(device, pointer, TRS_STAGE_BYTES, 1, NULL);
}
void trs_device_free_stage(trs_device *device, void *pointer) {
  trs_device_free(device, pointer, NULL);
}
trs_status trs_device_alloc_pinned(void **pointer, int64_t bytes) {
  return trs_device_alloc(&devices[0], pointer, bytes, 1, NULL);
}
void trs_device_free_pinned(void *pointer) { trs_device_free(&devices[0], pointer, NULL); }
trs_status trs_device_room(const trs_device *device, int64_t *bytes) {
  (void)device;
  *bytes = (int64_t)1 << 30;
  return TRS_SUCCESS;
}
trs_status trs_device_copy(void *to, const void *from, int64_t bytes, trs_stream stream) {
  (void)stream;
  finish_work();
  memmove(to, from, (size_t)bytes);
  return TRS_SUCCESS;
}
trs_status trs_device_copy_rows(void *to, int64_t to_pitch, const void *from, int64_t from_pitch,
                                int64_t row_bytes, int64_t rows, trs_stream stream) {
  for (int64_t i = 0; i < rows; i++)
    trs_device_copy((char *)to + i * to_pitch, (const char *)from + i * from_pitch, row_bytes,
                    stream);
  return TRS_SUCCESS;
}
trs_status trs_device_add(bool doubles, int64_t count, const void *from, void *to,
                          trs_stream stream) {
  (void)stream;
  finish_work();
  for (int64_t i = 0; i < count; i++)
    if (doubles)
      ((double *)to)[i] += ((const double *)from)[i];
    else
      ((float *)to)[i] += ((const float *)from)[i];
  return TRS_SUCCESS;
}
trs_status trs_device_fill(void *pointer, int byte, int64_t bytes, trs_stream stream) {
  (void)stream;
  finish_work();
  memset(pointer, byte, (size_t)bytes);
  return TRS_SUCCESS;
}
trs_device_memory trs_device_memory_of(const void *pointer, int *ordinal) {
  *ordinal = 0;
  return pointer && stand_in_addresses ? TRS_DEVICE_MEMORY : TRS_HOST_MEMORY;
}

/* ---- Streams and events: everything is done at once, but for stand_in_kernel ---- */

bool trs_device_busy(trs_stream stream) {
  (void)stream;
  return stand_in_kernel && atomic_load(stand_in_kernel) == 0;
}
trs_status trs_device_wait(trs_stream stream) {
  finish_work();
  while (trs_device_busy(stream)) usleep(100);
  return TRS_SUCCESS;
}
bool trs_device_capturing(trs_stream stream) { return stream && stream == stand_in_captures; }

/* A stream is a number: streams are many, and nothing is in them. */
trs_status trs_device_stream_create(const trs_device *device, trs_stream *stream) {
  static _Atomic int made;
  (void)device;
  *stream = (trs_stream)(uintptr_t)++made;
  return TRS_SUCCESS;
}
trs_status trs_device_side_stream(trs_device *device, trs_stream *stream) {
  return trs_device_stream_create(device, stream);
}
void trs_device_stream_destroy(const trs_device *device, trs_stream stream) {
  (void)device;
  (void)stream;
}

struct trs_device_event {
  trs_stream stream; /* in which it was recorded last */
};

trs_status trs_device_event_create(const trs_device *device, trs_device_event **event) {
  (void)device;
  *event = calloc(1, sizeof **event);
  return *event ? TRS_SUCCESS : TRS_ERROR_MEMORY;
}
void trs_device_event_destroy(trs_device_event *event) { free(event); }
trs_status trs_device_event_record(trs_device_event *event, trs_stream stream) {
  finish_work();
  event->stream = stream;
  return TRS_SUCCESS;
}
trs_status trs_device_event_wait(trs_device_event *event) {
  (void)event;
  return TRS_SUCCESS;
}
trs_status trs_device_event_follow(trs_device_event *event, trs_stream stream) {
  if (stand_in_followed && event->stream) stand_in_followed(stream, event->stream);
  return TRS_SUCCESS;
}

/* ---- What groups and contexts ask besides ---- */

trs_status trs_device_reach(const trs_device *device, const trs_device *other) {
  (void)device;
  (void)other;
  return TRS_SUCCESS;
}
trs_status trs_device_total(int *count) {
  *count = STAND_IN_DEVICES;
  return TRS_SUCCESS;
}
trs_status trs_device_identity(const trs_device *device, int64_t *identity) {
  *identity = 100 + device->facts.ordinal;
  return TRS_SUCCESS;
}
trs_status trs_device_count(trs_device *device, int64_t bytes) {
  (void)device;
  (void)bytes;
  return TRS_SUCCESS;
}
trs_status trs_device_check_managed(const trs_device *device, int64_t bytes) {
  (void)device;
  (void)bytes;
  return TRS_ERROR_UNSUPPORTED;
}
trs_status trs_device_alloc_managed(const trs_device *device, void **pointer, int64_t bytes) {
  (void)device;
  (void)bytes;
  *pointer = NULL;
  return TRS_ERROR_UNSUPPORTED;
}
void trs_device_free_managed(void *pointer) { (void)pointer; }
