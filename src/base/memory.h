/* memory.h - every allocation of the library: counted, aligned to 64 bytes, and able to fail on
 * purpose for the tests. */
#ifndef TRS_BASE_MEMORY_H
#define TRS_BASE_MEMORY_H

#include "base/status.h"

/* Space for count elements of size bytes, uninitialised; *pointer is NULL after a failure.
 * A count of 0 gives a valid pointer.  Release with trs_free (NULL is fine). */
TRS_API trs_status trs_alloc(void **pointer, int64_t count, size_t size);
TRS_API trs_status trs_alloc_zero(void **pointer, int64_t count, size_t size);

/* Grows or shrinks; after a failure *pointer keeps the old block. */
TRS_API trs_status trs_realloc(void **pointer, int64_t count, size_t size);

/* TRS_ALLOC(&array, count): the element size comes from the pointer. */
#define TRS_ALLOC(pointer, count) trs_alloc((void **)(pointer), (count), sizeof **(pointer))
#define TRS_ALLOC_ZERO(pointer, count) \
  trs_alloc_zero((void **)(pointer), (count), sizeof **(pointer))

/* Is there room for so many bytes more?  Asked before foreign libraries, which allocate on their
 * own and take a failure badly.  Holds nothing. */
trs_status trs_memory_probe(int64_t bytes);

/* What the calling thread may hold more than when the limit was set; allocations of other threads
 * do not count. */
typedef struct trs_memory_limit {
  int64_t bytes, used;
  int64_t refused; /* bytes of the first allocation that was too much, or 0 */
} trs_memory_limit;

/* NULL: none.  Returns the one before. */
trs_memory_limit *trs_memory_limit_set(trs_memory_limit *limit);

/* Tests: the n-th allocation from now (counting from 0) fails, and all after it; -1: none. */
void trs_memory_fail_after(int64_t n);

/* What that n has come down to: worker processes go on from there. */
int64_t trs_memory_failures_left(void);

#endif
