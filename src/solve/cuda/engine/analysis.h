/* analysis.h - the slices of analysis/slices.h, built on the GPU from arrays that lie there.
 * Everything is what analysis/slice.c builds, element for element.  C and CUDA C++. */
#ifndef TRS_SOLVE_CUDA_ENGINE_ANALYSIS_H
#define TRS_SOLVE_CUDA_ENGINE_ANALYSIS_H

#include "analysis/slices.h"
#include "device/device.h"

/* A triangle by rows, columns ascending; device arrays. */
typedef struct trs_gpu_pattern {
  int64_t n, nnz;
  const int64_t *ptr; /* n + 1 */
  const int32_t *idx; /* nnz */
  const void *val;    /* nnz; read where values are filled in only */
  trs_scalar scalar;
  int lower, unit, has_diagonal;
} trs_gpu_pattern;

/* What goes with the slices; device arrays, NULL where they would be trivial. */
typedef struct trs_slices_map {
  void *memory;         /* all of the arrays, and those of the slices, are parts of it */
  int32_t *level_slice; /* nlevels + 1: first slice of each level */
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

struct trs_pattern_features; /* solve/cuda/engine/choice.h */

/* A look at rows under way. */
typedef struct trs_feature_sample {
  trs_device *device;
  trs_gpu_pattern pattern;
  trs_stream stream;
  void *sums; /* a stage of the device, or NULL */
} trs_feature_sample;

/* Device memory that is to have all bits set, and none; both begin where a word of 8 bytes does. */
typedef struct trs_gpu_blank {
  void *ones;
  int64_t ones_bytes;
  void *zeros;
  int64_t zeros_bytes;
} trs_gpu_blank;

/* One way to cut a triangle.  In three steps, so that ways can be compared before the best is
 * built: begin launches what finds blocks, levels and slices, finish waits for their numbers, build
 * makes the arrays. */
typedef struct trs_gpu_cut trs_gpu_cut;

#ifdef __cplusplus
extern "C" {
#endif

/* begin launches, end waits for the stream and gives up what begin has made; end is called where
 * begin has succeeded. */
trs_status trs_gpu_begin_features(trs_feature_sample *sample, trs_device *device,
                                  const trs_gpu_pattern *pattern, trs_stream stream);
trs_status trs_gpu_end_features(struct trs_pattern_features *features, trs_feature_sample *sample);
/* The launch of one, and its sums. */
trs_status trs_gpu_sample_rows(const trs_feature_sample *sample);
void trs_gpu_sum_rows(trs_row_sample *sums, const trs_feature_sample *sample);

/* A cut that needs more levels than its rival (or NULL) is given up, if the system is large on the
 * way.  The rival was begun before on the same stream and is finished before and freed after this
 * one is finished; of small systems this one may run beside it, so that what the pattern's arrays
 * hold has to be complete, not only ordered before the stream.
 * Of large systems waits for the number of levels.
 * O(nnz) work and a radix sort of the blocks; the chain of levels is walked once. */
trs_status trs_gpu_cut_begin(trs_gpu_cut **cut, trs_device *device, const trs_gpu_pattern *pattern,
                             const trs_slice_rules *rules, const trs_gpu_cut *rival,
                             trs_stream stream);
/* Fills in the numbers in slices, whose arrays are NULL; *level[nlevels + 1] is host memory, freed
 * with trs_free, or NULL where the cut was given up. */
trs_status trs_gpu_cut_finish(trs_gpu_cut *cut, trs_slices *slices, trs_slice_level **level);
/* Makes the arrays of slices and map, and clears on the way what blank names (or NULL);
 * slices->level stays NULL.  val is float (or complex of
 * floats) with store_float, whatever the system is.  On failure nothing is left allocated.
 * Allocates and launches; the kernels may still run when it returns. */
trs_status trs_gpu_cut_build(trs_gpu_cut *cut, trs_slices *slices, trs_slices_map *map,
                             int store_float, const trs_gpu_blank *blank);
trs_status trs_gpu_clear(const trs_gpu_blank *blank, trs_stream stream); /* launches only */
void trs_gpu_cut_free(trs_gpu_cut *cut);                                 /* NULL is fine */

/* slices->val and slices->inverse from pattern->val, for every update.  Launches only. */
trs_status trs_gpu_slices_fill(const trs_slices *slices, const trs_slices_map *map,
                               const trs_gpu_pattern *pattern, int store_float, trs_stream stream);

void trs_gpu_slices_free(trs_slices *slices, trs_slices_map *map, trs_device *device,
                         trs_stream stream);

/* Device memory of slices and map. */
int64_t trs_gpu_slices_bytes(const trs_slices *slices, const trs_slices_map *map, trs_scalar scalar,
                             int store_float);

#ifdef __cplusplus
}
#endif
#endif
