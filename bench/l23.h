/* l23.h - the parts of trireme bench l23: solves on the ranks of this machine (l23_real.c), on
 * simulated ones and in the LogGP model (l23.c), rows of JSON (l23_rows.c), tables and a chart of
 * them (l23_report.c). */
#ifndef TRIREME_BENCH_L23_H
#define TRIREME_BENCH_L23_H

#include "bench.h"

typedef struct l23_spread { /* over the ranks */
  double min, mean, max;
} l23_spread;

/* As src/simulate/report.c names them.  The first of two is L's, or before U; the second U's. */
typedef enum l23_value {
  L23_SOLVE,
  L23_BYTES,
  L23_INTER,
  L23_INTER_MESSAGES = L23_INTER + 2,
  L23_INTER_BYTES = L23_INTER_MESSAGES + 2,
  L23_INTRA = L23_INTER_BYTES + 2,
  L23_INTRA_MESSAGES = L23_INTRA + 2,
  L23_INTRA_BYTES = L23_INTRA_MESSAGES + 2,
  L23_FLOP = L23_INTRA_BYTES + 2,
  L23_FLOPS = L23_FLOP + 2,
  L23_LEAF = L23_FLOPS + 2,
  L23_VALUES
} l23_value;

/* What a step of the exchange between grids is modelled to take in composed rows: L23's GPUs reach
 * other nodes at 12.5 GB/s. */
#define L23_STEP_S 5e-6
#define L23_NETWORK 12.5e9 /* bytes a second */

typedef struct l23_row {
  char kind[12];   /* real, smpi, loggp; with GPUs: gpu, a GPU for each rank; shared, several
                      ranks on one; composed, ranks timed one by one and the exchange modelled */
  char matrix[64]; /* without what says that separators are inverted */
  char method[24], trees[8];
  bool homes, inverted;
  int64_t n, supernodes, ranks, nrhs;
  int px, py, pz;
  double replicated, replicated_work, volume_bound;
  l23_spread value[L23_VALUES];
} l23_row;

typedef struct l23_rows {
  l23_row *row;
  int64_t count, room;
} l23_rows;

/* From a line of JSON; behind the matrix's name "+inverted" says that separators are.  They return
 * -1, or how to leave. */
int l23_rows_add(l23_rows *rows, const char *line);
int l23_rows_read(l23_rows *rows, const char *path);
void l23_rows_free(l23_rows *rows);
/* Is it a line of this benchmark? */
bool l23_is_line(const char *line);
/* A line with commit, day and load before what the row has. */
void l23_row_write(FILE *stream, const l23_row *row);
void l23_write_line(FILE *stream, const char *line);

void l23_report(const l23_rows *rows, bool markdown);
int l23_draw(const l23_rows *rows, const char *path);

/* Px x Py with Px <= Py, as square as can be. */
void l23_square(int64_t places, int *px, int *py);

/* On the ranks of an MPI program, or on one: all grids of so many ranks, or (gpu) 1 x 1 x ranks on
 * GPUs, Figure 9.  put is called on rank 0. */
int l23_real(const bench_settings *set, const char *factors, const char *name, bool gpu,
             void (*put)(void *user, const l23_row *row), void *user);

#endif
