/* halo.h - a domain on a GPU among the ranks of a cluster: messages with x pass through pinned host
 * memory.  C and CUDA C++. */
#ifndef TRS_RELAX_CUDA_HALO_H
#define TRS_RELAX_CUDA_HALO_H

#include "relax/cuda/args.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Copies rows of x, either listed or consecutive, to or from a packed array. */
typedef struct trs_relax_rows_moved {
  void *x, *packed;
  const int32_t *list; /* positions; NULL: first .. first + count */
  int64_t first, count, stride;
  int block, pitch, nrhs, size; /* size: bytes of an element */
  int out;                      /* direction: to the packed array */
} trs_relax_rows_moved;

trs_status trs_relax_move_rows(const trs_relax_rows_moved *m, trs_stream stream);

#ifdef __cplusplus
}
#endif
#endif
