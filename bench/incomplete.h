/* incomplete.h - cuSPARSE's csrilu02 and csric02 as peers. */
#ifndef TRIREME_BENCH_INCOMPLETE_H
#define TRIREME_BENCH_INCOMPLETE_H

#include <stdbool.h>
#include <stdint.h>

/* A factorisation in place: val, n, nnz, ptr and idx are set by the caller, in device memory. */
typedef struct bench_incomplete {
  bool cholesky, by_levels; /* SOLVE_POLICY_USE_LEVEL */
  int n, nnz;
  const int32_t *ptr, *idx;
  double *val;
  void *info, *buffer;
} bench_incomplete;

/* Why the functions are unavailable, or NULL; after bench_cusparse_load. */
const char *bench_incomplete_load(void);
bool bench_incomplete_analyze(bench_incomplete *s, double *seconds);
/* Factors val, and waits until it is known whether a pivot is zero. */
bool bench_incomplete_factor(const bench_incomplete *s, double *seconds);
void bench_incomplete_free(bench_incomplete *s);

#endif
