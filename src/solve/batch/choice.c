/* choice.c - how a batch is solved on a GPU, by a model of the time. */
#include "solve/batch/choice.h"

#include "analysis/substitute.h"
#include "base/memory.h"
#include "solve/batch/kernels.h"

/* ---- The choice.  The time of a way is the largest of: bytes over the memory's rate,
 * instructions over their rate, and the steps that one block takes one after the other, times the
 * number of turns in which the blocks find room.  Constants are fitted to one H100: 25 cases, every
 * setting (docs/experiments/batches.md). ---- */

/* Seconds. */
#define LAUNCH 3.4e-6     /* of a solve: the launch, the first and the last access to memory */
#define LANE_ROW 170e-9   /* lanes: a row that follows its dependency */
#define LANE_ENTRY 97e-9  /* and an entry */
#define NARROW_ROW 150e-9 /* the same of narrow rows */
#define NARROW_ENTRY 8e-9
#define PIECE 210e-9       /* levels: of a block of several warps */
#define WARP_PIECE 190e-9  /* the same of one warp */
#define SHARED_ROW 77e-9   /* a row per thread, with x in shared memory */
#define GLOBAL_ROW 690e-9  /* the same with x in global memory */
#define SHARED_ENTRY 24e-9 /* an entry of such a row */
#define GLOBAL_ENTRY 45e-9
#define COPY 150e-9            /* 16 bytes of values into shared memory */
#define MOVED_ROW 170e-9       /* a number of b and x per thread */
#define INSTRUCTIONS 5e9       /* of warps, per second and multiprocessor */
#define LANE_ENTRY_WORK 22.    /* instructions: lanes, an entry of 32 systems */
#define ROW_WORK 70.           /* levels: a row per thread */
#define ENTRY_WORK 12.         /* and an entry */
#define FEWEST_LEVELS 7        /* that are worth a substitution */
#define LANES_MEMORY_RATE 0.52 /* of the memory's peak */
#define LEVELS_MEMORY_RATE 0.4
#define CACHE_RATE 2. /* the same for what fits the second-level cache */

typedef struct problem {
  const trs_batch_rows *rows;
  int64_t *rows_of, *entries_of; /* of each level */
  bool has_lanes;
  const trs_device_facts *facts;
  int64_t count, nrhs, size;
  int width; /* most right-hand sides at a time */
  int depth; /* of the rows' substitution */
} problem;

static double most(double a, double b) { return a > b ? a : b; }
static double up(double a, double b) {
  const double whole = (double)(int64_t)(a / b);
  return whole * b < a ? whole + 1 : whole;
}

int trs_batch_chunk(int narrow) {
  return narrow ? TRS_BATCH_NARROW_ROWS * (narrow + 1) : TRS_BATCH_CHUNK;
}

static int chunks_of(int narrow) { return narrow > 2 ? TRS_BATCH_CHUNKS / 2 : TRS_BATCH_CHUNKS; }

int64_t trs_batch_lanes_bytes(int64_t size, int window, int narrow) {
  const int ring = chunks_of(narrow) * trs_batch_chunk(narrow), tiles = 2 * TRS_BATCH_ROWS * 33;
  return size * (32 * (ring + window + 1) + tiles) + 4 * ring;
}

int64_t trs_batch_pitch(int log_systems, int width, bool shared) {
  const int64_t numbers = (int64_t)width << log_systems;
  return shared ? numbers | 1 : numbers; /* odd: lanes along rows meet different banks */
}

int64_t trs_batch_stage_bytes(int64_t size, const trs_batch_way *way) {
  const int64_t entry = (size << way->log_systems) + (int64_t)sizeof(int32_t);
  const int64_t pieces = TRS_BATCH_PIECES * (int64_t)sizeof(trs_batch_piece);
  return TRS_BATCH_STAGES * (way->room * entry + pieces + 2 * (int64_t)sizeof(trs_batch_packet));
}

int64_t trs_batch_levels_bytes(int64_t size, int64_t rows, const trs_batch_way *way, int width) {
  const int64_t stages = trs_batch_stage_bytes(size, way);
  if (!way->shared) return stages;
  return stages + (rows + 1) * size * trs_batch_pitch(way->log_systems, width, true);
}

static double multiprocessors(const problem *p) {
  return p->facts->multiprocessors > 0 ? p->facts->multiprocessors : 1;
}

/* Blocks that a multiprocessor has at a time. */
static double resident(const problem *p, int threads, double registers, int64_t shared) {
  double blocks = 32, all = 2048. / threads, room = 65536 / (registers * threads);
  if (all < blocks) blocks = all;
  if (room < blocks) blocks = room;
  room = (double)p->facts->shared_bytes / ((double)shared + 1024);
  if (room < blocks) blocks = room;
  return blocks < 1 ? 1 : (double)(int64_t)blocks;
}

/* With diagonal entries. */
static double entries_of(const problem *p) { return (double)(p->rows->entries + p->rows->count); }

static double memory_seconds(const problem *p, double passes, double memory_rate) {
  const double size = (double)p->size, count = (double)p->count;
  const double bytes =
      count * size * (entries_of(p) * passes + 2 * (double)p->rows->count * (double)p->nrhs);
  const double rate = bytes < 0.7 * (double)p->facts->l2_bytes ? CACHE_RATE : memory_rate;
  return bytes / (rate * p->facts->costs.memory_bandwidth);
}

static double lanes_seconds(const problem *p, const trs_batch_way *way) {
  const double blocks = up((double)p->count, 32) * (double)p->nrhs, m = multiprocessors(p);
  const double entries = entries_of(p), n = (double)p->rows->count;
  const double room =
      m * resident(p, 32, 96, trs_batch_lanes_bytes(p->size, way->window, way->narrow));
  const double row = way->narrow ? NARROW_ROW + way->narrow * NARROW_ENTRY
                                 : LANE_ROW + (entries / n - 1) * LANE_ENTRY;
  const double filled = way->narrow ? n * (way->narrow + 1) : entries;
  const double work = blocks * filled * LANE_ENTRY_WORK / (m * INSTRUCTIONS);
  const double passes = filled / entries;
  return LAUNCH +
         most(up(blocks, room) * n * row, most(work, memory_seconds(p, passes, LANES_MEMORY_RATE)));
}

/* The time of one block for all its pieces. */
static double chain_seconds(const problem *p, const trs_batch_way *way) {
  const double slots = way->threads >> way->log_systems;
  double seconds = 0;
  for (int32_t l = 0; l < p->rows->levels; l++) {
    const double rows = (double)p->rows_of[l], width = (double)p->entries_of[l] / rows;
    const double pieces = up(rows * (width + 1), way->room), rounds = up(rows, slots);
    seconds +=
        pieces * (way->threads > 32 ? PIECE : WARP_PIECE) +
        rounds * (way->shared ? SHARED_ROW : GLOBAL_ROW) +
        rounds * width * (way->shared ? SHARED_ENTRY : GLOBAL_ENTRY) * (way->width > 1 ? 2 : 1);
  }
  return seconds;
}

static double levels_seconds(const problem *p, const trs_batch_way *way) {
  const double n = (double)p->rows->count, systems = 1 << way->log_systems;
  const double passes = up((double)p->nrhs, way->width), m = multiprocessors(p);
  const double groups = up((double)p->count, systems), side = (double)way->threads / systems;
  const int64_t shared = trs_batch_levels_bytes(p->size, p->rows->count, way, way->width);
  const double room = m * resident(p, way->threads, 144, shared);
  const double copies = entries_of(p) / side * (double)p->size / 16; /* of 16 bytes, per thread */
  const double chain =
      chain_seconds(p, way) + copies * COPY + 2 * n / side * way->width * MOVED_ROW;
  const double turns = way->shared ? up(groups * passes, room) : up(groups, room) * passes;
  const double work = groups * systems / 32 * passes * way->width *
                      (n * ROW_WORK + entries_of(p) * ENTRY_WORK) / (m * INSTRUCTIONS);
  return LAUNCH + most(turns * chain, most(work, memory_seconds(p, passes, LEVELS_MEMORY_RATE)));
}

static double seconds_of(const problem *p, const trs_batch_way *way) {
  return way->lanes ? lanes_seconds(p, way) : levels_seconds(p, way);
}

static bool is_possible(const problem *p, const trs_batch_way *way) {
  const int64_t room = p->facts->shared_bytes;
  if (way->lanes)
    return p->has_lanes && trs_batch_lanes_bytes(p->size, way->window, way->narrow) <= room;
  return 1 << way->log_systems <= way->threads &&
         trs_batch_levels_bytes(p->size, p->rows->count, way, way->width) <= room;
}

/* As many entries as threads take side by side, and not so few that packets come too late. */
static void set_room(const problem *p, trs_batch_way *way) {
  static const int LEAST = 2 << 10, MOST = 12 << 10; /* bytes of a packet */
  const int64_t entry = (p->size << way->log_systems) + (int64_t)sizeof(int32_t);
  const double mean = entries_of(p) / (double)p->rows->count;
  int64_t room = (int64_t)(1.25 * mean * (way->threads >> way->log_systems)) + 1;
  if (room * entry < LEAST) room = LEAST / entry;
  if (room * entry > MOST) room = MOST / entry;
  if (room < TRS_BATCH_LONGEST + 2) room = TRS_BATCH_LONGEST + 2;
  way->room = (int)(room & ~1);
}

static trs_batch_way preferred;
static bool has_preferred;

void trs_batch_prefer(const trs_batch_way *way) {
  has_preferred = way != NULL;
  if (way) preferred = *way;
}

static void consider(const problem *p, const trs_batch_way *way, trs_batch_way *best,
                     double *least) {
  if (!is_possible(p, way)) return;
  const double seconds = seconds_of(p, way);
  if (seconds < *least) {
    *least = seconds;
    *best = *way;
  }
}

static bool is_asked_for(const problem *p, trs_batch_way *way) {
  if (!has_preferred) return false;
  const int window = way->window, narrow = way->narrow;
  *way = preferred;
  way->window = window;
  way->narrow = preferred.narrow < 0 ? 0 : narrow;
  way->depth = p->depth;
  if (!way->lanes && !way->room) set_room(p, way);
  return is_possible(p, way);
}

/* The entries of narrow rows, if these are not many more than there are; else 0. */
static int narrow_of(const problem *p) {
  static const double FILLED = 1.5;
  const trs_batch_rows *r = p->rows;
  int64_t longest = 1;
  for (int64_t k = 0; k < r->count; k++)
    if (r->ptr[k + 1] - r->ptr[k] > longest) longest = r->ptr[k + 1] - r->ptr[k];
  const bool fills = (double)(r->count * (longest + 1)) > FILLED * entries_of(p);
  return longest <= TRS_BATCH_NARROW && !fills ? (int)longest : 0;
}

/* Without a change where no way is better. */
static void choose(const problem *p, trs_batch_way *best, double *least) {
  trs_batch_way way = {.lanes = true, .log_systems = 5, .threads = 32, .width = 1, .window = 1};
  const int64_t farthest = trs_batch_rows_farthest(p->rows);
  while (way.window < farthest && way.window < 1 << 20) way.window *= 2;
  consider(p, &way, best, least);
  way.narrow = narrow_of(p);
  if (way.narrow) consider(p, &way, best, least);
  if (is_asked_for(p, &way)) {
    *best = way;
    return;
  }
  way = (trs_batch_way){.log_systems = 0, .depth = p->depth};
  for (way.log_systems = 0; way.log_systems <= TRS_BATCH_LOG_MOST; way.log_systems++)
    for (way.threads = 32; way.threads <= TRS_BATCH_MOST_THREADS; way.threads *= 2)
      for (int shared = 0; shared < 2; shared++)
        for (way.width = 1; way.width <= p->width; way.width *= 4) {
          if (1 << way.log_systems > way.threads) continue;
          way.shared = shared;
          set_room(p, &way);
          consider(p, &way, best, least);
        }
}

static trs_status begin(problem *p, const trs_batch_rows *rows, const trs_batch_case *about) {
  *p = (problem){.rows = rows,
                 .facts = about->facts,
                 .count = about->count,
                 .nrhs = about->nrhs,
                 .size = (int64_t)trs_scalar_size(about->system->scalar),
                 .width = about->nrhs >= TRS_BATCH_WIDTH ? TRS_BATCH_WIDTH : 1};
  TRS_TRY(TRS_ALLOC_ZERO(&p->rows_of, rows->levels));
  TRS_TRY(TRS_ALLOC_ZERO(&p->entries_of, rows->levels));
  for (int64_t k = 0; k < rows->count; k++) {
    p->rows_of[rows->level[k]]++;
    p->entries_of[rows->level[k]] += rows->ptr[k + 1] - rows->ptr[k];
  }
  return TRS_SUCCESS;
}

/* The best way without substitution: always there. */
static trs_status choose_plain(trs_batch_way *way, double *least, trs_batch_rows *rows,
                               const trs_batch_case *about) {
  problem p;
  const bool has_lanes = !trs_batch_rows_are_long(rows);
  TRS_TRY(trs_batch_rows_split(rows));
  trs_status status = begin(&p, rows, about);
  if (!status) {
    p.has_lanes = has_lanes;
    *way = (trs_batch_way){.log_systems = 0, .threads = 32, .width = 1};
    set_room(&p, way);
    choose(&p, way, least);
  }
  TRS_FREE_ALL(p.rows_of, p.entries_of);
  return status;
}

/* Goes on with substitution where that is faster, or asked for. */
static trs_status try_depth(trs_batch_way *way, double *least, trs_batch_pattern *pattern,
                            const trs_batch_case *about, int32_t depth) {
  trs_batch_pattern own = {0};
  problem p = {0};
  trs_batch_way best = {.threads = 0};
  trs_status status = trs_batch_rows_of(&own.rows, about->system);
  if (!status)
    status = trs_batch_substitute(&own.rows, &own.substitution, depth, &about->facts->costs);
  if (!status) status = trs_batch_rows_split(&own.rows);
  if (!status) status = begin(&p, &own.rows, about);
  if (!status) {
    p.depth = depth;
    choose(&p, &best, least);
  }
  TRS_FREE_ALL(p.rows_of, p.entries_of);
  if (best.threads) {
    *way = best;
    way->depth = depth;
    trs_batch_pattern_drop(pattern);
    *pattern = own;
  } else {
    trs_batch_pattern_drop(&own);
  }
  return status;
}

void trs_batch_pattern_drop(trs_batch_pattern *pattern) {
  trs_batch_rows_drop(&pattern->rows);
  trs_batch_substitution_drop(&pattern->substitution);
}

trs_status trs_batch_choose(trs_batch_way *way, trs_batch_pattern *pattern,
                            const trs_batch_case *about) {
  double least = 1e300;
  TRS_TRY(trs_batch_rows_of(&pattern->rows, about->system));
  const int32_t levels = pattern->rows.levels;
  TRS_TRY(choose_plain(way, &least, &pattern->rows, about));
  int32_t depth = trs_substitution_depth(levels);
  if (has_preferred && preferred.depth >= 0) depth = preferred.depth;
  if (levels < FEWEST_LEVELS || depth < 2) return TRS_SUCCESS;
  return try_depth(way, &least, pattern, about, depth);
}

trs_status trs_batch_choose_rest(trs_batch_way *way, trs_batch_pattern *pattern,
                                 const trs_batch_case *about, const trs_batch_way *main) {
  problem p = {0};
  *way = *main;
  way->depth = 0;
  TRS_TRY(trs_batch_rows_of(&pattern->rows, about->system));
  TRS_TRY(trs_batch_rows_split(&pattern->rows));
  trs_status status = begin(&p, &pattern->rows, about);
  if (!status) {
    set_room(&p, way);
    if (!is_possible(&p, way)) way->shared = false;
  }
  TRS_FREE_ALL(p.rows_of, p.entries_of);
  return status;
}
