/* coordinate.c - reads Matrix Market coordinate text into a CSR matrix, with all members of a team
 * and without an intermediate copy of the entries.  Every member reads its share of the text twice:
 * it first counts the entries of each row, then stores them at the positions that follow from the
 * counts. If each member has its own counters, entries of a row arrive in the order of the file.
 * Rows that are not in order afterwards are sorted; repeats are added in an order that depends only
 * on their values, so that the result is the same for any team.  O(text + nnz log longest row);
 * besides the matrix, 8 bytes per row and group of members. */
#include "io/coordinate.h"

#include <math.h>
#include <stdlib.h>

#include "base/cancel.h"
#include "base/random.h"
#include "base/search.h"
#include "io/lines.h"
#include "matrix/matrix.h"

#define TRS_TEMPLATE "io/coordinate_tmpl.c"
#include "base/instantiate.h"

static bool (*const fill_piece[])(const trs_coordinate *, int64_t *, bool, const char *,
                                  const char *) = TRS_TABLE(fill_piece);
static bool (*const order_row[])(trs_coordinate *, int64_t) = TRS_TABLE(order_row);
static void (*const invent_row[])(trs_coordinate *, int64_t) = TRS_TABLE(invent_row);

static inline void count_entry(const trs_coordinate *c, int64_t *next, bool alone, int64_t i,
                               int64_t j) {
  if (trs_coordinate_selects(c, &i, &j)) trs_next_place(next, i, alone);
}

/* Counts the entry of the line [line, line_end); -1 if it is bad, 0 if the line is blank or a
 * comment. Entries of a symmetric file count on both sides of the diagonal. */
static inline int count_line(const trs_coordinate *c, int64_t *next, bool alone, const char *line,
                             const char *line_end, const char *end) {
  bool mirrored = c->body->banner->symmetry != TRS_UNSYMMETRIC;
  int64_t i, j = 1;
  line = trs_skip_blanks(line);
  bool both = mirrored || c->only;
  const char *after = both ? trs_parse_indices(line, &i, &j) : trs_parse_index(line, &i);
  if (!after) return trs_skip_line(line, end) == line_end ? 0 : -1;
  i--, j--;
  if ((uint64_t)i >= (uint64_t)c->nrows || (uint64_t)j >= (uint64_t)c->ncols) return -1;
  count_entry(c, next, alone, i, j);
  if (mirrored && i != j) count_entry(c, next, alone, j, i);
  return 1;
}

/* The number of entries in the lines [text, end), or -1. */
static int64_t count_piece(const trs_coordinate *c, int64_t *next, bool alone, const char *text,
                           const char *end) {
  const char *starts[TRS_LINES + 1];
  int64_t entries = 0;
  while (text < end) {
    int count = trs_find_lines(text, end, starts);
    for (int k = 0; k < count; k++) {
      int one = count_line(c, next, alone, starts[k], starts[k + 1], end);
      if (one < 0) return -1;
      entries += one;
    }
    if (count == 0) return -1;
    text = starts[count];
  }
  return entries;
}

/* One of the two passes over the text: counting, or filling the arrays. */
static void read_text(trs_coordinate *c, int rank, bool fill) {
  int size = c->body->size;
  int group = trs_coordinate_group(c, rank);
  bool alone = c->groups == size;
  int64_t *next = c->next + group * c->nrows;
  for (int64_t piece = 0; piece < TRS_PIECES && !c->failed; piece++) {
    const char *begin, *end;
    trs_body_piece(c->body, rank * TRS_PIECES + piece, (int64_t)size * TRS_PIECES, &begin, &end);
    int64_t entries = 0;
    bool good = fill ? fill_piece[c->body->scalar](c, next, alone, begin, end)
                     : (entries = count_piece(c, next, alone, begin, end)) >= 0;
    c->partial[rank] += entries;
    if (!good || trs_cancel_asked(trs_cancel_flag())) c->failed = true;
    double done = c->from + (c->to - c->from) * (double)(piece + 1) / TRS_PIECES;
    if (rank == 0 && !c->body->window->fresh) /* the unpacker reports its own progress */
      trs_reading_progress(c->body->reading, "reading", fill ? 0.2 + 0.75 * done : 0.2 * done);
  }
}

static void clear_body(void *argument, int rank, int size) {
  trs_coordinate *c = argument;
  int64_t begin, end;
  trs_share(c->groups * c->nrows, rank, size, &begin, &end);
  memset(c->next + begin, 0, (size_t)(end - begin) * sizeof *c->next);
}

static void count_body(void *argument, int rank, int size) {
  (void)size;
  read_text(argument, rank, false);
}

static void fill_body(void *argument, int rank, int size) {
  (void)size;
  read_text(argument, rank, true);
}

static void sum_body(void *argument, int rank, int size) {
  trs_coordinate *c = argument;
  int64_t begin, end, sum = 0;
  trs_share(c->nrows, rank, size, &begin, &end);
  for (int64_t group = 0; group < c->groups; group++)
    for (int64_t i = begin; i < end; i++) sum += c->next[group * c->nrows + i];
  c->partial[rank] = sum;
}

/* Converts counts to positions: row by row, and within a row group by group. */
static void position_body(void *argument, int rank, int size) {
  trs_coordinate *c = argument;
  int64_t begin, end, at = c->partial[rank];
  trs_share(c->nrows, rank, size, &begin, &end);
  for (int64_t i = begin; i < end; i++) {
    c->ptr[i] = at;
    for (int64_t group = 0; group < c->groups; group++) {
      int64_t *next = &c->next[group * c->nrows + i], count = *next;
      *next = at;
      at += count;
    }
  }
}

void trs_coordinate_rows(const trs_coordinate *c, int rank, int64_t *begin, int64_t *end) {
  int64_t bounds[2];
  for (int side = 0; side < 2; side++) {
    int64_t share = c->nnz / c->body->size * (rank + side);
    bounds[side] = trs_search_64(c->ptr, 0, c->nrows, share);
  }
  *begin = bounds[0];
  *end = rank + 1 == c->body->size ? c->nrows : bounds[1];
}

/* Sorts row i of a matrix without values. */
static void order_indices(trs_coordinate *c, int64_t i) {
  int32_t *idx = c->idx + c->ptr[i];
  int64_t length = c->ptr[i + 1] - c->ptr[i], count = 0;
  bool rising = true;
  for (int64_t k = 1; k < length; k++) rising &= idx[k] > idx[k - 1];
  c->next[i] = length;
  if (rising) return;
  qsort(idx, (size_t)length, sizeof *idx, trs_compare_int32);
  for (int64_t k = 0; k < length; k++)
    if (count == 0 || idx[count - 1] != idx[k]) idx[count++] = idx[k];
  c->next[i] = count;
  if (count < length) atomic_store_explicit(&c->repeats, true, memory_order_relaxed);
}

static void order_body(void *argument, int rank, int size) {
  trs_coordinate *c = argument;
  int64_t begin, end;
  (void)size;
  trs_coordinate_rows(c, rank, &begin, &end);
  c->bad_sums[rank] = -1;
  for (int64_t i = begin; i < end; i++)
    if (!c->val)
      order_indices(c, i);
    else if (!order_row[c->body->scalar](c, i) && c->bad_sums[rank] < 0)
      c->bad_sums[rank] = i;
}

static void invent_body(void *argument, int rank, int size) {
  trs_coordinate *c = argument;
  int64_t begin, end;
  (void)size;
  trs_coordinate_rows(c, rank, &begin, &end);
  for (int64_t i = begin; i < end; i++) invent_row[c->body->scalar](c, i);
}

void trs_pattern_values(trs_matrix *A, bool symmetric, const trs_reading *reading) {
  const trs_banner banner = {.symmetry = symmetric ? TRS_SYMMETRIC : TRS_UNSYMMETRIC};
  const trs_body body = {.reading = reading, .banner = &banner};
  trs_coordinate c = {
      .body = &body, .ncols = A->ncols, .ptr = A->ptr, .idx = A->idx, .val = A->val};
  for (int64_t i = 0; i < A->nrows; i++) invent_row[A->scalar](&c, i);
}

static void run(trs_coordinate *c, void (*body)(void *, int, int)) {
  trs_team_run(c->body->reading->team, c->body->size, body, c);
}

static int64_t sum_partial(const trs_coordinate *c) {
  int64_t sum = 0;
  for (int rank = 0; rank < c->body->size; rank++) sum += c->partial[rank];
  return sum;
}

/* One pass over the text, which ends if it has more entries than declared. */
static trs_status run_text(trs_coordinate *c, void (*body)(void *, int, int)) {
  trs_window *w = c->body->window;
  c->from = 0;
  TRS_TRY(trs_window_restart(w));
  while (w->begin < w->end && !c->failed) {
    c->to = trs_window_done(w);
    run(c, body);
    TRS_TRY(trs_cancelled());
    if (body == count_body && sum_partial(c) > c->body->banner->count) c->failed = true;
    c->from = c->to;
    TRS_TRY(trs_window_next(w));
  }
  return TRS_SUCCESS;
}

/* Closes the gaps left by merged repeats. */
static void compact(trs_coordinate *c) {
  size_t size = trs_scalar_size(c->body->scalar);
  int64_t at = 0;
  for (int64_t i = 0; i < c->nrows; i++) {
    int64_t begin = c->ptr[i], length = c->next[i];
    memmove(c->idx + at, c->idx + begin, (size_t)length * sizeof *c->idx);
    if (c->val)
      memmove((char *)c->val + (size_t)at * size, (char *)c->val + (size_t)begin * size,
              (size_t)length * size);
    c->ptr[i] = at;
    at += length;
  }
  c->ptr[c->nrows] = c->nnz = at;
}

/* Fails if the counts do not match the number of entries that the file declares. */
static trs_status count_entries(trs_coordinate *c) {
  run(c, clear_body);
  TRS_TRY(run_text(c, count_body));
  if (c->failed || sum_partial(c) != c->body->banner->count) return trs_body_diagnose(c->body);
  run(c, sum_body);
  for (int rank = 0; rank < c->body->size; rank++) {
    int64_t sum = c->partial[rank];
    c->partial[rank] = c->nnz;
    c->nnz += sum;
  }
  return TRS_SUCCESS;
}

static trs_status order_entries(trs_coordinate *c) {
  run(c, order_body);
  for (int rank = 0; rank < c->body->size; rank++)
    if (c->bad_sums[rank] >= 0)
      return trs_fail(
          TRS_ERROR_FORMAT, c->bad_sums[rank],
          "%s: the sum of repeated entries in row %lld (1-based) exceeds the range of their type",
          c->body->reading->path, (long long)c->bad_sums[rank] + 1);
  if (c->repeats) compact(c);
  if (c->val && c->body->banner->field == TRS_PATTERN) run(c, invent_body);
  return TRS_SUCCESS;
}

static trs_status build(trs_coordinate *c) {
  enum { SHORTEST = 4 }; /* bytes of the shortest line, "1 1" */
  int size = c->body->size;
  if (!trs_body_can_hold(c->body, SHORTEST)) return trs_body_diagnose(c->body);
  TRS_TRY(TRS_ALLOC_ALL(TRS_ZEROS(&c->partial, size), TRS_ROOM(&c->bad_sums, size),
                        TRS_ROOM(&c->next, c->groups * c->nrows)));
  TRS_TRY(count_entries(c));
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&c->ptr, c->nrows + 1), TRS_ROOM(&c->idx, c->nnz)));
  if (!c->only || !c->only->pattern)
    TRS_TRY(trs_alloc(&c->val, c->nnz, trs_scalar_size(c->body->scalar)));
  run(c, position_body);
  c->ptr[c->nrows] = c->nnz;
  TRS_TRY(run_text(c, fill_body));
  bool both_sides = c->above && c->below;
  if (c->failed || both_sides) return trs_body_diagnose(c->body);
  TRS_TRY(trs_source_check(&c->body->window->source));
  return order_entries(c);
}

/* Counters may take half the memory of the matrix.  A matrix read in parts has one set. */
static int count_groups(const trs_banner *banner, const trs_selection *only, int size) {
  int64_t affordable = banner->nrows ? 6 * (banner->count / (8 * banner->nrows)) : size;
  if (only) affordable = 1;
  return affordable < size ? (affordable > 1 ? (int)affordable : 1) : size;
}

trs_status trs_coordinate_select(trs_compressed *entries, const trs_body *body,
                                 const trs_selection *only) {
  trs_coordinate c = {.body = body,
                      .nrows = body->banner->nrows,
                      .ncols = body->banner->ncols,
                      .nonfinite = body->reading->options.allow_nonfinite,
                      .only = only,
                      .groups = count_groups(body->banner, only, body->size)};
  trs_status status = build(&c);
  TRS_FREE_ALL(c.partial, c.bad_sums, c.next);
  if (status) {
    TRS_FREE_ALL(c.ptr, c.idx, c.val);
    return status;
  }
  *entries = (trs_compressed){c.ptr, c.idx, c.val};
  return TRS_SUCCESS;
}

trs_status trs_coordinate_read(trs_matrix **A, const trs_body *body) {
  trs_compressed e;
  TRS_TRY(trs_coordinate_select(&e, body, NULL));
  trs_status status = trs_matrix_adopt(A, TRS_CSR, body->scalar, body->banner->nrows,
                                       body->banner->ncols, e.ptr, e.idx, e.val);
  trs_reading_progress(body->reading, "reading", 1);
  return status;
}
