/* sweep.c - the trees and counts of a sweep, and its execution. */
#include "solve/grid3d/sweep.h"

#include <string.h>

#include "base/timer.h"

static int role_of(const trs_sweep *s, const trs_rank_part *p, int64_t K) {
  const trs_grid_layout *l = p->layout;
  return trs_on_grid(l, K, p->z) ? s->role.here[l->height[K]] : s->role.elsewhere[l->height[K]];
}

/* ---- Trees. ---- */

/* Reasons of a place to be in a tree: its own blocks, or supernodes at home there. */
enum { WITH_BLOCKS = 1, FOR_HOMES = 2 };

/* The places of a tree: the root, then the other participants in cyclic order from the root. Places
 * that only have homes come last, far from the root: their sums are complete before any other work,
 * and their supernodes are solved last. */
static int list_members(int *member, const int8_t *takes_part, int size, int root) {
  int count = 1;
  member[0] = root;
  for (int homes = 0; homes < 2; homes++)
    for (int d = 1; d < size; d++) {
      int p = (root + d) % size;
      if (takes_part[p] && homes == !(takes_part[p] & WITH_BLOCKS)) member[count++] = p;
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
  const trs_rank_part *part;
  trs_tree_shape shape;
  int places;         /* of a grid */
  int8_t *takes_part; /* flags of one column, per place; or of every local row, per place */
  int *member;
} maker;

static void keep_children(maker *m, const trs_tree_place *at) {
  for (int c = 0; c < at->nchildren; c++)
    m->s->child[m->s->nchildren++] = m->part->z * m->places + m->member[at->first_child + c];
}

static void take_part(const maker *m, int8_t *takes_part, int64_t I, int64_t K) {
  const trs_grid_layout *l = m->part->layout;
  bool home = l->home[m->s->upper ? I : K] >= 0;
  takes_part[trs_place_of_block(m->part, m->s->upper, I, K)] |= home ? FOR_HOMES : WITH_BLOCKS;
}

static int root_of(const maker *m, int64_t K) { return trs_place_of_block(m->part, TRS_L, K, K); }

/* Counts one more tree of count members, in which this rank sends `sends` messages. */
static void count_tree(trs_sweep *s, int count, int sends) {
  s->sends += sends;
  if (sends > s->tree_sends) s->tree_sends = sends;
  s->tree_steps += trs_pair_steps(count);
}

/* Adds a column: collects the places that multiply x(K). */
static void add_column(maker *m, int64_t slot) {
  trs_sweep *s = m->s;
  const trs_rank_part *p = m->part;
  const trs_grid_blocks *blocks = &p->layout->blocks[s->upper];
  int64_t K = p->slot[slot];
  memset(m->takes_part, 0, (size_t)m->places * sizeof *m->takes_part);
  for (int64_t b = blocks->ptr[K]; b < blocks->ptr[K + 1]; b++)
    if (role_of(s, p, blocks->row[b]) & TRS_ROLE_ROW)
      take_part(m, m->takes_part, blocks->row[b], K);
  int count = list_members(m->member, m->takes_part, m->places, root_of(m, K));
  int index = find(m->member, count, trs_place(p));
  if (index < 0) return;
  trs_tree_place at = trs_tree_at(m->shape, index, count);
  s->column_of[slot] = (int32_t)s->ncolumns;
  s->column[s->ncolumns++] = (trs_sweep_column){
      .slot = (int32_t)slot, .first_child = (int32_t)s->nchildren, .nchildren = at.nchildren};
  s->receives += index > 0;
  count_tree(s, count, at.nchildren);
  keep_children(m, &at);
}

static trs_status add_columns(maker *m) {
  trs_sweep *s = m->s;
  const trs_rank_part *p = m->part;
  int64_t mine = 0;
  for (int64_t i = 0; i < p->nslots; i++)
    mine += (role_of(s, p, p->slot[i]) & TRS_ROLE_COLUMN) != 0;
  TRS_TRY(TRS_ALLOC(&s->column, mine));
  TRS_TRY(TRS_ALLOC(&s->child, mine * (m->shape == TRS_TREE_FLAT ? m->places : 2)));
  for (int64_t i = 0; i < p->nslots; i++)
    if (role_of(s, p, p->slot[i]) & TRS_ROLE_COLUMN) add_column(m, i);
  return TRS_SUCCESS;
}

/* Collects the places that add to the rows of this rank.  The flags of row r are takes_part[r
 * places ...]. */
static void find_adders(maker *m) {
  const trs_sweep *s = m->s;
  const trs_rank_part *p = m->part;
  const trs_grid_blocks *blocks = &p->layout->blocks[s->upper];
  for (int64_t K = 0; K < p->layout->count; K++) {
    if (!(role_of(s, p, K) & TRS_ROLE_ADDS)) continue;
    for (int64_t b = blocks->ptr[K]; b < blocks->ptr[K + 1]; b++) {
      int64_t I = blocks->row[b], slot = trs_slot(p, I);
      if (slot < 0 || s->row_of[slot] < 0) continue;
      take_part(m, m->takes_part + (int64_t)s->row_of[slot] * m->places, I, K);
    }
  }
}

/* Lists products by row, with columns in the order of the sweep.  The first pass only counts, the
 * second stores. */
static void visit_items(maker *m, int64_t *next) {
  trs_sweep *s = m->s;
  const trs_local_side *side = &m->part->side[s->upper];
  for (int64_t i = 0; i < s->ncolumns; i++) {
    int64_t c = s->upper ? s->ncolumns - 1 - i : i, slot = s->column[c].slot;
    for (int64_t b = side->ptr[slot]; b < side->ptr[slot + 1]; b++) {
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

static void add_row(maker *m, int64_t slot, int64_t r) {
  trs_sweep *s = m->s;
  const trs_rank_part *p = m->part;
  int64_t I = p->slot[slot];
  int count = list_members(m->member, m->takes_part + r * m->places, m->places, root_of(m, I));
  int index = find(m->member, count, trs_place(p));
  s->row_of[slot] = -1;
  if (index < 0) return;
  trs_tree_place at = trs_tree_at(m->shape, index, count);
  s->row_of[slot] = (int32_t)s->nrows;
  s->row[s->nrows++] =
      (trs_sweep_row){.I = (int32_t)I,
                      .slot = (int32_t)slot,
                      .parent = index ? p->z * m->places + m->member[at.parent] : -1,
                      .index = index,
                      .first_child = at.first_child,
                      .nchildren = at.nchildren};
  s->receives += at.nchildren;
  count_tree(s, count, index > 0);
}

static trs_status add_rows(maker *m) {
  trs_sweep *s = m->s;
  const trs_rank_part *p = m->part;
  int64_t mine = 0, r = 0;
  for (int64_t i = 0; i < p->nslots; i++)
    if (role_of(s, p, p->slot[i]) & TRS_ROLE_SOLVE) s->row_of[i] = (int32_t)mine++;
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&s->row, mine + 1), TRS_ZEROS(&m->takes_part, mine * m->places)));
  find_adders(m);
  for (int64_t i = 0; i < p->nslots; i++)
    if (s->row_of[i] >= 0) add_row(m, i, r++);
  TRS_TRY(list_items(m));
  TRS_TRY(list_children(m));
  return TRS_ALLOC_ALL(TRS_ROOM(&s->done, s->nrows), TRS_ROOM(&s->arrived, s->ncolumns),
                       TRS_ROOM(&s->open, s->ncolumns), TRS_ROOM(&s->used, s->ncolumns),
                       TRS_ROOM(&s->ready, s->nrows));
}

/* This rank's own supernodes are sorted by height, and a role depends on the height. */
static void find_local(maker *m) {
  trs_sweep *s = m->s;
  const trs_rank_part *p = m->part;
  for (int64_t i = 0; i < p->nlocal; i++) {
    const trs_local_node *node = &p->side[s->upper].node[i];
    if (!(role_of(s, p, p->local[i]) & TRS_ROLE_SOLVE)) continue;
    if (s->local_to == 0) s->local_from = i;
    s->local_to = i + 1;
    s->local_flops += (double)node->width * (node->width + 2.0 * node->length);
  }
}

static trs_status make(maker *m) {
  trs_sweep *s = m->s;
  int64_t nslots = m->part->nslots;
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&s->column_of, nslots), TRS_ROOM(&s->row_of, nslots)));
  for (int64_t i = 0; i < nslots; i++) s->column_of[i] = s->row_of[i] = -1;
  find_local(m);
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&m->member, m->places), TRS_ROOM(&m->takes_part, m->places)));
  TRS_TRY(add_columns(m));
  trs_free(m->takes_part);
  m->takes_part = NULL;
  return add_rows(m);
}

trs_status trs_sweep_create(trs_sweep *s, const trs_rank_part *part, bool upper,
                            const trs_roles *role, trs_tree_shape shape) {
  *s = (trs_sweep){.upper = upper, .role = *role};
  maker m = {.s = s, .part = part, .shape = shape, .places = part->shape.x * part->shape.y};
  trs_status status = make(&m);
  TRS_FREE_ALL(m.takes_part, m.member);
  if (status) trs_sweep_destroy(s);
  return status;
}

void trs_sweep_destroy(trs_sweep *s) {
  TRS_FREE_ALL(s->column_of, s->row_of, s->column, s->row, s->child, s->item, s->item_column,
               s->done, s->ready, s->arrived, s->open, s->used, s->came, s->came_at);
  *s = (trs_sweep){0};
}

/* ---- The sweep. ---- */

enum { MESSAGE_X = 0, MESSAGE_SUM = 1 };

typedef struct runner {
  const trs_sweep *s;
  trs_rank_part *part;
  trs_ranks *ranks;
  int tag;
  trs_sweep_times *times;
  int64_t nready, nopen;
} runner;

static trs_status send_slot(runner *r, int to, void *slot, int64_t K, int64_t kind) {
  int64_t *head = (int64_t *)((char *)slot - TRS_HEAD_BYTES);
  double begin = trs_seconds();
  head[0] = K;
  head[1] = kind;
  int64_t bytes = TRS_HEAD_BYTES + trs_slot_bytes(r->part, K);
  TRS_TRY(trs_ranks_send(r->ranks, to, r->tag, head, bytes));
  r->times->intra_s += trs_seconds() - begin;
  r->times->messages++;
  r->times->bytes += bytes;
  return TRS_SUCCESS;
}

/* sum(I) -= T(I,K) x(K) */
static void multiply_block(runner *r, const trs_local_block *b, int64_t slot) {
  const trs_rank_part *p = r->part;
  const trs_local_side *side = &p->side[r->s->upper];
  const void *T = (const char *)side->values + (size_t)b->values * trs_scalar_size(p->scalar);
  (r->s->upper ? p->ops->pull : p->ops->push)(b->m, b->k, p->nrhs, T, trs_slot_x(p, slot),
                                              side->list + b->list, trs_slot_sum(p, b->row));
  r->times->flops += 2.0 * b->m * b->k * (double)p->nrhs;
}

/* Adds to a row, in its fixed order, all contributions up to the first that has not arrived. */
static void advance(runner *r, int32_t row) {
  const trs_sweep *s = r->s;
  trs_rank_part *p = r->part;
  const trs_sweep_row *R = &s->row[row];
  int64_t products = s->row[row + 1].items - R->items, all = products + R->nchildren;
  int64_t width = trs_width(p->layout, R->I), *done = &s->done[row];
  if (*done == all) return;
  for (; *done < products; ++*done) {
    int32_t c = s->item_column[R->items + *done];
    if (!s->arrived[c]) return;
    multiply_block(r, &p->side[s->upper].block[s->item[R->items + *done]], s->column[c].slot);
  }
  for (; *done < all; ++*done) {
    int64_t child = *done - products;
    if (!s->came[s->came_at[row] + child]) return;
    int64_t at = (R->columns + child * width) * p->nrhs;
    p->ops->add(width * p->nrhs, p->children + (size_t)at * trs_scalar_size(p->scalar),
                trs_slot_sum(p, R->slot));
  }
  s->ready[r->nready++] = row;
}

/* x(K) has arrived: sends it to the children in its tree first, so that they work while this rank
 * does. */
static trs_status use_column(runner *r, int64_t slot) {
  const trs_sweep *s = r->s;
  int32_t c = s->column_of[slot];
  const trs_sweep_column *column = &s->column[c];
  for (int32_t k = 0; k < column->nchildren; k++)
    TRS_TRY(send_slot(r, s->child[column->first_child + k], trs_slot_x(r->part, slot),
                      r->part->slot[slot], MESSAGE_X));
  s->arrived[c] = true;
  s->used[c] = 0;
  s->open[r->nopen++] = c;
  return TRS_SUCCESS;
}

/* Processes blocks of a column, from the row that is solved next, until a row is ready.  Ready rows
 * are sent before products that are needed later. */
static bool multiply_some(runner *r, int32_t c) {
  const trs_sweep *s = r->s;
  const trs_rank_part *p = r->part;
  const trs_local_side *side = &p->side[s->upper];
  int64_t slot = s->column[c].slot, begin = side->ptr[slot], count = side->ptr[slot + 1] - begin;
  while (s->used[c] < count && r->nready == 0) {
    int64_t k = s->used[c]++, b = begin + (s->upper ? count - 1 - k : k);
    int32_t row = side->block[b].row;
    if (s->row_of[row] >= 0)
      advance(r, s->row_of[row]);
    else if (role_of(s, p, p->slot[row]) & TRS_ROLE_ROW)
      multiply_block(r, &side->block[b], slot);
  }
  return s->used[c] == count;
}

/* The most recent column is processed first. */
static void multiply_open(runner *r) {
  double begin = trs_seconds();
  while (r->nopen > 0 && r->nready == 0) {
    int64_t at = r->nopen - 1;
    if (multiply_some(r, r->s->open[at])) r->nopen = at;
  }
  r->times->flop_s += trs_seconds() - begin;
}

static trs_status finish_row(runner *r, const trs_sweep_row *row) {
  trs_rank_part *p = r->part;
  int64_t slot = row->slot, width = trs_width(p->layout, row->I);
  if (row->parent >= 0)
    return send_slot(r, row->parent, trs_slot_sum(p, slot), row->I, MESSAGE_SUM + row->index);
  const trs_local_side *side = &p->side[r->s->upper];
  double begin = trs_seconds();
  const char *D = (char *)side->values + side->diagonal[slot] * (int64_t)trs_scalar_size(p->scalar);
  void *sum = trs_slot_sum(p, slot), *x = trs_slot_x(p, slot);
  bool identity = side->diagonal[slot] < 0;
  if (identity || side->solved[slot]) memcpy(x, sum, (size_t)trs_slot_bytes(p, row->I));
  if (identity) return r->s->column_of[slot] >= 0 ? use_column(r, slot) : TRS_SUCCESS;
  if (side->solved[slot])
    p->ops->solve(width, r->s->upper, p->nrhs, D, x);
  else
    p->ops->triangle(width, r->s->upper, p->nrhs, D, sum, x);
  r->times->flops += (double)(width * width * p->nrhs);
  r->times->flop_s += trs_seconds() - begin;
  return r->s->column_of[slot] >= 0 ? use_column(r, slot) : TRS_SUCCESS;
}

static trs_status work_off(runner *r) {
  while (r->nready > 0 || r->nopen > 0) {
    if (r->nready > 0)
      TRS_TRY(finish_row(r, &r->s->row[r->s->ready[--r->nready]]));
    else
      multiply_open(r);
  }
  return TRS_SUCCESS;
}

static trs_status take_message(runner *r) {
  trs_rank_part *p = r->part;
  int64_t bytes;
  double begin = trs_seconds();
  TRS_TRY(trs_ranks_receive_any(r->ranks, r->tag, p->message, p->largest, &bytes));
  r->times->intra_s += trs_seconds() - begin;
  const int64_t *head = (const int64_t *)p->message;
  const char *numbers = p->message + TRS_HEAD_BYTES;
  int64_t K = head[0], slot = trs_slot(p, K);
  if (slot < 0 || bytes != TRS_HEAD_BYTES + trs_slot_bytes(p, K))
    return trs_fail(TRS_ERROR_INTERNAL, -1, "a message of %lld bytes that nobody should send",
                    (long long)bytes);
  if (head[1] == MESSAGE_X) {
    memcpy(trs_slot_x(p, slot), numbers, (size_t)trs_slot_bytes(p, K));
    return use_column(r, slot);
  }
  int32_t row = r->s->row_of[slot];
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

/* Solves the supernodes at home here and adds their contributions to others: in L before all other
 * supernodes, in U after them, when x of the others has arrived. */
static void sweep_local(runner *r) {
  const trs_sweep *s = r->s;
  const trs_rank_part *p = r->part;
  const trs_local_side *side = &p->side[s->upper];
  double begin = trs_seconds();
  if (s->local_from == s->local_to) return;
  r->times->flops += s->local_flops * (double)p->nrhs;
  for (int64_t i = 0; s->upper && i < p->ntouched; i++)
    memcpy(p->base + p->touched_row[i] * trs_row_bytes(p), trs_slot_x(p, p->touched[i]),
           (size_t)trs_slot_bytes(p, p->slot[p->touched[i]]));
  p->ops->sweep(side->node, s->local_from, s->local_to, s->upper, p->nrhs, side->values, side->list,
                p->base, p->spare);
  for (int64_t i = 0; !s->upper && i < p->ntouched; i++)
    p->ops->add(trs_width(p->layout, p->slot[p->touched[i]]) * p->nrhs,
                p->base + p->touched_row[i] * trs_row_bytes(p), trs_slot_sum(p, p->touched[i]));
  r->times->flop_s += trs_seconds() - begin;
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
    int64_t slot = s->column[c].slot, K = r->part->slot[slot];
    if (!(role_of(s, r->part, K) & TRS_ROLE_SOLVE) && trs_has_diagonal(r->part, K))
      TRS_TRY(use_column(r, slot));
  }
  return TRS_SUCCESS;
}

/* The part's solver, which holds x and sums in its own memory, does the whole sweep. */
static void sweep_by_solver(const trs_sweep *s, trs_rank_part *part, trs_sweep_times *times) {
  double begin = trs_seconds();
  part->solver->sweep(part, s->upper);
  times->flop_s += trs_seconds() - begin;
  times->flops += s->local_flops * (double)part->nrhs;
  times->messages += s->sends;
}

trs_status trs_sweep_run(const trs_sweep *s, trs_rank_part *part, trs_ranks *ranks, int tag,
                         trs_sweep_times *times) {
  if (part->solver) {
    sweep_by_solver(s, part, times);
    return TRS_SUCCESS;
  }
  runner r = {.s = s, .part = part, .ranks = ranks, .tag = tag, .times = times};
  if (!s->upper) sweep_local(&r);
  TRS_TRY(start(&r));
  TRS_TRY(work_off(&r));
  for (int64_t left = s->receives; left > 0; left--) {
    TRS_TRY(take_message(&r));
    TRS_TRY(work_off(&r));
  }
  if (s->upper) sweep_local(&r);
  double begin = trs_seconds();
  TRS_TRY(trs_ranks_finish(ranks));
  times->intra_s += trs_seconds() - begin;
  return TRS_SUCCESS;
}
