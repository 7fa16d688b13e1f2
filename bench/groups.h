/* groups.h - the rows of one system side by side, and means over systems. */
#ifndef TRIREME_BENCH_GROUPS_H
#define TRIREME_BENCH_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "cusparse.h"
#include "row.h"

typedef enum bench_column {
  BENCH_SERIAL,
  BENCH_THREADS, /* with the largest number of threads in the rows */
  BENCH_AUTO,
  BENCH_MKL_ONE,
  BENCH_MKL_ALL,
  BENCH_SCIPY,
  BENCH_OTHER, /* the fastest of the rows that other programs made: bench/README.md */
  BENCH_CPU_COLUMNS,
  BENCH_ENGINE = BENCH_CPU_COLUMNS, /* auto on a GPU */
  BENCH_ENGINE_F32,
  BENCH_CUSPARSE,
  BENCH_COLUMNS
} bench_column;

/* The rows of one system; NULL: not measured.  cuSPARSE's column is the algorithm that solves
 * fastest. */
typedef struct bench_group {
  const bench_row *first, *column[BENCH_COLUMNS], *algorithm[BENCH_CUSPARSE_MOST];
} bench_group;

typedef struct bench_groups {
  bench_group *group;
  int64_t count, threads;
} bench_groups;

/* Stores the row of a system in its column if it has one; threads: the largest number in all rows.
 */
void bench_group_put(bench_group *group, const bench_row *row, int64_t threads);
/* The groups of the rows of a GPU, or of the other rows. */
int bench_groups_make(bench_groups *groups, const bench_rows *rows, bool gpu);
void bench_column_name(char *name, size_t size, bench_column column, int64_t threads);
/* The speed of the first column relative to the second; NAN if either is missing or wrong. */
double bench_gain(const bench_group *group, bench_column fast, bench_column slow);
/* The fastest of the columns from first to last, or the first. */
bench_column bench_best(const bench_group *group, bench_column first, bench_column last);
/* The first row of each kind in a suite with the given number of right-hand sides (0: any); same
 * tells whether two rows are of one kind.  Returns their number, at most most. */
int bench_distinct(const bench_rows *rows, const char *suite, int64_t nrhs,
                   bool (*same)(const bench_row *a, const bench_row *b), const bench_row **first,
                   int most);
bool bench_same_column(const bench_row *a, const bench_row *b); /* method, GPUs, placement and
                                                                   backend */
bool bench_same_nrhs(const bench_row *a, const bench_row *b);
/* The row of a suite with the system of one row and the column of another; NULL: none. */
const bench_row *bench_at(const bench_rows *rows, const char *suite, const bench_row *system,
                          const bench_row *column);
/* Its median; NAN: the row is missing or wrong. */
double bench_median(const bench_row *row);
/* The row of a group's system by a method, or NULL. */
const bench_row *bench_find(const bench_rows *rows, const bench_row *system, const char *method);
/* The number of solves after which the first method is faster in total than the second, analyses
 * included; INFINITY: never. */
double bench_break_even(const bench_row *fast, const bench_row *slow);
/* The same of the engine against each algorithm of cuSPARSE: the largest of these numbers; NAN: no
 * right answers. */
double bench_ahead_of_cusparse(const bench_group *group);
/* cuSPARSE's algorithm with the fastest analysis, and with the fastest update, among those with
 * right answers; NULL: none. */
const bench_row *bench_fastest_analysis(const bench_group *group);
const bench_row *bench_fastest_update(const bench_group *group);
/* The engine's median over the reference time. */
double bench_over_reference(const bench_group *group);

typedef struct bench_mean {
  double log_sum, least, most;
  int64_t count, least_at, most_at;
} bench_mean;

void bench_mean_add(bench_mean *mean, double value, int64_t at);
/* NAN: no values. */
double bench_mean_value(const bench_mean *mean);

/* The geometric means of a run on the CPU, and of one on a GPU. */
void bench_means_print(const bench_groups *groups, bool markdown);
void bench_gpu_means(const bench_groups *groups, bool markdown);

#endif
