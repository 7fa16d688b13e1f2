/* rearrange.h - converts, sorts or cuts arrays in device memory (rearrange.cu).  C and CUDA C++.
 *
 * The new arrays are allocated on the default stream; the caller frees them, also after a failure.
 * Kernels run on that stream too. */
#ifndef TRS_MATRIX_REARRANGE_H
#define TRS_MATRIX_REARRANGE_H

#include "matrix/look.h"

/* The new arrays: entry p is the sum of the entries source[source_ptr[p] .. source_ptr[p + 1]), or
 * source[p] if source_ptr is NULL. */
typedef struct trs_rearranged {
  int64_t nnz;
  int64_t *ptr;
  int32_t *idx;
  int64_t *source_ptr, *source;
} trs_rearranged;

#ifdef __cplusplus
extern "C" {
#endif

/* own[n + 1] and own[nnz] in base 0, from arrays of the given indexing (TRS_PTR32, ...).  An index
 * beyond 32 bits becomes -1. */
trs_status trs_launch_take_ptr(int64_t *own, int indexing, const void *ptr, int64_t n);
trs_status trs_launch_take_idx(int32_t *own, int indexing, const void *idx, int64_t nnz);

/* Sorts indices and merges repeats by a stable radix sort: O(nnz) work, 40 bytes of workspace per
 * entry. ptr and idx are in range. */
trs_status trs_device_order(trs_rearranged *made, trs_device *device,
                            const trs_device_arrays *arrays);

/* Copies the entries up to the diagonal (prefix), or those from the diagonal on.  idx ascends. */
trs_status trs_device_cut(trs_rearranged *made, trs_device *device, const trs_device_arrays *arrays,
                          int prefix);

/* val[p] of all new entries, from the values that they were made of. */
trs_status trs_launch_collect(void *val, trs_scalar scalar, int64_t nnz, const int64_t *source_ptr,
                              const int64_t *source, const void *from, trs_stream stream);

#ifdef __cplusplus
}
#endif
#endif
