/* mkl.h - oneMKL as a peer. */
#ifndef TRIREME_BENCH_MKL_H
#define TRIREME_BENCH_MKL_H

#include <stdbool.h>

#include "system.h"

typedef struct bench_mkl {
  void *handle;
  int *ptr;
  const bench_system *system;
} bench_mkl;

/* Why oneMKL is unavailable, or NULL. */
const char *bench_mkl_load(void);
const char *bench_mkl_version(void);
void bench_mkl_threads(int threads);
/* Pointers in MKL's format; create and analyse are timed separately.  False: MKL refused. */
bool bench_mkl_prepare(bench_mkl *mkl, const bench_system *system);
bool bench_mkl_create(bench_mkl *mkl);
bool bench_mkl_analyze(bench_mkl *mkl);
bool bench_mkl_solve(const bench_mkl *mkl, double *x, const double *b);
void bench_mkl_destroy(bench_mkl *mkl);
void bench_mkl_free(bench_mkl *mkl);

#endif
