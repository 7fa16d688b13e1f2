/* library.h - other projects' libraries, opened at run time. */
#ifndef TRIREME_BENCH_LIBRARY_H
#define TRIREME_BENCH_LIBRARY_H

#include <stdbool.h>

/* The library at the path in an environment variable, or the first of the names that is found.
 * *missing: why it is unavailable, or NULL. */
void *bench_library_open(const char *variable, const char *const names[], const char **missing);
/* Sets the pointer to a function that `function` points to; false: no function has that name. */
bool bench_library_find(void *library, void *function, const char *name);

#endif
