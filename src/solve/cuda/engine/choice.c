/* choice.c - the engine's choices and their cost model, which takes the costs of the GPU from the
 * machine model (base/machine_model.h). */
#include "solve/cuda/engine/choice.h"

#include <math.h>

#include "analysis/substitute.h"
#include "base/memory.h"

/* The part of the shorter of both times of a level that the longer one does not hide; what blocks
 * of several rows add to a level's time, and what boxes do, as shares. */
static const double APART = 0.4, MULTI_ROW = 0.15, BOXED = 0.11;

enum { ENTRY_BYTES = 12, ROW_BYTES = 45 };

static double first_launch(const trs_gpu_costs *gpu, trs_launch_kind kind) {
  return kind == TRS_LAUNCH_CLUSTER ? gpu->cluster_launch : gpu->launch;
}

/* Of a launch behind one of another kind: no row of it begins before the last row before it has
 * ended.  The blocks of a cluster also wait for each other at both ends. */
static double change_to(const trs_gpu_costs *gpu, trs_launch_kind kind) {
  return kind == TRS_LAUNCH_CLUSTER ? gpu->cluster_change : gpu->change;
}

static const trs_slice_rules plain = {.most_block = 1,
                                      .dense = 1,
                                      .lane_length = 4,
                                      .large_level_lane_length = 16,
                                      .large_level_rows = 16384,
                                      .small_level_heavy_width = 32,
                                      .other_heavy_width = 32,
                                      .small_level_rows = 512,
                                      .early_poll = 3};

/* Chains: rows that depend on the row just before them are inverted four at a time.  This costs
 * little and saves up to three levels of four, but in meshes without order it can make more
 * levels. */
static trs_slice_rules chains(void) {
  trs_slice_rules rules = plain;
  rules.most_block = 4;
  rules.dense = 0;
  return rules;
}

/* For nodes of several unknowns and for supernodes. */
static trs_slice_rules full_blocks(int32_t most, int32_t heavy_width) {
  trs_slice_rules rules = plain;
  rules.most_block = most;
  rules.small_level_heavy_width = heavy_width;
  return rules;
}

/* Blocks of nodes that the row-groups kernel takes. */
static trs_slice_rules exact_blocks(void) {
  trs_slice_rules rules = plain;
  rules.most_block = TRS_EXACT_BLOCK;
  return rules;
}

/* Early polls further up for one right-hand side, but not where blocks of threads share a block of
 * rows.  Long rows in large levels: fewer lanes per row, so more rows per warp. */
static trs_slice_rules adjusted(trs_slice_rules rules, double row_length, bool several) {
  static const double LONG = 8;
  const bool full_blocks = rules.dense && rules.most_block > 1;
  if (!several && !full_blocks) rules.early_poll = 5;
  if (row_length >= LONG) rules.large_level_lane_length = 32;
  return rules;
}

/* Levels of so many slices are large: two of them fill the places of the warps that run at once. */
trs_slice_rules trs_rows_rules(double row_length, bool several) {
  static const double LARGE = 131072;
  trs_slice_rules rules = adjusted(plain, row_length, several);
  rules.large_level_rows = (int32_t)(LARGE / fmax(row_length, 1));
  rules.large_level_lane_length = 8;
  return rules;
}

trs_slice_rules trs_boxes_rules(double row_length, bool several) {
  trs_slice_rules rules = chains();
  rules.most_block = TRS_LIGHT_BLOCK;
  rules.loose = 1;
  return adjusted(rules, row_length, several);
}

static int adjust_all(trs_slice_rules *rules, const trs_pattern_features *f, bool several,
                      int count) {
  for (int k = 0; k < TRS_MOST_CANDIDATES; k++)
    rules[k] = adjusted(rules[k], f->row_length, several);
  return count;
}

/* Full diagonal blocks if rows depend on several rows just before them; in small systems only if
 * the blocks are large, since the single-block kernel solves short blocks or none faster.  Chains
 * if rows are chained.  The cost model compares both with single rows, which substitution begins
 * with; but not in large systems of supernodes, whose rows are too long for it.  For several
 * right-hand sides it also compares small blocks, which row groups solve, with large ones. */
int trs_choose_rules(trs_slice_rules *rules, const trs_pattern_features *f, bool several) {
  static const double REGULAR = 0.9, SOME = 0.02, NODES = 2, SUPERNODES = 6, LARGE = 1 << 20;
  static const int64_t SMALL = 4096;
  const bool small = f->n <= SMALL, regular = f->chained >= REGULAR;
  const trs_slice_rules blocks = full_blocks(TRS_MOST_BLOCK, 4);
  if (f->run >= NODES && !(small && f->run < SUPERNODES)) {
    const bool factors = f->run >= SUPERNODES && (double)f->n * f->row_length >= LARGE;
    rules[0] = blocks;
    rules[1] = factors ? full_blocks(TRS_LIGHT_BLOCK, 4) : plain;
    rules[2] = several ? exact_blocks() : full_blocks(TRS_LIGHT_BLOCK, 4);
    rules[3] = chains();
    if (several && factors) rules[1] = rules[2];
    return adjust_all(rules, f, several, several ? 3 - factors : 2 - factors);
  }
  const bool chained = f->run >= NODES || (regular && !small);
  const bool some = f->chained >= SOME && !regular;
  rules[0] = chained ? chains() : plain;
  rules[1] = chained ? plain : chains();
  rules[2] = blocks;
  rules[3] = full_blocks(TRS_LIGHT_BLOCK, 4);
  return adjust_all(rules, f, several, chained || some ? 2 : 1);
}

static double blocks_share(const trs_range_rules *rules) {
  return rules->boxes ? BOXED : rules->blocks ? MULTI_ROW : 0;
}

static double level_bytes(const trs_slice_level *level) {
  return ENTRY_BYTES * (double)(level[1].entries - level->entries) +
         ROW_BYTES * (double)(level[1].position - level->position);
}

/* Entries per lane, roughly. */
static double level_width(const trs_slice_level *level) {
  int32_t slices = level[1].slice - level->slice;
  return (double)(level[1].entries - level->entries) / TRS_SLICE_LANES / slices;
}

static double warp_slice_cost(const trs_slice_level *level, double blocks,
                              const trs_gpu_costs *gpu) {
  const double slices = level[1].slice - level->slice;
  const double rows = level[1].position - level->position;
  const double entries = (double)(level[1].entries - level->entries) / rows;
  double step = gpu->hop + gpu->batch_hop * fmin(level_width(level), 32) / 4 +
                gpu->entry_hop * fmin(entries, 128);
  step *= 1 + blocks;
  const double moving = fmax(gpu->slice * slices, level_bytes(level) / gpu->waiting_bandwidth);
  return fmax(step, moving) + APART * fmin(step, moving);
}

static double single_block_cost(const trs_slice_level *level, double blocks,
                                const trs_gpu_costs *gpu) {
  int32_t slices = level[1].slice - level->slice;
  double step = fmax(gpu->block_level + gpu->block_slice * slices, gpu->block_step * slices);
  return fmax((1 + blocks) * step, level_bytes(level) / gpu->multiprocessor_bandwidth);
}

static double cluster_cost(const trs_slice_level *level, double blocks, const trs_gpu_costs *gpu) {
  double slices = (double)(level[1].slice - level->slice) / TRS_CLUSTER_BLOCKS;
  double step = gpu->cluster_level + gpu->cluster_slice * fmax(slices, 1);
  return fmax((1 + blocks) * step,
              level_bytes(level) / gpu->multiprocessor_bandwidth / TRS_CLUSTER_BLOCKS);
}

double trs_least_substituted_seconds(const trs_slice_level *level, int32_t nlevels,
                                     const trs_gpu_costs *gpu) {
  double long_levels = 0, bytes = 0, moving;
  for (int32_t l = 0; l < nlevels; l++) {
    const double rows = level[l + 1].position - level[l].position;
    const double entries = (double)(level[l + 1].entries - level[l].entries);
    if (entries > TRS_SUBSTITUTED_ENTRIES * rows) long_levels++;
    bytes += level_bytes(level + l);
  }
  moving = 2 * gpu->slice * (level[nlevels].position - level->position) / TRS_SLICE_LANES;
  /* Bands of 1, 2, 3, ... levels. */
  return gpu->launch + gpu->hop * (long_levels + sqrt(2 * (nlevels - long_levels))) +
         fmax(moving, bytes / gpu->waiting_bandwidth);
}

/* Slices of so many rows of one length. */
static double slices_of(double rows, double entries, const trs_slice_rules *rules,
                        double in_level) {
  const double lane =
      in_level >= rules->large_level_rows ? rules->large_level_lane_length : rules->lane_length;
  double lanes = 1;
  while (lanes < TRS_SLICE_LANES && lanes * lane < entries) lanes *= 2;
  return ceil(rows * lanes / TRS_SLICE_LANES);
}

double trs_substituted_seconds(const trs_slice_level *level, int32_t nlevels, int32_t depth,
                               int32_t layers, double entries, const trs_gpu_costs *gpu) {
  const double rows = level[nlevels].position - level->position;
  const double own = (double)(level[nlevels].entries - level->entries) / rows;
  const double levels = fmin(nlevels, (double)trs_band_count(nlevels, depth) * layers);
  /* In each level: x; and the y of all levels of the bands but the last. */
  const double x = rows / levels, y = x * (1 - 1.0 / depth);
  const trs_slice_rules rules = trs_rows_rules((entries + own) / 2, false);
  const trs_slice_level each[2] = {
      {0},
      {.entries = (int64_t)(x * entries + y * own),
       .slice = (int32_t)(slices_of(x, entries, &rules, x + y) + slices_of(y, own, &rules, x + y)),
       .position = (int32_t)ceil(x + y)}};
  return gpu->launch + levels * warp_slice_cost(each, 0, gpu);
}

/* A path of the grid crosses a box every two rows. */
double trs_boxed_seconds(const trs_slice_level *level, int32_t nlevels, const trs_gpu_costs *gpu) {
  const double levels = fmax(nlevels / 2.0, 1);
  const trs_slice_level each[2] = {
      {0},
      {.entries = (int64_t)((double)(level[nlevels].entries - level->entries) / levels),
       .slice = (int32_t)ceil((level[nlevels].slice - level->slice) / levels),
       .position = (int32_t)ceil((level[nlevels].position - level->position) / levels)}};
  return gpu->launch + levels * warp_slice_cost(each, BOXED, gpu);
}

static double level_cost(const trs_slice_level *level, trs_launch_kind kind, double blocks,
                         const trs_gpu_costs *gpu) {
  return kind == TRS_LAUNCH_WARP_SLICE     ? warp_slice_cost(level, blocks, gpu)
         : kind == TRS_LAUNCH_SINGLE_BLOCK ? single_block_cost(level, blocks, gpu)
                                           : cluster_cost(level, blocks, gpu);
}

/* True if a kernel with x in shared memory takes the level.  Boxes wait less in warps. */
static bool shares_x(const trs_slice_level *level, const trs_range_rules *rules) {
  return !rules->boxes && level->heavy == 0 &&
         level[1].position - level->position <= rules->most_rows &&
         level_width(level) <= TRS_SHARED_X_WIDTH;
}

static bool takes(const trs_slice_level *level, trs_launch_kind kind,
                  const trs_range_rules *rules) {
  static const trs_launch_kind only[] = {[TRS_RANGES_WARP_SLICE] = TRS_LAUNCH_WARP_SLICE,
                                         [TRS_RANGES_SINGLE_BLOCK] = TRS_LAUNCH_SINGLE_BLOCK,
                                         [TRS_RANGES_CLUSTER] = TRS_LAUNCH_CLUSTER};
  bool able[TRS_LAUNCH_KINDS] = {[TRS_LAUNCH_WARP_SLICE] = true};
  able[TRS_LAUNCH_CLUSTER] = rules->clusters && shares_x(level, rules);
  able[TRS_LAUNCH_SINGLE_BLOCK] =
      shares_x(level, rules) && level[1].slice - level->slice <= TRS_SINGLE_BLOCK_SLICES;
  if (rules->choice != TRS_RANGES_AUTO && able[only[rules->choice]])
    return kind == only[rules->choice];
  return able[kind] && (rules->choice == TRS_RANGES_AUTO || kind == TRS_LAUNCH_WARP_SLICE);
}

typedef struct path {
  double cost[TRS_LAUNCH_KINDS];     /* of the levels so far if the last one has that kind */
  uint8_t (*came)[TRS_LAUNCH_KINDS]; /* [level][kind]: the kind of the level before */
} path;

static void walk_level(path *p, const trs_slice_level *level, int32_t l,
                       const trs_range_rules *rules) {
  double next[TRS_LAUNCH_KINDS];
  for (int kind = 0; kind < TRS_LAUNCH_KINDS; kind++) {
    const double change = change_to(rules->gpu, (trs_launch_kind)kind);
    double least = p->cost[kind];
    p->came[l][kind] = (uint8_t)kind;
    for (int from = 0; from < TRS_LAUNCH_KINDS; from++) {
      if (p->cost[from] + change >= least) continue;
      least = p->cost[from] + change;
      p->came[l][kind] = (uint8_t)from;
    }
    next[kind] = INFINITY;
    if (takes(level + l, (trs_launch_kind)kind, rules))
      next[kind] =
          least + level_cost(level + l, (trs_launch_kind)kind, blocks_share(rules), rules->gpu);
  }
  for (int kind = 0; kind < TRS_LAUNCH_KINDS; kind++) p->cost[kind] = next[kind];
}

static int cheapest(const path *p) {
  int best = 0;
  for (int kind = 1; kind < TRS_LAUNCH_KINDS; kind++)
    if (p->cost[kind] < p->cost[best]) best = kind;
  return best;
}

/* True if the level is so large that a launch of its own costs little.  All that it needs is then
 * solved before the launch. */
static bool settled(const trs_slice_level *level, int32_t shares) {
  static const int64_t ROWS = 65536, ENTRIES = 1 << 20;
  return level->heavy == 0 && level[1].position - level->position >= ROWS * shares &&
         level[1].entries - level->entries >= ENTRIES * shares;
}

static trs_launch_range range_of(const trs_slice_level *level, trs_launch_kind kind, int32_t begin,
                                 int32_t end, int32_t shares) {
  trs_launch_range range = {.kind = kind,
                            .level = begin,
                            .level_end = end,
                            .slice = level[begin].slice,
                            .slice_end = level[end].slice,
                            .chunk = level[begin].chunk,
                            .chunk_end = level[end].chunk,
                            .entries = level[end].entries - level[begin].entries,
                            .rows = level[end].position - level[begin].position};
  for (int32_t l = begin; l < end; l++) range.heavy |= level[l].heavy > 0;
  range.settled =
      kind == TRS_LAUNCH_WARP_SLICE && end == begin + 1 && settled(level + begin, shares);
  return range;
}

/* True if level l + 1 begins another range than level l. */
static bool parts(const trs_slice_level *level, const uint8_t *kind, int32_t l, int32_t shares) {
  return kind[l] != kind[l + 1] || settled(level + l, shares) || settled(level + l + 1, shares);
}

/* Follows came from the cheapest end; kind[l] is the kind of level l.  Returns the number of
 * ranges. */
static int32_t trace(const path *p, const trs_slice_level *level, uint8_t *kind, int32_t nlevels,
                     int32_t shares) {
  int now = cheapest(p);
  int32_t count = nlevels > 0;
  for (int32_t l = nlevels - 1; l >= 0; l--) {
    kind[l] = (uint8_t)now;
    if (l < nlevels - 1) count += parts(level, kind, l, shares);
    now = p->came[l][now];
  }
  return count;
}

trs_status trs_choose_launch_ranges(trs_launch_range **ranges, int32_t *nranges, double *seconds,
                                    const trs_slice_level *level, int32_t nlevels,
                                    const trs_range_rules *rules) {
  path p = {.came = NULL};
  uint8_t *kind = NULL;
  for (int k = 0; k < TRS_LAUNCH_KINDS; k++)
    p.cost[k] = first_launch(rules->gpu, (trs_launch_kind)k);
  *ranges = NULL;
  *nranges = 0;
  trs_status status = trs_alloc((void **)&p.came, nlevels, sizeof *p.came);
  if (!status) status = TRS_ALLOC(&kind, nlevels);
  if (!status) {
    for (int32_t l = 0; l < nlevels; l++) walk_level(&p, level, l, rules);
    *seconds = p.cost[cheapest(&p)];
    status = TRS_ALLOC(ranges, trace(&p, level, kind, nlevels, rules->shares));
  }
  for (int32_t l = 0, end; !status && l < nlevels; l = end) {
    for (end = l + 1; end < nlevels && !parts(level, kind, end - 1, rules->shares);) end++;
    (*ranges)[(*nranges)++] = range_of(level, (trs_launch_kind)kind[l], l, end, rules->shares);
  }
  TRS_FREE_ALL(p.came, kind);
  return status;
}

/* ---- Several right-hand sides. ---- */

/* Batched: the places of a heavy slice, for its block of threads.  Row groups: the part of the
 * shorter of both times that the longer one does not hide.  Both, and many-rhs: the factor of
 * places and bytes for blocks of several rows. */
static const double HEAVY_PLACES = 10, GROUPS_APART = 0.3, MULTI_ROW_MANY = 1.35;

double trs_batched_seconds(const trs_launch_range *ranges, int32_t nranges,
                           const trs_slice_level *level, const trs_rhs_rules *rules) {
  const double place = (rules->rows_scattered ? rules->gpu->scattered_place : rules->gpu->place) *
                       (rules->most_block > 1 ? MULTI_ROW_MANY : 1);
  const double waves = ceil((double)rules->width / rules->multiprocessors);
  double seconds = 0;
  for (int32_t k = 0; k < nranges; k++) {
    const trs_launch_kind kind = trs_batched_kind(&ranges[k], rules->width, rules->clusters);
    for (int32_t l = ranges[k].level; l < ranges[k].level_end; l++) {
      double slices = level[l + 1].slice - level[l].slice;
      double places = slices + (HEAVY_PLACES - 1) * level[l].heavy;
      double one = level_cost(level + l, kind, rules->most_block > 1 ? MULTI_ROW : 0, rules->gpu);
      seconds += kind == TRS_LAUNCH_WARP_SLICE     ? fmax(one, place * places * rules->width)
                 : kind == TRS_LAUNCH_SINGLE_BLOCK ? waves * one
                                                   : one;
    }
  }
  return seconds;
}

/* Bytes that a level reads and writes, about: an x per entry; b, x and two more per row. */
static double passed_bytes(const trs_slice_level *level, double row_bytes) {
  return row_bytes * ((double)(level[1].entries - level->entries) +
                      4 * (double)(level[1].position - level->position));
}

/* True if the level takes less time in a launch of its own than with waits in a shared launch. */
static bool alone(const trs_slice_level *level, double row_bytes) {
  static const double BYTES = 64e6;
  return settled(level, 1) || passed_bytes(level, row_bytes) >= BYTES;
}

trs_status trs_many_rhs_ranges(trs_launch_range **ranges, int32_t *nranges,
                               const trs_slice_level *level, int32_t nlevels, int64_t row_bytes) {
  const double bytes = (double)row_bytes;
  int32_t count = nlevels > 0;
  for (int32_t l = 1; l < nlevels; l++)
    count += alone(level + l - 1, bytes) || alone(level + l, bytes);
  *nranges = 0;
  TRS_TRY(TRS_ALLOC(ranges, count));
  for (int32_t l = 0, end; l < nlevels; l = end) {
    for (end = l + 1; end < nlevels && !alone(level + l, bytes) && !alone(level + end, bytes);)
      end++;
    (*ranges)[(*nranges)++] = range_of(level, TRS_LAUNCH_WARP_SLICE, l, end, 1);
  }
  return TRS_SUCCESS;
}

/* A group of few lanes passes a long row in many steps. */
bool trs_row_groups_pay(int64_t row_bytes, int32_t longest) {
  if (row_bytes >= 512) return true;
  if (row_bytes >= 256) return longest <= 64;
  return row_bytes >= 128 && longest <= 12;
}

/* Seconds that the bytes of all levels take. */
static double moving_seconds(const trs_slice_level *level, int32_t nlevels, double bandwidth,
                             const trs_rhs_rules *rules) {
  const double row_bytes = (double)rules->width * (double)rules->scalar_bytes;
  double seconds = 0;
  for (int32_t l = 0; l < nlevels; l++)
    seconds += passed_bytes(level + l, row_bytes) /
               (alone(level + l, row_bytes) ? rules->gpu->settled_bandwidth : bandwidth);
  return rules->most_block > 1 ? MULTI_ROW_MANY * seconds : seconds;
}

static double row_groups_seconds(const trs_slice_level *level, int32_t nlevels,
                                 const trs_rhs_rules *rules) {
  const double moving = moving_seconds(level, nlevels, rules->gpu->groups_bandwidth, rules);
  const double levels = rules->gpu->groups_level * nlevels;
  return fmax(levels, moving) + GROUPS_APART * fmin(levels, moving);
}

static double many_rhs_seconds(const trs_slice_level *level, int32_t nlevels, int32_t nparts,
                               const trs_rhs_rules *rules) {
  const double row_bytes = (double)rules->width * (double)rules->scalar_bytes;
  const trs_gpu_costs *gpu = rules->gpu;
  const double moving = moving_seconds(level, nlevels, gpu->many_bandwidth, rules);
  const double part = gpu->many_part + gpu->many_part_byte * row_bytes;
  return gpu->many_level * nlevels + fmax(part * nparts, moving);
}

/* True if row groups solve all levels. */
static bool takes_row_groups(const trs_slice_level *level, int32_t nlevels,
                             const trs_rhs_rules *rules) {
  bool heavy = false;
  for (int32_t l = 0; l < nlevels; l++) heavy |= level[l].heavy > 0;
  return !heavy && rules->most_block <= TRS_EXACT_BLOCK &&
         trs_row_groups_pay(rules->width * (int64_t)rules->scalar_bytes, rules->longest);
}

double trs_together_seconds(const trs_slice_level *level, int32_t nlevels, int32_t nparts,
                            const trs_rhs_rules *rules) {
  return takes_row_groups(level, nlevels, rules) ? row_groups_seconds(level, nlevels, rules)
                                                 : many_rhs_seconds(level, nlevels, nparts, rules);
}

bool trs_transposing_pays(const trs_slice_level *level, int32_t nlevels, int32_t nparts,
                          const trs_rhs_rules *rules) {
  /* b and x are read, and written. */
  const double rows = (double)(level[nlevels].position - level->position),
               transposing =
                   4 * rows * rules->width * rules->scalar_bytes / rules->gpu->waiting_bandwidth;
  return takes_row_groups(level, nlevels, rules) &&
         row_groups_seconds(level, nlevels, rules) + transposing <
             many_rhs_seconds(level, nlevels, nparts, rules);
}

trs_launch_kind trs_batched_kind(const trs_launch_range *range, int32_t width, int32_t clusters) {
  const bool waits = range->kind == TRS_LAUNCH_CLUSTER && width > clusters;
  return waits ? TRS_LAUNCH_WARP_SLICE : range->kind;
}
