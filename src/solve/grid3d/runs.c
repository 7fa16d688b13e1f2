/* runs.c - inverts runs' triangles (layout.h), with the work shared by a grid.
 *
 * Each T(I,K) is on the process that will hold the same block N(I,K) of the inverse.  Runs are
 * processed one after the other, first L's triangle, then U's.  Every process receives all of T
 * from the others, so that each holds at most one triangle at a time.  It computes its share of the
 * rows of N: the supernodes of a row are dealt in turn to the processes of the row of the grid that
 * keeps them.  Then it distributes these rows along its row of the grid.  Each process receives
 * width^2 numbers and does width^3 / (3 Px Py) multiplications.
 *
 * The computation of a row is the same on every process, so all grids have the same bits. */
#include <string.h>

#include "analysis/growth.h"

#include "solve/grid3d/fill.h"

typedef struct worker {
  const trs_filler *f;
  const trs_rank_part *part;
  const trs_grid_layout *l;
  trs_ranks *ranks;
  const bool *unit;
  const int32_t *row_perm;
  int8_t *refused;
  bool upper;
  const trs_grid_run *run;
  int64_t begin, width; /* of the run */
  size_t size;
  char *T, *N, *out, *in; /* a triangle by columns; rows of N; messages */
  double *room;
  trs_status status; /* the first failure of this rank, which still takes part in all messages */
  trs_failure failure;
} worker;

/* ---- Blocks of a run: for L on and below the diagonal, for U above it. ---- */

/* The block lies by rows in the panel of the supernode that has these columns, or for U these rows.
 */
static char *block_at(const worker *w, int64_t I, int64_t K) {
  int64_t S = w->upper ? I : K, other = w->upper ? K : I, width = trs_width(w->l, S);
  int64_t at = w->f->at[w->upper][S] + width * (width + w->l->first[other] - w->l->first[S]);
  return (char *)w->f->dense[w->upper] + (size_t)at * w->size;
}

/* The first supernode from `at` on whose half has this remainder.  Both halves are of one kind: one
 * kind has the rows of N, the other the columns. */
static int64_t congruent(const worker *w, int64_t at, bool upper_half, int modulus, int remainder) {
  int64_t half = at + (upper_half ? w->run->to - w->run->from : 0);
  return at + (remainder - half % modulus + modulus) % modulus;
}
static int64_t first_row(const worker *w, int x) {
  return congruent(w, w->run->from, !w->upper, w->part->shape.x, x);
}
static int64_t first_column(const worker *w, int64_t I, int y) {
  return congruent(w, w->upper ? I : w->run->from, w->upper, w->part->shape.y, y);
}
static int64_t end_column(const worker *w, int64_t I) { return w->upper ? w->run->to : I + 1; }

/* ---- All of T to all processes. ---- */

static void put_block(const worker *w, int64_t I, int64_t K, const char *block) {
  int64_t rows = trs_width(w->l, w->upper ? K : I), own = trs_width(w->l, w->upper ? I : K);
  int64_t down = w->l->first[I] - w->begin, across = w->l->first[K] - w->begin;
  for (int64_t r = 0; r < rows; r++)
    for (int64_t c = 0; c < own; c++) {
      int64_t i = down + (w->upper ? c : r), j = across + (w->upper ? r : c);
      memcpy(w->T + (size_t)(i + j * w->width) * w->size, block + (size_t)(r * own + c) * w->size,
             w->size);
    }
}

typedef enum visit { COUNT, PACK, UNPACK } visit;

/* Packs the blocks of a place into a message, or unpacks them; returns how many numbers they have.
 */
static int64_t visit_blocks(const worker *w, int place, visit what, char *packed) {
  int x = place / w->part->shape.y, y = place % w->part->shape.y;
  int64_t count = 0;
  for (int64_t I = first_row(w, x); I < w->run->to; I += w->part->shape.x)
    for (int64_t K = first_column(w, I, y); K < end_column(w, I); K += w->part->shape.y) {
      int64_t numbers = trs_width(w->l, I) * trs_width(w->l, K);
      if (what == PACK)
        memcpy(packed + (size_t)count * w->size, block_at(w, I, K), (size_t)numbers * w->size);
      if (what == UNPACK) put_block(w, I, K, packed + (size_t)count * w->size);
      count += numbers;
    }
  return count;
}

/* Sends to one process of the grid, and receives the expected message from another. */
static trs_status swap(const worker *w, int to, int64_t sent, int from, int64_t expected) {
  int64_t first = (int64_t)w->part->z * w->part->shape.x * w->part->shape.y;
  int64_t size = (int64_t)w->size;
  if (sent) TRS_TRY(trs_ranks_send(w->ranks, (int)first + to, TRS_TAG_MOVE, w->out, sent * size));
  if (expected)
    TRS_TRY(trs_ranks_receive(w->ranks, (int)first + from, TRS_TAG_MOVE, w->in, expected * size));
  return trs_ranks_finish(w->ranks);
}

/* In round d each process sends to the process d places after it. */
static trs_status gather(const worker *w) {
  int places = w->part->shape.x * w->part->shape.y, own = trs_place(w->part);
  memset(w->T, 0, (size_t)(w->width * w->width) * w->size);
  int64_t count = visit_blocks(w, own, PACK, w->out);
  visit_blocks(w, own, UNPACK, w->out);
  for (int d = 1; d < places; d++) {
    int from = (own + places - d) % places;
    int64_t expected = visit_blocks(w, from, COUNT, NULL);
    TRS_TRY(swap(w, (own + d) % places, count, from, expected));
    visit_blocks(w, from, UNPACK, w->in);
  }
  return TRS_SUCCESS;
}

/* ---- Rows of N. ---- */

/* The supernodes whose rows process y of this row of processes computes: from first on, in steps.
 */
static int64_t first_computed(const worker *w, int y) {
  return first_row(w, w->part->x) + (int64_t)y * w->part->shape.x;
}
static int64_t step(const worker *w) { return (int64_t)w->part->shape.x * w->part->shape.y; }

/* Computes consecutive rows of N.  False: too many digits would be lost. */
static bool compute_rows(const worker *w) {
  char *N = w->N;
  bool good = true;
  for (int64_t I = first_computed(w, w->part->y); I < w->run->to; I += step(w)) {
    int64_t rows = trs_width(w->l, I);
    int64_t from = w->l->first[I] - w->begin;
    w->part->ops->invert_rows(w->width, w->upper, w->T, from, rows, N);
    good &= trs_growth(w->part->scalar, w->width, w->T, from, rows, N, w->room) <= TRS_MOST_GROWTH;
    N += (size_t)(rows * w->width) * w->size;
  }
  return good;
}

/* The rows that process `by` has computed and y keeps: packed from N, or stored into panels, which
 * hold negated numbers. */
static int64_t visit_rows(const worker *w, int by, int y, visit what, char *packed) {
  const char *N = w->N;
  int64_t count = 0;
  for (int64_t I = first_computed(w, by); I < w->run->to; I += step(w)) {
    int64_t rows = trs_width(w->l, I);
    for (int64_t K = first_column(w, I, y); K < end_column(w, I); K += w->part->shape.y) {
      int64_t columns = trs_width(w->l, K), before = w->l->first[K] - w->begin;
      char *at = packed ? packed + (size_t)count * w->size : NULL; /* NULL: only count */
      count += rows * columns;
      if (what == PACK)
        memcpy(at, N + (size_t)(before * rows) * w->size, (size_t)(rows * columns) * w->size);
      if (what == UNPACK)
        w->part->ops->negate(w->upper ? columns : rows, w->upper ? rows : columns, at, 0,
                             w->upper ? rows : 1, w->upper ? 1 : rows, block_at(w, I, K), 0);
    }
    N += (size_t)(rows * w->width) * w->size;
  }
  return count;
}

static trs_status hand_on(const worker *w) {
  int across = w->part->shape.y, own = w->part->y, line = w->part->x * across;
  visit_rows(w, own, own, PACK, w->out);
  visit_rows(w, own, own, UNPACK, w->out);
  for (int d = 1; d < across; d++) {
    int to = (own + d) % across, from = (own + across - d) % across;
    int64_t sent = visit_rows(w, own, to, PACK, w->out);
    int64_t expected = visit_rows(w, from, own, COUNT, NULL);
    TRS_TRY(swap(w, line + to, sent, line + from, expected));
    visit_rows(w, from, own, UNPACK, w->in);
  }
  return TRS_SUCCESS;
}

/* ---- All runs. ---- */

static void note(worker *w, trs_status status) {
  if (!status || w->status) return;
  w->status = status;
  trs_failure_get(&w->failure);
}

/* After a failure, messages are still sent and received as the other ranks expect. */
static trs_status invert_run(worker *w, int64_t r) {
  w->run = &w->l->run[r];
  w->begin = w->l->first[w->run->from];
  w->width = w->l->first[w->run->to] - w->begin;
  TRS_TRY(gather(w));
  if (w->unit[w->upper]) w->part->ops->set_unit(w->width, w->T);
  note(w, trs_fill_check(w->f, w->upper, w->l->origin[w->run->from], w->width, w->T, w->row_perm));
  if (!compute_rows(w)) w->refused[r] = 1;
  return hand_on(w);
}

/* Allocates for the widest run: a triangle; rows of N; and messages of this size or of a place's
 * blocks, which are fewer than the rows and columns assigned to it. */
static trs_status make_room(worker *w) {
  const trs_grid_layout *l = w->l;
  int64_t widest = 0, share = 0, places = (int64_t)w->part->shape.x * w->part->shape.y;
  for (int64_t r = 0; r < l->nruns; r++) {
    int64_t length = l->run[r].to - l->run[r].from;
    int64_t width = l->first[l->run[r].to] - l->first[l->run[r].from];
    int64_t rows = (length + places - 1) / places * l->widest * width;
    int64_t down = (length + w->part->shape.x - 1) / w->part->shape.x * l->widest;
    int64_t across = (length + w->part->shape.y - 1) / w->part->shape.y * l->widest;
    int64_t blocks = (down < width ? down : width) * (across < width ? across : width);
    if (width > widest) widest = width;
    if (rows > share) share = rows;
    if (blocks > share) share = blocks;
  }
  return TRS_ALLOC_ALL(TRS_ROOM_OF(&w->T, widest * widest, w->size),
                       TRS_ROOM_OF(&w->N, share, w->size), TRS_ROOM_OF(&w->out, share, w->size),
                       TRS_ROOM_OF(&w->in, share, w->size), TRS_ROOM(&w->room, 2 * widest));
}

static trs_status invert_all(worker *w) {
  for (int upper = 0; upper < 2; upper++) {
    w->upper = upper;
    for (int64_t r = 0; r < w->l->nruns; r++)
      if (trs_on_grid(w->l, w->l->run[r].from, w->part->z)) TRS_TRY(invert_run(w, r));
  }
  if (w->status) trs_failure_set(&w->failure);
  return w->status;
}

trs_status trs_fill_invert(trs_filler *f, trs_ranks *ranks, const bool unit[2],
                           const int32_t *row_perm, int8_t *refused) {
  worker w = {.f = f,
              .part = f->part,
              .l = f->part->layout,
              .ranks = ranks,
              .unit = unit,
              .row_perm = row_perm,
              .refused = refused,
              .size = trs_scalar_size(f->part->scalar)};
  trs_status status = trs_ranks_agree(ranks, make_room(&w));
  if (!status) status = invert_all(&w);
  TRS_FREE_ALL(w.T, w.N, w.out, w.in, w.room);
  return status;
}
