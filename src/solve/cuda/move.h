/* move.h - copies rows between a strided array and a workspace, permuted and scaled.  C and CUDA
 * C++. */
#ifndef TRS_SOLVE_CUDA_MOVE_H
#define TRS_SOLVE_CUDA_MOVE_H

#include "device/device.h"

typedef struct trs_row_map {
  int64_t n, width;    /* rows and right-hand sides of the workspace, row-major */
  int64_t row, col;    /* strides of the other array, in elements */
  const int32_t *perm; /* row i of the workspace is row perm[i] of the array; NULL: identity */
  const double *scale; /* n factors, by rows of the array; NULL: ones */
} trs_row_map;

#ifdef __cplusplus
extern "C" {
#endif

trs_status trs_launch_gather(void *work, const void *b, const trs_row_map *move, trs_scalar scalar,
                             trs_stream stream);
trs_status trs_launch_scatter(void *x, const void *work, const trs_row_map *move, trs_scalar scalar,
                              trs_stream stream);

#ifdef __cplusplus
}
#endif
#endif
