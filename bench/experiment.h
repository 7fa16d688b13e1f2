/* experiment.h - what trireme-bench can run: suites, and the measurements of papers. */
#ifndef TRIREME_BENCH_EXPERIMENT_H
#define TRIREME_BENCH_EXPERIMENT_H

#include <stdbool.h>

#include "row.h"
#include "settings.h"

/* Where an experiment runs, as far as --backend says. */
typedef enum bench_place {
  BENCH_PLACE_ANY,  /* cpu, cuda or cuda:N, as the suite's name says by default */
  BENCH_PLACE_GPU,  /* cuda or cuda:N */
  BENCH_PLACE_GPUS, /* all GPUs, or a list such as cuda:0,1 */
  BENCH_PLACE_LIST, /* cpu, cuda, cuda:N or a list */
  BENCH_PLACE_OWN   /* the experiment's own */
} bench_place;

typedef struct bench_experiment {
  /* What stands in the place of a suite, and what its rows have as suite, alone or with a word
   * behind it; or "suites". */
  const char *name;
  const char *title, *text; /* of --help; NULL for suites */
  const char *options;      /* "|methods|seconds|": those that it takes */
  bench_place place;
  double seconds;          /* of --seconds by default; 0: 0.3 on the CPU, 0.05 on a GPU */
  bench_counts nrhs;       /* of --nrhs by default */
  const char *first_chart; /* of several: FILE-rates.svg; NULL: one chart */
  int (*run)(const bench_settings *set); /* returns how to leave */
  int (*list)(const char *suite);        /* its matrices */
  void (*report)(const bench_rows *rows, bool markdown);
  int (*draw)(const bench_rows *rows, const char *path); /* NULL: there is no chart */
} bench_experiment;

/* The first is that of suites; the last has no name. */
extern const bench_experiment bench_experiments[];

/* Suites. */
int bench_suites(const bench_settings *set);
void bench_suites_report(const bench_rows *rows, bool markdown);
int bench_suites_draw(const bench_rows *rows, const char *path);

int bench_l17(const bench_settings *set);
void bench_l17_report(const bench_rows *rows, bool markdown);
int bench_l17_draw(const bench_rows *rows, const char *prefix);

int bench_x20(const bench_settings *set);
void bench_x20_report(const bench_rows *rows, bool markdown);
int bench_x20_draw(const bench_rows *rows, const char *prefix);

int bench_w21(const bench_settings *set);
int bench_w21_list(const char *suite);
void bench_w21_report(const bench_rows *rows, bool markdown);

int bench_gpus(const bench_settings *set);
void bench_gpus_report(const bench_rows *rows, bool markdown);
int bench_gpus_draw(const bench_rows *rows, const char *path);

int bench_l23(const bench_settings *set);
int bench_l23_list(const char *suite);

/* Files of results: compared, and as tables with a chart. */
int bench_compare(const char *before, const char *after, const char *svg);
int bench_table(const char *path, const char *svg);

#endif
