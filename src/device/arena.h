/* arena.h - the arrays in device memory that one owner has: counted together, freed together. */
#ifndef TRS_DEVICE_ARENA_H
#define TRS_DEVICE_ARENA_H

#include "device/device.h"

typedef struct trs_arena {
  trs_device *device;
  const trs_stream *stream; /* the owner's; NULL: the default stream */
  int64_t beyond;           /* zero bytes behind each array, which kernels may read */
  int64_t bytes;            /* of all arrays, with those */
  int count, room;
  struct trs_arena_array {
    void *at;
    int64_t bytes;
  } * array;
} trs_arena;

/* pointer: the address of a pointer, which becomes that of `count` elements of `size` bytes, or
 * NULL after a failure.  The arena frees them. */
trs_status trs_arena_alloc(trs_arena *arena, const void *pointer, int64_t count, size_t size);

/* The same with the elements of an array on the host, which may change and go after the call. */
trs_status trs_arena_upload(trs_arena *arena, const void *pointer, const void *from, int64_t count,
                            size_t size);
#define TRS_ARENA_UPLOAD(arena, pointer, from, count) \
  trs_arena_upload((arena), (pointer), (from), (count), sizeof **(pointer))

/* The same, and frees the array on the host. */
trs_status trs_arena_move(trs_arena *arena, const void *pointer, void *from, int64_t count,
                          size_t size);

/* The reverse: a copy on the host, to free with trs_free. */
trs_status trs_device_fetch(const void *pointer, const void *from, int64_t count, size_t size,
                            trs_stream stream);
#define TRS_DEVICE_FETCH(pointer, from, count, stream) \
  trs_device_fetch((pointer), (from), (count), sizeof **(pointer), (stream))

/* Frees one array; NULL is allowed. */
void trs_arena_drop(trs_arena *arena, const void *array);

/* Frees those allocated after the first `count`, or all. */
void trs_arena_shrink(trs_arena *arena, int count);
void trs_arena_free(trs_arena *arena);

#endif
