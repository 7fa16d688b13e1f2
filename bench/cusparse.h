/* cusparse.h - cuSPARSE's SpSV and SpSM as peers. */
#ifndef TRIREME_BENCH_CUSPARSE_H
#define TRIREME_BENCH_CUSPARSE_H

#include <stdbool.h>
#include <stddef.h>

#include "gpu_system.h"

typedef struct bench_cusparse {
  const bench_gpu *gpu;
  bool many;     /* SpSM, else SpSV */
  int algorithm; /* for SpSV: 0 is the default */
  void *matrix, *b, *x, *state, *buffer;
  size_t buffer_bytes;
} bench_cusparse;

/* Why cuSPARSE is unavailable, or NULL. */
const char *bench_cusparse_load(void);
const char *bench_cusparse_version(void);
/* Algorithms of SpSV that the loaded library implements, as runners name them; SpSM has only the
 * first. */
enum { BENCH_CUSPARSE_MOST = 3 };
extern const char *const bench_cusparse_name[BENCH_CUSPARSE_MOST];
int bench_cusparse_known(void);
/* The number of the algorithm of that name; -1: no algorithm of cuSPARSE. */
int bench_cusparse_algorithm(const char *name);
const char *bench_cusparse_error(void);
/* For its other functions, once it is loaded: their addresses, the handle, and a status of one:
 * true if it is 0, else bench_cusparse_error explains it. */
bool bench_cusparse_find(void *function, const char *name);
void *bench_cusparse_handle(void);
bool bench_cusparse_good(int error);
bool bench_cusparse_prepare(bench_cusparse *s, const bench_gpu *gpu, int algorithm);
/* Creates everything from nothing.  The query of the buffer's size and the analysis are timed
 * separately; the allocation of the buffer is not timed. */
bool bench_cusparse_analyze(bench_cusparse *s, double *ask_seconds, double *seconds);
bool bench_cusparse_update(bench_cusparse *s, double *seconds);
bool bench_cusparse_solve(const bench_cusparse *s);
void bench_cusparse_free(bench_cusparse *s);

#endif
