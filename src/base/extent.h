/* extent.h - the extent in bytes of a dense array whose sizes come from the caller. */
#ifndef TRS_BASE_EXTENT_H
#define TRS_BASE_EXTENT_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes from the first element to the end of the last of `outer` runs (columns or rows) of `inner`
 * elements, ld apart.  All arguments are positive, and ld >= inner.  False on overflow. */
static inline bool trs_extent(int64_t *bytes, int64_t outer, int64_t inner, int64_t ld,
                              int64_t size) {
  return !__builtin_mul_overflow(outer - 1, ld, bytes) &&
         !__builtin_add_overflow(*bytes, inner, bytes) &&
         !__builtin_mul_overflow(*bytes, size, bytes);
}

#endif
