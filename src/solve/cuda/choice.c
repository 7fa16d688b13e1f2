/* choice.c - the engine's choices and the cost model behind them.  The constants were measured on
 * an H200 (docs/experiments.md); they need only order the kernels rightly, not predict times. */
#include "solve/cuda/choice.h"

#include <math.h>

#include "base/memory.h"

/* Seconds: a level's dependency through the second-level cache and through shared memory, a turn of
 * the narrow kernel's warps, a launch; bytes per second of the device and of one multiprocessor. */
static const double HOP = 0.65e-6, SHARED_HOP = 0.19e-6, TURN = 0.22e-6, LATE_ENTRY = 0.05e-6,
                    LAUNCH = 2.5e-6, BANDWIDTH = 3.3e12, OWN_BANDWIDTH = 90e9;

enum { FETCHED = TRS_NARROW_WIDTH, ENTRY_BYTES = 12, ROW_BYTES = 45 };

/* Factors with supernodes, nodes of several unknowns, the rest: where rows need the row just before
 * them, four at a time are inverted together, which costs little and saves up to three levels of
 * four. */
trs_slice_rules trs_choose_rules(const trs_pattern_features *f) {
  trs_slice_rules rules = {.most_block = 4,
                           .dense = 0,
                           .lane_length = 4,
                           .wide_lane_length = 16,
                           .wide_rows = 16384,
                           .heavy_width = 32,
                           .wide_heavy_width = 32,
                           .narrow_rows = 4096,
                           .watch = 2};
  if (f->run < 2) return rules;
  rules.dense = 1;
  rules.most_block = f->run < 8 ? TRS_LIGHT_BLOCK : TRS_MOST_BLOCK;
  rules.heavy_width = f->run < 8 ? 4 : 8;
  return rules;
}

static double level_bytes(const trs_slice_level *level) {
  return ENTRY_BYTES * (double)(level[1].entries - level->entries) +
         ROW_BYTES * (double)(level[1].position - level->position);
}

static double wide_cost(const trs_slice_level *level) {
  return HOP + level_bytes(level) / BANDWIDTH;
}

static double narrow_cost(const trs_slice_level *level, int32_t most_rows) {
  int32_t rows = level[1].position - level->position, slices = level[1].slice - level->slice;
  if (level->heavy > 0 || rows > most_rows || slices > TRS_NARROW_SLICES) return INFINITY;
  double width = (double)(level[1].entries - level->entries) / TRS_SLICE_LANES / slices;
  if (width > TRS_NARROW_WIDTH) return INFINITY;
  double late = width > FETCHED ? LATE_ENTRY * (width - FETCHED) : 0;
  double turns = slices * TURN + late;
  return fmax(fmax(SHARED_HOP + late, turns), level_bytes(level) / OWN_BANDWIDTH);
}

/* cost[kind] of the levels so far, ending in that kind; came[level][kind]: the kind before. */
static void walk(const trs_slice_level *level, int32_t nlevels, int32_t most_rows,
                 trs_region_choice choice, double cost[2], uint8_t (*came)[2]) {
  cost[0] = cost[1] = LAUNCH;
  for (int32_t l = 0; l < nlevels; l++) {
    double own[2] = {wide_cost(level + l), narrow_cost(level + l, most_rows)};
    if (choice == TRS_REGIONS_WIDE) own[TRS_REGION_NARROW] = INFINITY;
    if (choice == TRS_REGIONS_NARROW && isfinite(own[TRS_REGION_NARROW]))
      own[TRS_REGION_WIDE] = INFINITY;
    double next[2];
    for (int kind = 0; kind < 2; kind++) {
      bool stays = cost[kind] <= cost[1 - kind] + LAUNCH;
      came[l][kind] = (uint8_t)(stays ? kind : 1 - kind);
      next[kind] = (stays ? cost[kind] : cost[1 - kind] + LAUNCH) + own[kind];
    }
    cost[0] = next[0];
    cost[1] = next[1];
  }
}

static trs_region region_of(const trs_slice_level *level, trs_region_kind kind, int32_t begin,
                            int32_t end) {
  trs_region region = {.kind = kind,
                       .level = begin,
                       .level_end = end,
                       .slice = level[begin].slice,
                       .slice_end = level[end].slice,
                       .chunk = level[begin].chunk,
                       .chunk_end = level[end].chunk};
  for (int32_t l = begin; l < end; l++) {
    int32_t rows = level[l + 1].position - level[l].position;
    if (rows > region.most_rows) region.most_rows = rows;
    region.heavy |= level[l].heavy > 0;
  }
  return region;
}

/* The kinds found going back from the cheaper end; kind[l] of each level. */
static int32_t trace(uint8_t *kind, uint8_t (*came)[2], int32_t nlevels, const double cost[2]) {
  int now = cost[1] < cost[0] ? 1 : 0;
  int32_t count = 0;
  for (int32_t l = nlevels - 1; l >= 0; l--) {
    kind[l] = (uint8_t)now;
    if (l == nlevels - 1 || kind[l] != kind[l + 1]) count++;
    now = came[l][now];
  }
  return count;
}

trs_status trs_choose_regions(trs_region **regions, int32_t *nregions, double *seconds,
                              const trs_slice_level *level, int32_t nlevels, int32_t most_rows,
                              trs_region_choice choice) {
  uint8_t(*came)[2] = NULL, *kind = NULL;
  double cost[2];
  *regions = NULL;
  *nregions = 0;
  trs_status status = trs_alloc((void **)&came, nlevels, sizeof *came);
  if (!status) status = TRS_ALLOC(&kind, nlevels);
  if (!status) {
    walk(level, nlevels, most_rows, choice, cost, came);
    *seconds = fmin(cost[0], cost[1]);
    status = TRS_ALLOC(regions, trace(kind, came, nlevels, cost));
  }
  for (int32_t l = 0, end; !status && l < nlevels; l = end) {
    for (end = l + 1; end < nlevels && kind[end] == kind[l];) end++;
    (*regions)[(*nregions)++] = region_of(level, (trs_region_kind)kind[l], l, end);
  }
  trs_free(came);
  trs_free(kind);
  return status;
}
