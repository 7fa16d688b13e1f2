/* columns.h - columns of b and x, as kernels take them.  C and CUDA C++. */
#ifndef TRS_SOLVE_CUDA_COLUMNS_H
#define TRS_SOLVE_CUDA_COLUMNS_H

#include <stdint.h>

typedef struct trs_gpu_columns {
  void *x;
  const void *b;
  int64_t x_row, x_col, b_row, b_col; /* in elements */
  int64_t width;                      /* the number of columns */
} trs_gpu_columns;

#endif
