/* device_none.c - device.h in a build without CUDA and HIP: opening a GPU fails.  Functions that
 * need an open device exist only if a linker needs them, and fail. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#include "base/config.h"
#include "device/shared.h"

/* The failure of functions that need an open device. */
static trs_status none(void) {
  return trs_fail(TRS_ERROR_INTERNAL, -1, "this build has no CUDA, but a device is in use");
}

trs_status trs_device_open(trs_device **device, int ordinal) {
  *device = NULL;
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "this build has no CUDA: " TRS_GET_CUDA);
}

const char *trs_device_list(void) { return ""; }

trs_device *trs_device_retain(trs_device *device) { return device; }
void trs_device_close(trs_device *device) {}
trs_device_memory trs_device_memory_of(const void *pointer, int *ordinal) {
  return TRS_HOST_MEMORY;
}
bool trs_device_capturing(trs_stream stream) { return false; }
const trs_device_facts *trs_device_look(const trs_device *device) { return NULL; }

void trs_device_allow(trs_device *device, int64_t bytes) {}
int trs_device_enter(const trs_device *device) { return 0; }
void trs_device_leave(int before) {}
trs_status trs_device_alloc(trs_device *device, void **pointer, int64_t count, size_t size,
                            trs_stream stream) {
  *pointer = NULL;
  return none();
}
void trs_device_free(trs_device *device, void *pointer, trs_stream stream) {}
trs_status trs_device_copy(void *to, const void *from, int64_t bytes, trs_stream stream) {
  return none();
}
trs_status trs_device_copy_rows(void *to, int64_t to_pitch, const void *from, int64_t from_pitch,
                                int64_t row_bytes, int64_t rows, trs_stream stream) {
  return none();
}
trs_status trs_device_fill(void *pointer, int byte, int64_t bytes, trs_stream stream) {
  return none();
}
trs_status trs_device_wait(trs_stream stream) { return none(); }
trs_status trs_device_identity(const trs_device *device, int64_t *identity) { return none(); }
trs_status trs_device_total(int *count) {
  trs_device *device;
  *count = 0;
  return trs_device_open(&device, 0);
}
trs_status trs_device_add(bool doubles, int64_t count, const void *from, void *to,
                          trs_stream stream) {
  return none();
}
trs_status trs_device_alloc_pinned(void **pointer, int64_t bytes) {
  *pointer = NULL;
  return none();
}
void trs_device_free_pinned(void *pointer) {}

trs_status trs_device_alloc_open(trs_device *device, void **pointer, int64_t bytes,
                                 trs_device_handle *handle) {
  *pointer = NULL;
  return none();
}
void trs_device_free_open(trs_device *device, void *pointer, int64_t bytes) {}
trs_status trs_device_open_handle(const trs_device *device, void **pointer,
                                  const trs_device_handle *handle) {
  *pointer = NULL;
  return none();
}
void trs_device_close_handle(const trs_device *device, void *pointer) {}

trs_status trs_device_stream_create(const trs_device *device, trs_stream *stream) {
  *stream = NULL;
  return none();
}
void trs_device_stream_destroy(const trs_device *device, trs_stream stream) {}
trs_status trs_device_event_create(const trs_device *device, trs_device_event **event) {
  *event = NULL;
  return none();
}
void trs_device_event_destroy(trs_device_event *event) {}
trs_status trs_device_event_record(trs_device_event *event, trs_stream stream) { return none(); }
trs_status trs_device_event_follow(trs_device_event *event, trs_stream stream) { return none(); }
