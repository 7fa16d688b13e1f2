/* choice.h - choices from the features of a system: how rows become blocks and lanes, and which
 * kernel solves which levels. */
#ifndef TRS_SOLVE_CUDA_ENGINE_CHOICE_H
#define TRS_SOLVE_CUDA_ENGINE_CHOICE_H

#include "solve/cuda/engine/analysis.h"
#include "solve/cuda/engine/engine.h"

/* Candidates for the rules, the most promising first; rules[TRS_MOST_CANDIDATES].  Returns how
 * many of them are so close that the cost model has to compare them.  several: right-hand sides. */
enum { TRS_MOST_CANDIDATES = 4 };
int trs_choose_rules(trs_slice_rules *rules, const trs_pattern_features *features, bool several);

/* Rules for single rows of so many off-diagonal entries in the mean. */
trs_slice_rules trs_rows_rules(double row_length, bool several);

/* Rules for boxes (analysis/boxes.h). */
trs_slice_rules trs_boxes_rules(double row_length, bool several);

typedef enum trs_range_choice {
  TRS_RANGES_AUTO,
  TRS_RANGES_WARP_SLICE,
  TRS_RANGES_SINGLE_BLOCK,
  TRS_RANGES_CLUSTER
} trs_range_choice;

/* Seconds that a solve with substituted rows takes at least, for level[nlevels + 1] of single rows:
 * rows longer than TRS_SUBSTITUTED_ENTRIES keep their levels. */
double trs_least_substituted_seconds(const trs_slice_level *level, int32_t nlevels,
                                     const trs_gpu_costs *gpu);

/* Seconds that it takes about, by bands of up to `depth` levels which become `layers` levels of x
 * each, with `entries` per row of M. */
double trs_substituted_seconds(const trs_slice_level *level, int32_t nlevels, int32_t depth,
                               int32_t layers, double entries, const trs_gpu_costs *gpu);

/* Seconds that a solve by boxes takes about on a grid, for level[nlevels + 1] of single rows. */
double trs_boxed_seconds(const trs_slice_level *level, int32_t nlevels, const trs_gpu_costs *gpu);

typedef struct trs_range_rules {
  const trs_gpu_costs *gpu;
  int32_t most_rows;       /* rows per level that the kernels with x in shared memory take */
  bool clusters;           /* the device runs the cluster kernel */
  bool blocks, boxes;      /* some blocks have several rows; they are boxes (analysis/boxes.h) */
  trs_range_choice choice; /* the kernel of all levels that it takes */
  int32_t shares;          /* GPUs that each have a part of every level */
} trs_range_rules;

/* The cheapest sequence of launch ranges for level[nlevels + 1], by dynamic programming over the
 * levels.  *ranges is freed with trs_free.  *seconds: expected time of a solve. */
trs_status trs_choose_launch_ranges(trs_launch_range **ranges, int32_t *nranges, double *seconds,
                                    const trs_slice_level *level, int32_t nlevels,
                                    const trs_range_rules *rules);

/* What the time of several right-hand sides together depends on. */
typedef struct trs_rhs_rules {
  const trs_gpu_costs *gpu;
  int32_t width; /* right-hand sides */
  int32_t scalar_bytes;
  bool rows_scattered;     /* rows of a level lie apart in b and x */
  int32_t most_block;      /* rows per block, at most */
  int32_t longest;         /* most entries of one row outside its block */
  int32_t clusters;        /* that the device runs at once */
  int32_t multiprocessors; /* of the device */
} trs_rhs_rules;

/* The launches of several right-hand sides together.  A level that reads and writes many bytes
 * has one of its own, so no row waits there.  row_bytes: of all right-hand sides of a row.  *ranges
 * is freed with trs_free. */
trs_status trs_many_rhs_ranges(trs_launch_range **ranges, int32_t *nranges,
                               const trs_slice_level *level, int32_t nlevels, int64_t row_bytes);

/* True if the row-groups kernel is faster than the many-rhs kernel where no slice is heavy.
 * longest: entries of the longest row. */
bool trs_row_groups_pay(int64_t row_bytes, int32_t longest);

/* Expected seconds of a solve of several right-hand sides: batched; and by the many-rhs or the
 * row-groups kernel. */
double trs_batched_seconds(const trs_launch_range *ranges, int32_t nranges,
                           const trs_slice_level *level, const trs_rhs_rules *rules);
double trs_together_seconds(const trs_slice_level *level, int32_t nlevels, int32_t nparts,
                            const trs_rhs_rules *rules);

/* True if columns of b and x are solved faster by row groups, with both transposed, than by the
 * many-rhs kernel. */
bool trs_transposing_pays(const trs_slice_level *level, int32_t nlevels, int32_t nparts,
                          const trs_rhs_rules *rules);

/* The kernel of a batch of `width` right-hand sides: clusters that would have to take turns give
 * way to the warp-per-slice kernel. */
trs_launch_kind trs_batched_kind(const trs_launch_range *range, int32_t width, int32_t clusters);

#endif
