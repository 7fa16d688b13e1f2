/* cublas.h - cuSPARSE and cuBLAS on blocks, the peer of relaxation. */
#ifndef TRIREME_BENCH_CUBLAS_H
#define TRIREME_BENCH_CUBLAS_H

#include <stdbool.h>
#include <stdint.h>

/* Arrays in device memory but for off_ptr; block rows in the order of colours, column-major blocks
 * in float. */
typedef struct bench_bsr {
  int64_t rows;
  int block;
  const int64_t *off_ptr; /* host: rows + 1 */
  int *ptr, *idx, *info;  /* off the diagonal; info: rows */
  float *val, *x, *b, *diagonal;
  float **diagonals, **xs; /* rows: each block's */
} bench_bsr;

const char *bench_bsr_load(void); /* NULL, or what is missing */
bool bench_bsr_factor(const bench_bsr *m);
bool bench_bsr_relax(const bench_bsr *m, int64_t begin, int64_t end);

#endif
