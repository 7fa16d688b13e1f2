/* device.h - matrices whose arrays lie in device memory.  device_none.c answers for builds without
 * CUDA, where none is ever made. */
#ifndef TRS_MATRIX_DEVICE_H
#define TRS_MATRIX_DEVICE_H

#include "matrix/matrix.h"

/* A matrix on borrowed device arrays, checked there: sorted, free of repeats, in range.  A NULL
 * device is a failure: the context has none. */
trs_status trs_matrix_make_device(trs_matrix **A, trs_device *device, trs_format format,
                                  trs_scalar scalar, int64_t nrows, int64_t ncols, int64_t nnz,
                                  const int64_t *ptr, const int32_t *idx, const void *val);

/* A copy in host memory of a matrix in device memory; without values its val is NULL. */
trs_status trs_matrix_download(trs_matrix **B, const trs_matrix *A, bool values);

/* Of the diagonal entries, the last of each vector (prefix) or the first, the first one that is
 * zero or not finite: its vector, or -1.  Waits for the stream. */
trs_status trs_device_bad_diagonal(int64_t *vector, bool *zero, trs_device *device, int64_t n,
                                   bool prefix, trs_scalar scalar, const int64_t *ptr,
                                   const void *val, trs_stream stream);

#endif
