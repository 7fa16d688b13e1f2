/* part.c - a rank's share of the factors: the blocks, their memory layout, and memory for x and
 * sums. */
#include "solve/grid3d/part.h"

#include <string.h>

/* ---- Supernodes of a rank. ---- */

enum { TOUCHES = 1, ADDS = 2 };

/* The slots of this rank: supernodes without a home that supernodes at home on this rank touch, on
 * this grid; and supernodes whose sums pass through this rank, because supernodes at the same place
 * of another grid add to them. */
static void mark(const trs_rank_part *p, int8_t *marked) {
  const trs_grid_layout *l = p->layout;
  for (int upper = 0; upper < 2; upper++)
    for (int64_t K = 0; K < l->count; K++)
      for (int64_t b = l->blocks[upper].ptr[K]; b < l->blocks[upper].ptr[K + 1]; b++) {
        int64_t I = l->blocks[upper].row[b], low = upper ? I : K, high = upper ? K : I;
        if (l->home[low] != trs_place(p) || l->home[high] >= 0) continue;
        if (trs_on_grid(l, low, p->z)) marked[high] |= TOUCHES;
        if (!upper && trs_on_grid(l, high, p->z)) marked[high] |= ADDS;
      }
}

static bool has_slot(const trs_rank_part *p, int64_t K, const int8_t *marked) {
  bool line = K % p->shape.x == p->x || K % p->shape.y == p->y;
  return p->layout->home[K] < 0 && trs_on_grid(p->layout, K, p->z) && (line || marked[K]);
}

static trs_status list_slots(trs_rank_part *p, const int8_t *marked) {
  const trs_grid_layout *l = p->layout;
  for (int64_t K = 0; K < l->count; K++) {
    p->nslots += has_slot(p, K, marked);
    p->ntouched += (marked[K] & TOUCHES) != 0;
  }
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&p->slot, p->nslots), TRS_ROOM(&p->touched, p->ntouched)));
  p->nslots = p->ntouched = 0;
  for (int64_t K = 0; K < l->count; K++) {
    if (!has_slot(p, K, marked)) continue;
    if (marked[K] & TOUCHES) p->touched[p->ntouched++] = (int32_t)p->nslots;
    p->slot[p->nslots++] = (int32_t)K;
  }
  return TRS_SUCCESS;
}

static trs_status list_local(trs_rank_part *p) {
  const trs_grid_layout *l = p->layout;
  for (int64_t K = 0; K < l->count; K++) p->nlocal += trs_is_local(p, K);
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&p->local, p->nlocal), TRS_ROOM(&p->local_to, l->levels + 1)));
  p->nlocal = 0;
  for (int h = 0; h <= l->levels; h++) {
    for (int64_t K = 0; K < l->count; K++)
      if (l->height[K] == h && trs_is_local(p, K)) p->local[p->nlocal++] = (int32_t)K;
    p->local_to[h] = p->nlocal;
  }
  return TRS_SUCCESS;
}

static trs_status number_rows(trs_rank_part *p) {
  const trs_grid_layout *l = p->layout;
  TRS_TRY(TRS_ALLOC(&p->local_row, p->nlocal + 1));
  TRS_TRY(TRS_ALLOC(&p->touched_row, p->ntouched + 1));
  for (int64_t i = 0; i < p->nlocal; i++) {
    p->local_row[i] = (int32_t)p->rows;
    p->rows += trs_width(l, p->local[i]);
  }
  for (int64_t i = 0; i < p->ntouched; i++) {
    p->touched_row[i] = (int32_t)p->rows;
    p->rows += trs_width(l, p->slot[p->touched[i]]);
  }
  p->touched_row[p->ntouched] = (int32_t)p->rows;
  return TRS_SUCCESS;
}

static trs_status list_supernodes(trs_rank_part *p) {
  int8_t *marked;
  TRS_TRY(TRS_ALLOC_ZERO(&marked, p->layout->count));
  mark(p, marked);
  trs_status status = list_slots(p, marked);
  trs_free(marked);
  if (!status) status = list_local(p);
  return status ? status : number_rows(p);
}

/* ---- Blocks and panels. ---- */

typedef struct planner {
  trs_rank_part *part;
  trs_local_side *side;
  bool upper;
  int64_t tile, nblocks;
} planner;

static void plan_block(planner *w, int64_t K, int64_t b) {
  const trs_grid_layout *l = w->part->layout;
  trs_local_side *side = w->side;
  int64_t I = l->blocks[w->upper].row[b];
  trs_local_block block = {.values = side->nvalues, .list = side->nlist};
  block.m = l->blocks[w->upper].rows[b];
  block.k = (int32_t)trs_width(l, w->upper ? I : K);
  if (side->block) {
    block.row = (int32_t)trs_slot(w->part, I);
    side->block[w->nblocks] = block;
  }
  w->nblocks++;
  side->nvalues += (int64_t)block.m * block.k;
  side->nlist += block.m;
}

static void plan_column(planner *w, int64_t slot) {
  const trs_grid_layout *l = w->part->layout;
  const trs_grid_blocks *blocks = &l->blocks[w->upper];
  int64_t K = w->part->slot[slot];
  w->side->ptr[slot] = w->nblocks;
  w->side->diagonal[slot] = -1;
  if (trs_has_diagonal(w->part, K) && !trs_half(l, K)) {
    w->side->diagonal[slot] = w->side->nvalues;
    w->side->nvalues += trs_triangle_values(trs_width(l, K), w->tile);
  }
  for (int64_t b = blocks->ptr[K]; b < blocks->ptr[K + 1]; b++)
    if (l->home[blocks->row[b]] < 0 && trs_has_block(w->part, w->upper, blocks->row[b], K))
      plan_block(w, K, b);
}

static int64_t list_length(const trs_grid_layout *l, bool upper, int64_t K) {
  int64_t length = 0;
  if (l->lists[upper].ptr) return l->lists[upper].ptr[K + 1] - l->lists[upper].ptr[K];
  for (int64_t b = l->blocks[0].ptr[K]; b < l->blocks[0].ptr[K + 1]; b++)
    length += l->blocks[0].rows[b]; /* symbolic: a symmetric pattern */
  return length;
}

/* Panels are aligned to vectors. */
static void plan_node(planner *w, int64_t i) {
  const trs_rank_part *p = w->part;
  trs_local_side *side = w->side;
  int64_t K = p->local[i], width = trs_width(p->layout, K);
  int64_t triangle = trs_triangle_values(width, w->tile);
  trs_local_node node = {.list = side->nlist, .row = p->local_row[i], .width = (int32_t)width};
  node.length = (int32_t)list_length(p->layout, w->upper, K);
  node.values = (side->nvalues + triangle + w->tile - 1) / w->tile * w->tile - triangle;
  side->nvalues = node.values + triangle + width * node.length;
  side->nlist += node.length;
  side->node[i] = node;
}

/* Panels are stored in the order of the sweep, so that it reads memory sequentially. */
static void plan(planner *w) {
  const trs_rank_part *p = w->part;
  w->nblocks = w->side->nlist = w->side->nvalues = 0;
  for (int64_t s = 0; s < p->nslots; s++) plan_column(w, s);
  w->side->ptr[p->nslots] = w->nblocks;
  w->side->nblock_list = w->side->nlist;
  w->side->nblock_values = w->side->nvalues;
  for (int64_t i = 0; i < p->nlocal; i++) plan_node(w, w->upper ? p->nlocal - 1 - i : i);
}

static trs_status plan_side(trs_rank_part *p, bool upper) {
  trs_local_side *side = &p->side[upper];
  planner w = {.part = p, .side = side, .upper = upper, .tile = trs_tile_rows(p->scalar)};
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&side->ptr, p->nslots + 1), TRS_ROOM(&side->diagonal, p->nslots),
                        TRS_ZEROS(&side->solved, p->nslots), TRS_ROOM(&side->node, p->nlocal)));
  plan(&w);
  TRS_TRY(TRS_ALLOC(&side->block, w.nblocks));
  plan(&w);
  return TRS_SUCCESS;
}

trs_status trs_part_create(trs_rank_part *part, const trs_grid_layout *layout, trs_scalar scalar,
                           trs_isa isa, trs_grid_shape shape, int rank) {
  *part = (trs_rank_part){.layout = layout,
                          .shape = shape,
                          .x = rank / shape.y % shape.x,
                          .y = rank % shape.y,
                          .z = rank / shape.y / shape.x,
                          .scalar = scalar,
                          .ops = trs_block_ops_of(scalar, isa)};
  trs_status status = list_supernodes(part);
  if (!status) status = plan_side(part, 0);
  if (!status) status = plan_side(part, 1);
  if (!status) status = TRS_ALLOC(&part->x_at, part->nslots);
  if (!status) status = TRS_ALLOC(&part->sum_at, part->nslots);
  if (status) trs_part_destroy(part);
  return status;
}

/* ---- Slots. ---- */

static void list_places(trs_rank_part *p, int64_t *at, int64_t *end) {
  enum { LINE = 64 };
  for (int64_t s = 0; s < p->nslots; s++) {
    int64_t bytes = trs_slot_bytes(p, p->slot[s]);
    at[s] = *end + LINE;
    *end = at[s] + (bytes + LINE - 1) / LINE * LINE;
    if (bytes + TRS_HEAD_BYTES > p->largest) p->largest = bytes + TRS_HEAD_BYTES;
  }
}

/* Places the slots behind the rows. */
static int64_t place_slots(trs_rank_part *part, int64_t nrhs) {
  part->nrhs = nrhs;
  part->largest = TRS_HEAD_BYTES;
  part->row_bytes = part->rows * trs_row_bytes(part);
  int64_t end = (part->row_bytes + TRS_SLACK - 1) / TRS_SLACK * TRS_SLACK;
  list_places(part, part->sum_at, &end);
  part->sum_bytes = end;
  list_places(part, part->x_at, &end);
  return end;
}

void trs_part_give_back(trs_rank_part *part) {
  TRS_FREE_ALL(part->base, part->message, part->spare, part->children);
  part->base = part->message = part->children = NULL;
  part->spare = NULL;
  part->nrhs = part->room = 0;
}

trs_status trs_part_reserve(trs_rank_part *part, int64_t nrhs) {
  int64_t size = (int64_t)trs_scalar_size(part->scalar);
  if (nrhs > part->room) trs_part_give_back(part);
  int64_t bytes = place_slots(part, nrhs);
  if (nrhs <= part->room) return TRS_SUCCESS;
  trs_status status = TRS_ALLOC_ALL(
      TRS_ZEROS(&part->base, bytes + TRS_SLACK), TRS_ROOM(&part->message, part->largest),
      TRS_ZEROS_OF(&part->spare, part->layout->widest * nrhs * size + TRS_SLACK, 1),
      TRS_ROOM_OF(&part->children, part->child_columns * nrhs, size));
  if (!status && part->solver) status = part->solver->reserve(part);
  if (status)
    trs_part_give_back(part);
  else
    part->room = nrhs;
  return status;
}

void trs_part_destroy(trs_rank_part *part) {
  if (part->solver) part->solver->destroy(part);
  for (int upper = 0; upper < 2; upper++) {
    trs_local_side *s = &part->side[upper];
    TRS_FREE_ALL(s->ptr, s->block, s->list, s->values, s->diagonal, s->solved, s->node);
  }
  trs_part_give_back(part);
  TRS_FREE_ALL(part->slot, part->local, part->touched, part->local_to, part->local_row,
               part->touched_row, part->x_at, part->sum_at);
  *part = (trs_rank_part){0};
}
