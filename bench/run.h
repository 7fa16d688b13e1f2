/* run.h - a run over a suite: its systems in sequence, the output of rows, the end. */
#ifndef TRIREME_BENCH_RUN_H
#define TRIREME_BENCH_RUN_H

#include <stdint.h>
#include <stdio.h>

#include "row.h"
#include "settings.h"
#include "suite.h"
#include "system.h"

typedef struct bench_run {
  const bench_settings *set;
  void *own; /* the experiment's suite */
  bench_suite suite;
  bench_rows rows;
  FILE *out; /* --out, or NULL */
  int64_t skipped, failed, wrong;
  int worst; /* exit code of an entry that failed */
} bench_run;

/* The work on one system; returns -1, or the exit code. */
typedef int bench_step(bench_run *run, bench_system *system);

/* Opens the suite of that name, unless the settings name another.  Returns -1, or the exit code. */
int bench_run_open(bench_run *run, const bench_settings *set, const char *suite, void *own);
/* Calls step for every entry's triangles: the lower one (uplo 0), the upper one (1) or those of the
 * suite, both as a rule (2).  A failed entry is reported and counted; the run continues. */
void bench_run_systems(bench_run *run, int uplo, bench_step *step);
/* The same for one entry.  Returns -1, or the exit code. */
int bench_run_entry(bench_run *run, const char *entry, int uplo, bench_step *step);
/* Counts a failure of the experiment itself with those of the entries. */
void bench_run_note(bench_run *run, int code);
/* Writes the rows from first on to the file and to standard output; suite: their suite, or NULL. */
void bench_run_publish(bench_run *run, const char *suite, int64_t first);
/* Closes everything and returns the exit code; code is -1 after a success. */
int bench_run_close(bench_run *run, int code);

/* Shows the finished fraction of the current system, or of one of several parts of it. */
void bench_tick(const char *name, double done);
void bench_tick_part(int part, int parts);
/* Prints a line on standard error about an entry that is left out. */
void bench_notice(const char *entry, const char *text);

/* The file of --out, NULL without one.  These functions return -1, or the exit code. */
int bench_out_open(FILE **out, const bench_settings *set);
int bench_out_close(FILE *out, const bench_settings *set, int code);

#endif
