/* search.h - binary search in ascending lists, and an order for qsort. */
#ifndef TRS_BASE_SEARCH_H
#define TRS_BASE_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* key: of the list's first element; step: bytes from one key to the next. */
static inline int64_t trs_search(const void *key, bool wide, size_t step, int64_t low, int64_t high,
                                 int64_t value) {
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    const void *at = (const char *)key + (size_t)middle * step;
    int64_t there = wide ? *(const int64_t *)at : *(const int32_t *)at;
    if (there < value)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* The first position of low .. high - 1 whose element is at least value, or high. */
static inline int64_t trs_search_32(const int32_t *list, int64_t low, int64_t high, int64_t value) {
  return trs_search(list, false, sizeof *list, low, high, value);
}
/* Its position, or -1. */
static inline int64_t trs_find(const int32_t *list, int64_t low, int64_t high, int64_t value) {
  const int64_t at = trs_search_32(list, low, high, value);
  return at < high && list[at] == value ? at : -1;
}
static inline int64_t trs_search_64(const int64_t *list, int64_t low, int64_t high, int64_t value) {
  return trs_search(list, true, sizeof *list, low, high, value);
}

static inline int trs_compare_int32(const void *left, const void *right) {
  int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;
  return (a > b) - (a < b);
}

#endif
