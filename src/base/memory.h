/* memory.h - every allocation of the library: counted, aligned to 64 bytes, with failures that
 * tests can provoke. */
#ifndef TRS_BASE_MEMORY_H
#define TRS_BASE_MEMORY_H

#include <stdbool.h>

#include "base/status.h"

/* Uninitialised space for count elements of size bytes.  *pointer is NULL after a failure.  A count
 * of 0 gives a valid pointer.  Release with trs_free (NULL is allowed). */
TRS_API trs_status trs_alloc(void **pointer, int64_t count, size_t size);
TRS_API trs_status trs_alloc_zero(void **pointer, int64_t count, size_t size);

/* Grows or shrinks a block.  After a failure *pointer keeps the old block. */
TRS_API trs_status trs_realloc(void **pointer, int64_t count, size_t size);

/* TRS_ALLOC(&array, count): the element size comes from the pointer's type. */
#define TRS_ALLOC(pointer, count) trs_alloc((void **)(pointer), (count), sizeof **(pointer))
#define TRS_ALLOC_ZERO(pointer, count) \
  trs_alloc_zero((void **)(pointer), (count), sizeof **(pointer))

/* TRS_ALLOC_ALL(TRS_ROOM(&a, n), TRS_ZEROS(&b, m)): all of them or none; after a failure all are
 * NULL.  _OF: with the size of an element, for pointers to void. */
typedef struct trs_room {
  void **pointer;
  int64_t count;
  size_t size;
  bool zeros;
} trs_room;
#define TRS_ROOM_OF(pointer, count, size) ((trs_room){(void **)(pointer), (count), (size), false})
#define TRS_ZEROS_OF(pointer, count, size) ((trs_room){(void **)(pointer), (count), (size), true})
#define TRS_ROOM(pointer, count) TRS_ROOM_OF(pointer, count, sizeof **(pointer))
#define TRS_ZEROS(pointer, count) TRS_ZEROS_OF(pointer, count, sizeof **(pointer))
#define TRS_ALLOC_ALL(...)                       \
  trs_alloc_all((const trs_room[]){__VA_ARGS__}, \
                sizeof((const trs_room[]){__VA_ARGS__}) / sizeof(trs_room))
TRS_API trs_status trs_alloc_all(const trs_room *rooms, size_t count);

/* TRS_FREE_ALL(a, b, c): trs_free of each. */
#define TRS_FREE_ALL(...) \
  trs_free_all((void *const[]){__VA_ARGS__}, sizeof((void *const[]){__VA_ARGS__}) / sizeof(void *))
TRS_API void trs_free_all(void *const *pointers, size_t count);

/* TRS_HELD(a, b, c): the bytes of these blocks; NULL has none. */
#define TRS_HELD(...)                                 \
  trs_memory_held((const void *const[]){__VA_ARGS__}, \
                  sizeof((const void *const[]){__VA_ARGS__}) / sizeof(void *))
int64_t trs_memory_held(const void *const *pointers, size_t count);

/* Fails if an allocation of this many bytes fails now.  Called before foreign libraries, which
 * allocate on their own and handle failures badly.  Keeps no memory. */
trs_status trs_memory_probe(int64_t bytes);

/* A limit on the bytes that the calling thread allocates after the limit is set.  Allocations of
 * other threads do not count. */
typedef struct trs_memory_limit {
  int64_t bytes, used;
  int64_t refused; /* bytes of the first allocation beyond the limit, or 0 */
  int64_t held;    /* bytes in use at that time */
} trs_memory_limit;

/* NULL removes the limit, which cannot fail.  *before: the previous one. */
trs_status trs_memory_limit_set(trs_memory_limit *limit, trs_memory_limit **before);

/* For tests: allocation number n from now (counting from 0) and all later ones fail; -1: none. */
void trs_memory_fail_after(int64_t n);

/* The remaining count of trs_memory_fail_after; worker processes continue from it. */
int64_t trs_memory_failures_left(void);

#endif
