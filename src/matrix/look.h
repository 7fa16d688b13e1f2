/* look.h - results of the kernels in device.cu about a matrix in device memory.  C and CUDA C++. */
#ifndef TRS_MATRIX_LOOK_H
#define TRS_MATRIX_LOOK_H

#include "device/device.h"
#include "matrix/sides.h"

typedef struct trs_look {
  int64_t first, last; /* ptr[0] and ptr[n] */
  int64_t falls;       /* vectors whose end precedes their begin */
  int64_t outside;     /* indices outside 0 .. other - 1 */
  int64_t descents;    /* indices not larger than the one before, across vector boundaries too */
  trs_sides sides;     /* gathered only if ptr runs from 0 to nnz without a fall */
} trs_look;

/* A diagonal entry as a divisor. */
typedef enum trs_pivot {
  TRS_PIVOT_ZERO,
  TRS_PIVOT_NOT_FINITE,
  TRS_PIVOT_EXTREME, /* its reciprocal is not finite or overflows in the computation */
  TRS_PIVOT_GOOD
} trs_pivot;

typedef struct trs_device_arrays {
  int64_t n, other, nnz; /* vectors, the range of indices, entries */
  const int64_t *ptr;
  const int32_t *idx;
} trs_device_arrays;

#ifdef __cplusplus
extern "C" {
#endif

/* Launches three kernels that add to *found, device memory that holds an empty look. */
trs_status trs_launch_look(trs_look *found, const trs_device_arrays *arrays, trs_stream stream);

/* For each of *count shares of the vectors: the smallest TRS_PIVOT_GOOD * i + trs_pivot over
 * vectors i with a bad diagonal entry, or INT64_MAX.  worst is a stage of the device.  A value has
 * one or two parts, floats or doubles. */
trs_status trs_launch_diagonal(int64_t *worst, int *count, int64_t n, int prefix, int wide,
                               int parts, const int64_t *ptr, const void *val, trs_stream stream);

#ifdef __cplusplus
}
#endif
#endif
