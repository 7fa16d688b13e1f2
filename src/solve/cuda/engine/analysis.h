/* analysis.h - the slices of analysis/slices.h, built on the GPU from device arrays.  The result
 * equals that of analysis/slice.c, element for element.  C and CUDA C++. */
#ifndef TRS_SOLVE_CUDA_ENGINE_ANALYSIS_H
#define TRS_SOLVE_CUDA_ENGINE_ANALYSIS_H

#include "analysis/slices.h"
#include "analysis/triangle.h"

/* What a fill finds in the values; in pinned host memory. */
typedef struct trs_gpu_found {
  int32_t refused;   /* becomes 1 if an inverse loses too many digits (analysis/growth.h) */
  int32_t bad_pivot; /* becomes 1 if a diagonal entry is not TRS_PIVOT_GOOD */
} trs_gpu_found;

/* The verdict on inverses, as trs_outline_fill gives it. */
typedef struct trs_gpu_verdict {
  trs_gpu_found *found;
  uint8_t *block_starts; /* device, or NULL: cuts the blocks of refused inverses */
  int32_t *count;        /* device, with block_starts: their number is added */
  bool poisons;          /* the rows of refused inverses become NaN */
} trs_gpu_verdict;

/* What belongs to the slices; device arrays, NULL where they would be trivial. */
typedef struct trs_slices_map {
  void *memory;         /* one allocation for all these arrays and those of the slices */
  int32_t *level_slice; /* nlevels + 1: first slice of each level */
  uint8_t *place; /* n: distance of each position from the first row of its block; NULL if no block
                     has several rows */
  int32_t *piece; /* nparts: number of parts of the same block before each part */
  int32_t *heavy; /* nheavy: the slices of heavy blocks that are not parts */
  int32_t nheavy;
  int32_t overlaps; /* a kernel can start before the one before it ends */
} trs_slices_map;

/* Means over a sample of rows. */
typedef struct trs_pattern_features {
  int64_t n;
  double row_length; /* off-diagonal entries, mean */
  double chained;    /* share of rows that depend on the row just before them */
  double run; /* mean length of the run of rows just before a row that it depends on; at most 32 */
  uint32_t octaves; /* bit b: some rows have entries 2^b to 2^(b + 1) - 1 from the diagonal */
} trs_pattern_features;

/* Device memory to fill: with all bits set, and with zeros.  Both addresses are multiples of 8. */
typedef struct trs_gpu_blank {
  void *ones;
  int64_t ones_bytes;
  void *zeros;
  int64_t zeros_bytes;
} trs_gpu_blank;

/* One way to cut a triangle, in three steps, so that ways can be compared before the best is
 * built.  begin launches the kernels that find blocks, levels and slices; finish waits for their
 * counts; build makes the arrays. */
typedef struct trs_gpu_cut trs_gpu_cut;

/* Levels that the caller knows, of a system that is cut into single rows. */
typedef struct trs_known_levels {
  uint32_t *level; /* device, n: plus one; until the slices are built */
  int32_t count;
} trs_known_levels;

/* Slabs of the sweep, as in analysis/slice.h. */
typedef struct trs_gpu_slabs {
  int32_t count;
  const uint8_t *of; /* device, n: the slab of each row of the sweep; a block has that of its first
                        row */
} trs_gpu_slabs;

#ifdef __cplusplus
extern "C" {
#endif

/* Systems are stored by rows, in device memory.
 *
 * Features of a pattern.  begin launches on the stream and gets a stage of the device, NULL for a
 * system without rows; end waits and gives the stage back.  Call end only after begin succeeded. */
trs_status trs_gpu_begin_features(void **stage, trs_device *device, const trs_system *system,
                                  trs_stream stream);
trs_status trs_gpu_end_features(trs_pattern_features *features, void *stage, trs_device *device,
                                int64_t n, trs_stream stream);

/* block_starts[n], in device memory: 1 where a row of the sweep must begin a block; NULL: the rules
 * alone decide.
 *
 * The cut is abandoned if it needs more levels than its rival (or NULL); large systems notice
 * during the analysis.  Begin the rival first, on the same stream; finish it first; free it after
 * this cut is finished.  Small systems may run this cut beside the rival on a second stream, so
 * the pattern's arrays must be complete, not only ordered before the stream.  Large systems wait
 * for the number of levels, unless it is given.
 *
 * levels: of single rows (rules->most_block is 1); or NULL, and the cut finds them.
 *
 * O(nnz) work and a radix sort of the blocks; one walk along the levels. */
trs_status trs_gpu_cut_begin(trs_gpu_cut **cut, trs_device *device, const trs_system *system,
                             const uint8_t *block_starts, const trs_slice_rules *rules,
                             const trs_gpu_cut *rival, const trs_known_levels *levels,
                             trs_stream stream);
/* The same without a rival, with the blocks of a level by slab and no slice of two slabs.  Chunks
 * are those of an order in which heavy slices come first in each level, so they are of no use. */
trs_status trs_gpu_cut_begin_slabs(trs_gpu_cut **cut, trs_device *device, const trs_system *system,
                                   const uint8_t *block_starts, const trs_slice_rules *rules,
                                   const trs_gpu_slabs *slabs, const trs_known_levels *levels,
                                   trs_stream stream);
/* Sets the counts of slices, with NULL arrays.  *level[nlevels + 1] is host memory to free with
 * trs_free; NULL if the cut was abandoned. */
trs_status trs_gpu_cut_finish(trs_gpu_cut *cut, trs_slices *slices, trs_slice_level **level);
/* Makes the arrays of slices and map, and fills what blank names (or NULL).  slices->level stays
 * NULL.  With store_float, val holds floats (or complex floats)
 * whatever the system's scalar.  On failure nothing is left allocated.  The kernels may still run
 * at the return. */
trs_status trs_gpu_cut_build(trs_gpu_cut *cut, trs_slices *slices, trs_slices_map *map,
                             int store_float, const trs_gpu_blank *blank, trs_gpu_found *found);
/* Makes the arrays of slices and map but idx, val and inverse.  *position: device, n: of each row;
 * until the cut is freed. */
trs_status trs_gpu_cut_lay(trs_gpu_cut *cut, trs_slices *slices, trs_slices_map *map,
                           const int32_t **position);
trs_status trs_gpu_clear(const trs_gpu_blank *blank, trs_stream stream); /* launches only */
void trs_gpu_cut_free(trs_gpu_cut *cut);                                 /* NULL is fine */

/* Fills slices->val and slices->inverse from system->val, for updates.  Launches only. */
trs_status trs_gpu_slices_fill(const trs_slices *slices, const trs_slices_map *map,
                               const trs_system *system, int store_float,
                               const trs_gpu_verdict *verdict, trs_stream stream);

/* The same with idx, of new slices.  position: device, n: of each row. */
trs_status trs_gpu_slices_enter(const trs_slices *slices, const trs_slices_map *map,
                                const trs_system *system, int store_float, const int32_t *position,
                                const trs_gpu_verdict *verdict, trs_stream stream);

/* The pattern of the system of single rows that has these slices, in device memory: ptr[n + 1] and
 * idx, as in trs_system.  full: each row ends with its diagonal entry. */
trs_status trs_gpu_slices_pattern(const trs_slices *slices, const trs_slices_map *map, int full,
                                  int64_t *ptr, int32_t *idx, trs_device *device,
                                  trs_stream stream);

void trs_gpu_slices_free(trs_slices *slices, trs_slices_map *map, trs_device *device,
                         trs_stream stream);

/* Device memory of slices and map. */
int64_t trs_gpu_slices_bytes(const trs_slices *slices, const trs_slices_map *map, trs_scalar scalar,
                             int store_float);

#ifdef __cplusplus
}
#endif
#endif
