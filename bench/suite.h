/* suite.h - lists of matrices. */
#ifndef TRIREME_BENCH_SUITE_H
#define TRIREME_BENCH_SUITE_H

#include <stdbool.h>
#include <stdint.h>

/* The triangles of an entry. */
typedef enum bench_triangles { BENCH_LOWER, BENCH_UPPER, BENCH_BOTH } bench_triangles;

typedef struct bench_suite {
  char name[64];
  char **entry;
  bench_triangles *triangles;
  int64_t count;
  bool drawn; /* from the files that are there, of which some may be no systems */
} bench_suite;

/* The name of a suite, the path of one, or one entry.  Returns -1, or the exit code. */
int bench_suite_read(bench_suite *suite, const char *name);
/* Adds an entry.  Returns -1, or the exit code. */
int bench_suite_add(bench_suite *suite, const char *entry, bench_triangles triangles);
void bench_suite_free(bench_suite *suite);
/* Prints its entries, as a file of a suite has them. */
void bench_suite_print(const bench_suite *suite);
/* The same of a named suite; NULL: prints the names of the suites. */
int bench_list(const char *name);

#endif
