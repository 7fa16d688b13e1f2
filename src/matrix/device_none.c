/* device_none.c - device.h in a build without CUDA: creating a matrix in device memory fails, and
 * no other function is called. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#include "matrix/device.h"

static trs_status no_device(void) {
  trs_device *device;
  return trs_device_open(&device, 0);
}

trs_status trs_matrix_make_device(trs_matrix **A, trs_device *device, trs_format format,
                                  trs_scalar scalar, int64_t nrows, int64_t ncols, int64_t nnz,
                                  int indexing, const void *ptr, const void *idx, const void *val) {
  *A = NULL;
  return no_device();
}

trs_status trs_matrix_cut_on_device(trs_matrix **T, const trs_matrix *A, trs_uplo uplo) {
  *T = NULL;
  return no_device();
}

trs_status trs_matrix_collect_on(const trs_matrix *A, const void *from, trs_stream stream) {
  return no_device();
}

void trs_matrix_settle(const trs_matrix *A, trs_stream stream) {}

void trs_matrix_free_on_device(trs_matrix *A) {}

trs_status trs_matrix_download(trs_matrix **B, const trs_matrix *A, bool values,
                               trs_stream stream) {
  *B = NULL;
  return no_device();
}

trs_status trs_device_begin_diagonal(trs_diagonal_look *look, trs_device *device, int64_t n,
                                     bool prefix, trs_scalar scalar, const int64_t *ptr,
                                     const void *val, trs_stream stream) {
  *look = (trs_diagonal_look){0};
  return no_device();
}

trs_status trs_device_end_diagonal(trs_diagonal_look *look, int64_t *vector, trs_pivot *pivot) {
  *vector = -1;
  *pivot = TRS_PIVOT_GOOD;
  return no_device();
}
