/* runner.h - the methods and libraries to time on the systems of a suite. */
#ifndef TRIREME_BENCH_RUNNER_H
#define TRIREME_BENCH_RUNNER_H

#include <stdbool.h>
#include <stdint.h>

#include "cusparse.h"
#include "gpu_system.h"
#include "mkl.h"
#include "row.h"
#include "settings.h"
#include "system.h"
#include "trireme.h"

enum { BENCH_MOST_RUNNERS = 32, BENCH_MOST_REPEATS = 1000, BENCH_ROUNDS = 5 };

/* Seconds of solves that a plan divides. */
typedef struct bench_parts {
  double synchronisation, compute;
} bench_parts;

typedef struct bench_runner {
  char method[64]; /* name in tables and results */
  char asked[64];  /* name in the library */
  int threads;
  trs_store store;
  bool tune;
  bool terse;       /* no look at the plan: it costs the levels of the system, on the host */
  bool by_columns;  /* takes the system as CSC, not as CSR */
  bool steps;       /* its plan tells the times of its steps */
  bool together;    /* with other processes: numbers of calls do not depend on times */
  trs_context *ctx; /* NULL: a peer */
  bool out;         /* refused the system */
  bool failed;      /* or failed on it */
  trs_plan *plan;
  bench_mkl mkl;
  bench_cusparse cusparse;
  double seconds[BENCH_MOST_REPEATS];
  int64_t repeats, batch; /* batch: solves in a measurement */
  bench_parts parts;      /* of all of them, on a CPU */
  bench_row row;
} bench_runner;

typedef struct bench_runners {
  bench_runner *runner;
  int count;
  trs_context *gpu;          /* of all runners on a GPU or an OpenCL device; NULL: only peers */
  const bench_settings *set; /* its programs are timed after the runners; NULL: none */
  int threads;               /* the largest number of --threads; 0: on a GPU */
  int fresh;                 /* analyses per runner, of which the fastest counts; 0: three */
  int rounds;                /* 0: BENCH_ROUNDS */
  int64_t solves;            /* per runner, if they fit its seconds; 0: as many as fit */
} bench_runners;

/* Allocates runners.  These functions return -1, or the exit code. */
int bench_runners_reserve(bench_runners *all);
int bench_runners_open(bench_runners *all, const bench_settings *set);
void bench_runners_close(bench_runners *all);
/* The next runner, or NULL: the limit is reached. */
bench_runner *bench_runners_add(bench_runners *all, const char *name, int threads);
/* True if the method, with or without parameters, is in the library's list (or auto). */
bool bench_is_method(const char *name);
/* The methods of a list such as --methods, in sequence; false at its end. */
bool bench_next_method(const char **list, char *name, size_t size);
/* Fails if the list is empty, or if a method is too long for a row.  Returns -1, or the exit code.
 */
int bench_check_methods(const char *list);
int bench_leave_unknown(const char *name);
/* True if --backend names an OpenCL device. */
bool bench_on_opencl(const bench_settings *set);

/* Drift of the machine affects all runners of a round alike.  0 seconds: no timing is wanted. */
static inline int bench_rounds(const bench_runners *all, double seconds) {
  return seconds <= 0 ? 1 : all->rounds ? all->rounds : BENCH_ROUNDS;
}

/* Reads the least times of the steps of an analysis into the row; the least time of loading a
 * system of another format; and adds the parts of the last solve. */
void bench_read_steps(bench_row *row, trs_plan *plan);
void bench_read_loading(bench_row *row, trs_plan *plan);
void bench_add_parts(bench_parts *sum, trs_plan *plan);

/* Times every runner on the system and adds a row per runner.  Returns -1, or the exit code. */
int bench_measure(bench_rows *rows, bench_runners *all, const bench_system *system, double seconds);
int bench_measure_gpu(bench_rows *rows, bench_runners *all, bench_gpu *gpu, int64_t nrhs,
                      double seconds);

#endif
