/* w21.h - shared by the parts of bench w21: W21's case, 15 sweeps, on the CPU (w21.c), on one GPU
 * (w21_gpu.c) and on several (w21_gpus.c), with rows and tables in w21_rows.c. */
#ifndef TRIREME_BENCH_W21_H
#define TRIREME_BENCH_W21_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "row.h"
#include "settings.h"
#include "trireme.h"

enum { W21_SWEEPS = 15, W21_BLOCK = 5 };

typedef struct w21_run {
  const bench_settings *set;
  const char *name; /* of the matrix */
  FILE *out;
  trs_matrix *A;
  int64_t n;         /* of A */
  const char *title; /* of the table being printed */
  bool headed, wrong;
} w21_run;

/* Reads A.  Returns -1, or the exit code. */
int w21_read(w21_run *run);
/* A row with the relaxation's description of itself. */
bench_row w21_row(const w21_run *run, trs_store store, const trs_relax_info *info);
/* Prints the row, and writes it to --out. */
void w21_show(w21_run *run, bench_row *row);
/* Seconds of a sweep on GPUs, the fastest of several runs; x and b are in device memory. */
trs_status w21_time(trs_plan *R, void *x, const void *b, int64_t n, double *sweep);

/* Each runs one part.  They return -1, or the exit code. */
int w21_on_gpu(w21_run *run);
int w21_on_gpus(w21_run *run);

#endif
