/* device.h - matrices whose arrays lie in device memory.  device_none.c replaces it in builds
 * without CUDA, where no such matrix exists. */
#ifndef TRS_MATRIX_DEVICE_H
#define TRS_MATRIX_DEVICE_H

#include "matrix/look.h"
#include "matrix/matrix.h"

/* A matrix on borrowed device arrays; ptr and idx may lie in host memory, from which they are
 * copied.  The arrays are checked on the device, and converted or sorted in a copy there if needed.
 * Fails if device is NULL: the context has no GPU. */
trs_status trs_matrix_make_device(trs_matrix **A, trs_device *device, trs_format format,
                                  trs_scalar scalar, int64_t nrows, int64_t ncols, int64_t nnz,
                                  int indexing, const void *ptr, const void *idx, const void *val);

/* trs_matrix_cut for a matrix in device memory. */
trs_status trs_matrix_cut_on_device(trs_matrix **T, const trs_matrix *A, trs_uplo uplo);

/* Collects A's values by A->source from another array, after the work of the stream. */
trs_status trs_matrix_collect_on(const trs_matrix *A, const void *from, trs_stream stream);

/* Before the last reference to A is released: waits for the stream's work, which may read arrays
 * that A owns. */
void trs_matrix_settle(const trs_matrix *A, trs_stream stream);

/* Frees the arrays that A owns in device memory.  Work that uses them must be complete or on the
 * default stream. */
void trs_matrix_free_on_device(trs_matrix *A);

/* A copy in host memory of a matrix in device memory, after the work of the stream.  Without
 * values, its val is NULL. */
trs_status trs_matrix_download(trs_matrix **B, const trs_matrix *A, bool values, trs_stream stream);

/* A check of the diagonal entries, the last of each vector (prefix) or the first.  begin launches
 * it; end waits for the stream and returns the first vector whose entry is not TRS_PIVOT_GOOD, if
 * any. Each begin needs an end. */
typedef struct trs_diagonal_look {
  trs_device *device; /* NULL: no check was begun */
  trs_stream stream;
  void *found; /* a stage of the device: the first bad vector of each share */
  int shares;  /* number of shares of the vectors */
} trs_diagonal_look;
trs_status trs_device_begin_diagonal(trs_diagonal_look *look, trs_device *device, int64_t n,
                                     bool prefix, trs_scalar scalar, const int64_t *ptr,
                                     const void *val, trs_stream stream);
trs_status trs_device_end_diagonal(trs_diagonal_look *look, int64_t *vector, trs_pivot *pivot);

#endif
