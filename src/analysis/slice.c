/* slice.c - the slices of slices.h, step by step on the host, by a team of threads. */
#include "analysis/slice.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/growth.h"
#include "base/search.h"
#include "base/wait.h"

int64_t trs_slices_alone = 20000;

typedef struct block {
  int32_t start; /* in the order of the sweep */
  int32_t level;
  int32_t length; /* most entries of one row outside the block */
  int32_t slice;  /* its slice, the first if it has several */
  uint8_t rows, class_number, slab;
  uint8_t place; /* of its first row in its slice */
} block;

/* The findings of one thread. */
typedef struct tally {
  int64_t blocks, slices, parts, rows;
  int32_t levels, longest;
  uint64_t classes; /* a bit for each that occurs */
} tally;

typedef struct trs_outline {
  trs_system S;
  trs_slice_rules rules;
  trs_slices *slices;
  const uint8_t *block_starts; /* n, or NULL: 1 where a block must begin */
  block *block;
  int32_t nblocks, nlevels, longest; /* as in slices */
  uint8_t *begins;                   /* n: 1 where a block begins at a row of the sweep */
  int32_t *order;                    /* nblocks: by level, slab, class, place in the sweep */
  int32_t *position;                 /* n: of each row */
  int32_t *begin; /* nslices + 1: begin of each slice's blocks in order; a heavy block belongs
                     to its first slice */
  int32_t nslabs;
  int64_t *cut; /* nslabs + 1 */
  /* During the construction only: */
  const struct trs_outline *like;
  trs_team *team;
  int threads, sorters; /* those that sort may be fewer */
  trs_walk walk;
  int32_t nclasses;
  int64_t nkinds;
  tally *tally;              /* threads */
  _Atomic int32_t *level_of; /* n: level of each row, -1: unknown */
  _Atomic int64_t ticket;
  int32_t *level_rows;              /* nlevels */
  int32_t dense_class[TRS_CLASSES]; /* numbers of the classes that occur */
  int32_t *count;                   /* sorters x nkinds: where each sorter's next block of each
                                       kind goes */
  int32_t *kind_begin;              /* nkinds */
} work;

/* Off-diagonal entry k of a row in the order of the sweep; the nearest to the diagonal is last. */
static int64_t entry_at(const trs_system *S, int64_t begin, int64_t end, int64_t k) {
  return S->lower ? begin + k : end - 1 - k;
}

/* The number of rows just before row k of the sweep that row k depends on, without a gap. */
static int32_t run_before(const trs_system *S, int64_t k, int32_t most) {
  int64_t i = trs_in_sweep(S, k), begin, end;
  int32_t run = 0;
  trs_off_diagonal(S, i, S->lower, S->has_diagonal, &begin, &end);
  while (run < most && run < end - begin &&
         S->idx[entry_at(S, begin, end, end - begin - 1 - run)] == trs_in_sweep(S, k - 1 - run))
    run++;
  return run;
}

static bool starts_block(const work *w, int64_t k) { return w->block_starts && w->block_starts[k]; }

/* True if row k may be in the full block of `depth` rows just before it. */
static bool joins(const work *w, int64_t k, int32_t depth) {
  if (depth >= w->rules.most_block || k % TRS_BLOCK_WINDOW == 0) return false;
  return !starts_block(w, k) && run_before(&w->S, k, depth) >= depth;
}

/* True if row k is in the chain of the row before it. */
static bool continues(const work *w, int64_t k) {
  return k > 0 && !starts_block(w, k) && (w->rules.loose || run_before(&w->S, k, 1) > 0);
}

/* The first row of the chain of row k, the first of a window; k if that is too far. */
static int64_t chain_begin(const work *w, int64_t k) {
  int64_t row = k;
  while (continues(w, row))
    if (--row < k - TRS_CHAIN_LOOK) return k;
  return row;
}

/* A thread's part of the sweep: whole windows. */
static void share_windows(const work *w, int rank, int size, int64_t *begin, int64_t *end) {
  trs_share((w->S.n + TRS_BLOCK_WINDOW - 1) / TRS_BLOCK_WINDOW, rank, size, begin, end);
  *begin *= TRS_BLOCK_WINDOW;
  *end *= TRS_BLOCK_WINDOW;
  if (*end > w->S.n) *end = w->S.n;
}

static void mark_full_blocks(work *w, int64_t begin, int64_t end) {
  int32_t depth = 0;
  for (int64_t k = begin; k < end; k++) {
    depth = depth > 0 && joins(w, k, depth) ? depth + 1 : 1;
    w->begins[k] = depth == 1;
  }
}

/* Every most_block rows of a chain. */
static void mark_chains(work *w, int64_t begin, int64_t end) {
  int64_t first = begin;
  for (int64_t k = begin; k < end; k++) {
    if (k % TRS_BLOCK_WINDOW == 0)
      first = chain_begin(w, k);
    else if (!continues(w, k))
      first = k;
    w->begins[k] = (k - first) % w->rules.most_block == 0;
  }
}

static void mark_blocks(void *argument, int rank, int size) {
  work *w = argument;
  int64_t begin, end, count = 0;
  share_windows(w, rank, size, &begin, &end);
  (w->rules.dense ? mark_full_blocks : mark_chains)(w, begin, end);
  for (int64_t k = begin; k < end; k++) count += w->begins[k];
  w->tally[rank].blocks = count;
}

/* The blocks that begin in the thread's part. */
static void make_blocks(void *argument, int rank, int size) {
  work *w = argument;
  int64_t begin, end, number = -1;
  int32_t slab = 0;
  share_windows(w, rank, size, &begin, &end);
  while (begin < w->S.n && !w->begins[begin]) begin++;
  while (end < w->S.n && !w->begins[end]) end++;
  for (int before = 0; before < rank; before++) number += w->tally[before].blocks;
  for (int64_t k = begin; k < end; k++) {
    atomic_init(&w->level_of[trs_in_sweep(&w->S, k)], -1);
    if (!w->begins[k]) {
      w->block[number].rows++;
      continue;
    }
    while (slab + 1 < w->nslabs && k >= w->cut[slab + 1]) slab++;
    w->block[++number] = (block){.start = (int32_t)k, .rows = 1, .slab = (uint8_t)slab};
  }
}

static void on_team(work *w, int threads, void (*body)(void *, int, int)) {
  trs_team_run(w->team, threads, body, w);
}

static trs_status find_blocks(work *w) {
  on_team(w, w->threads, mark_blocks);
  for (int t = 0; t < w->threads; t++) w->slices->nblocks += (int32_t)w->tally[t].blocks;
  TRS_TRY(TRS_ALLOC(&w->block, w->slices->nblocks));
  on_team(w, w->threads, make_blocks);
  return TRS_SUCCESS;
}

/* Entries of row k of the sweep outside the block that begins at row start. */
static void outside(const trs_system *S, int64_t k, int64_t start, int64_t *begin, int64_t *end) {
  const int64_t first = trs_in_sweep(S, start);
  trs_off_diagonal(S, trs_in_sweep(S, k), S->lower, S->has_diagonal, begin, end);
  while (S->lower && *begin < *end && S->idx[*end - 1] >= first) --*end;
  while (!S->lower && *begin < *end && S->idx[*begin] <= first) ++*begin;
}

/* Waits for the thread that has the row. */
static int32_t await_level(work *w, int32_t row) {
  int32_t level;
  trs_patience wait = {0};
  while ((level = atomic_load_explicit(&w->level_of[row], memory_order_relaxed)) < 0)
    trs_wait_turn(&wait);
  return level;
}

/* Level of a block, and the most entries of one of its rows outside it. */
static void look_at_block(work *w, block *b) {
  const trs_system *S = &w->S;
  int32_t level = 0;
  for (int32_t r = 0; r < b->rows; r++) {
    int64_t begin, end;
    outside(S, b->start + r, b->start, &begin, &end);
    for (int64_t p = begin; p < end; p++) {
      int32_t other = await_level(w, S->idx[p]);
      if (other >= level) level = other + 1;
    }
    if (end - begin > b->length) b->length = (int32_t)(end - begin);
  }
  b->level = level;
  for (int32_t r = 0; r < b->rows; r++)
    atomic_store_explicit(&w->level_of[trs_in_sweep(S, b->start + r)], level, memory_order_relaxed);
}

/* The block that begins at row k of the sweep, or behind the last one. */
static int64_t block_at(const work *w, int64_t k) {
  return trs_search(&w->block->start, false, sizeof *w->block, 0, w->slices->nblocks, k);
}

static void find_levels(void *argument, int rank, int size) {
  work *w = argument;
  int32_t levels = 0, longest = 0;
  (void)size;
  for (;;) {
    const int64_t part = atomic_fetch_add(&w->ticket, 1), k = trs_walk_begin(&w->walk, part);
    const int64_t end = trs_walk_begin(&w->walk, part + 1);
    if (k >= w->S.n) break;
    for (int64_t b = block_at(w, k); b < w->slices->nblocks && w->block[b].start < end; b++) {
      look_at_block(w, &w->block[b]);
      if (w->block[b].level >= levels) levels = w->block[b].level + 1;
      if (w->block[b].length > longest) longest = w->block[b].length;
    }
  }
  w->tally[rank].levels = levels;
  w->tally[rank].longest = longest;
}

/* Threads for counting.  Each has `counts` counters; all counters together stay below about four
 * times the number of blocks. */
static int counters(const work *w, int64_t counts) {
  int64_t most = 4 * (int64_t)w->slices->nblocks / (counts + 1) + 1;
  return most < w->threads ? (int)most : w->threads;
}

static void count_level_rows(void *argument, int rank, int size) {
  work *w = argument;
  int32_t *rows = w->level_rows + (int64_t)rank * w->slices->nlevels;
  int64_t begin, end;
  trs_share(w->slices->nblocks, rank, size, &begin, &end);
  for (int64_t b = begin; b < end; b++) rows[w->block[b].level] += w->block[b].rows;
}

static trs_status count_rows(work *w) {
  const int64_t nlevels = w->slices->nlevels;
  const int size = counters(w, nlevels);
  TRS_TRY(trs_alloc_zero((void **)&w->level_rows, size * nlevels, sizeof *w->level_rows));
  on_team(w, size, count_level_rows);
  for (int t = 1; t < size; t++)
    for (int64_t l = 0; l < nlevels; l++) w->level_rows[l] += w->level_rows[t * nlevels + l];
  return TRS_SUCCESS;
}

static void classify_blocks(void *argument, int rank, int size) {
  work *w = argument;
  int64_t begin, end;
  uint64_t classes = 0;
  trs_share(w->slices->nblocks, rank, size, &begin, &end);
  for (int64_t k = begin; k < end; k++) {
    block *b = &w->block[k];
    b->class_number = (uint8_t)trs_class_of(w->rules, b->rows, b->length, w->level_rows[b->level]);
    classes |= (uint64_t)1 << b->class_number;
  }
  w->tally[rank].classes = classes;
}

static trs_status find_classes(work *w) {
  uint64_t classes = 0;
  int32_t count = 0;
  TRS_TRY(count_rows(w));
  on_team(w, w->threads, classify_blocks);
  for (int t = 0; t < w->threads; t++) classes |= w->tally[t].classes;
  for (int32_t c = 0; c < TRS_CLASSES; c++) {
    w->dense_class[c] = count;
    count += (int32_t)(classes >> c & 1);
  }
  w->nclasses = count;
  w->nkinds = (int64_t)w->slices->nlevels * w->nslabs * count;
  return TRS_SUCCESS;
}

/* ---- Counting sort by level, slab and class, stable. ---- */

static int64_t kind_of(const work *w, const block *b) {
  return ((int64_t)b->level * w->nslabs + b->slab) * w->nclasses + w->dense_class[b->class_number];
}

static void count_kinds(void *argument, int rank, int size) {
  work *w = argument;
  int32_t *count = w->count + (int64_t)rank * w->nkinds;
  int64_t begin, end;
  trs_share(w->slices->nblocks, rank, size, &begin, &end);
  for (int64_t b = begin; b < end; b++) count[kind_of(w, &w->block[b])]++;
}

static void place_blocks(void *argument, int rank, int size) {
  work *w = argument;
  int32_t *count = w->count + (int64_t)rank * w->nkinds;
  int64_t begin, end;
  trs_share(w->slices->nblocks, rank, size, &begin, &end);
  for (int64_t b = begin; b < end; b++) w->order[count[kind_of(w, &w->block[b])]++] = (int32_t)b;
}

/* Each sorter counts all kinds, so many kinds mean few sorters. */
static trs_status order_blocks(work *w) {
  int32_t before = 0;
  w->sorters = counters(w, w->nkinds);
  TRS_TRY(trs_alloc_zero((void **)&w->count, (int64_t)w->sorters * w->nkinds, sizeof *w->count));
  TRS_TRY(TRS_ALLOC(&w->kind_begin, w->nkinds));
  on_team(w, w->sorters, count_kinds);
  for (int64_t kind = 0; kind < w->nkinds; kind++) {
    w->kind_begin[kind] = before;
    for (int t = 0; t < w->sorters; t++) {
      int32_t *count = &w->count[(int64_t)t * w->nkinds + kind], own = *count;
      *count = before;
      before += own;
    }
  }
  on_team(w, w->sorters, place_blocks);
  return TRS_SUCCESS;
}

/* ---- Blocks into slices, rows into positions. ---- */

static bool begins_slice(const work *w, int64_t k) {
  const block *b = &w->block[w->order[k]];
  return (k - w->kind_begin[kind_of(w, b)]) % trs_class_blocks(b->class_number, w->rules.wide) == 0;
}

/* A thread's part of the order: whole slices. */
static void share_slices(const work *w, int rank, int size, int64_t *begin, int64_t *end) {
  const int64_t count = w->slices->nblocks;
  trs_share(count, rank, size, begin, end);
  while (*begin < count && !begins_slice(w, *begin)) ++*begin;
  while (*end < count && !begins_slice(w, *end)) ++*end;
}

static trs_slice new_slice(const block *b, int32_t first) {
  return (trs_slice){.first = first,
                     .early_poll = -1,
                     .level = b->level,
                     .log_lanes = (uint8_t)trs_class_lanes(b->class_number),
                     .heavy = (uint8_t)trs_class_heavy(b->class_number)};
}

static int32_t block_width(const block *b, int32_t log_lanes) {
  return (int32_t)(((int64_t)b->length + (1 << log_lanes) - 1) >> log_lanes);
}

/* Parts of a block that another slice adds. */
static int32_t parts_of(const block *b) {
  if (!trs_class_heavy(b->class_number)) return 0;
  return trs_heavy_slices(block_width(b, trs_class_lanes(b->class_number))) - 1;
}

static void count_slices(void *argument, int rank, int size) {
  work *w = argument;
  tally *t = &w->tally[rank];
  int64_t begin, end;
  t->slices = t->parts = t->rows = 0;
  share_slices(w, rank, size, &begin, &end);
  for (int64_t k = begin; k < end; k++) {
    const block *b = &w->block[w->order[k]];
    t->rows += b->rows;
    t->parts += parts_of(b);
    t->slices += begins_slice(w, k) ? 1 + parts_of(b) : 0;
  }
}

/* Cuts a heavy slice into parts and a last slice that adds them. */
static void cut_parts(trs_slice *slice, int32_t parts, int32_t part) {
  trs_slice whole = *slice;
  for (int32_t k = 0; k < parts; k++, slice++) {
    *slice = whole;
    slice->width = TRS_PART_WIDTH;
    slice->block = 0;
    slice->part = part + k;
    slice->parts = -1;
  }
  *slice = whole;
  slice->width = whole.width - parts * TRS_PART_WIDTH;
  slice->part = part;
  slice->parts = parts;
}

static void add_block(work *w, block *b, int32_t number, int32_t position) {
  trs_slice *slice = &w->slices->slice[number];
  int32_t width = block_width(b, slice->log_lanes);
  if (width > slice->width) slice->width = width;
  if (b->rows > slice->block) slice->block = b->rows;
  b->slice = number;
  b->place = slice->rows;
  slice->rows = (uint8_t)(slice->rows + b->rows);
  for (int32_t r = 0; r < b->rows; r++) {
    int64_t row = trs_in_sweep(&w->S, b->start + r);
    w->slices->row[position + r] = (int32_t)row;
    w->position[row] = position + r;
  }
}

static void cut_slices(void *argument, int rank, int size) {
  work *w = argument;
  trs_slices *s = w->slices;
  int64_t begin, end, next = 0, parts = 0, position = 0;
  for (int t = 0; t < rank; t++) {
    next += w->tally[t].slices;
    parts += w->tally[t].parts;
    position += w->tally[t].rows;
  }
  share_slices(w, rank, size, &begin, &end);
  for (int64_t k = begin; k < end; k++) {
    block *b = &w->block[w->order[k]];
    const int32_t own = parts_of(b);
    if (begins_slice(w, k)) {
      s->slice[next] = new_slice(b, (int32_t)position);
      w->begin[next++] = (int32_t)k;
    }
    add_block(w, b, (int32_t)next - 1, (int32_t)position);
    if (trs_class_heavy(b->class_number)) cut_parts(&s->slice[next - 1], own, (int32_t)parts);
    for (int32_t j = 0; j < own; j++) w->begin[next++] = (int32_t)k + 1;
    parts += own;
    position += b->rows;
  }
}

static trs_status make_slices(work *w) {
  trs_slices *s = w->slices;
  on_team(w, w->threads, count_slices);
  for (int t = 0; t < w->threads; t++) {
    s->nslices += (int32_t)w->tally[t].slices;
    s->nparts += (int32_t)w->tally[t].parts;
  }
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&s->slice, s->nslices), TRS_ROOM(&w->begin, s->nslices + 1)));
  on_team(w, w->threads, cut_slices);
  w->begin[s->nslices] = s->nblocks;
  return TRS_SUCCESS;
}

/* Offsets of each slice's entries and inverses, and where levels begin. */
static void number_slices(trs_slices *s) {
  for (int32_t k = 0; k < s->nslices; k++) {
    trs_slice *slice = &s->slice[k];
    slice->entries = s->entries;
    slice->inverse = s->inverses;
    s->entries += (int64_t)slice->width * trs_slice_stride(slice);
    s->inverses += trs_slice_inverses(slice);
    trs_slice_level *level = &s->level[slice->level];
    if (k == 0 || slice->level != s->slice[k - 1].level)
      *level = (trs_slice_level){slice->entries, k, 0, slice->first, 0};
    level->heavy += slice->heavy;
  }
  s->level[s->nlevels] = (trs_slice_level){s->entries, s->nslices, 0, (int32_t)s->n, 0};
}

/* Heavy slices alone, the others of a level TRS_CHUNK_SLICES at a time. */
static void cut_chunks(trs_slices *s) {
  for (int32_t level = 0, k = 0; level < s->nlevels; level++) {
    s->level[level].chunk = s->nchunks;
    while (k < s->level[level + 1].slice) {
      s->chunk[s->nchunks++] = k;
      int32_t first = k++, end = s->level[level + 1].slice;
      while (k < end && k < first + TRS_CHUNK_SLICES && !s->slice[first].heavy &&
             !s->slice[k].heavy)
        k++;
    }
  }
  s->level[s->nlevels].chunk = s->nchunks;
  s->chunk[s->nchunks] = s->nslices;
}

/* The row `early_poll` levels up, at the same relative place in its level.  It is solved a few
 * hops before the slice can be. */
static void choose_early_polls(trs_slices *s, int32_t early_poll) {
  for (int32_t k = 0; k < s->nslices; k++) {
    const trs_slice_level *it = &s->level[s->slice[k].level];
    if (early_poll == 0 || s->slice[k].level < early_poll) continue;
    int64_t at = it[-early_poll].position, rows = it[1 - early_poll].position - at;
    s->slice[k].early_poll = (int32_t)(at + (k - it->slice) * rows / (it[1].slice - it->slice));
  }
}

/* The row behind a block begins the next one, and still does if this block is cut. */
static bool keep_inverse(const work *w, const block *b, const void *T, const void *N,
                         uint8_t *block_starts) {
  double room[2 * TRS_MOST_BLOCK];
  uint8_t unused[TRS_MOST_BLOCK];
  const int64_t behind = (int64_t)b->start + b->rows;
  if (!trs_growth_cut(w->S.scalar, b->rows, T, N, room,
                      block_starts ? block_starts + b->start : unused))
    return true;
  if (block_starts && behind < w->S.n) block_starts[behind] = 1;
  return false;
}

#define TRS_TEMPLATE "analysis/slice_tmpl.c"
#include "base/instantiate.h"

/* Padding behind the last entry of a row, and coefficients where no path leads. */
static void empty_arrays(const trs_slice_arrays *to, int64_t entries, int64_t inverses,
                         size_t size) {
  memset(to->idx, 0xff, (size_t)entries * sizeof *to->idx);
  memset(to->val, 0, (size_t)entries * size);
  memset(to->inverse, 0xff, (size_t)inverses * size);
}

int64_t trs_outline_fill(const trs_outline *outline, const trs_slice *slice, const int32_t *number,
                         int32_t count, const trs_slice_arrays *to, uint8_t *block_starts) {
  static bool (*const fill_of[])(const work *, int32_t, const trs_slice *, const trs_slice_arrays *,
                                 uint8_t *) = TRS_TABLE(fill_block);
  const trs_scalar scalar = outline->S.scalar;
  int64_t refused = 0;
  if (count == 0) return 0;
  const trs_slice *last = &slice[count - 1];
  trs_slice_arrays own = *to;
  own.entries = slice->entries;
  own.inverses = slice->inverse;
  own.idx += slice->entries - to->entries;
  own.val = (char *)own.val + (slice->entries - to->entries) * (int64_t)trs_scalar_size(scalar);
  own.inverse =
      (char *)own.inverse + (slice->inverse - to->inverses) * (int64_t)trs_scalar_size(scalar);
  empty_arrays(&own, last->entries + (int64_t)last->width * trs_slice_stride(last) - own.entries,
               last->inverse + trs_slice_inverses(last) - own.inverses, trs_scalar_size(scalar));
  for (int32_t k = 0; k < count; k++) {
    int32_t which = number ? number[k] : k;
    for (int32_t b = outline->begin[which]; b < outline->begin[which + 1]; b++)
      refused += !fill_of[scalar](outline, outline->order[b], &slice[k], &own, block_starts);
  }
  return refused;
}

static void drop_aids(work *w) {
  TRS_FREE_ALL(w->tally, (void *)w->level_of, w->level_rows, w->count, w->kind_begin);
  w->tally = NULL;
  w->level_of = NULL;
  w->level_rows = w->count = w->kind_begin = NULL;
}

/* The blocks and levels of another outline, in the slabs of this one. */
static void take_blocks(void *argument, int rank, int size) {
  work *w = argument;
  int64_t begin, end;
  int32_t slab = 0;
  trs_share(w->slices->nblocks, rank, size, &begin, &end);
  for (int64_t k = begin; k < end; k++) {
    const block *b = &w->like->block[k];
    while (slab + 1 < w->nslabs && b->start >= w->cut[slab + 1]) slab++;
    w->block[k] = (block){.start = b->start,
                          .level = b->level,
                          .length = b->length,
                          .rows = b->rows,
                          .slab = (uint8_t)slab};
  }
}

static trs_status take_levels(work *w) {
  trs_slices *s = w->slices;
  s->nblocks = w->like->nblocks;
  s->nlevels = w->like->nlevels;
  s->longest = w->like->longest;
  TRS_TRY(TRS_ALLOC(&w->block, s->nblocks));
  memcpy(w->begins, w->like->begins, (size_t)w->S.n);
  on_team(w, w->threads, take_blocks);
  return TRS_SUCCESS;
}

static trs_status make_levels(work *w) {
  trs_slices *s = w->slices;
  TRS_TRY(trs_alloc((void **)&w->level_of, w->S.n, sizeof *w->level_of));
  TRS_TRY(find_blocks(w));
  w->walk = trs_walk_of(&w->S, w->begins, w->team);
  on_team(w, w->walk.threads, find_levels);
  for (int t = 0; t < w->threads; t++) {
    if (w->tally[t].levels > s->nlevels) s->nlevels = w->tally[t].levels;
    if (w->tally[t].longest > s->longest) s->longest = w->tally[t].longest;
  }
  return TRS_SUCCESS;
}

static trs_status outline(work *w, const int64_t *cut) {
  trs_slices *s = w->slices;
  int64_t n = w->S.n;
  TRS_TRY(TRS_ALLOC_ALL(TRS_ZEROS(&w->tally, w->threads), TRS_ROOM(&w->cut, w->nslabs + 1)));
  memcpy(w->cut, cut, (size_t)(w->nslabs + 1) * sizeof *cut);
  TRS_TRY(TRS_ALLOC(&w->begins, n));
  TRS_TRY(w->like ? take_levels(w) : make_levels(w));
  w->nblocks = s->nblocks;
  w->nlevels = s->nlevels;
  w->longest = s->longest;
  TRS_TRY(find_classes(w));
  TRS_TRY(TRS_ALLOC(&w->order, s->nblocks));
  TRS_TRY(order_blocks(w));
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&w->position, n), TRS_ROOM(&s->row, n)));
  TRS_TRY(make_slices(w));
  TRS_TRY(TRS_ALLOC_ALL(TRS_ZEROS(&s->level, s->nlevels + 1), TRS_ROOM(&s->chunk, s->nslices + 1)));
  number_slices(s);
  cut_chunks(s);
  choose_early_polls(s, w->rules.early_poll);
  return TRS_SUCCESS;
}

void trs_outline_destroy(trs_outline *outline) {
  if (!outline) return;
  drop_aids(outline);
  TRS_FREE_ALL(outline->block, outline->begins, outline->order, outline->position, outline->begin,
               outline->cut, outline);
}

trs_status trs_outline_create(trs_outline **result, trs_slices *slices, const trs_system *S,
                              const trs_slice_rules *rules, const uint8_t *block_starts,
                              const trs_outline *like, int32_t nslabs, const int64_t *cut,
                              trs_team *team) {
  work *w;
  *result = NULL;
  *slices = (trs_slices){.n = S->n};
  TRS_TRY(TRS_ALLOC_ZERO(&w, 1));
  w->S = *S;
  w->rules = *rules;
  w->block_starts = block_starts;
  w->like = like;
  w->nslabs = nslabs;
  w->slices = slices;
  w->team = team;
  w->threads = S->n < trs_slices_alone ? 1 : trs_team_size(team);
  trs_status status = outline(w, cut);
  drop_aids(w);
  w->slices = NULL;
  w->like = NULL;
  w->block_starts = NULL;
  w->team = NULL;
  if (status) {
    trs_slices_destroy(slices);
    trs_outline_destroy(w);
    return status;
  }
  *result = w;
  return TRS_SUCCESS;
}

typedef struct naming {
  work *w;
  const uint32_t *known;
  int32_t *longest; /* of each thread */
} naming;

static void name_levels(void *argument, int rank, int size) {
  const naming *it = argument;
  const trs_system *S = &it->w->S;
  int64_t begin, end, first, stop;
  trs_share(S->n, rank, size, &begin, &end);
  for (int64_t k = begin; k < end; k++) {
    trs_off_diagonal(S, trs_in_sweep(S, k), S->lower, S->has_diagonal, &first, &stop);
    const int32_t length = (int32_t)(stop - first);
    it->w->block[k] = (block){.start = (int32_t)k,
                              .level = (int32_t)it->known[trs_in_sweep(S, k)] - 1,
                              .length = length,
                              .rows = 1};
    if (length > it->longest[rank]) it->longest[rank] = length;
  }
}

static trs_status take_known(work *w, const uint32_t *known, trs_team *team) {
  const int threads = trs_team_size(team);
  naming it = {w, known, NULL};
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&w->begins, w->S.n), TRS_ROOM(&w->block, w->S.n),
                        TRS_ZEROS(&it.longest, threads)));
  memset(w->begins, 1, (size_t)w->S.n);
  trs_team_run(team, threads, name_levels, &it);
  for (int t = 0; t < threads; t++)
    if (it.longest[t] > w->longest) w->longest = it.longest[t];
  trs_free(it.longest);
  return TRS_SUCCESS;
}

trs_status trs_outline_of_levels(trs_outline **outline, const trs_system *S, const uint32_t *known,
                                 int32_t nlevels, trs_team *team) {
  work *w;
  *outline = NULL;
  TRS_TRY(TRS_ALLOC_ZERO(&w, 1));
  w->S = *S;
  w->nblocks = (int32_t)S->n;
  w->nlevels = nlevels;
  const trs_status status = take_known(w, known, team);
  if (status)
    trs_outline_destroy(w);
  else
    *outline = w;
  return status;
}

void trs_outline_renew(trs_outline *outline, const trs_system *S) { outline->S = *S; }

const int32_t *trs_outline_positions(const trs_outline *outline) { return outline->position; }
const uint8_t *trs_outline_begins(const trs_outline *outline) { return outline->begins; }
const int64_t *trs_outline_slabs(const trs_outline *outline, int32_t *nslabs) {
  *nslabs = outline->nslabs;
  return outline->cut;
}

void trs_slices_destroy(trs_slices *slices) {
  TRS_FREE_ALL(slices->slice, slices->chunk, slices->level, slices->row, slices->idx, slices->val,
               slices->inverse);
  *slices = (trs_slices){0};
}

/* ---- A sample of rows. ---- */

/* Walkers wait for each other, so one that has lost its core stops them all.  Of many cores, half
 * are left to whatever else runs. */
static int walkers(const trs_team *team) {
  enum { FEW = 8, MOST = 32 };
  const int size = trs_team_size(team), half = size / 2;
  if (size <= FEW) return size;
  return half < FEW ? FEW : half > MOST ? MOST : half;
}

trs_walk trs_walk_of(const trs_system *S, const uint8_t *begins, const trs_team *team) {
  enum { LEAST = 32, MOST = 2048 }; /* rows of a part */
  trs_walk w = {.S = S, .begins = begins, .grain = LEAST, .threads = walkers(team)};
  double length, chained, run;
  if (trs_slices_alone == 0 || w.threads == 1) return w;
  trs_slices_sample(S, &length, &chained, &run);
  const double chain = chained < 1 ? 1 / (1 - chained) : MOST;
  if (S->n < trs_slices_alone || chain >= MOST)
    w.threads = 1;
  else if (chain > LEAST)
    w.grain = (int64_t)chain;
  return w;
}

int64_t trs_walk_begin(const trs_walk *w, int64_t part) {
  const trs_system *S = w->S;
  int64_t k = part < S->n / w->grain + 1 ? part * w->grain : S->n;
  const int64_t limit = k + TRS_CHAIN_LOOK < S->n ? k + TRS_CHAIN_LOOK : S->n;
  if (k == 0 || k >= S->n) return k < S->n ? k : S->n;
  int64_t at = k;
  while (at < limit && !(w->begins[at] && run_before(S, at, 1) == 0)) at++;
  if (at < limit) return at;
  while (k < S->n && !w->begins[k]) k++;
  return k;
}

void trs_slices_sample(const trs_system *S, double *row_length, double *chained, double *run) {
  enum { ROWS = 1 << 16 };
  int64_t step = S->n > ROWS ? S->n / ROWS : 1, rows = 0, entries = 0, chains = 0, runs = 0;
  /* Not at equal distances, which may be those of a grid's lines. */
  for (int64_t at = 0, turn = 0; at < S->n; at += step, turn++) {
    const int64_t jump = (int64_t)((uint64_t)turn * 0x9e3779b97f4a7c15u >> 32) % step;
    const int64_t k = at + jump < S->n ? at + jump : at;
    int64_t begin, end, before = k < TRS_MOST_BLOCK ? k : TRS_MOST_BLOCK;
    trs_off_diagonal(S, trs_in_sweep(S, k), S->lower, S->has_diagonal, &begin, &end);
    int32_t own = run_before(S, k, (int32_t)before);
    rows++;
    entries += end - begin;
    chains += own > 0;
    runs += own;
  }
  double all = rows > 0 ? (double)rows : 1;
  *row_length = (double)entries / all;
  *chained = (double)chains / all;
  *run = (double)runs / all;
}
