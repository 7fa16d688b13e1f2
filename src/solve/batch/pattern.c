/* pattern.c - rows in the order of the sweep; long rows as trees of sums; pieces. */
#include "solve/batch/pattern.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/system.h"
#include "base/memory.h"

/* ---- The rows of op(T) ---- */

void trs_batch_rows_drop(trs_batch_rows *r) {
  TRS_FREE_ALL(r->ptr, r->to, r->source, r->diagonal, r->id, r->own_id, r->b, r->x, r->level);
  *r = (trs_batch_rows){0};
}

trs_status trs_batch_rows_allocate(trs_batch_rows *r, int64_t count, int64_t entries) {
  *r = (trs_batch_rows){.count = count, .entries = entries};
  return TRS_ALLOC_ALL(TRS_ZEROS(&r->ptr, count + 1), TRS_ROOM(&r->to, entries),
                       TRS_ROOM(&r->source, entries), TRS_ROOM(&r->diagonal, count),
                       TRS_ROOM(&r->id, entries), TRS_ROOM(&r->own_id, count),
                       TRS_ROOM(&r->b, count), TRS_ROOM(&r->x, count), TRS_ROOM(&r->level, count));
}

/* begin and end of the off-diagonal entries of stored vector i. */
static void off_diagonal(const trs_system *S, int64_t i, int64_t *begin, int64_t *end) {
  trs_off_diagonal(S, i, trs_system_prefix(S), S->has_diagonal, begin, end);
}

static int64_t diagonal_of(const trs_system *S, int64_t i) {
  if (S->unit) return TRS_BATCH_ONE;
  return trs_system_prefix(S) ? S->ptr[i + 1] - 1 : S->ptr[i];
}

static int64_t count_entries(int64_t *ptr, const trs_system *S) {
  int64_t begin, end;
  for (int64_t i = 0; i < S->n; i++) {
    off_diagonal(S, i, &begin, &end);
    if (S->rows)
      ptr[trs_in_sweep(S, i) + 1] += end - begin;
    else
      for (int64_t p = begin; p < end; p++) ptr[trs_in_sweep(S, S->idx[p]) + 1]++;
  }
  for (int64_t k = 0; k < S->n; k++) ptr[k + 1] += ptr[k];
  return ptr[S->n];
}

/* Vectors in the order of the sweep, so that the entries of every row come in that order. */
static void fill_entries(trs_batch_rows *r, const trs_system *S, int64_t *place) {
  memcpy(place, r->ptr, (size_t)r->count * sizeof *place);
  for (int64_t k = 0; k < r->count; k++) {
    const int64_t i = trs_in_sweep(S, k);
    int64_t begin, end;
    off_diagonal(S, i, &begin, &end);
    for (int64_t p = begin; p < end; p++) {
      const int64_t q = S->rows && !S->lower ? end - 1 - (p - begin) : p;
      const int64_t other = trs_in_sweep(S, S->idx[q]), at = place[S->rows ? k : other]++;
      r->to[at] = (int32_t)(S->rows ? other : k);
      r->source[at] = q;
      r->id[at] = -1;
    }
    r->diagonal[k] = diagonal_of(S, i);
    r->own_id[k] = -1;
    r->b[k] = r->x[k] = (int32_t)k;
  }
}

static void find_levels(trs_batch_rows *r) {
  r->levels = 0;
  for (int64_t k = 0; k < r->count; k++) {
    int32_t level = 0;
    for (int64_t p = r->ptr[k]; p < r->ptr[k + 1]; p++)
      if (r->level[r->to[p]] >= level) level = r->level[r->to[p]] + 1;
    r->level[k] = level;
    if (level >= r->levels) r->levels = level + 1;
  }
}

trs_status trs_batch_rows_of(trs_batch_rows *r, const trs_system *S) {
  int64_t *ptr, *place = NULL;
  *r = (trs_batch_rows){0};
  TRS_TRY(TRS_ALLOC_ZERO(&ptr, S->n + 1));
  trs_status status = trs_batch_rows_allocate(r, S->n, count_entries(ptr, S));
  if (!status) {
    memcpy(r->ptr, ptr, (size_t)(S->n + 1) * sizeof *ptr);
    status = TRS_ALLOC(&place, S->n);
  }
  if (!status) {
    fill_entries(r, S, place);
    find_levels(r);
  }
  TRS_FREE_ALL(ptr, place);
  return status;
}

bool trs_batch_rows_are_long(const trs_batch_rows *r) {
  for (int64_t k = 0; k < r->count; k++)
    if (r->ptr[k + 1] - r->ptr[k] > TRS_BATCH_LONGEST) return true;
  return false;
}

int64_t trs_batch_rows_farthest(const trs_batch_rows *r) {
  int64_t farthest = 0;
  for (int64_t k = 0; k < r->count; k++)
    for (int64_t p = r->ptr[k]; p < r->ptr[k + 1]; p++)
      if (k - r->to[p] > farthest) farthest = k - r->to[p];
  return farthest;
}

/* ---- Long rows ---- */

/* The last entries of a long row, by level, stay in the row: they are known last. */
enum { STAY = TRS_BATCH_LONGEST / 2 };

typedef struct term {
  int32_t to, level;
  int64_t source, id;
} term;

/* What of a row is not in its terms. */
typedef struct rest {
  int64_t diagonal, own_id;
  int32_t b, x, level; /* at least */
} rest;

static int by_level(const void *a, const void *b) {
  const term *s = a, *t = b;
  if (s->level != t->level) return s->level < t->level ? -1 : 1;
  return (s->to > t->to) - (s->to < t->to);
}

/* Sums that a row of so many entries needs. */
static int64_t sums_of(int64_t entries) {
  int64_t sums = 0, left = entries - STAY;
  while (entries > TRS_BATCH_LONGEST && left > STAY) {
    const int64_t now = (left + TRS_BATCH_LONGEST - 1) / TRS_BATCH_LONGEST;
    sums += now;
    left = now;
  }
  return sums;
}

static void append(trs_batch_rows *to, const term *terms, int64_t count, rest own) {
  const int64_t k = to->count++;
  int32_t level = own.level;
  for (int64_t t = 0; t < count; t++) {
    to->to[to->entries] = terms[t].to;
    to->source[to->entries] = terms[t].source;
    to->id[to->entries++] = terms[t].id;
    if (terms[t].level >= level) level = terms[t].level + 1;
  }
  to->ptr[k + 1] = to->entries;
  to->diagonal[k] = own.diagonal;
  to->own_id[k] = own.own_id;
  to->b[k] = own.b;
  to->x[k] = own.x;
  to->level[k] = level;
  if (level >= to->levels) to->levels = level + 1;
}

/* Replaces the first `count` terms by sums of them until STAY are left; returns how many. */
static int64_t sum_up(trs_batch_rows *to, term *terms, int64_t count) {
  while (count > STAY) {
    int64_t sums = 0;
    for (int64_t t = 0; t < count; t += TRS_BATCH_LONGEST) {
      const int64_t some = count - t < TRS_BATCH_LONGEST ? count - t : TRS_BATCH_LONGEST;
      append(to, terms + t, some,
             (rest){.diagonal = TRS_BATCH_ONE, .own_id = -1, .b = -1, .x = -1});
      terms[sums++] = (term){.to = (int32_t)(to->count - 1),
                             .level = to->level[to->count - 1],
                             .source = TRS_BATCH_MINUS_ONE,
                             .id = -1};
    }
    count = sums;
  }
  return count;
}

static void split_row(trs_batch_rows *to, const trs_batch_rows *r, int64_t k, const int32_t *place,
                      term *terms) {
  int64_t count = r->ptr[k + 1] - r->ptr[k];
  for (int64_t t = 0; t < count; t++) {
    const int64_t p = r->ptr[k] + t;
    const int32_t other = place[r->to[p]];
    terms[t] =
        (term){.to = other, .level = to->level[other], .source = r->source[p], .id = r->id[p]};
  }
  if (count > TRS_BATCH_LONGEST) {
    qsort(terms, (size_t)count, sizeof *terms, by_level);
    const int64_t summed = sum_up(to, terms, count - STAY);
    memmove(terms + summed, terms + count - STAY, STAY * sizeof *terms);
    count = summed + STAY;
  }
  append(to, terms, count,
         (rest){.diagonal = r->diagonal[k],
                .own_id = r->own_id[k],
                .b = r->b[k],
                .x = r->x[k],
                .level = r->level[k]});
}

trs_status trs_batch_rows_split(trs_batch_rows *r) {
  int64_t sums = 0, longest = 0;
  for (int64_t k = 0; k < r->count; k++) {
    const int64_t entries = r->ptr[k + 1] - r->ptr[k];
    sums += sums_of(entries);
    longest = entries > longest ? entries : longest;
  }
  if (!sums) return TRS_SUCCESS;
  if (r->count + sums >= INT32_MAX)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "a batch on a GPU: the sums of rows of %lld entries make more than %d rows",
                    (long long)longest, INT32_MAX);
  trs_batch_rows to;
  term *terms = NULL;
  int32_t *place = NULL;
  trs_status status = trs_batch_rows_allocate(&to, r->count + sums, r->entries + sums);
  if (!status) status = TRS_ALLOC_ALL(TRS_ROOM(&terms, longest), TRS_ROOM(&place, r->count));
  if (!status) {
    to.count = to.entries = 0;
    to.ids = r->ids;
    for (int64_t k = 0; k < r->count; k++) {
      split_row(&to, r, k, place, terms);
      place[k] = (int32_t)(to.count - 1);
    }
    trs_batch_rows_drop(r);
    *r = to;
  } else {
    trs_batch_rows_drop(&to);
  }
  TRS_FREE_ALL(terms, place);
  return status;
}

/* ---- Pieces ---- */

void trs_batch_program_drop(trs_batch_program *p) {
  TRS_FREE_ALL(p->packet, p->piece, p->col, p->source, p->pivot_row, p->b, p->x, p->zero, p->at);
  *p = (trs_batch_program){0};
}

typedef struct sorted_row {
  int32_t row, width;
} sorted_row;

/* Long rows first. */
static int by_width(const void *a, const void *b) {
  const sorted_row *s = a, *t = b;
  if (s->width != t->width) return s->width > t->width ? -1 : 1;
  return (s->row > t->row) - (s->row < t->row);
}

/* Rows by levels, in a level by their width; begin: levels + 1. */
static void sort_rows(sorted_row *order, int64_t *begin, const trs_batch_rows *r) {
  memset(begin, 0, (size_t)(r->levels + 1) * sizeof *begin);
  for (int64_t k = 0; k < r->count; k++) begin[r->level[k] + 1]++;
  for (int32_t l = 0; l < r->levels; l++) begin[l + 1] += begin[l];
  for (int64_t k = 0; k < r->count; k++)
    order[begin[r->level[k]]++] =
        (sorted_row){.row = (int32_t)k, .width = (int32_t)(r->ptr[k + 1] - r->ptr[k])};
  for (int32_t l = r->levels; l > 0; l--) begin[l] = begin[l - 1];
  begin[0] = 0;
  for (int32_t l = 0; l < r->levels; l++)
    qsort(order + begin[l], (size_t)(begin[l + 1] - begin[l]), sizeof *order, by_width);
}

/* An even number, so that pieces begin at multiples of eight bytes. */
static int64_t entries_of(int64_t rows, int64_t width) { return (rows * (width + 1) + 1) & ~1; }

/* Rows of the piece that begins with row[0], of `left` rows of a level.  Rows that all fit side by
 * side may be filled up to the widest; else at most a quarter of the entries is filling. */
static int64_t rows_of_piece(const sorted_row *row, int64_t left, int64_t room, int64_t slots) {
  const int64_t width = row[0].width;
  int64_t rows = 0, filling = 0;
  while (rows < left && entries_of(rows + 1, width) <= room) {
    filling += width - row[rows].width;
    if (left > slots && 4 * filling > (rows + 1) * (width + 1)) break;
    rows++;
  }
  return rows;
}

static int64_t cut(trs_batch_piece *piece, const sorted_row *order, const int64_t *begin,
                   int32_t levels, int64_t room, int64_t slots, int64_t *entries) {
  int64_t pieces = 0, at = 0;
  for (int32_t l = 0; l < levels; l++)
    for (int64_t k = begin[l]; k < begin[l + 1];) {
      const int64_t rows = rows_of_piece(order + k, begin[l + 1] - k, room, slots);
      if (piece)
        piece[pieces] = (trs_batch_piece){.entry = (int32_t)at,
                                          .width = order[k].width,
                                          .rows = (int32_t)rows,
                                          .row = (int32_t)k};
      at += entries_of(rows, order[k].width);
      pieces++;
      k += rows;
    }
  *entries = at;
  return pieces;
}

/* Puts pieces into packets, which their entries then count from. */
static int64_t pack(trs_batch_packet *packet, trs_batch_piece *piece, int64_t pieces,
                    int64_t room) {
  int64_t packets = 0;
  for (int64_t q = 0; q < pieces; packets++) {
    trs_batch_packet own = {.entry = piece[q].entry, .piece = (int32_t)q};
    while (q < pieces && own.pieces < TRS_BATCH_PIECES) {
      const int64_t entries = entries_of(piece[q].rows, piece[q].width);
      if (own.entries + entries > room) break;
      piece[q++].entry = own.entries;
      own.entries += (int32_t)entries;
      own.pieces++;
    }
    packet[packets] = own;
  }
  return packets;
}

static void put_row(trs_batch_program *p, const trs_batch_piece *piece, int32_t slot,
                    const trs_batch_rows *r, const trs_system *S, int32_t k,
                    const int32_t *number) {
  const int64_t entries = r->ptr[k + 1] - r->ptr[k];
  for (int32_t u = 0; u < piece->width; u++) {
    const int64_t at = piece->entry + (int64_t)u * piece->rows + slot, from = r->ptr[k] + u;
    p->col[at] = u < entries ? number[r->to[from]] : (int32_t)p->rows;
    p->source[at] = u < entries ? r->source[from] : TRS_BATCH_ZERO;
    if (u < entries && r->id[from] >= 0) p->at[r->id[from]] = (int32_t)at;
  }
  const int64_t diagonal = piece->entry + (int64_t)piece->width * piece->rows + slot;
  p->col[diagonal] = (int32_t)p->rows;
  p->source[diagonal] = r->diagonal[k];
  if (r->own_id[k] >= 0) p->at[r->own_id[k]] = (int32_t)diagonal;
  if (r->diagonal[k] >= 0)
    p->pivot_row[diagonal] = (int32_t)trs_in_sweep(S, r->x[k] >= 0 ? r->x[k] : r->b[k]);
  if (r->b[k] >= 0)
    p->b[trs_in_sweep(S, r->b[k])] = number[k];
  else
    p->zero[p->zeros++] = number[k];
  if (r->x[k] >= 0) p->x[trs_in_sweep(S, r->x[k])] = number[k];
}

static void fill(trs_batch_program *p, const trs_batch_rows *r, const trs_system *S,
                 const sorted_row *order, const int32_t *number) {
  for (int64_t e = 0; e < p->entries; e++) {
    p->col[e] = (int32_t)p->rows;
    p->source[e] = TRS_BATCH_ZERO;
    p->pivot_row[e] = -1;
  }
  p->zero[p->zeros++] = (int32_t)p->rows;
  for (int64_t q = 0; q < p->pieces; q++)
    for (int32_t s = 0; s < p->piece[q].rows; s++)
      put_row(p, &p->piece[q], s, r, S, order[p->piece[q].row + s].row, number);
}

static trs_status make(trs_batch_program *p, const trs_batch_rows *r, const trs_system *S,
                       int64_t room, int64_t slots, sorted_row *order, int64_t *begin,
                       int32_t *number) {
  sort_rows(order, begin, r);
  for (int64_t k = 0; k < r->count; k++) number[order[k].row] = (int32_t)k;
  p->rows = r->count;
  p->levels = r->levels;
  p->pieces = cut(NULL, order, begin, r->levels, room, slots, &p->entries);
  if (p->entries >= INT32_MAX)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "a batch on a GPU: its systems have more than %d entries", INT32_MAX);
  TRS_TRY(TRS_ALLOC_ALL(
      TRS_ROOM(&p->at, r->ids), TRS_ROOM(&p->col, p->entries), TRS_ROOM(&p->source, p->entries),
      TRS_ROOM(&p->pivot_row, p->entries), TRS_ROOM(&p->b, S->n), TRS_ROOM(&p->x, S->n),
      TRS_ROOM(&p->zero, p->rows + 1), TRS_ZEROS(&p->packet, p->pieces + TRS_BATCH_STAGES),
      TRS_ZEROS(&p->piece, p->pieces + 1)));
  cut(p->piece, order, begin, r->levels, room, slots, &p->entries);
  fill(p, r, S, order, number);
  p->packets = pack(p->packet, p->piece, p->pieces, room);
  return TRS_SUCCESS;
}

trs_status trs_batch_program_make(trs_batch_program *p, const trs_batch_rows *r,
                                  const trs_system *S, int64_t room, int64_t slots) {
  sorted_row *order = NULL;
  int64_t *begin = NULL;
  int32_t *number = NULL;
  *p = (trs_batch_program){0};
  trs_status status = TRS_ALLOC_ALL(TRS_ROOM(&order, r->count), TRS_ROOM(&begin, r->levels + 1),
                                    TRS_ROOM(&number, r->count));
  if (!status) status = make(p, r, S, room, slots, order, begin, number);
  TRS_FREE_ALL(order, begin, number);
  return status;
}
