/* cudss.h - cuDSS as a peer: its LU factors of one matrix, or of a uniform batch, and solves with
 * them. */
#ifndef TRIREME_BENCH_CUDSS_H
#define TRIREME_BENCH_CUDSS_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu_list.h"

/* Systems with one pattern; device memory, except for numbers. */
typedef struct bench_cudss_systems {
  int64_t n, nnz, count, nrhs;
  void *ptr, *idx; /* by rows, 32 bits */
  void *val;       /* count x nnz */
  void *b, *x;     /* count x n x nrhs, by columns */
} bench_cudss_systems;

typedef struct bench_cudss {
  void *config, *data, *matrix, *b, *x;
  double analysis, factorization; /* seconds */
  int64_t entries;                /* of L and U of a system, as cuDSS counts them */
} bench_cudss;

/* Why cuDSS is unavailable, or NULL. */
const char *bench_cudss_load(void);
const char *bench_cudss_version(void);
/* The last failure. */
const char *bench_cudss_error(void);
/* Later factors are on these GPUs, the current one first; on it alone before the first call.  No
 * factors may be left. */
bool bench_cudss_take_gpus(const bench_gpu_list *gpus);
/* Analyses and factors. */
bool bench_cudss_factor(bench_cudss *s, const bench_cudss_systems *systems);
bool bench_cudss_solve(const bench_cudss *s); /* launches */
void bench_cudss_free(bench_cudss *s);
/* Gives back the library's handle; before the context of the GPU goes. */
void bench_cudss_unload(void);

#endif
