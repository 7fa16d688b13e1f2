/* sort.c - by qsort, O(count log count). */
#include "sort.h"

#include <stdlib.h>

static int compare(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

void sort_reals(double *values, int64_t count) {
  qsort(values, (size_t)count, sizeof *values, compare);
}

double sort_median(double *values, int64_t count) {
  sort_reals(values, count);
  return (values[(count - 1) / 2] + values[count / 2]) / 2;
}
