/* check.h - the backward error of an answer, found beside other work. */
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
  const trs_matrix *T; /* of b's and x's type */
  const void *b;
  void *x; /* columns of n values; freed at the end */
  int64_t columns;
  double epsilon;
  bool by_norm;   /* the normwise error counts */
  bench_row *row; /* that the verdict goes to */
  /* Its own: */
  bool given, started;
  pthread_t thread;
  trs_status status;
  trs_backward_error error;
} bench_check;

/* In a thread of its own where there can be one. */
void bench_check_begin(bench_check *check);
/* Waits, fills the row and frees x; a check that was not begun frees x alone. */
void bench_check_end(bench_check *check);

/* An error is small up to 50 epsilon for each entry of the longest row and the right-hand side. */
void bench_judge(bench_row *row, const bench_system *system, const trs_backward_error *error,
                 double epsilon, bool by_norm);

#endif
