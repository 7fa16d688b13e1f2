/* batches.h - what trireme bench batches shares between the GPU and the CPU. */
#ifndef TRIREME_BENCH_BATCHES_H
#define TRIREME_BENCH_BATCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "settings.h"
#include "trireme.h"

enum { BATCH_COUNTS = 4 };
extern const int64_t bench_batch_counts[BATCH_COUNTS];

/* The systems of a case: one lower triangle by rows, and numbers in host memory. */
typedef struct bench_batch {
  const char *name;
  const trs_matrix *L;
  trs_diag diag;
  int64_t n, nnz, count;
  double *val, *b, *x; /* count x nnz, count x n */
} bench_batch;

/* Calls `run` for every pattern, with L, diag, n and nnz, until it returns an exit code; -1 when
 * all are done. */
int bench_batch_each(int (*run)(const bench_batch *pattern, void *user), void *user);

/* Allocates and fills val and b of `count` systems.  Returns -1, or the exit code. */
int bench_batch_open(bench_batch *c);
void bench_batch_close(bench_batch *c);

/* The largest backward error in x of the first, the middle and the last system; NAN: a failure. */
double bench_batch_error(const bench_batch *c);

bool bench_batch_is_right(double error);
/* -1 if the error is good, else the exit code. */
int bench_batch_judge(const bench_batch *c, double error);

int bench_batches_cpu(const bench_settings *set);

#endif
