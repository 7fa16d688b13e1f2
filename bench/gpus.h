/* gpus.h - the interface of gpus.c and gpus_measure.c: measurements of methods on some of the GPUs,
 * on one system with a number of right-hand sides. */
#ifndef TRIREME_BENCH_GPUS_H
#define TRIREME_BENCH_GPUS_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu_list.h"
#include "row.h"
#include "runner.h"
#include "system.h"
#include "trireme.h"

/* Where b and x lie: on the first GPU; spread over the GPUs that solve, in one stream
 * (trs_solve_distributed); or spread, with a stream per GPU (trs_plan_set_streams), so that a solve
 * may begin on one GPU while the solve before ends on another. */
typedef enum gpus_place { GPUS_FIRST, GPUS_SPREAD, GPUS_STREAMS, GPUS_PLACES } gpus_place;
extern const char *const gpus_place_names[GPUS_PLACES];

/* A method on the first `gpus` GPUs, with one placement of b and x. */
typedef struct gpus_solver {
  char method[64];
  int gpus;
  trs_context *ctx;
  gpus_place place;
  bool brief; /* too slow for many samples */
  int sharer; /* index of the solver whose plan this one uses: its own, or an earlier one */
  /* During the measurement: */
  trs_plan *plan; /* of sharers, the other solver's plan */
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
  double hop;         /* seconds; NAN: unknown */
  double limit;       /* limit on the bytes that plans may use per GPU; 0: none */
  const char *suite;
  int64_t nrhs;
  gpus_solver *solver;
  int count;
} gpus_job;

/* Adds a row per solver.  Returns -1, or the exit code. */
int gpus_measure(bench_rows *rows, const gpus_job *job, double seconds);

/* The suites in the rows of the two parts of bench gpus. */
extern const char gpus_suite[], gpus_capped[];
/* The line of the system whose rows start at first. */
void gpus_line(const bench_rows *rows, int64_t first);

#endif
