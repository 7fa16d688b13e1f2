/* settings.h - the command line of trireme-bench. */
#ifndef TRIREME_BENCH_SETTINGS_H
#define TRIREME_BENCH_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "command.h"

/* A list such as 1,8,32. */
typedef struct bench_counts {
  int64_t value[16], most;
  int count;
} bench_counts;

/* A program that is timed beside the methods: --peer NAME=PROGRAM. */
typedef struct bench_program {
  char name[32];
  const char *path;
} bench_program;

enum { BENCH_MOST_PROGRAMS = 12 };

typedef struct bench_settings {
  const char *suite, *out, *methods, *threads, *compare, *table, *svg, *backend, *nrhs_list;
  const char *parts, *ranks, *grids, *work; /* l23 */
  bench_counts rank_counts;
  int64_t seed, systems; /* lot; -1: not given */
  int uplo;              /* lower, upper, both */
  option_texts peers;    /* auto, none, NAME=PROGRAM */
  int peer;              /* the libraries: auto, none */
  bench_program program[BENCH_MOST_PROGRAMS];
  int programs;
  double peer_seconds; /* of a program, for one system */
  int scalar;          /* double, float: GPU only */
  int layout;          /* column, row */
  int store;           /* same, mixed: GPU only */
  double seconds;
  bench_counts nrhs;
  int device; /* the GPU's number; -1: the run is on the CPU */
  bool json, list, tune, markdown;
} bench_settings;

/* Numbers from 1 to limit, separated by commas.  Returns -1, or the exit code. */
int bench_counts_parse(bench_counts *counts, const char *name, const char *list, int64_t limit);

#endif
