/* run.h - a run over a suite: its systems one by one, rows to where they are wanted, the end. */
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
  void *own; /* the experiment's */
  bench_suite suite;
  bench_rows rows;
  FILE *out; /* --out, or NULL */
  int64_t skipped, failed, wrong;
  int worst; /* how to leave because of an entry that failed */
} bench_run;

/* What is done with a system; returns -1, or how to leave. */
typedef int bench_step(bench_run *run, bench_system *system);

/* The suite, of that name unless the settings have another.  Returns -1, or how to leave. */
int bench_run_open(bench_run *run, const bench_settings *set, const char *suite, void *own);
/* Takes step for every entry's triangles: the lower one (uplo 0), the upper one (1) or both (2). An
 * entry that fails is said and counted; the run goes on. */
void bench_run_systems(bench_run *run, int uplo, bench_step *step);
/* For one entry.  Returns -1, or how to leave. */
int bench_run_entry(bench_run *run, const char *entry, int uplo, bench_step *step);
/* Adds a failure of the experiment's own to those of the entries. */
void bench_run_note(bench_run *run, int code);
/* The rows from first on, to the file and to standard output; suite: what they name, or NULL. */
void bench_run_publish(bench_run *run, const char *suite, int64_t first);
/* How to leave, code being -1 after everything went well; nothing is left open. */
int bench_run_close(bench_run *run, int code);

/* Draws the share done of the system in work, or of one of several parts of that work. */
void bench_tick(const char *name, double done);
void bench_tick_part(int part, int parts);
/* A line on standard error about an entry that is left out. */
void bench_notice(const char *entry, const char *text);

/* The file of --out, NULL without one.  They return -1, or how to leave. */
int bench_out_open(FILE **out, const bench_settings *set);
int bench_out_close(FILE *out, const bench_settings *set, int code);

#endif
