/* arena.c - allocation and upload of arrays in device memory. */
#include "device/arena.h"

#include <string.h>

#include "base/memory.h"

static trs_stream stream_of(const trs_arena *arena) {
  return arena->stream ? *arena->stream : NULL;
}

/* Stores the address in a pointer of any type. */
static void give(const void *pointer, void *at) {
  memcpy((void *)(uintptr_t)pointer, &at, sizeof at);
}

static trs_status make_room(trs_arena *arena) {
  enum { MORE = 16 };
  if (arena->count < arena->room) return TRS_SUCCESS;
  TRS_TRY(trs_realloc((void **)&arena->array, arena->room + MORE, sizeof *arena->array));
  arena->room += MORE;
  return TRS_SUCCESS;
}

trs_status trs_arena_alloc(trs_arena *arena, const void *pointer, int64_t count, size_t size) {
  const trs_stream stream = stream_of(arena);
  void *at = NULL;
  int64_t bytes;
  give(pointer, at);
  if (__builtin_mul_overflow(count, (int64_t)size, &bytes) || bytes > INT64_MAX - arena->beyond)
    return trs_fail(TRS_ERROR_MEMORY, -1, "%lld elements of %zu bytes are more than fit",
                    (long long)count, size);
  TRS_TRY(make_room(arena));
  TRS_TRY(trs_device_alloc(arena->device, &at, bytes + arena->beyond, 1, stream));
  arena->array[arena->count++] = (struct trs_arena_array){at, bytes + arena->beyond};
  arena->bytes += bytes + arena->beyond;
  trs_status status = TRS_SUCCESS;
  if (arena->beyond) status = trs_device_fill((char *)at + bytes, 0, arena->beyond, stream);
  if (status)
    trs_arena_shrink(arena, arena->count - 1);
  else
    give(pointer, at);
  return status;
}

trs_status trs_arena_upload(trs_arena *arena, const void *pointer, const void *from, int64_t count,
                            size_t size) {
  void *at;
  TRS_TRY(trs_arena_alloc(arena, pointer, count, size));
  memcpy(&at, pointer, sizeof at);
  trs_status status = trs_device_copy(at, from, count * (int64_t)size, stream_of(arena));
  if (!status) status = trs_device_wait(stream_of(arena));
  if (!status) return status;
  trs_arena_shrink(arena, arena->count - 1);
  give(pointer, NULL);
  return status;
}

trs_status trs_arena_move(trs_arena *arena, const void *pointer, void *from, int64_t count,
                          size_t size) {
  const trs_status status = trs_arena_upload(arena, pointer, from, count, size);
  trs_free(from);
  return status;
}

trs_status trs_device_fetch(const void *pointer, const void *from, int64_t count, size_t size,
                            trs_stream stream) {
  void *to;
  const trs_status status = trs_alloc(&to, count, size);
  give(pointer, to);
  TRS_TRY(status);
  TRS_TRY(trs_device_copy(to, from, count * (int64_t)size, stream));
  return trs_device_wait(stream);
}

void trs_arena_drop(trs_arena *arena, const void *array) {
  for (int k = 0; k < arena->count && array; k++)
    if (arena->array[k].at == array) {
      arena->bytes -= arena->array[k].bytes;
      trs_device_free(arena->device, arena->array[k].at, stream_of(arena));
      arena->array[k] = (struct trs_arena_array){0};
    }
}

void trs_arena_shrink(trs_arena *arena, int count) {
  while (arena->count > count) {
    const struct trs_arena_array *last = &arena->array[--arena->count];
    arena->bytes -= last->bytes;
    trs_device_free(arena->device, last->at, stream_of(arena));
  }
}

void trs_arena_free(trs_arena *arena) {
  trs_arena_shrink(arena, 0);
  trs_free(arena->array);
  arena->array = NULL;
  arena->room = 0;
}
