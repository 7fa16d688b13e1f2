/* check.h - computes the backward error of an answer concurrently with other work. */
#ifndef TRIREME_BENCH_CHECK_H
#define TRIREME_BENCH_CHECK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "row.h"
#include "system.h"
#include "trireme.h"

typedef struct bench_check {
  const bench_system *system;
  const trs_matrix *T; /* types of b and x */
  const void *b;
  void *x; /* columns of n values; freed at the end */
  int64_t columns;
  double epsilon;
  bool by_norm;   /* the normwise error decides */
  bench_row *row; /* the row that receives the result */
  /* Private: */
  bool given, started;
  pthread_t thread;
  trs_status status;
  trs_backward_error error;
} bench_check;

/* Starts the check, in a thread of its own if possible. */
void bench_check_begin(bench_check *check);
/* Waits for the check, fills the row and frees x; if the check was not started, only frees x. */
void bench_check_end(bench_check *check);

/* An error is small up to 50 epsilon per entry of the longest row, with the right-hand side counted
 * as an entry. */
void bench_judge(bench_row *row, const bench_system *system, const trs_backward_error *error,
                 double epsilon, bool by_norm);

#endif
