/* transpose.h - the other storage order of a compressed matrix in device memory.  C and CUDA C++.
 */
#ifndef TRS_SOLVE_CUDA_TRANSPOSE_H
#define TRS_SOLVE_CUDA_TRANSPOSE_H

#include "device/device.h"

typedef struct trs_transposed {
  int64_t *ptr;   /* n + 1 */
  int32_t *idx;   /* nnz, ascending within a vector */
  void *val;      /* nnz; NULL if no values were given */
  int64_t *entry; /* nnz: the given entry of each */
} trs_transposed;

#ifdef __cplusplus
extern "C" {
#endif

/* From rows to columns, or back, of a square n x n matrix.  The arrays come from trs_device_alloc;
 * the caller frees them.  entry: NULL is stored in place of that array unless `keep_entry`.  On
 * failure nothing is left allocated.  O(nnz) by a stable radix sort. */
trs_status trs_gpu_transpose(trs_transposed *result, trs_device *device, int64_t n, int64_t nnz,
                             trs_scalar scalar, const int64_t *ptr, const int32_t *idx,
                             const void *val, bool keep_entry, trs_stream stream);

/* New values for the arrays that `entry` came with.  Launches only. */
trs_status trs_gpu_transpose_values(void *to, const void *val, const int64_t *entry, int64_t nnz,
                                    trs_scalar scalar, trs_stream stream);

/* Conjugates val[count]; complex scalars only. */
trs_status trs_gpu_conjugate(void *val, int64_t count, trs_scalar scalar, trs_stream stream);

#ifdef __cplusplus
}
#endif
#endif
