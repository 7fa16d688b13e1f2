/* sort.h - numbers in ascending order. */
#ifndef TRIREME_CLI_SORT_H
#define TRIREME_CLI_SORT_H

#include <stdint.h>

void sort_reals(double *values, int64_t count);
/* The median of at least one value; sorts them. */
double sort_median(double *values, int64_t count);

#endif
