/* gpu.c - batches on one GPU: the pattern in the orders of the two kernels, the choice between
 * them, values and right-hand sides from either memory. */
#include "solve/batch/batch.h"

#include <string.h>

#include "base/memory.h"
#include "solve/batch/gpu.h"

/* Bytes of values or right-hand sides of the host in device memory at a time, at least a group's.
 */
enum { STAGE_BYTES = 64 << 20 };

struct trs_batch_gpu {
  trs_device *device;
  trs_stream stream;
  trs_batch_way way;
  int64_t groups, entries; /* of a group: a multiple of TRS_BATCH_CHUNK */
  int levels;

  /* Device memory.  See trs_batch_sweep and trs_batch_values. */
  int64_t *source, *from_ptr, *from, *ptr;
  int32_t *pivot_row, *distance, *col, *row, *level_ptr;
  uint64_t *fault;
  void *val, *work, *stage;
  int64_t stage_bytes, bytes;

  uint64_t *fault_here; /* host memory */
};

/* ---- The pattern: rows of op(T) in the order of the sweep, each with its dependencies, the
 * farthest first, and then its diagonal entry. ---- */

typedef struct schedule {
  int64_t n, entries;
  int64_t *ptr;      /* n + 1 */
  int32_t *to;       /* the row of the sweep that an entry stands for */
  int64_t *source;   /* the stored entry */
  int32_t *level;    /* n */
  int64_t *by_level; /* levels + 1 */
  int32_t *order;    /* n: rows by levels */
  int32_t levels;
  int64_t farthest; /* rows back to a dependency */
} schedule;

static void drop_schedule(schedule *s) {
  TRS_FREE_ALL(s->ptr, s->to, s->source, s->level, s->by_level, s->order);
}

/* begin and end of the off-diagonal entries of stored vector i. */
static void off_diagonal(const trs_system *S, int64_t i, int64_t *begin, int64_t *end) {
  trs_off_diagonal(S, i, trs_system_prefix(S), S->has_diagonal, begin, end);
}

static int64_t diagonal_of(const trs_system *S, int64_t i) {
  if (S->unit) return TRS_BATCH_ONE;
  return trs_system_prefix(S) ? S->ptr[i + 1] - 1 : S->ptr[i];
}

static void count_entries(const schedule *s, const trs_system *S) {
  int64_t begin, end;
  for (int64_t k = 0; k < s->n; k++) s->ptr[k + 1] = 1;
  for (int64_t i = 0; i < s->n; i++) {
    off_diagonal(S, i, &begin, &end);
    if (S->rows)
      s->ptr[trs_in_sweep(S, i) + 1] += end - begin;
    else
      for (int64_t p = begin; p < end; p++) s->ptr[trs_in_sweep(S, S->idx[p]) + 1]++;
  }
  s->ptr[0] = 0;
  for (int64_t k = 0; k < s->n; k++) s->ptr[k + 1] += s->ptr[k];
}

/* place: where the next entry of each row goes. */
static void put_entry(schedule *s, int64_t *place, int64_t row, int64_t to, int64_t source) {
  s->to[place[row]] = (int32_t)to;
  s->source[place[row]++] = source;
}

/* Vectors in the order of the sweep, so that the entries of every row come in that order. */
static void fill_entries(schedule *s, const trs_system *S, int64_t *place) {
  memcpy(place, s->ptr, (size_t)s->n * sizeof *place);
  for (int64_t k = 0; k < s->n; k++) {
    const int64_t i = trs_in_sweep(S, k);
    int64_t begin, end;
    off_diagonal(S, i, &begin, &end);
    for (int64_t p = begin; p < end; p++) {
      const int64_t q = S->rows && !S->lower ? end - 1 - (p - begin) : p;
      const int64_t other = trs_in_sweep(S, S->idx[q]);
      put_entry(s, place, S->rows ? k : other, S->rows ? other : k, q);
    }
    if (S->rows) put_entry(s, place, k, k, diagonal_of(S, i));
  }
  for (int64_t k = 0; k < s->n && !S->rows; k++)
    put_entry(s, place, k, k, diagonal_of(S, trs_in_sweep(S, k)));
}

static void find_levels(schedule *s) {
  for (int64_t k = 0; k < s->n; k++) {
    int32_t level = 0;
    for (int64_t p = s->ptr[k]; p < s->ptr[k + 1] - 1; p++) {
      const int32_t before = s->level[s->to[p]];
      level = before >= level ? before + 1 : level;
      s->farthest = k - s->to[p] > s->farthest ? k - s->to[p] : s->farthest;
    }
    s->level[k] = level;
    s->levels = level >= s->levels ? level + 1 : s->levels;
  }
}

static trs_status order_by_levels(schedule *s) {
  TRS_TRY(TRS_ALLOC_ZERO(&s->by_level, s->levels + 1));
  for (int64_t k = 0; k < s->n; k++) s->by_level[s->level[k] + 1]++;
  for (int32_t l = 0; l < s->levels; l++) s->by_level[l + 1] += s->by_level[l];
  for (int64_t k = 0; k < s->n; k++) s->order[s->by_level[s->level[k]]++] = (int32_t)k;
  for (int32_t l = s->levels; l > 0; l--) s->by_level[l] = s->by_level[l - 1];
  s->by_level[0] = 0;
  return TRS_SUCCESS;
}

static trs_status make_schedule(schedule *s, const trs_system *S) {
  int64_t *place;
  s->n = S->n;
  TRS_TRY(TRS_ALLOC(&s->ptr, s->n + 1));
  count_entries(s, S);
  s->entries = s->ptr[s->n];
  TRS_TRY(TRS_ALLOC(&s->to, s->entries));
  TRS_TRY(TRS_ALLOC(&s->source, s->entries));
  TRS_TRY(TRS_ALLOC(&s->level, s->n));
  TRS_TRY(TRS_ALLOC(&s->order, s->n));
  TRS_TRY(TRS_ALLOC(&place, s->n));
  fill_entries(s, S, place);
  trs_free(place);
  find_levels(s);
  return order_by_levels(s);
}

/* ---- The choice.  The time of a way is the largest of: bytes over the memory's rate,
 * instructions over their rate, and the steps that one block takes one after the other, times the
 * number of turns in which the blocks find room.  Constants are fitted to one H100: 26 cases, every
 * setting (docs/experiments.md). ---- */

/* Seconds. */
#define LAUNCH 2.5e-6      /* of a solve: the launch, the first and the last access to memory */
#define LANE_ROW 170e-9    /* lanes: a row that follows its dependency */
#define LANE_ENTRY 70e-9   /* and an entry */
#define BARRIER 25e-9      /* levels: of a block of several warps */
#define WARP_BARRIER 8e-9  /* the same of one warp */
#define SHARED_ROW 380e-9  /* a row per thread, with x in shared memory */
#define GLOBAL_ROW 400e-9  /* the same with x in global memory */
#define SHARED_ENTRY 60e-9 /* an entry of such a row */
#define GLOBAL_ENTRY 100e-9
#define MOVED_ROW 8e-9      /* a number of b and x per thread */
#define INSTRUCTIONS 5e9    /* of warps, per second and multiprocessor */
#define LANE_ENTRY_WORK 22. /* instructions: lanes, an entry of 32 systems */
#define ROW_WORK 70.        /* levels: a row per thread */
#define ENTRY_WORK 12.      /* and an entry */
#define MEMORY_RATE 0.85    /* of the memory's peak */
#define CACHE_RATE 2.       /* the same for what fits the second-level cache */

typedef struct problem {
  const schedule *s;
  const trs_device_facts *facts;
  int64_t count, nrhs, size;
  int width; /* most right-hand sides at a time */
} problem;

static double most(double a, double b) { return a > b ? a : b; }
static double up(double a, double b) {
  const double whole = (double)(int64_t)(a / b);
  return whole * b < a ? whole + 1 : whole;
}

int64_t trs_batch_lanes_bytes(int64_t size, int window) {
  const int ring = TRS_BATCH_CHUNKS * TRS_BATCH_CHUNK, tiles = 2 * TRS_BATCH_ROWS * 33;
  return size * (32 * (ring + window) + tiles) + 4 * ring;
}

int64_t trs_batch_pitch(int log_systems, int width, bool shared) {
  const int64_t numbers = (int64_t)width << log_systems;
  return shared ? numbers | 1 : numbers; /* odd: lanes along rows meet different banks */
}

int64_t trs_batch_levels_bytes(int64_t size, int64_t n, int log_systems, int width) {
  return n * size * trs_batch_pitch(log_systems, width, true);
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

static double memory_seconds(const problem *p, double passes) {
  const double size = (double)p->size, count = (double)p->count;
  const double bytes =
      count * size * ((double)p->s->entries * passes + 2 * (double)p->s->n * (double)p->nrhs);
  const double rate = bytes < 0.7 * (double)p->facts->l2_bytes ? CACHE_RATE : MEMORY_RATE;
  return bytes / (rate * p->facts->costs.memory_bandwidth);
}

static double lanes_seconds(const problem *p, const trs_batch_way *way) {
  const double blocks = up((double)p->count, 32) * (double)p->nrhs, m = multiprocessors(p);
  const double entries = (double)p->s->entries, n = (double)p->s->n;
  const double room = m * resident(p, 32, 96, trs_batch_lanes_bytes(p->size, way->window));
  const double chain = up(blocks, room) * (n * LANE_ROW + (entries - n) * LANE_ENTRY);
  const double work = blocks * entries * LANE_ENTRY_WORK / (m * INSTRUCTIONS);
  return LAUNCH + most(chain, most(work, memory_seconds(p, 1)));
}

/* Rows that a thread finishes one after the other. */
static double rounds_of(const schedule *s, int64_t side_by_side) {
  double rounds = 0;
  for (int32_t l = 0; l < s->levels; l++)
    rounds += (double)((s->by_level[l + 1] - s->by_level[l] + side_by_side - 1) / side_by_side);
  return rounds;
}

static double levels_seconds(const problem *p, const trs_batch_way *way) {
  const schedule *s = p->s;
  const double n = (double)s->n, entries = (double)s->entries, systems = 1 << way->log_systems;
  const double passes = up((double)p->nrhs, way->width), m = multiprocessors(p);
  const double groups = up((double)p->count, systems), side = (double)way->threads / systems;
  const double rounds = rounds_of(s, way->threads >> way->log_systems), mean = entries / n - 1;
  const int64_t shared =
      way->shared ? trs_batch_levels_bytes(p->size, s->n, way->log_systems, way->width) : 0;
  const double room = m * resident(p, way->threads, 128, shared);
  const double chain =
      s->levels * (way->threads > 32 ? BARRIER : WARP_BARRIER) +
      rounds * (way->shared ? SHARED_ROW : GLOBAL_ROW) +
      rounds * mean * (way->shared ? SHARED_ENTRY : GLOBAL_ENTRY) * (way->width > 1 ? 2 : 1) +
      2 * n / side * way->width * MOVED_ROW;
  const double turns = way->shared ? up(groups * passes, room) : up(groups, room) * passes;
  const double work = groups * systems / 32 * passes * way->width *
                      (n * ROW_WORK + entries * ENTRY_WORK) / (m * INSTRUCTIONS);
  return LAUNCH + most(turns * chain, most(work, memory_seconds(p, passes)));
}

static double seconds_of(const problem *p, const trs_batch_way *way) {
  return way->lanes ? lanes_seconds(p, way) : levels_seconds(p, way);
}

static bool is_possible(const problem *p, const trs_batch_way *way) {
  const int64_t room = p->facts->shared_bytes;
  if (way->lanes) return trs_batch_lanes_bytes(p->size, way->window) <= room;
  return 1 << way->log_systems <= way->threads &&
         (!way->shared ||
          trs_batch_levels_bytes(p->size, p->s->n, way->log_systems, way->width) <= room);
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

static trs_batch_way choose(const problem *p) {
  trs_batch_way way = {.lanes = true, .log_systems = 5, .threads = 32, .width = 1, .window = 1};
  trs_batch_way best = {.log_systems = 0, .threads = 32, .width = 1}; /* always possible */
  double least = 1e300;
  while (way.window < p->s->farthest && way.window < 1 << 20) way.window *= 2;
  consider(p, &way, &best, &least);
  if (has_preferred) {
    const int window = way.window;
    way = preferred;
    way.window = window;
    return is_possible(p, &way) ? way : best;
  }
  way.lanes = false;
  for (way.log_systems = 0; way.log_systems <= TRS_BATCH_LOG_MOST; way.log_systems++)
    for (way.threads = 32; way.threads <= TRS_BATCH_MOST_THREADS; way.threads *= 2)
      for (int shared = 0; shared < 2; shared++)
        for (way.width = 1; way.width <= p->width; way.width *= 4) {
          way.shared = shared;
          consider(p, &way, &best, &least);
        }
  return best;
}

/* ---- Device memory ---- */

static trs_status reserve(trs_batch_gpu *g, void *pointer, int64_t count, int64_t size) {
  g->bytes += count * size;
  return trs_device_alloc(g->device, pointer, count, (size_t)size, g->stream);
}

static trs_status upload(trs_batch_gpu *g, void *pointer, const void *from, int64_t count,
                         int64_t size) {
  TRS_TRY(reserve(g, pointer, count, size));
  TRS_TRY(trs_device_copy(*(void **)pointer, from, count * size, g->stream));
  return trs_device_wait(g->stream); /* from may go */
}

#define UPLOAD(g, pointer, from, count) \
  upload((g), (void *)(pointer), (from), (count), (int64_t)sizeof **(pointer))

/* Entry e of a group, of row k of the sweep. */
typedef struct tables {
  int64_t *source, *ptr;
  int32_t *pivot_row, *distance, *col, *row, *level_ptr;
} tables;

static void put_row(const tables *t, const schedule *s, const trs_system *S, int64_t k,
                    int64_t *at) {
  const int64_t diagonal = s->ptr[k + 1] - 1;
  for (int64_t p = s->ptr[k]; p <= diagonal; p++, ++*at) {
    t->source[*at] = s->source[p];
    t->pivot_row[*at] = p < diagonal || S->unit ? -1 : (int32_t)trs_in_sweep(S, k);
    if (t->distance) t->distance[*at] = (int32_t)(k - s->to[p]);
    if (t->col) t->col[*at] = (int32_t)trs_in_sweep(S, s->to[p]);
  }
}

static void fill_tables(const tables *t, const schedule *s, const trs_system *S, int64_t entries) {
  int64_t at = 0;
  for (int64_t k = 0; k < s->n; k++) {
    const int64_t row = t->distance ? k : s->order[k];
    if (t->ptr) t->ptr[k] = at;
    if (t->row) t->row[k] = (int32_t)trs_in_sweep(S, row);
    put_row(t, s, S, row, &at);
  }
  if (t->ptr) t->ptr[s->n] = at;
  for (int32_t l = 0; l <= s->levels && t->level_ptr; l++)
    t->level_ptr[l] = (int32_t)s->by_level[l];
  for (; at < entries; at++) {
    t->source[at] = TRS_BATCH_ZERO;
    t->pivot_row[at] = -1;
    if (t->distance) t->distance[at] = -1;
    if (t->col) t->col[at] = 0;
  }
}

static trs_status allocate_tables(tables *t, const schedule *s, int64_t entries, bool lanes) {
  TRS_TRY(TRS_ALLOC(&t->source, entries));
  TRS_TRY(TRS_ALLOC(&t->pivot_row, entries));
  if (lanes) return TRS_ALLOC(&t->distance, entries);
  TRS_TRY(TRS_ALLOC(&t->col, entries));
  TRS_TRY(TRS_ALLOC(&t->ptr, s->n + 1));
  TRS_TRY(TRS_ALLOC(&t->row, s->n));
  return TRS_ALLOC(&t->level_ptr, s->levels + 1);
}

static trs_status upload_tables(trs_batch_gpu *g, const tables *t, const schedule *s) {
  TRS_TRY(UPLOAD(g, &g->source, t->source, g->entries));
  TRS_TRY(UPLOAD(g, &g->pivot_row, t->pivot_row, g->entries));
  if (t->distance) return UPLOAD(g, &g->distance, t->distance, g->entries);
  TRS_TRY(UPLOAD(g, &g->col, t->col, g->entries));
  TRS_TRY(UPLOAD(g, &g->ptr, t->ptr, s->n + 1));
  TRS_TRY(UPLOAD(g, &g->row, t->row, s->n));
  return UPLOAD(g, &g->level_ptr, t->level_ptr, s->levels + 1);
}

static trs_status bring_pattern(trs_batch_gpu *g, const trs_batch *B, const schedule *s) {
  tables t = {0};
  trs_status status = allocate_tables(&t, s, g->entries, g->way.lanes);
  if (!status) {
    fill_tables(&t, s, &B->system, g->entries);
    status = upload_tables(g, &t, s);
  }
  TRS_FREE_ALL(t.source, t.ptr, t.pivot_row, t.distance, t.col, t.row, t.level_ptr);
  if (status || !B->from) return status;
  TRS_TRY(UPLOAD(g, &g->from_ptr, B->from_ptr, B->system.nnz + 1));
  return UPLOAD(g, &g->from, B->from, B->from_ptr[B->system.nnz]);
}

static trs_status reserve_numbers(trs_batch_gpu *g, const trs_batch *B) {
  const int64_t size = (int64_t)trs_scalar_size(B->system.scalar);
  int64_t values, rows;
  if (__builtin_mul_overflow(g->groups << g->way.log_systems, g->entries, &values) ||
      __builtin_mul_overflow((g->groups << g->way.log_systems) * g->way.width, B->system.n, &rows))
    return trs_fail(TRS_ERROR_MEMORY, -1, "%lld systems of %lld entries exceed the address space",
                    (long long)B->count, (long long)B->system.nnz);
  TRS_TRY(reserve(g, &g->val, values, size));
  TRS_TRY(reserve(g, &g->fault, g->groups << g->way.log_systems, sizeof *g->fault));
  if (!g->way.lanes && !g->way.shared) TRS_TRY(reserve(g, &g->work, rows, size));
  return TRS_ALLOC(&g->fault_here, B->count);
}

static trs_status build(trs_batch_gpu *g, trs_batch *B, int64_t nrhs) {
  const trs_device_facts *facts = trs_device_look(g->device);
  schedule s = {0};
  trs_status status = make_schedule(&s, &B->system);
  if (!status && B->system.n > 0) {
    const problem p = {.s = &s,
                       .facts = facts,
                       .count = B->count,
                       .nrhs = nrhs > 1 ? nrhs : 1,
                       .size = (int64_t)trs_scalar_size(B->system.scalar),
                       .width = nrhs >= TRS_BATCH_WIDTH ? TRS_BATCH_WIDTH : 1};
    g->way = choose(&p);
    g->levels = s.levels;
    g->groups = (B->count + (1 << g->way.log_systems) - 1) >> g->way.log_systems;
    g->entries = (s.entries + TRS_BATCH_CHUNK - 1) / TRS_BATCH_CHUNK * TRS_BATCH_CHUNK;
    status = trs_batch_prepare(B->system.scalar, facts->shared_bytes);
    if (!status) status = bring_pattern(g, B, &s);
    if (!status) status = reserve_numbers(g, B);
  }
  drop_schedule(&s);
  return status;
}

trs_status trs_batch_gpu_make(trs_batch *B, int64_t nrhs) {
  TRS_TRY(TRS_ALLOC_ZERO(&B->gpu, 1));
  trs_batch_gpu *g = B->gpu;
  g->device = B->context->device;
  trs_context_limit_gpus(B->context);
  const int before = trs_device_enter(g->device);
  trs_status status = B->count > 0 ? build(g, B, nrhs) : TRS_SUCCESS;
  trs_device_leave(before);
  return status;
}

/* In a forked process CUDA is lost, and the memory with it. */
void trs_batch_gpu_drop(trs_batch *B) {
  trs_batch_gpu *g = B->gpu;
  if (!g) return;
  if (!trs_context_is_inherited(B->context)) {
    void *arrays[] = {g->source, g->from_ptr,  g->from,  g->ptr, g->pivot_row, g->distance, g->col,
                      g->row,    g->level_ptr, g->fault, g->val, g->work,      g->stage};
    const int before = trs_device_enter(g->device);
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
      trs_device_free(g->device, arrays[k], g->stream);
    trs_device_leave(before);
  }
  TRS_FREE_ALL(g->fault_here, g);
  B->gpu = NULL;
}

/* ---- Arrays of the caller: those in device memory as they lie, others through a stage. ---- */

static trs_status check_alignment(const trs_batch *B, const char *name, const void *array) {
  const size_t size = trs_scalar_size(B->system.scalar);
  if ((uintptr_t)array % size == 0) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_ARGUMENT, -1,
                  "%s in device memory is not aligned to its elements of %zu bytes: copy it into "
                  "an array that is",
                  name, size);
}

/* Room for some whole groups of systems of `own` bytes each; *groups: how many. */
static trs_status need_stage(trs_batch_gpu *g, int64_t own, int64_t *groups) {
  const int64_t group = own << g->way.log_systems;
  *groups = group < STAGE_BYTES ? STAGE_BYTES / group : 1;
  if (*groups > g->groups) *groups = g->groups;
  if (*groups * group <= g->stage_bytes) return TRS_SUCCESS;
  trs_device_free(g->device, g->stage, g->stream);
  g->bytes -= g->stage_bytes;
  g->stage = NULL;
  g->stage_bytes = 0;
  TRS_TRY(reserve(g, &g->stage, *groups * group, 1));
  g->stage_bytes = *groups * group;
  return TRS_SUCCESS;
}

/* A part of the groups; how many systems it has. */
static int64_t systems_in(const trs_batch *B, int64_t first, int64_t groups) {
  const int log = B->gpu->way.log_systems;
  const int64_t left = B->count - (first << log), all = groups << log;
  return left < all ? left : all;
}

static trs_status take_part(trs_batch *B, const void *val, int64_t stride, int64_t first,
                            int64_t groups) {
  const trs_batch_gpu *g = B->gpu;
  const trs_batch_values v = {.count = B->count,
                              .first = first,
                              .groups = groups,
                              .entries = g->entries,
                              .log_systems = g->way.log_systems,
                              .conj = B->system.conj,
                              .source = g->source,
                              .pivot_row = g->pivot_row,
                              .from_ptr = g->from_ptr,
                              .from = g->from,
                              .val = val,
                              .stride = stride,
                              .to = g->val,
                              .fault = g->fault};
  return trs_batch_take_values(&v, B->system.scalar, g->stream);
}

static trs_status take_from_host(trs_batch *B, const char *val, int64_t stride) {
  trs_batch_gpu *g = B->gpu;
  const int64_t size = (int64_t)trs_scalar_size(B->system.scalar), own = B->given * size;
  int64_t most_groups;
  TRS_TRY(need_stage(g, own, &most_groups));
  for (int64_t first = 0; first < g->groups; first += most_groups) {
    const int64_t groups = g->groups - first < most_groups ? g->groups - first : most_groups;
    TRS_TRY(trs_device_copy_rows(g->stage, own, val + (first << g->way.log_systems) * stride * size,
                                 stride * size, own, systems_in(B, first, groups), g->stream));
    TRS_TRY(take_part(B, g->stage, B->given, first, groups));
  }
  return TRS_SUCCESS;
}

static trs_status take_values(trs_batch *B, const void *val, int64_t stride) {
  trs_batch_gpu *g = B->gpu;
  const int64_t bytes = (g->groups << g->way.log_systems) * (int64_t)sizeof *g->fault;
  TRS_TRY(trs_device_fill(g->fault, 0xff, bytes, g->stream));
  if (B->given == 0 || trs_device_address(val)) {
    TRS_TRY(check_alignment(B, "val", val));
    TRS_TRY(take_part(B, val, stride, 0, g->groups));
  } else {
    TRS_TRY(take_from_host(B, val, stride));
  }
  TRS_TRY(
      trs_device_copy(g->fault_here, g->fault, B->count * (int64_t)sizeof *g->fault, g->stream));
  TRS_TRY(trs_device_wait(g->stream));
  for (int64_t s = 0; s < B->count; s++) {
    const bool none = g->fault_here[s] == UINT64_MAX;
    B->row[s] = none ? -1 : (int64_t)(g->fault_here[s] / 4);
    B->pivot[s] = none ? TRS_PIVOT_GOOD : (trs_pivot)(g->fault_here[s] % 4);
  }
  return TRS_SUCCESS;
}

trs_status trs_batch_gpu_fill(trs_batch *B, const void *val, int64_t stride) {
  if (B->count == 0) return TRS_SUCCESS;
  if (B->system.n == 0) return TRS_SUCCESS;
  trs_context_limit_gpus(B->context);
  const int before = trs_device_enter(B->gpu->device);
  trs_status status = take_values(B, val, stride);
  trs_device_leave(before);
  return status;
}

/* ---- Solving ---- */

/* rhs: of the first system of the part. */
static trs_status launch(const trs_batch *B, const trs_rhs *rhs, int64_t b_next, int64_t x_next,
                         int64_t first, int64_t groups) {
  const trs_batch_gpu *g = B->gpu;
  const trs_batch_way *way = &g->way;
  const int width = rhs->nrhs > 1 ? way->width : 1;
  trs_batch_sweep a = {.n = B->system.n,
                       .entries = g->entries,
                       .count = B->count,
                       .first = first,
                       .groups = groups,
                       .log_systems = way->log_systems,
                       .lower = B->system.lower,
                       .unit = B->system.unit,
                       .val = g->val,
                       .fault = g->fault,
                       .distance = g->distance,
                       .window = way->window,
                       .ptr = g->ptr,
                       .col = g->col,
                       .row = g->row,
                       .level_ptr = g->level_ptr,
                       .levels = g->levels,
                       .threads = way->threads,
                       .pitch = trs_batch_pitch(way->log_systems, width, way->shared),
                       .ahead = way->shared ? 0 : 4 * g->entries / g->levels,
                       .work = g->work,
                       .x = rhs->x,
                       .b = rhs->b,
                       .nrhs = rhs->nrhs,
                       .x_next = x_next,
                       .x_row = rhs->x_row,
                       .x_col = rhs->x_col,
                       .b_next = b_next,
                       .b_row = rhs->b_row,
                       .b_col = rhs->b_col};
  return way->lanes ? trs_batch_lanes_sweep(&a, B->system.scalar, g->stream)
                    : trs_batch_levels_sweep(&a, width, B->system.scalar, g->stream);
}

/* Dense arrays of some systems, n x nrhs each. */
typedef struct dense {
  char *at;
  int64_t next, ld; /* in bytes: from system to system, from run to run */
} dense;

static trs_status copy_systems(const dense *to, const dense *from, int64_t runs, int64_t run,
                               int64_t systems, trs_stream stream) {
  if (systems > 1 && (runs == 1 || (to->ld == run && from->ld == run)))
    return trs_device_copy_rows(to->at, to->next, from->at, from->next, runs * run, systems,
                                stream);
  for (int64_t s = 0; s < systems; s++)
    TRS_TRY(trs_device_copy_rows(to->at + s * to->next, to->ld, from->at + s * from->next, from->ld,
                                 run, runs, stream));
  return TRS_SUCCESS;
}

static trs_status solve_staged(trs_batch *B, const trs_rhs *rhs, int64_t b_next, int64_t x_next) {
  trs_batch_gpu *g = B->gpu;
  const int64_t size = (int64_t)trs_scalar_size(B->system.scalar), n = B->system.n;
  const bool columns = rhs->x_row == 1 && rhs->b_row == 1;
  const int64_t runs = columns ? rhs->nrhs : n, run = (columns ? n : rhs->nrhs) * size;
  const int64_t own = n * rhs->nrhs;
  int64_t most_groups;
  TRS_TRY(need_stage(g, own * size, &most_groups));
  const dense stage = {.at = g->stage, .next = own * size, .ld = run};
  const trs_rhs there = {.x = g->stage,
                         .b = g->stage,
                         .nrhs = rhs->nrhs,
                         .x_row = columns ? 1 : rhs->nrhs,
                         .b_row = columns ? 1 : rhs->nrhs,
                         .x_col = columns ? n : 1,
                         .b_col = columns ? n : 1};
  for (int64_t first = 0; first < g->groups; first += most_groups) {
    const int64_t groups = g->groups - first < most_groups ? g->groups - first : most_groups;
    const int64_t systems = systems_in(B, first, groups), from = first << g->way.log_systems;
    const dense b = {.at = (char *)rhs->b + from * b_next * size,
                     .next = b_next * size,
                     .ld = (columns ? rhs->b_col : rhs->b_row) * size};
    const dense x = {.at = (char *)rhs->x + from * x_next * size,
                     .next = x_next * size,
                     .ld = (columns ? rhs->x_col : rhs->x_row) * size};
    TRS_TRY(copy_systems(&stage, &b, runs, run, systems, g->stream));
    TRS_TRY(launch(B, &there, own, own, first, groups));
    TRS_TRY(copy_systems(&x, &stage, runs, run, systems, g->stream));
  }
  return trs_device_wait(g->stream);
}

static trs_status solve_where_they_lie(trs_batch *B, const trs_rhs *rhs, int64_t b_next,
                                       int64_t x_next) {
  if (!trs_device_address(rhs->x) || !trs_device_address(rhs->b))
    return solve_staged(B, rhs, b_next, x_next);
  TRS_TRY(check_alignment(B, "x", rhs->x));
  TRS_TRY(check_alignment(B, "b", rhs->b));
  return launch(B, rhs, b_next, x_next, 0, B->gpu->groups);
}

trs_status trs_batch_gpu_run(trs_batch *B, const trs_rhs *rhs, int64_t b_next, int64_t x_next) {
  const int before = trs_device_enter(B->gpu->device);
  trs_status status = solve_where_they_lie(B, rhs, b_next, x_next);
  trs_device_leave(before);
  return status;
}

trs_status trs_batch_gpu_use_stream(trs_batch *B, trs_stream stream) {
  trs_batch_gpu *g = B->gpu;
  const int before = trs_device_enter(g->device);
  trs_status status = trs_device_wait(g->stream);
  trs_device_leave(before);
  if (!status) g->stream = stream;
  return status;
}

void trs_batch_gpu_info(const trs_batch *B, trs_batch_info *info) {
  const trs_batch_gpu *g = B->gpu;
  info->systems_at_once = 1 << g->way.log_systems;
  info->threads = g->way.threads;
  info->bytes += g->bytes + TRS_HELD(g->fault_here);
  info->method = g->way.lanes ? "lanes" : g->way.shared ? "levels, x in shared memory" : "levels";
}
