/* slice.c - the slices of slices.h, step by step on the host. */
#include "analysis/slice.h"

#include <stdlib.h>
#include <string.h>

enum { TRS_LONGEST = 1 << 30 }; /* so that lengths shifted by lanes fit */

typedef struct block {
  int32_t start, rows; /* in the order of the sweep */
  int32_t level, length, class_number, slab;
  int32_t slice, place; /* its slice (the first of several) and its first row there */
} block;

typedef struct trs_outline {
  trs_system S;
  trs_slice_rules rules;
  int32_t nslabs;
  const int64_t *cut; /* nslabs + 1, while it is made */
  trs_slices *slices;
  block *block;
  int32_t *block_of; /* n: the block of each row */
  int32_t *order;    /* nblocks: by level, slab, class, place in the sweep */
  int32_t *position; /* n: of each row */
  int32_t *begin;    /* nslices + 1: where each slice's blocks begin in order; a heavy block's stand
                        with its first slice */
} work;

/* Row k of the sweep. */
static int64_t row_at(const trs_system *S, int64_t k) { return S->lower ? k : S->n - 1 - k; }

/* Off-diagonal entry k of row i in the order of the sweep, the nearest to the diagonal last. */
static int64_t entry_at(const trs_system *S, int64_t begin, int64_t end, int64_t k) {
  return S->lower ? begin + k : end - 1 - k;
}

/* How many of the rows just before row k of the sweep it depends on, without a gap. */
static int32_t run_before(const trs_system *S, int64_t k, int32_t most) {
  int64_t i = row_at(S, k), begin, end;
  int32_t run = 0;
  trs_off_diagonal(S, i, S->lower, S->has_diagonal, &begin, &end);
  while (run < most && run < end - begin &&
         S->idx[entry_at(S, begin, end, end - begin - 1 - run)] == row_at(S, k - 1 - run))
    run++;
  return run;
}

static bool joins(const work *w, int64_t k, int32_t depth) {
  if (depth >= w->rules.most_block || k % TRS_BLOCK_WINDOW == 0) return false;
  return run_before(&w->S, k, depth) >= (w->rules.dense ? depth : 1);
}

static void find_blocks(work *w) {
  int32_t count = 0;
  for (int64_t k = 0; k < w->S.n; k++) {
    if (count > 0 && joins(w, k, w->block[count - 1].rows))
      w->block[count - 1].rows++;
    else
      w->block[count++] = (block){.start = (int32_t)k, .rows = 1};
    w->block_of[row_at(&w->S, k)] = count - 1;
  }
  w->slices->nblocks = count;
}

/* Level of a block, and the most entries a row of it has outside. */
static void look_at_block(work *w, int32_t number) {
  const trs_system *S = &w->S;
  block *b = &w->block[number];
  int64_t longest = 0;
  for (int32_t r = 0; r < b->rows; r++) {
    int64_t begin, end, outside = 0;
    trs_off_diagonal(S, row_at(S, b->start + r), S->lower, S->has_diagonal, &begin, &end);
    for (int64_t p = begin; p < end; p++) {
      int32_t other = w->block_of[S->idx[p]];
      if (other == number) continue;
      outside++;
      if (w->block[other].level >= b->level) b->level = w->block[other].level + 1;
    }
    if (outside > longest) longest = outside;
  }
  b->length = longest < TRS_LONGEST ? (int32_t)longest : TRS_LONGEST;
  if (b->level >= w->slices->nlevels) w->slices->nlevels = b->level + 1;
}

static trs_status classify_blocks(work *w) {
  int32_t *level_rows;
  TRS_TRY(TRS_ALLOC_ZERO(&level_rows, w->slices->nlevels));
  for (int32_t b = 0; b < w->slices->nblocks; b++)
    level_rows[w->block[b].level] += w->block[b].rows;
  for (int32_t k = 0; k < w->slices->nblocks; k++) {
    block *b = &w->block[k];
    b->class_number = trs_class_of(w->rules, b->rows, b->length, level_rows[b->level]);
  }
  trs_free(level_rows);
  return TRS_SUCCESS;
}

static void find_slabs(work *w) {
  int32_t slab = 0;
  for (int32_t b = 0; b < w->slices->nblocks; b++) {
    while (slab + 1 < w->nslabs && w->block[b].start >= w->cut[slab + 1]) slab++;
    w->block[b].slab = slab;
  }
}

static int64_t kind_of(const work *w, const block *b) {
  return ((int64_t)b->level * w->nslabs + b->slab) * TRS_CLASSES + b->class_number;
}

/* Counting sort by level, slab and class, stable. */
static trs_status order_blocks(work *w) {
  int64_t *count, kinds = (int64_t)w->slices->nlevels * w->nslabs * TRS_CLASSES;
  TRS_TRY(TRS_ALLOC_ZERO(&count, kinds + 1));
  for (int32_t b = 0; b < w->slices->nblocks; b++) count[kind_of(w, &w->block[b]) + 1]++;
  for (int64_t k = 0; k < kinds; k++) count[k + 1] += count[k];
  for (int32_t b = 0; b < w->slices->nblocks; b++) w->order[count[kind_of(w, &w->block[b])]++] = b;
  trs_free(count);
  return TRS_SUCCESS;
}

/* Does the block at place k of the order begin a slice, given how many stand in the one before? */
static bool begins_slice(const work *w, int32_t k, int32_t blocks) {
  const block *b = &w->block[w->order[k]], *before = &w->block[w->order[k - 1]];
  return b->level != before->level || b->class_number != before->class_number ||
         b->slab != before->slab || blocks == trs_class_blocks(b->class_number);
}

static trs_slice new_slice(const block *b, int32_t first) {
  return (trs_slice){.first = first,
                     .watch = -1,
                     .level = b->level,
                     .log_lanes = (uint8_t)trs_class_lanes(b->class_number),
                     .heavy = (uint8_t)trs_class_heavy(b->class_number)};
}

static int32_t block_width(const work *w, const block *b, int32_t number, int32_t log_lanes) {
  const trs_system *S = &w->S;
  int64_t width = 0;
  for (int32_t r = 0; r < b->rows; r++) {
    int64_t begin, end, outside = 0;
    trs_off_diagonal(S, row_at(S, b->start + r), S->lower, S->has_diagonal, &begin, &end);
    for (int64_t p = begin; p < end; p++) outside += w->block_of[S->idx[p]] != number;
    int64_t own = (outside + (1 << log_lanes) - 1) >> log_lanes;
    width = own > width ? own : width;
  }
  return (int32_t)width;
}

/* Cuts the heavy slice just begun into parts and a last slice that adds them. */
static void cut_parts(trs_slices *s) {
  trs_slice *slice = &s->slice[s->nslices - 1], whole = *slice;
  int32_t parts = trs_heavy_slices(whole.width) - 1;
  for (int32_t k = 0; k < parts; k++) {
    *slice = whole;
    slice->width = TRS_PART_WIDTH;
    slice->block = 0;
    slice->part = s->nparts + k;
    slice->parts = -1;
    slice++;
  }
  *slice = whole;
  slice->width = whole.width - parts * TRS_PART_WIDTH;
  slice->part = s->nparts;
  slice->parts = parts;
  s->nparts += parts;
  s->nslices += parts;
}

static void add_block(work *w, int32_t number, trs_slice *slice, int32_t position) {
  block *b = &w->block[number];
  int32_t width = block_width(w, b, number, slice->log_lanes);
  if (width > slice->width) slice->width = width;
  if (b->rows > slice->block) slice->block = (uint8_t)b->rows;
  b->slice = (int32_t)(slice - w->slices->slice);
  b->place = slice->rows;
  slice->rows = (uint8_t)(slice->rows + b->rows);
  for (int32_t r = 0; r < b->rows; r++) {
    int64_t row = row_at(&w->S, b->start + r);
    w->slices->row[position + r] = (int32_t)row;
    w->position[row] = position + r;
  }
}

/* Blocks into slices, rows into positions. */
static void cut_slices(work *w) {
  trs_slices *s = w->slices;
  int32_t blocks = 0, position = 0;
  for (int32_t k = 0; k < s->nblocks; k++) {
    const block *b = &w->block[w->order[k]];
    if (k == 0 || begins_slice(w, k, blocks)) {
      s->slice[s->nslices++] = new_slice(b, position);
      blocks = 0;
    }
    add_block(w, w->order[k], &s->slice[s->nslices - 1], position);
    if (s->slice[s->nslices - 1].heavy) cut_parts(s);
    position += b->rows;
    blocks++;
  }
}

/* How many slices there will be at most. */
static int64_t most_slices(const work *w) {
  int64_t count = 0;
  for (int32_t k = 0; k < w->slices->nblocks; k++) {
    const block *b = &w->block[k];
    int32_t lanes = trs_class_lanes(b->class_number);
    count += trs_class_heavy(b->class_number)
                 ? trs_heavy_slices((b->length + (1 << lanes) - 1) >> lanes)
                 : 1;
  }
  return count;
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

/* Something to wait for that is ready some hops before the slice's turn: the row `watch` levels up
 * that stands as far into its level. */
static void choose_watches(trs_slices *s, int32_t watch) {
  for (int32_t k = 0; k < s->nslices; k++) {
    const trs_slice_level *it = &s->level[s->slice[k].level];
    if (watch == 0 || s->slice[k].level < watch) continue;
    int64_t at = it[-watch].position, rows = it[1 - watch].position - at;
    s->slice[k].watch = (int32_t)(at + (k - it->slice) * rows / (it[1].slice - it->slice));
  }
}

#define TRS_TEMPLATE "analysis/slice_tmpl.c"
#include "base/instantiate.h"

/* Entries that stand behind a row's last, and coefficients where no path leads. */
static void empty_arrays(const trs_slice_arrays *to, int64_t entries, int64_t inverses,
                         size_t size) {
  memset(to->idx, 0xff, (size_t)entries * sizeof *to->idx);
  memset(to->val, 0, (size_t)entries * size);
  memset(to->inverse, 0xff, (size_t)inverses * size);
}

void trs_outline_fill(const trs_outline *outline, const trs_slice *slice, const int32_t *number,
                      int32_t count, const trs_slice_arrays *to) {
  static void (*const fill_of[])(const work *, int32_t, const trs_slice *,
                                 const trs_slice_arrays *) = TRS_TABLE(fill_block);
  const trs_scalar scalar = outline->S.scalar;
  if (count == 0) return;
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
      fill_of[scalar](outline, outline->order[b], &slice[k], &own);
  }
}

/* begin: block k of the order stands in a slice at or before that of block k + 1. */
static trs_status find_begins(work *w) {
  TRS_TRY(TRS_ALLOC(&w->begin, w->slices->nslices + 1));
  int32_t k = 0;
  for (int32_t slice = 0; slice <= w->slices->nslices; slice++) {
    while (k < w->slices->nblocks && w->block[w->order[k]].slice < slice) k++;
    w->begin[slice] = k;
  }
  return TRS_SUCCESS;
}

static trs_status outline(work *w) {
  trs_slices *s = w->slices;
  int64_t n = w->S.n;
  TRS_TRY(TRS_ALLOC_ZERO(&w->block, n));
  TRS_TRY(TRS_ALLOC(&w->block_of, n));
  TRS_TRY(TRS_ALLOC(&w->position, n));
  find_blocks(w);
  for (int32_t b = 0; b < s->nblocks; b++) look_at_block(w, b);
  find_slabs(w);
  TRS_TRY(classify_blocks(w));
  TRS_TRY(TRS_ALLOC(&w->order, s->nblocks));
  TRS_TRY(order_blocks(w));
  TRS_TRY(TRS_ALLOC(&s->slice, most_slices(w)));
  TRS_TRY(TRS_ALLOC(&s->row, n));
  cut_slices(w);
  TRS_TRY(find_begins(w));
  TRS_TRY(TRS_ALLOC_ZERO(&s->level, s->nlevels + 1));
  TRS_TRY(TRS_ALLOC(&s->chunk, s->nslices + 1));
  number_slices(s);
  cut_chunks(s);
  choose_watches(s, w->rules.watch);
  return TRS_SUCCESS;
}

void trs_outline_destroy(trs_outline *outline) {
  if (!outline) return;
  trs_free(outline->block);
  trs_free(outline->block_of);
  trs_free(outline->order);
  trs_free(outline->position);
  trs_free(outline->begin);
  trs_free(outline);
}

trs_status trs_outline_create_slabs(trs_outline **result, trs_slices *slices, const trs_system *S,
                                    const trs_slice_rules *rules, int32_t nslabs,
                                    const int64_t *cut) {
  work *w;
  *result = NULL;
  *slices = (trs_slices){.n = S->n};
  TRS_TRY(TRS_ALLOC_ZERO(&w, 1));
  w->S = *S;
  w->rules = *rules;
  w->nslabs = nslabs;
  w->cut = cut;
  w->slices = slices;
  trs_status status = outline(w);
  w->slices = NULL;
  w->cut = NULL;
  if (status) {
    trs_slices_destroy(slices);
    trs_outline_destroy(w);
    return status;
  }
  *result = w;
  return TRS_SUCCESS;
}

trs_status trs_outline_create(trs_outline **result, trs_slices *slices, const trs_system *S,
                              const trs_slice_rules *rules) {
  const int64_t whole[] = {0, S->n};
  return trs_outline_create_slabs(result, slices, S, rules, 1, whole);
}

void trs_outline_renew(trs_outline *outline, const trs_system *S) { outline->S = *S; }

const int32_t *trs_outline_positions(const trs_outline *outline) { return outline->position; }

static trs_status fill(trs_slices *s, const trs_outline *outline) {
  size_t size = trs_scalar_size(outline->S.scalar);
  TRS_TRY(TRS_ALLOC(&s->idx, s->entries));
  TRS_TRY(trs_alloc(&s->val, s->entries, size));
  TRS_TRY(trs_alloc(&s->inverse, s->inverses, size));
  trs_slice_arrays all = {.idx = s->idx, .val = s->val, .inverse = s->inverse};
  trs_outline_fill(outline, s->slice, NULL, s->nslices, &all);
  return TRS_SUCCESS;
}

trs_status trs_slices_create(trs_slices *slices, const trs_system *S,
                             const trs_slice_rules *rules) {
  trs_outline *outline;
  TRS_TRY(trs_outline_create(&outline, slices, S, rules));
  trs_status status = fill(slices, outline);
  trs_outline_destroy(outline);
  if (status) trs_slices_destroy(slices);
  return status;
}

void trs_slices_destroy(trs_slices *slices) {
  void *arrays[] = {slices->slice, slices->chunk, slices->level,  slices->row,
                    slices->idx,   slices->val,   slices->inverse};
  for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++) trs_free(arrays[k]);
  *slices = (trs_slices){0};
}

/* ---- A look at some rows. ---- */

void trs_slices_sample(const trs_system *S, double *row_length, double *chained, double *run) {
  enum { ROWS = 1 << 16 };
  int64_t step = S->n > ROWS ? S->n / ROWS : 1, rows = 0, entries = 0, chains = 0, runs = 0;
  for (int64_t k = 0; k < S->n; k += step) {
    int64_t begin, end, before = k < TRS_MOST_BLOCK ? k : TRS_MOST_BLOCK;
    trs_off_diagonal(S, row_at(S, k), S->lower, S->has_diagonal, &begin, &end);
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
