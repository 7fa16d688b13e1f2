/* analysis.h - the slices of analysis/slices.h, built on the GPU from arrays that lie there.
 * Everything is what analysis/slice.c builds, element for element.  C and CUDA C++. */
#ifndef TRS_SOLVE_CUDA_ANALYSIS_H
#define TRS_SOLVE_CUDA_ANALYSIS_H

#include "analysis/slices.h"
#include "device/device.h"

/* A triangle by rows, columns ascending; device arrays. */
typedef struct trs_gpu_pattern {
  int64_t n, nnz;
  const int64_t *ptr; /* n + 1 */
  const int32_t *idx; /* nnz */
  const void *val;    /* nnz; read by trs_gpu_slices_fill only */
  trs_scalar scalar;
  int lower, unit, has_diagonal;
} trs_gpu_pattern;

/* What filling in values needs beyond the slices; device arrays, NULL where they would be trivial.
 */
typedef struct trs_slices_map {
  uint8_t *place; /* n: how far each position is from the first row of its block; blocks > 1 */
  int32_t *piece; /* nparts: how many parts of the same block stand before a part */
  int32_t *heavy; /* nheavy: the slices of heavy blocks that are not parts */
  int32_t nheavy;
} trs_slices_map;

/* A look at some rows, spread over the triangle: sums over them. */
typedef struct trs_row_sample {
  int64_t rows, entries; /* entries off the diagonal */
  int64_t chained;       /* rows that need the row just before them */
  int64_t run;           /* rows just before a row that it needs, without a gap; 32 at most */
} trs_row_sample;

struct trs_pattern_features; /* solve/cuda/choice.h */

#ifdef __cplusplus
extern "C" {
#endif

/* Launches and waits. */
trs_status trs_gpu_sample_rows(trs_row_sample *sample, trs_device *device,
                               const trs_gpu_pattern *pattern, trs_stream stream);
trs_status trs_gpu_features(struct trs_pattern_features *features, trs_device *device,
                            const trs_gpu_pattern *pattern, trs_stream stream);

/* The pattern part: everything but val and inverse, which stay NULL for the caller to allocate
 * (entries and inverses elements).  Arrays of slices are device memory from trs_device_alloc, but
 * slices->level is NULL: *level[nlevels + 1] is host memory, freed with trs_free.  On failure
 * nothing is left allocated.  Waits in between for numbers that sizes depend on; the last kernels
 * may still run when it returns.
 * O(nnz) work and a radix sort of the blocks; the chain of levels is walked once. */
trs_status trs_gpu_slices_create(trs_slices *slices, trs_slice_level **level, trs_slices_map *map,
                                 trs_device *device, const trs_gpu_pattern *pattern,
                                 const trs_slice_rules *rules, trs_stream stream);

/* slices->val and slices->inverse from pattern->val: in analysis, and again for every update.
 * store_float: val is float (or complex of floats) whatever the system is.  Launches only. */
trs_status trs_gpu_slices_fill(const trs_slices *slices, const trs_slices_map *map,
                               const trs_gpu_pattern *pattern, int store_float, trs_stream stream);

/* val and inverse too. */
void trs_gpu_slices_free(trs_slices *slices, trs_slices_map *map, trs_device *device,
                         trs_stream stream);

/* Device memory of slices and map, val and inverse included. */
int64_t trs_gpu_slices_bytes(const trs_slices *slices, const trs_slices_map *map, trs_scalar scalar,
                             int store_float);

#ifdef __cplusplus
}
#endif
#endif
