/* compare.h - an order for qsort. */
#ifndef TRS_BASE_COMPARE_H
#define TRS_BASE_COMPARE_H

#include <stdint.h>

static inline int trs_compare_int32(const void *left, const void *right) {
  int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;
  return (a > b) - (a < b);
}

#endif
