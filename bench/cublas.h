/* cublas.h - cuSPARSE and cuBLAS on blocks, the peer of relaxation. */
#ifndef TRIREME_BENCH_CUBLAS_H
#define TRIREME_BENCH_CUBLAS_H

#include <stdbool.h>
#include <stdint.h>

/* All arrays except off_ptr are in device memory; block rows in the order of colours, column-major
 * blocks in float. */
typedef struct bench_bsr {
  int64_t rows;
  int block;
  const int64_t *off_ptr; /* host: rows + 1 */
  int *ptr, *idx, *info;  /* off-diagonal blocks; info: rows */
  float *val, *x, *b, *diagonal;
  float **diagonals, **xs; /* rows: pointers to the blocks */
} bench_bsr;

const char *bench_bsr_load(void); /* NULL, or the missing part */
bool bench_bsr_factor(const bench_bsr *m);
bool bench_bsr_relax(const bench_bsr *m, int64_t begin, int64_t end);

#endif
