/* choice.h - what the engine decides from a system's features: how rows become blocks and lanes,
 * and which kernel takes which levels. */
#ifndef TRS_SOLVE_CUDA_ENGINE_CHOICE_H
#define TRS_SOLVE_CUDA_ENGINE_CHOICE_H

#include "analysis/system.h"
#include "solve/cuda/engine/engine.h"

/* Read off a sample of rows, or off all of them on the device. */
typedef struct trs_pattern_features {
  int64_t n;
  double row_length; /* off-diagonal entries, mean */
  double chained;    /* share of rows that need the row just before them */
  double run;        /* mean number of rows just before a row that it needs, without a gap */
} trs_pattern_features;

/* The rules worth a try, the most promising first; rules[TRS_MOST_CANDIDATES].  Gives back how many
 * are so close by the features that the cost model has to compare them. */
enum { TRS_MOST_CANDIDATES = 4 };
int trs_choose_rules(trs_slice_rules *rules, const trs_pattern_features *features);

typedef enum trs_range_choice {
  TRS_RANGES_AUTO,
  TRS_RANGES_WARP_SLICE,
  TRS_RANGES_SINGLE_BLOCK
} trs_range_choice;

/* Regions for the levels (level[nlevels + 1]): the cheapest sequence, by dynamic programming over
 * the levels; most_rows: of a level that the narrow kernel takes; blocks: of several rows; shares:
 * GPUs that each have a part of every level.  *ranges is freed with trs_free; seconds is what one
 * solve should take. */
trs_status trs_choose_launch_ranges(trs_launch_range **ranges, int32_t *nranges, double *seconds,
                                    const trs_slice_level *level, int32_t nlevels,
                                    int32_t most_rows, bool blocks, trs_range_choice choice,
                                    int32_t shares);

/* What solves of several right-hand sides should take: beside each other, each as if alone; and in
 * a tile, whose columns have so many bytes a row together. */
double trs_batched_seconds(const trs_launch_range *ranges, int32_t nranges,
                           const trs_slice_level *level, int32_t width, bool apart,
                           int32_t multiprocessors);
double trs_many_rhs_seconds(const trs_slice_level *level, int32_t nlevels, int32_t nparts,
                            int64_t column_bytes);

#endif
