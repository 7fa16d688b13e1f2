/* failing_malloc.h - the C library's allocating functions, for a program or a library that takes
 * their place: each fails with ENOMEM where fails(), which the file defines before, says so. */
#ifndef TRS_TEST_FAILING_MALLOC_H
#define TRS_TEST_FAILING_MALLOC_H

#include <errno.h>
#include <stddef.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t boundary, size_t bytes);

static int is_to_fail(void) {
  if (!fails()) return 0;
  errno = ENOMEM;
  return 1;
}

#pragma GCC visibility push(default)
void *malloc(size_t bytes) { return is_to_fail() ? NULL : __libc_malloc(bytes); }
void *calloc(size_t count, size_t bytes) {
  return is_to_fail() ? NULL : __libc_calloc(count, bytes);
}
void *realloc(void *old, size_t bytes) { return is_to_fail() ? NULL : __libc_realloc(old, bytes); }
void *memalign(size_t boundary, size_t bytes) {
  return is_to_fail() ? NULL : __libc_memalign(boundary, bytes);
}
void *aligned_alloc(size_t boundary, size_t bytes) { return memalign(boundary, bytes); }

int posix_memalign(void **block, size_t boundary, size_t bytes) {
  void *room = memalign(boundary, bytes);
  if (!room) return ENOMEM;
  *block = room;
  return 0;
}
#pragma GCC visibility pop

#endif
