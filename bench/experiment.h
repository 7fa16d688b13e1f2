/* experiment.h - the experiments of trireme-bench: suites, and the measurements of papers. */
#ifndef TRIREME_BENCH_EXPERIMENT_H
#define TRIREME_BENCH_EXPERIMENT_H

#include <stdbool.h>

#include "row.h"
#include "settings.h"
#include "suite.h"

/* The places of an experiment, selected by --backend. */
typedef enum bench_place {
  BENCH_PLACE_ANY,     /* cpu, cuda or cuda:N; the suite's name determines the default */
  BENCH_PLACE_DEVICE,  /* cuda, cuda:N, opencl or opencl:N */
  BENCH_PLACE_DEVICES, /* cuda, cuda:N or a list such as cuda:0,1 */
  BENCH_PLACE_GPUS,    /* all GPUs, or a list such as cuda:0,1 */
  BENCH_PLACE_GROUP,   /* the same, or nvshmem: one process per GPU */
  BENCH_PLACE_LIST,    /* cpu, cuda, cuda:N or a list */
  BENCH_PLACE_OWN      /* the experiment parses it */
} bench_place;

typedef struct bench_experiment {
  /* The name that replaces a suite's on the command line, and that its rows have as suite, alone or
   * followed by a word; or "suites". */
  const char *name;
  const char *suite;        /* the default suite, which has the experiment's name if NULL */
  const char *title, *text; /* text of --help; NULL for suites */
  const char *options;      /* "|methods|seconds|": options that it accepts */
  bench_place place;
  double seconds;          /* default of --seconds; 0: 0.3 on the CPU, 0.05 on a GPU */
  bench_counts nrhs;       /* default of --nrhs */
  const char *first_chart; /* charts of several files: FILE-rates.svg; NULL: one chart */
  int (*run)(const bench_settings *set); /* returns the exit code */
  int (*list)(const char *suite);        /* prints its matrices; NULL: those it draws */
  /* Draws its suite.  Returns -1, or the exit code.  NULL: the suite is read. */
  int (*draw_suite)(bench_suite *suite, const bench_settings *set);
  void (*report)(const bench_rows *rows, bool markdown);
  int (*draw)(const bench_rows *rows, const char *path); /* NULL: no chart */
  /* What --compare adds where both files are of this experiment; NULL: nothing. */
  void (*compare)(const bench_rows *before, const bench_rows *after);
} bench_experiment;

/* The first is that of suites; the last has no name and ends the table. */
extern const bench_experiment bench_experiments[];

/* The experiment of the rows: their suite is its name, alone or followed by a word. */
const bench_experiment *bench_experiment_of(const bench_rows *rows);

/* Suites. */
int bench_suites(const bench_settings *set);
void bench_suites_report(const bench_rows *rows, bool markdown);
int bench_suites_draw(const bench_rows *rows, const char *path);

/* The systems that a seed draws. */
int bench_lot(const bench_settings *set);
void bench_lot_report(const bench_rows *rows, bool markdown);

/* The slowest plans beside other programs. */
int bench_tail(const bench_settings *set);
void bench_tail_report(const bench_rows *rows, bool markdown);

int bench_l17(const bench_settings *set);
void bench_l17_report(const bench_rows *rows, bool markdown);
int bench_l17_draw(const bench_rows *rows, const char *prefix);

int bench_x20(const bench_settings *set);
void bench_x20_report(const bench_rows *rows, bool markdown);
int bench_x20_draw(const bench_rows *rows, const char *prefix);
void bench_x20_compare(const bench_rows *before, const bench_rows *after);

int bench_w21(const bench_settings *set);
int bench_w21_list(const char *suite);
void bench_w21_report(const bench_rows *rows, bool markdown);

int bench_blocks(const bench_settings *set);
int bench_blocks_list(const char *suite);
void bench_blocks_report(const bench_rows *rows, bool markdown);

int bench_batches(const bench_settings *set);
int bench_batches_list(const char *suite);

int bench_factors(const bench_settings *set);
int bench_factors_list(const char *suite);

int bench_refactor(const bench_settings *set);
int bench_refactor_list(const char *suite);

int bench_gpus(const bench_settings *set);
void bench_gpus_report(const bench_rows *rows, bool markdown);
int bench_gpus_draw(const bench_rows *rows, const char *path);

int bench_l23(const bench_settings *set);
int bench_l23_list(const char *suite);

/* Files of results: comparison, and tables with a chart. */
int bench_compare(const char *before, const char *after, const char *svg);
int bench_table(const char *path, const char *svg);

#endif
