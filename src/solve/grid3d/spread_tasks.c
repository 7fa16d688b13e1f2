/* spread_tasks.c - lists tasks in the order of a sweep, and divides their products into units for
 * warps. */
#include "solve/grid3d/spread_tasks.h"

#include <stdlib.h>

/* ---- Numbers ---- */

static bool is_spread(const trs_rank_part *p, int64_t K) {
  return p->layout->home[K] < 0 && trs_on_grid(p->layout, K, p->z);
}

/* depth[K]: supernodes on the longest path from K up, over the blocks of L and U. */
static void measure_depths(const trs_rank_part *p, int32_t *depth) {
  const trs_grid_layout *l = p->layout;
  for (int64_t K = 0; K < l->count; K++) depth[K] = 0;
  for (int64_t K = l->count - 1; K >= 0; K--) {
    if (!is_spread(p, K)) continue;
    for (int64_t b = l->blocks[0].ptr[K]; b < l->blocks[0].ptr[K + 1]; b++) {
      int32_t I = l->blocks[0].row[b];
      if (is_spread(p, I) && depth[I] >= depth[K]) depth[K] = depth[I] + 1;
    }
    for (int64_t b = l->blocks[1].ptr[K]; b < l->blocks[1].ptr[K + 1]; b++) {
      int32_t I = l->blocks[1].row[b];
      if (is_spread(p, I) && depth[I] <= depth[K]) depth[I] = depth[K] + 1;
    }
  }
}

typedef struct slot_depth {
  int32_t depth, slot;
} slot_depth;

static int deeper_first(const void *one, const void *other) {
  const slot_depth *a = one, *b = other;
  return a->depth != b->depth ? (a->depth < b->depth) - (a->depth > b->depth)
                              : (a->slot > b->slot) - (a->slot < b->slot);
}

static trs_status sort_slots(trs_spread_numbers *n, const trs_rank_part *p) {
  int32_t *depth = NULL;
  slot_depth *at = NULL;
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&depth, p->layout->count), TRS_ROOM(&at, p->nslots)));
  measure_depths(p, depth);
  for (int64_t s = 0; s < p->nslots; s++) at[s] = (slot_depth){depth[p->slot[s]], (int32_t)s};
  qsort(at, (size_t)p->nslots, sizeof *at, deeper_first);
  for (int64_t s = 0; s < p->nslots; s++) n->order[s] = at[s].slot;
  TRS_FREE_ALL(depth, at);
  return TRS_SUCCESS;
}

trs_status trs_spread_number(trs_spread_numbers *n, const trs_rank_part *p) {
  const trs_grid_layout *l = p->layout;
  int64_t slot = 0;
  *n = (trs_spread_numbers){0};
  for (int64_t K = 0; K < l->count; K++) n->count += is_spread(p, K);
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&n->number, p->nslots), TRS_ROOM(&n->row, p->nslots),
                        TRS_ROOM(&n->order, p->nslots), TRS_ROOM(&n->first, n->count)));
  n->count = 0;
  for (int64_t K = 0; K < l->count; K++) {
    if (!is_spread(p, K)) continue;
    if (slot < p->nslots && p->slot[slot] == K) n->number[slot++] = (int32_t)n->count;
    n->first[n->count++] = (int32_t)n->columns;
    n->columns += trs_width(l, K);
  }
  for (int64_t s = 0; s < p->nslots; s++) n->row[s] = -1;
  for (int64_t i = 0; i < p->ntouched; i++) n->row[p->touched[i]] = p->touched_row[i];
  return sort_slots(n, p);
}

void trs_spread_numbers_free(trs_spread_numbers *n) {
  TRS_FREE_ALL(n->number, n->row, n->order, n->first);
  *n = (trs_spread_numbers){0};
}

/* ---- Units ---- */

static int32_t least(int64_t a, int64_t b) { return (int32_t)(a < b ? a : b); }

/* Lines from `lines` on of a block, and terms from `from` on of each line.  slot: the block's other
 * supernode. */
static trs_spread_unit unit_of(const trs_task_maker *m, const trs_local_block *block, int64_t slot,
                               int64_t lines, int64_t from) {
  bool upper = m->sweep->upper;
  int64_t all = upper ? block->k : block->m, terms = upper ? block->m : block->k;
  int32_t K = m->numbers->number[slot];
  return (trs_spread_unit){
      .values = block->values + (upper ? from * block->k + lines : lines * block->k),
      .list = block->list + (upper ? from : lines),
      .K = K,
      .first = m->numbers->first[K],
      .out = upper ? (int32_t)lines : 0,
      .pitch = block->k,
      .from = upper ? 0 : (int32_t)from,
      .lines = least(all - lines, TRS_SPREAD_LINES),
      .terms = least(terms - from, TRS_SPREAD_TERMS)};
}

void trs_spread_cut_block(trs_task_maker *m, const trs_local_block *block, int64_t slot) {
  bool upper = m->sweep->upper;
  int64_t lines = upper ? block->k : block->m, terms = upper ? block->m : block->k;
  for (int64_t from = 0; from < terms; from += TRS_SPREAD_TERMS)
    for (int64_t at = 0; at < lines; at += TRS_SPREAD_LINES) {
      if (m->to->unit) m->to->unit[m->to->nunits] = unit_of(m, block, slot, at, from);
      m->to->nunits++;
    }
}

/* ---- Tasks ---- */

void trs_spread_add_task(trs_task_maker *m, trs_spread_task task) {
  if (m->to->task) m->to->task[m->to->ntasks] = task;
  m->to->ntasks++;
}

/* The receivers of x. */
void trs_spread_list_receivers(trs_task_maker *m, trs_spread_task *t, int64_t slot) {
  const trs_sweep *s = m->sweep;
  int32_t c = s->column_of[slot];
  int32_t places = m->part->shape.x * m->part->shape.y;
  t->receiver = (int32_t)m->to->nreceivers;
  t->receivers = c < 0 ? 0 : s->column[c].nchildren;
  for (int32_t k = 0; k < t->receivers; k++, m->to->nreceivers++)
    if (m->to->receiver)
      m->to->receiver[m->to->nreceivers] =
          s->child[s->column[c].first_child + k] - m->part->z * places;
}

trs_spread_task trs_spread_task_of(const trs_task_maker *m, int64_t slot) {
  const trs_rank_part *p = m->part;
  int32_t K = m->numbers->number[slot];
  return (trs_spread_task){.K = K,
                           .first = m->numbers->first[K],
                           .width = (int32_t)trs_width(p->layout, p->slot[slot]),
                           .row = m->numbers->row[slot],
                           .name = (int32_t)trs_origin(p->layout, p->slot[slot]),
                           .diagonal = -1};
}

static void add_row(trs_task_maker *m, int64_t slot, const trs_sweep_row *R) {
  const trs_rank_part *p = m->part;
  const trs_local_side *side = &p->side[m->sweep->upper];
  trs_spread_task t = trs_spread_task_of(m, slot);
  t.children = R->nchildren;
  t.unit = (int32_t)m->to->nunits;
  for (int64_t i = R->items; i < R[1].items; i++)
    trs_spread_cut_block(m, &side->block[m->sweep->item[i]],
                         m->sweep->column[m->sweep->item_column[i]].slot);
  t.units = (int32_t)(m->to->nunits - t.unit);
  if (R->parent >= 0) {
    int above = trs_tree_at(m->trees, R->index, R->index + 1).parent;
    t.kind = TRS_SPREAD_SUM;
    t.parent = R->parent - p->z * p->shape.x * p->shape.y;
    t.child = R->index - trs_tree_at(m->trees, above, R->index + 1).first_child;
  } else {
    bool below = trs_half(p->layout, R->I) == TRS_HALF_BELOW;
    t.kind = TRS_SPREAD_SOLVE;
    t.takes = !m->sweep->upper || !below;
    t.diagonal = side->diagonal[slot];
    t.solved = side->solved[slot];
    trs_spread_list_receivers(m, &t, slot);
  }
  trs_spread_add_task(m, t);
}

/* Products wait for x of other ranks; a rank that sends it on, or has rows for it, has a task. */
static void add_column(trs_task_maker *m, int64_t slot) {
  trs_spread_task t = trs_spread_task_of(m, slot);
  if (m->sweep->column_of[slot] < 0 || trs_has_diagonal(m->part, m->part->slot[slot])) return;
  t.kind = TRS_SPREAD_RECEIVE;
  trs_spread_list_receivers(m, &t, slot);
  if (t.receivers || (m->sweep->upper && t.row >= 0)) trs_spread_add_task(m, t);
}

trs_status trs_spread_list_rows(trs_task_maker *m) {
  const trs_sweep *s = m->sweep;
  for (int64_t i = 0; i < m->part->nslots; i++) {
    int64_t slot = m->numbers->order[s->upper ? m->part->nslots - 1 - i : i];
    if (s->row_of[slot] >= 0) add_row(m, slot, &s->row[s->row_of[slot]]);
    add_column(m, slot);
  }
  return TRS_SUCCESS;
}

static trs_status list_tasks(trs_task_maker *m, trs_spread_list list) {
  m->to->ntasks = m->to->nunits = m->to->nreceivers = 0;
  return list(m);
}

trs_status trs_spread_tasks_make(trs_spread_tasks *to, const trs_rank_part *part,
                                 const trs_sweep *sweep, const trs_spread_numbers *numbers,
                                 trs_tree_shape trees, trs_spread_list list) {
  *to = (trs_spread_tasks){0};
  trs_task_maker m = {.to = to, .part = part, .sweep = sweep, .numbers = numbers, .trees = trees};
  TRS_TRY(list_tasks(&m, list));
  if (to->nunits > INT32_MAX)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "a rank's blocks are %lld pieces of work, more than a GPU's lists have room "
                    "for: take more ranks",
                    (long long)to->nunits);
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&to->task, to->ntasks), TRS_ROOM(&to->unit, to->nunits),
                        TRS_ROOM(&to->receiver, to->nreceivers)));
  return list_tasks(&m, list);
}

void trs_spread_tasks_free(trs_spread_tasks *tasks) {
  TRS_FREE_ALL(tasks->task, tasks->unit, tasks->receiver);
  *tasks = (trs_spread_tasks){0};
}
