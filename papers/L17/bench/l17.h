/* l17.h - what trireme bench l17 measures, for its run (l17.c), tables (l17_tables.c) and charts
 * (l17_charts.c). */
#ifndef TRIREME_L17_H
#define TRIREME_L17_H

#include "output.h"
#include "row.h"

typedef enum l17_part {
  L17_RATES,      /* SpTRSV by warps per block, scratchpad on and off */
  L17_STRATEGIES, /* SpTRSM by right-hand sides */
  L17_P,          /* the sweep over p */
  L17_Q,          /* the sweep over q */
  L17_HOST,       /* level sets with barriers on the CPU's threads, Algorithm 1, oneMKL */
  L17_PARTS
} l17_part;

enum {
  L17_SOLVES = 100, /* whose arithmetic mean L17 takes (5.1) */
  L17_MOST_POINTS = 16,
  L17_MOST_SYSTEMS = 512
};

#define L17_CUSPARSE "cusparse"
#define L17_ENGINE "auto"
#define L17_SYNCFREE "syncfree-csc:warps=16,scratchpad=yes" /* the paper's choice (5.2) */
#define L17_ADAPTIVE "syncfree-csc-rhs:strategy=adaptive"
#define L17_BARRIERS "levelset-cpu"
#define L17_MKL "mkl"

/* The suite in the rows of a part. */
extern const char *const l17_suite[L17_PARTS];
/* The k-th method of a part, NULL behind the last. */
const char *l17_method(l17_part part, int k);

/* The row of a part with the matrix of `like`, a method and a number of right-hand sides; of
 * several numbers of threads, the largest.  NULL: none. */
const bench_row *l17_find(const bench_rows *rows, const bench_row *like, l17_part part,
                          const char *method, int64_t nrhs);
/* The row of the paper's SpTRSV: with 16 warps per block, or as many as the device runs. */
const bench_row *l17_syncfree(const bench_rows *rows, const bench_row *like);
/* The first row of each matrix of a part; the numbers of right-hand sides of a part, as measured.
 */
int l17_systems(const bench_rows *rows, l17_part part, const bench_row **system);
int l17_points(const bench_rows *rows, l17_part part, const bench_row **point);

/* The paper's time: the mean of the solves.  Of rows from before means were taken, the median.
 * NAN: no right answer. */
double l17_seconds(const bench_row *row);
/* 2 nnz nrhs / time, in 1e9 per second.  The paper does not say how it counts operations. */
double l17_rate(const bench_row *row);
/* How many times as fast as a reference a method is over the systems of a part, in one precision
 * or in all (NULL): the least, the harmonic mean and the most. */
typedef struct l17_spread {
  double least, mean, most;
} l17_spread;
l17_spread l17_gain(const bench_rows *rows, l17_part part, const char *scalar,
                    const char *reference, const char *method, int64_t nrhs);
/* "warps=16,scratchpad=yes" is "16 yes", "strategy=rhs" is "rhs", "p=8" is "p 8", q too. */
short_text l17_short_name(const char *method);
/* Without the number of right-hand sides, or with that one. */
void l17_label(char *label, size_t size, const bench_row *row, int64_t nrhs);

#endif
