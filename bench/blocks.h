/* blocks.h - shared by the parts of bench blocks: block ILU(0), solved by blocks and by scalars, on
 * the CPU (blocks.c) and on a GPU (blocks_gpu.c), with rows and tables in blocks_rows.c. */
#ifndef TRIREME_BENCH_BLOCKS_H
#define TRIREME_BENCH_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "row.h"
#include "settings.h"
#include "trireme.h"

enum { BLOCKS_SIZE = 5, BLOCKS_REPEATS = 40 };

/* The matrix by blocks on the host, row-major blocks. */
typedef struct blocks_matrix {
  int64_t n, *ptr;
  int32_t *idx;
  double *val; /* NULL: the matrix is not of whole blocks, or memory ran out */
} blocks_matrix;

typedef struct blocks_run {
  const bench_settings *set;
  const char *name, *matrix; /* matrix: the name without the order */
  trs_order order;
  FILE *out;
  trs_factors *F;
  trs_factors_info info;
  blocks_matrix A;
  double *b, *x, *expected; /* expected: by scalars; valid once has_expected */
  bool has_expected;
  double copy_gbs, scalar_s; /* scalar_s: the fastest solve by scalars, NAN before the first */
  bool headed, wrong;
} blocks_run;

/* The stores of a plan by blocks. */
enum { BLOCKS_STORES = 4 };
extern const trs_store blocks_stores[BLOCKS_STORES];

/* A row; store: of a plan by blocks, or TRS_STORE_DEFAULT. */
bench_row blocks_row(const blocks_run *run, const char *method, trs_store store, bool by_scalars);
/* Compares x with the solution by scalars, or keeps the first one; prints the row, and writes it to
 * --out. */
void blocks_show(blocks_run *run, bench_row *row, bool by_scalars);

/* Both parts solve with run's factors.  They return -1, or the exit code. */
int blocks_on_gpu(blocks_run *run);

#endif
