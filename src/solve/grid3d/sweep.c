/* sweep.c - trees and counts of a sweep, and the sweep. */
#include "solve/grid3d/sweep.h"

#include <string.h>

#include "base/timer.h"

/* ---- Trees. ---- */

/* The places of a tree: the root, then the others that take part, going round from it. */
static int list_members(int *member, const bool *takes_part, int size, int root) {
  int count = 0;
  for (int d = 0; d < size; d++) {
    int p = (root + d) % size;
    if (d == 0 || takes_part[p]) member[count++] = p;
  }
  return count;
}

static int find(const int *member, int count, int p) {
  for (int i = 0; i < count; i++)
    if (member[i] == p) return i;
  return -1;
}

typedef struct maker {
  trs_sweep *s;
  const trs_part *part;
  trs_tree_shape shape;
  bool *takes_part; /* of one column, Px; or of every local row, Py each */
  int *member;
} maker;

static trs_status keep_children(maker *m, const trs_tree_place *at, bool in_column) {
  trs_sweep *s = m->s;
  const trs_part *p = m->part;
  for (int c = 0; c < at->nchildren; c++) {
    int who = m->member[at->first_child + c];
    s->child[s->nchildren++] =
        in_column ? trs_rank_at(p->shape, who, p->y, p->z) : trs_rank_at(p->shape, p->x, who, p->z);
  }
  return TRS_SUCCESS;
}

/* Who has something to multiply x(K) with? */
static trs_status add_column(maker *m, int64_t K) {
  trs_sweep *s = m->s;
  const trs_part *p = m->part;
  const trs_grid_blocks *blocks = &p->layout->blocks[s->which];
  int Px = p->shape.x, root = (int)(K % Px);
  memset(m->takes_part, 0, (size_t)Px * sizeof *m->takes_part);
  for (int64_t b = blocks->ptr[K]; b < blocks->ptr[K + 1]; b++)
    if (s->role[blocks->row[b]] & TRS_ROLE_ROW) m->takes_part[blocks->row[b] % Px] = true;
  int count = list_members(m->member, m->takes_part, Px, root);
  int place = find(m->member, count, p->x);
  if (place < 0) return TRS_SUCCESS;
  trs_tree_place at = trs_tree_at(m->shape, place, count);
  s->column_of[K] = (int32_t)s->ncolumns;
  s->column[s->ncolumns++] = (trs_sweep_column){
      .K = (int32_t)K, .first_child = (int32_t)s->nchildren, .nchildren = at.nchildren};
  s->receives += place > 0;
  s->sends += at.nchildren;
  return keep_children(m, &at, true);
}

static trs_status add_columns(maker *m) {
  trs_sweep *s = m->s;
  const trs_part *p = m->part;
  int64_t mine = 0;
  for (int64_t K = 0; K < p->layout->count; K++)
    mine += trs_has_column(p, K) && (s->role[K] & TRS_ROLE_COLUMN);
  TRS_TRY(TRS_ALLOC(&s->column, mine));
  TRS_TRY(TRS_ALLOC(&s->child, mine * (m->shape == TRS_TREE_FLAT ? p->shape.x : 2)));
  for (int64_t K = 0; K < p->layout->count; K++)
    if (trs_has_column(p, K) && (s->role[K] & TRS_ROLE_COLUMN)) TRS_TRY(add_column(m, K));
  return TRS_SUCCESS;
}

/* Who adds to the rows that are solved here?  Row r's answers are takes_part[r Py ...]. */
static void find_adders(maker *m) {
  const trs_sweep *s = m->s;
  const trs_part *p = m->part;
  const trs_grid_blocks *blocks = &p->layout->blocks[s->which];
  int Py = p->shape.y;
  for (int64_t K = 0; K < p->layout->count; K++) {
    if (!(s->role[K] & TRS_ROLE_ADDS)) continue;
    for (int64_t b = blocks->ptr[K]; b < blocks->ptr[K + 1]; b++) {
      int32_t r = s->row_of[blocks->row[b]];
      if (r >= 0) m->takes_part[(int64_t)r * Py + K % Py] = true;
    }
  }
}

/* Products by row, columns in the order of the sweep.  With update counting only, then placing. */
static void visit_items(maker *m, int64_t *next) {
  trs_sweep *s = m->s;
  const trs_local_side *side = &m->part->side[s->which];
  for (int64_t i = 0; i < s->ncolumns; i++) {
    int64_t c = s->which ? s->ncolumns - 1 - i : i, K = s->column[c].K;
    for (int64_t b = side->ptr[K]; b < side->ptr[K + 1]; b++) {
      int32_t r = s->row_of[side->block[b].row];
      if (r < 0) continue;
      if (s->item) {
        s->item[next[r]] = b;
        s->item_column[next[r]] = (int32_t)c;
      }
      next[r]++;
    }
  }
}

static trs_status list_items(maker *m) {
  trs_sweep *s = m->s;
  int64_t *next;
  TRS_TRY(TRS_ALLOC_ZERO(&next, s->nrows));
  visit_items(m, next);
  for (int64_t r = 0; r < s->nrows; r++) {
    s->row[r].items = s->nitems;
    s->nitems += next[r];
    next[r] = s->row[r].items;
  }
  s->row[s->nrows].items = s->nitems;
  trs_status status = TRS_ALLOC(&s->item, s->nitems);
  if (!status) status = TRS_ALLOC(&s->item_column, s->nitems);
  if (!status) visit_items(m, next);
  trs_free(next);
  return status;
}

static trs_status list_children(maker *m) {
  trs_sweep *s = m->s;
  int64_t children = 0;
  TRS_TRY(TRS_ALLOC(&s->came_at, s->nrows));
  for (int64_t r = 0; r < s->nrows; r++) {
    s->came_at[r] = children;
    s->row[r].columns = s->child_columns;
    children += s->row[r].nchildren;
    s->child_columns += s->row[r].nchildren * trs_width(m->part->layout, s->row[r].I);
  }
  return TRS_ALLOC_ZERO(&s->came, children);
}

static void add_row(maker *m, int64_t I, int64_t r) {
  trs_sweep *s = m->s;
  const trs_part *p = m->part;
  int root = (int)(I % p->shape.y);
  int count = list_members(m->member, m->takes_part + r * p->shape.y, p->shape.y, root);
  int place = find(m->member, count, p->y);
  s->row_of[I] = -1;
  if (place < 0) return;
  trs_tree_place at = trs_tree_at(m->shape, place, count);
  s->row_of[I] = (int32_t)s->nrows;
  s->row[s->nrows++] = (trs_sweep_row){
      .I = (int32_t)I,
      .parent = place ? trs_rank_at(p->shape, p->x, m->member[at.parent], p->z) : -1,
      .place = place,
      .first_child = at.first_child,
      .nchildren = at.nchildren};
  s->receives += at.nchildren;
  s->sends += place > 0;
}

static trs_status add_rows(maker *m) {
  trs_sweep *s = m->s;
  const trs_part *p = m->part;
  int64_t mine = 0, r = 0;
  for (int64_t I = 0; I < p->layout->count; I++)
    if (trs_has_row(p, I) && (s->role[I] & TRS_ROLE_SOLVE)) s->row_of[I] = (int32_t)mine++;
  TRS_TRY(TRS_ALLOC(&s->row, mine + 1));
  TRS_TRY(TRS_ALLOC_ZERO(&m->takes_part, mine * p->shape.y));
  find_adders(m);
  for (int64_t I = 0; I < p->layout->count; I++)
    if (s->row_of[I] >= 0) add_row(m, I, r++);
  TRS_TRY(list_items(m));
  TRS_TRY(list_children(m));
  TRS_TRY(TRS_ALLOC(&s->done, s->nrows));
  TRS_TRY(TRS_ALLOC(&s->arrived, s->ncolumns));
  return TRS_ALLOC(&s->ready, s->nrows);
}

static trs_status make(maker *m) {
  trs_sweep *s = m->s;
  int64_t count = m->part->layout->count;
  int Px = m->part->shape.x, Py = m->part->shape.y;
  TRS_TRY(TRS_ALLOC(&s->column_of, count));
  TRS_TRY(TRS_ALLOC(&s->row_of, count));
  for (int64_t K = 0; K < count; K++) s->column_of[K] = s->row_of[K] = -1;
  TRS_TRY(TRS_ALLOC(&m->member, Px > Py ? Px : Py));
  TRS_TRY(TRS_ALLOC(&m->takes_part, Px));
  TRS_TRY(add_columns(m));
  trs_free(m->takes_part);
  m->takes_part = NULL;
  return add_rows(m);
}

trs_status trs_sweep_create(trs_sweep *s, const trs_part *part, int which, int8_t *role,
                            trs_tree_shape shape) {
  *s = (trs_sweep){.which = which, .role = role};
  maker m = {.s = s, .part = part, .shape = shape};
  trs_status status = make(&m);
  trs_free(m.takes_part);
  trs_free(m.member);
  if (status) trs_sweep_destroy(s);
  return status;
}

void trs_sweep_destroy(trs_sweep *s) {
  void *arrays[] = {s->role,    s->column_of, s->row_of,      s->column, s->row,
                    s->child,   s->item,      s->item_column, s->done,   s->ready,
                    s->arrived, s->came,      s->came_at};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) trs_free(arrays[k]);
  *s = (trs_sweep){0};
}

/* ---- The sweep. ---- */

enum { MESSAGE_X = 0, MESSAGE_SUM = 1 };

typedef struct runner {
  const trs_sweep *s;
  trs_part *part;
  trs_ranks *ranks;
  int tag;
  trs_sweep_times *times;
  int64_t nready;
} runner;

static trs_status send_slot(runner *r, int to, void *slot, int64_t K, int64_t kind) {
  int64_t *head = (int64_t *)((char *)slot - TRS_HEAD_BYTES);
  double begin = trs_seconds();
  head[0] = K;
  head[1] = kind;
  TRS_TRY(trs_ranks_send(r->ranks, to, r->tag, head, TRS_HEAD_BYTES + trs_slot_bytes(r->part, K)));
  r->times->intra_s += trs_seconds() - begin;
  return TRS_SUCCESS;
}

/* sum(I) -= T(I,K) x(K) */
static void multiply_block(runner *r, const trs_local_block *b, int64_t K) {
  trs_part *p = r->part;
  const trs_local_side *side = &p->side[r->s->which];
  const void *T = (const char *)side->values + (size_t)b->values * trs_scalar_size(p->scalar);
  const int32_t *list = side->list + b->list;
  int64_t wide_i = trs_width(p->layout, b->row), wide_k = trs_width(p->layout, K);
  void *x = trs_x(p, K), *sum = trs_sum(p, b->row);
  if (b->full) {
    p->ops->multiply(b->m, p->nrhs, b->k, T, x, wide_k, sum, wide_i);
  } else if (r->s->which) {
    p->ops->gather(b->k, p->nrhs, list, x, wide_k, p->spare);
    p->ops->multiply(b->m, p->nrhs, b->k, T, p->spare, b->k, sum, wide_i);
  } else {
    memset(p->spare, 0, (size_t)(b->m * p->nrhs) * trs_scalar_size(p->scalar));
    p->ops->multiply(b->m, p->nrhs, b->k, T, x, wide_k, p->spare, b->m);
    p->ops->scatter(b->m, p->nrhs, list, p->spare, sum, wide_i);
  }
  r->times->flops += 2.0 * b->m * b->k * (double)p->nrhs;
}

/* Adds to a row what has come, as far as its turn has. */
static void advance(runner *r, int32_t row) {
  const trs_sweep *s = r->s;
  trs_part *p = r->part;
  const trs_sweep_row *R = &s->row[row];
  int64_t products = s->row[row + 1].items - R->items, all = products + R->nchildren;
  int64_t width = trs_width(p->layout, R->I), *done = &s->done[row];
  if (*done == all) return;
  for (; *done < products; ++*done) {
    int32_t c = s->item_column[R->items + *done];
    if (!s->arrived[c]) return;
    multiply_block(r, &p->side[s->which].block[s->item[R->items + *done]], s->column[c].K);
  }
  for (; *done < all; ++*done) {
    int64_t child = *done - products;
    if (!s->came[s->came_at[row] + child]) return;
    int64_t at = (R->columns + child * width) * p->nrhs;
    p->ops->add(width * p->nrhs, p->children + (size_t)at * trs_scalar_size(p->scalar),
                trs_sum(p, R->I));
  }
  s->ready[r->nready++] = row;
}

/* x(K) is here: to those below in its tree first, so that they work while this rank does. */
static trs_status use_column(runner *r, int64_t K) {
  const trs_sweep *s = r->s;
  const trs_sweep_column *column = &s->column[s->column_of[K]];
  const trs_local_side *side = &r->part->side[s->which];
  for (int32_t c = 0; c < column->nchildren; c++)
    TRS_TRY(send_slot(r, s->child[column->first_child + c], trs_x(r->part, K), K, MESSAGE_X));
  double begin = trs_seconds();
  s->arrived[s->column_of[K]] = true;
  for (int64_t b = side->ptr[K]; b < side->ptr[K + 1]; b++) {
    int32_t I = side->block[b].row;
    if (s->row_of[I] >= 0)
      advance(r, s->row_of[I]);
    else if (s->role[I] & TRS_ROLE_ROW)
      multiply_block(r, &side->block[b], K);
  }
  r->times->flop_s += trs_seconds() - begin;
  return TRS_SUCCESS;
}

static trs_status finish_row(runner *r, const trs_sweep_row *row) {
  trs_part *p = r->part;
  int64_t I = row->I, width = trs_width(p->layout, I);
  if (row->parent >= 0)
    return send_slot(r, row->parent, trs_sum(p, I), I, MESSAGE_SUM + row->place);
  const trs_local_side *side = &p->side[r->s->which];
  double begin = trs_seconds();
  memset(trs_x(p, I), 0, (size_t)trs_slot_bytes(p, I));
  p->ops->multiply(width, p->nrhs, width,
                   (char *)side->values + (size_t)side->inverse[I] * trs_scalar_size(p->scalar),
                   trs_sum(p, I), width, trs_x(p, I), width);
  r->times->flops += 2.0 * (double)(width * width * p->nrhs);
  r->times->flop_s += trs_seconds() - begin;
  return r->s->column_of[I] >= 0 ? use_column(r, I) : TRS_SUCCESS;
}

static trs_status work_off(runner *r) {
  while (r->nready > 0) TRS_TRY(finish_row(r, &r->s->row[r->s->ready[--r->nready]]));
  return TRS_SUCCESS;
}

static trs_status take_message(runner *r) {
  trs_part *p = r->part;
  int64_t bytes;
  double begin = trs_seconds();
  TRS_TRY(trs_ranks_receive_any(r->ranks, r->tag, p->message, p->largest, &bytes));
  r->times->intra_s += trs_seconds() - begin;
  const int64_t *head = (const int64_t *)p->message;
  const char *numbers = p->message + TRS_HEAD_BYTES;
  int64_t K = head[0];
  if (K < 0 || K >= p->layout->count || bytes != TRS_HEAD_BYTES + trs_slot_bytes(p, K))
    return trs_fail(TRS_ERROR_INTERNAL, -1, "a message of %lld bytes that nobody should send",
                    (long long)bytes);
  if (head[1] == MESSAGE_X) {
    memcpy(trs_x(p, K), numbers, (size_t)trs_slot_bytes(p, K));
    return use_column(r, K);
  }
  int32_t row = r->s->row_of[K];
  const trs_sweep_row *R = &r->s->row[row];
  int64_t child = head[1] - MESSAGE_SUM - R->first_child;
  int64_t at = (R->columns + child * trs_width(p->layout, K)) * p->nrhs;
  memcpy(p->children + (size_t)at * trs_scalar_size(p->scalar), numbers,
         (size_t)trs_slot_bytes(p, K));
  r->s->came[r->s->came_at[row] + child] = true;
  begin = trs_seconds();
  advance(r, row);
  r->times->flop_s += trs_seconds() - begin;
  return TRS_SUCCESS;
}

static trs_status start(runner *r) {
  const trs_sweep *s = r->s;
  memset(s->arrived, 0, (size_t)s->ncolumns * sizeof *s->arrived);
  for (int64_t i = 0; i < s->nrows; i++) {
    const trs_sweep_row *R = &s->row[i];
    s->done[i] = 0;
    memset(s->came + s->came_at[i], 0, (size_t)R->nchildren * sizeof *s->came);
    if (R[1].items == R->items && R->nchildren == 0) s->ready[r->nready++] = (int32_t)i;
  }
  for (int64_t c = 0; c < s->ncolumns; c++) {
    int64_t K = s->column[c].K;
    if (!(s->role[K] & TRS_ROLE_SOLVE) && trs_has_diagonal(r->part, K)) TRS_TRY(use_column(r, K));
  }
  return TRS_SUCCESS;
}

trs_status trs_sweep_run(const trs_sweep *s, trs_part *part, trs_ranks *ranks, int tag,
                         trs_sweep_times *times) {
  runner r = {.s = s, .part = part, .ranks = ranks, .tag = tag, .times = times};
  TRS_TRY(start(&r));
  TRS_TRY(work_off(&r));
  for (int64_t left = s->receives; left > 0; left--) {
    TRS_TRY(take_message(&r));
    TRS_TRY(work_off(&r));
  }
  double begin = trs_seconds();
  TRS_TRY(trs_ranks_finish(ranks));
  times->intra_s += trs_seconds() - begin;
  return TRS_SUCCESS;
}
