/* rearrange.h - arrays in device memory converted, put in order or cut there (rearrange.cu).  C and
 * CUDA C++.
 *
 * What is made is allocated on the default stream and the caller's to free, also after a failure;
 * launches are on that stream too. */
#ifndef TRS_MATRIX_REARRANGE_H
#define TRS_MATRIX_REARRANGE_H

#include "matrix/look.h"

/* Arrays made from those: entry p is the sum of the entries source[source_ptr[p] ..
 * source_ptr[p + 1]), or source[p] where source_ptr is NULL. */
typedef struct trs_rearranged {
  int64_t nnz;
  int64_t *ptr;
  int32_t *idx;
  int64_t *source_ptr, *source;
} trs_rearranged;

#ifdef __cplusplus
extern "C" {
#endif

/* own[n + 1] and own[nnz] from arrays of the given indexing (TRS_PTR32, ...), counted from 0; an
 * index that 32 bits cannot hold becomes -1. */
trs_status trs_launch_take_ptr(int64_t *own, int indexing, const void *ptr, int64_t n);
trs_status trs_launch_take_idx(int32_t *own, int indexing, const void *idx, int64_t nnz);

/* Ascending indices, repeats merged, by a stable radix sort: O(nnz) work, 40 bytes of workspace an
 * entry.  ptr and idx are in range. */
trs_status trs_device_order(trs_rearranged *made, trs_device *device,
                            const trs_device_arrays *arrays);

/* The entries before and on the diagonal (prefix), or those on and behind it.  idx ascends. */
trs_status trs_device_cut(trs_rearranged *made, trs_device *device, const trs_device_arrays *arrays,
                          int prefix);

/* val[p] for all entries that were made, from the values they were made of. */
trs_status trs_launch_collect(void *val, trs_scalar scalar, int64_t nnz, const int64_t *source_ptr,
                              const int64_t *source, const void *from, trs_stream stream);

#ifdef __cplusplus
}
#endif
#endif
