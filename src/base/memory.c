/* memory.c - counted allocation.  A 64-byte header before each block stores its size, so that the
 * counters do not depend on the allocator. */
#include "base/memory.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/cancel.h"
#include "base/thread.h"

enum { HEAD = 64 };
static const size_t HUGE_PAGE = (size_t)2 << 20;

static _Atomic int64_t bytes_now, bytes_peak;
static _Atomic int64_t failures_in = -1;

void trs_memory_fail_after(int64_t n) { atomic_store(&failures_in, n); }

int64_t trs_memory_failures_left(void) { return atomic_load(&failures_in); }

void trs_memory_usage(int64_t *current, int64_t *peak) {
  if (current) *current = atomic_load(&bytes_now);
  if (peak) *peak = atomic_load(&bytes_peak);
}

static bool fails_on_purpose(void) {
  int64_t left = atomic_load(&failures_in);
  if (left < 0) return false;
  if (left > 0) atomic_fetch_sub(&failures_in, 1);
  return left == 0;
}

static trs_memory_limit *own_limit(void) {
  const trs_thread *own = trs_thread_look();
  return own ? own->limit : NULL;
}

trs_status trs_memory_limit_set(trs_memory_limit *next, trs_memory_limit **before) {
  trs_thread *own = trs_thread_own();
  *before = own ? own->limit : NULL;
  if (own)
    own->limit = next;
  else if (next)
    return trs_fail(TRS_ERROR_MEMORY, -1, "out of memory");
  return TRS_SUCCESS;
}

static bool is_too_much(int64_t bytes) {
  trs_memory_limit *limit = own_limit();
  bool much = limit && bytes > limit->bytes - limit->used;
  if (much && !limit->refused) {
    limit->refused = bytes;
    limit->held = limit->used;
  }
  return much;
}

static void count(int64_t bytes) {
  trs_memory_limit *limit = own_limit();
  if (limit) limit->used += bytes;
  int64_t now = atomic_fetch_add(&bytes_now, bytes) + bytes;
  int64_t peak = atomic_load(&bytes_peak);
  while (now > peak && !atomic_compare_exchange_weak(&bytes_peak, &peak, now)) continue;
}

static void ask_for_huge_pages(char *block, size_t bytes) {
#ifdef MADV_HUGEPAGE /* Linux */
  (void)madvise(block, bytes, MADV_HUGEPAGE);
#else
  (void)block, (void)bytes;
#endif
}

/* Large blocks start on a huge page: solves are memory-bound, and 4 KiB pages cost them page faults
 * at first touch and address translation.  They end on one if they take more than half of it. */
static void *take(size_t bytes) {
  size_t whole = bytes + HEAD;
  if (fails_on_purpose()) return NULL;
  if (whole < HUGE_PAGE) return aligned_alloc(HEAD, (whole + HEAD - 1) / HEAD * HEAD);
  const size_t rest = whole % HUGE_PAGE, pages = whole + (rest ? HUGE_PAGE - rest : 0);
  char *block = aligned_alloc(HUGE_PAGE, pages);
  if (block) ask_for_huge_pages(block, rest > HUGE_PAGE / 2 ? pages : whole);
  return block;
}

trs_status trs_alloc(void **pointer, int64_t elements, size_t size) {
  *pointer = NULL;
  size_t bytes;
  TRS_TRY(trs_cancelled());
  if (elements < 0 || __builtin_mul_overflow((size_t)elements, size, &bytes) ||
      bytes > (size_t)INT64_MAX / 2)
    return trs_fail(TRS_ERROR_MEMORY, -1, "out of memory: %lld elements of %zu bytes",
                    (long long)elements, size);
  char *block = is_too_much((int64_t)bytes) ? NULL : take(bytes);
  if (!block)
    return trs_fail(TRS_ERROR_MEMORY, -1, "out of memory: %.1f MB wanted, %.1f MB held",
                    (double)bytes / 1e6, (double)atomic_load(&bytes_now) / 1e6);
  memcpy(block, &bytes, sizeof bytes);
  count((int64_t)bytes);
  *pointer = block + HEAD;
  return TRS_SUCCESS;
}

trs_status trs_alloc_zero(void **pointer, int64_t elements, size_t size) {
  TRS_TRY(trs_alloc(pointer, elements, size));
  memset(*pointer, 0, (size_t)elements * size);
  return TRS_SUCCESS;
}

static size_t size_of(const void *pointer) {
  size_t bytes;
  memcpy(&bytes, (const char *)pointer - HEAD, sizeof bytes);
  return bytes;
}

int64_t trs_memory_held(const void *const *pointers, size_t count) {
  size_t bytes = 0;
  for (size_t k = 0; k < count; k++) bytes += pointers[k] ? size_of(pointers[k]) : 0;
  return (int64_t)bytes;
}

trs_status trs_realloc(void **pointer, int64_t elements, size_t size) {
  void *old = *pointer, *grown;
  TRS_TRY(trs_alloc(&grown, elements, size));
  if (old) {
    size_t had = size_of(old), bytes = (size_t)elements * size;
    memcpy(grown, old, had < bytes ? had : bytes);
    trs_free(old);
  }
  *pointer = grown;
  return TRS_SUCCESS;
}

trs_status trs_memory_probe(int64_t bytes) {
  void *room = MAP_FAILED;
  if (bytes < 1) bytes = 1;
  if (!fails_on_purpose())
    room = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED)
    return trs_fail(TRS_ERROR_MEMORY, -1, "out of memory: %.1f MB wanted, %.1f MB held",
                    (double)bytes / 1e6, (double)atomic_load(&bytes_now) / 1e6);
  munmap(room, (size_t)bytes);
  return TRS_SUCCESS;
}

void trs_free(void *pointer) {
  if (!pointer) return;
  count(-(int64_t)size_of(pointer));
  free((char *)pointer - HEAD);
}

trs_status trs_alloc_all(const trs_room *rooms, size_t count) {
  trs_status status = TRS_SUCCESS;
  for (size_t k = 0; k < count; k++) *rooms[k].pointer = NULL;
  for (size_t k = 0; k < count && !status; k++)
    status = (rooms[k].zeros ? trs_alloc_zero : trs_alloc)(rooms[k].pointer, rooms[k].count,
                                                           rooms[k].size);
  for (size_t k = 0; k < count && status; k++) {
    trs_free(*rooms[k].pointer);
    *rooms[k].pointer = NULL;
  }
  return status;
}

void trs_free_all(void *const *pointers, size_t count) {
  for (size_t k = 0; k < count; k++) trs_free(pointers[k]);
}
