/* gpus.h - what gpus.c asks gpus_measure.c to measure: methods on some of the GPUs, on one system
 * with so many right-hand sides. */
#ifndef TRIREME_BENCH_GPUS_H
#define TRIREME_BENCH_GPUS_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu_list.h"
#include "row.h"
#include "runner.h"
#include "system.h"
#include "trireme.h"

/* A method on the first so many GPUs, with b and x in one place. */
typedef struct gpus_solver {
  char method[64];
  int gpus;
  trs_context *ctx;
  bool spread; /* b and x lie where they are solved, else on the first GPU */
  bool brief;  /* too slow for many samples */
  int sharer;  /* the solver whose plan this is: its own number, or one before */
  /* While it is measured: */
  trs_plan *plan; /* of sharers the other's */
  void *b[BENCH_MOST_GPUS], *x[BENCH_MOST_GPUS];
  bool out, failed; /* refused the system, or failed on it */
  double seconds[BENCH_MOST_REPEATS];
  int64_t repeats, batch;
  bench_row row;
} gpus_solver;

typedef struct gpus_job {
  const bench_gpu_list *gpus;
  const bench_system *system;
  trs_plan_info info; /* of the system: levels and bytes */
  double hop;         /* seconds; NAN: not known */
  double limit;       /* bytes of each GPU's memory that plans may take; 0: all */
  const char *suite;
  int64_t nrhs;
  gpus_solver *solver;
  int count;
} gpus_job;

/* Adds a row per solver.  Returns -1, or how to leave. */
int gpus_measure(bench_rows *rows, const gpus_job *job, double seconds);

/* What rows of the two parts of bench gpus name as their suite. */
extern const char gpus_suite[], gpus_capped[];
/* The line of the system whose rows begin at first. */
void gpus_line(const bench_rows *rows, int64_t first);

#endif
