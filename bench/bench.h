/* bench.h - the parts of trireme bench: suites name matrices, systems are their triangles, runners
 * are the methods timed on them, rows are what was measured; tables, means, comparisons and charts
 * are made of rows alone. */
#ifndef TRIREME_BENCH_H
#define TRIREME_BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "trireme.h"

typedef struct bench_settings {
  const char *suite, *out, *methods, *threads, *compare, *table, *svg;
  int uplo; /* lower, upper, both */
  int peer; /* auto, none */
  double seconds;
  int64_t nrhs;
  bool json, list;
} bench_settings;

/* What the subcommand does; each returns how to leave. */
int bench_run(const bench_settings *set);
int bench_list(const char *suite);
int bench_compare(const char *before, const char *after, const char *svg);
int bench_table(const char *path, const char *svg);

/* ---- Suites: suite.c. ---- */

typedef struct bench_suite {
  char name[64];
  char **entry;
  int64_t count;
} bench_suite;

/* The name of a suite, the path of one, or one entry.  Returns -1, or how to leave. */
int bench_suite_read(bench_suite *suite, const char *name);
void bench_suite_free(bench_suite *suite);

/* ---- Systems: system.c. ---- */

typedef struct bench_source {
  trs_matrix *A;
  trs_factors *F;
} bench_source;

typedef struct bench_system {
  const char *name; /* the entry */
  trs_uplo uplo;
  trs_diag diag;
  trs_matrix *cut;      /* what was made for this system, or NULL */
  const trs_matrix *T;  /* by rows, double */
  trs_matrix_info info; /* of T */
  int64_t nrhs;
} bench_system;

/* Makes or reads what an entry names.  A file that is not there, or a feature that this build does
 * not have, gives *skipped, its reason, and success. */
trs_status bench_source_open(bench_source *source, const char *entry, char *skipped, size_t size);
void bench_source_close(bench_source *source);
trs_status bench_system_take(bench_system *system, const bench_source *source, trs_uplo uplo);
void bench_system_free(bench_system *system);

/* ---- Rows: rows.c. ---- */

typedef struct bench_row {
  char matrix[192], method[24], chosen[24], scalar[16], reason[320];
  bool upper, wrong;
  int64_t n, nnz, levels, threads, nrhs, repeats, bytes;
  double parallelism, dependency;
  double create, analysis, update, fastest, median; /* seconds; NAN: does not apply */
  double bound, gbs, componentwise, normwise;
  double matrix_bytes, plan_bytes, vector_bytes, analysis_peak, process_peak;
} bench_row;

typedef struct bench_rows {
  bench_row *row;
  int64_t count, room;
} bench_rows;

int bench_rows_add(bench_rows *rows, const bench_row *row);
void bench_rows_free(bench_rows *rows);

/* The matrix's name as tables show it, and the triangle. */
void bench_label(char *label, size_t size, const bench_row *row);

/* One row as a line of JSON, and a file of such lines. */
bool bench_json_available(void);
int bench_rows_read(bench_rows *rows, const char *path);
void bench_row_write(FILE *stream, const char *suite, const bench_row *row);

/* ---- The machine: machine.c. ---- */

typedef struct bench_machine {
  char cpu[96], os[128], compiler[64], commit[64], date[32];
  int cores;
  double load; /* programs that ran in the last minute, on average */
  bool dirty;
} bench_machine;

/* As things stood at the first call. */
const bench_machine *bench_machine_look(void);
/* The most memory this process held since the last reset (where the system can reset), bytes. */
void bench_peak_reset(void);
double bench_peak_bytes(void);

/* ---- oneMKL, found at run time: mkl.c. ---- */

typedef struct bench_mkl {
  void *handle;
  int *ptr;
  const bench_system *system;
} bench_mkl;

/* Why it is not there, or NULL. */
const char *bench_mkl_load(void);
const char *bench_mkl_version(void);
void bench_mkl_threads(int threads);
/* Pointers as MKL wants them; create and analyse are timed apart.  False: MKL refused. */
bool bench_mkl_prepare(bench_mkl *mkl, const bench_system *system);
bool bench_mkl_create(bench_mkl *mkl);
bool bench_mkl_analyze(bench_mkl *mkl);
bool bench_mkl_solve(const bench_mkl *mkl, double *x, const double *b);
void bench_mkl_destroy(bench_mkl *mkl);
void bench_mkl_free(bench_mkl *mkl);

/* ---- Runners and timing: runners.c, measure.c. ---- */

enum { BENCH_MOST_RUNNERS = 32, BENCH_MOST_REPEATS = 1000 };

typedef struct bench_runner {
  char method[24];
  int threads;
  trs_context *ctx; /* NULL: MKL */
  bool out;         /* refused the system */
  trs_plan *plan;
  bench_mkl mkl;
  double seconds[BENCH_MOST_REPEATS];
  int64_t repeats;
  bench_row row;
} bench_runner;

typedef struct bench_runners {
  bench_runner *runner;
  int count;
} bench_runners;

int bench_runners_open(bench_runners *all, const bench_settings *set);
void bench_runners_close(bench_runners *all);

/* Times every runner on the system and adds a row for each.  tick is called between steps with the
 * share done.  Returns -1, or how to leave. */
int bench_measure(bench_rows *rows, bench_runners *all, const bench_system *system, double seconds,
                  void (*tick)(const char *name, double done));

/* ---- What rows say: groups.c, means.c, table.c, ratio_chart.c. ---- */

typedef enum bench_column {
  BENCH_SERIAL,
  BENCH_THREADS, /* on the most threads there are rows for */
  BENCH_AUTO,
  BENCH_MKL_ONE,
  BENCH_MKL_ALL,
  BENCH_SCIPY,
  BENCH_COLUMNS
} bench_column;

/* The rows of one system; NULL: not measured. */
typedef struct bench_group {
  const bench_row *first, *column[BENCH_COLUMNS];
} bench_group;

typedef struct bench_groups {
  bench_group *group;
  int64_t count, threads;
} bench_groups;

int bench_groups_make(bench_groups *groups, const bench_rows *rows);
void bench_column_name(char *name, size_t size, bench_column column, int64_t threads);
/* How many times as fast the first column is as the second; NAN where either is missing or wrong.
 */
double bench_gain(const bench_group *group, bench_column fast, bench_column slow);
/* The fastest of the columns from first to last, or the first. */
bench_column bench_best(const bench_group *group, bench_column first, bench_column last);

typedef struct bench_mean {
  double log_sum, least, most;
  int64_t count, least_at, most_at;
} bench_mean;

void bench_mean_add(bench_mean *mean, double value, int64_t at);
double bench_mean_value(const bench_mean *mean);

void bench_means_print(const bench_groups *groups, bool markdown);
void bench_live_head(const bench_runners *all);
void bench_live_line(const bench_rows *rows, int64_t first);

typedef struct bench_chart {
  const char *title, *axis;
  char subtitle[256];
  int series;
  char name[8][48];
  int64_t rows;
  char (*label)[64];
  double *value; /* rows x series, NAN: none */
} bench_chart;

int bench_chart_open(bench_chart *chart, int64_t rows);
int bench_chart_write(const bench_chart *chart, const char *path);
void bench_chart_close(bench_chart *chart);

#endif
