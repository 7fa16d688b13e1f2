/* suite.h - lists of matrices. */
#ifndef TRIREME_BENCH_SUITE_H
#define TRIREME_BENCH_SUITE_H

#include <stdint.h>

typedef struct bench_suite {
  char name[64];
  char **entry;
  int64_t count;
} bench_suite;

/* The name of a suite, the path of one, or one entry.  Returns -1, or the exit code. */
int bench_suite_read(bench_suite *suite, const char *name);
void bench_suite_free(bench_suite *suite);
/* Prints its entries; NULL: the suites. */
int bench_list(const char *suite);

#endif
