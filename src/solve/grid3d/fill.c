/* fill.c - fills a part with lists and numbers. */
#include "solve/grid3d/fill.h"

#include <string.h>

#include "analysis/growth.h"

/* ---- Dense panels. ---- */

/* This rank keeps L's panel of K if it may have a block in K's column, and U's if it may have one
 * in K's row. */
static bool wanted(const trs_rank_part *p, bool upper, int64_t K) {
  bool line = upper ? K % p->shape.x == p->x : K % p->shape.y == p->y;
  return trs_on_grid(p->layout, K, p->z) &&
         (p->layout->home[K] < 0 ? line : p->layout->home[K] == trs_place(p));
}

static int64_t length_of(const trs_filler *f, bool upper, int64_t K) {
  const int64_t *ptr = f->part->layout->lists[upper].ptr;
  return ptr[K + 1] - ptr[K];
}

static trs_status make_room(trs_filler *f, bool upper) {
  const trs_grid_layout *l = f->part->layout;
  int64_t numbers = 0;
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&f->at[upper], l->count), TRS_ZEROS(&f->cursor[upper], l->count),
                        TRS_ZEROS(&f->solved[upper], l->count)));
  for (int64_t K = 0; K < l->count; K++) {
    f->at[upper][K] = -1;
    if (!wanted(f->part, upper, K)) continue;
    f->at[upper][K] = numbers;
    numbers += trs_width(l, K) * (trs_width(l, K) + length_of(f, upper, K));
  }
  return trs_alloc_zero(&f->dense[upper], numbers, trs_scalar_size(f->part->scalar));
}

trs_status trs_fill_begin(trs_filler *f, trs_rank_part *part) {
  const trs_grid_layout *l = part->layout;
  *f = (trs_filler){.part = part};
  trs_status status = TRS_ALLOC(&f->owner, l->n);
  if (!status) status = make_room(f, TRS_L);
  if (!status) status = make_room(f, TRS_U);
  if (status) {
    trs_fill_abandon(f);
    return status;
  }
  for (int64_t K = 0; K < l->count; K++)
    for (int64_t j = 0; j < trs_width(l, K) && trs_half(l, K) != TRS_HALF_ABOVE; j++)
      f->owner[trs_origin(l, K) + j] = (int32_t)K;
  return TRS_SUCCESS;
}

void trs_fill_abandon(trs_filler *f) {
  trs_free(f->owner);
  for (int upper = 0; upper < 2; upper++) {
    TRS_FREE_ALL(f->at[upper], f->cursor[upper], f->dense[upper], f->solved[upper]);
  }
  *f = (trs_filler){0};
}

/* Entries come nearly in order: the search starts at the position of the last one, then tries the
 * next. */
static int64_t find_in_list(trs_filler *f, bool upper, int64_t K, int64_t key) {
  const trs_grid_lists *lists = &f->part->layout->lists[upper];
  int64_t from = lists->ptr[K], to = lists->ptr[K + 1], at = from + f->cursor[upper][K];
  if (at < to && lists->idx[at] != key && at + 1 < to) at++;
  if (at >= to || lists->idx[at] != key) at = trs_find(lists->idx, from, to, key);
  if (at >= 0) f->cursor[upper][K] = (int32_t)(at - from);
  return at < 0 ? -1 : at - from;
}

/* The position of the same entry of the inverse, in the half that holds the inverse. */
static int64_t offset_in_run(const trs_filler *f, bool upper, int64_t S, int64_t own,
                             int64_t other) {
  const trs_grid_layout *l = f->part->layout;
  int64_t at = f->at[upper][S], width = trs_width(l, S);
  return at < 0 ? -1 : at + width * (width + other - l->origin[S]) + own;
}

int64_t trs_fill_offset(trs_filler *f, bool upper, int64_t i, int64_t j) {
  const trs_grid_layout *l = f->part->layout;
  int64_t S = f->owner[upper ? i : j], O = f->owner[upper ? j : i], K = trs_panel_of(l, S);
  int64_t at = f->at[upper][K], width = trs_width(l, K), first = trs_origin(l, K);
  int64_t own = (upper ? i : j) - first, other = upper ? j : i;
  if (upper ? i > j : i < j) return -2;
  if (trs_in_one_run(l, S, O)) return offset_in_run(f, upper, S, own, other);
  if (at < 0) return -1;
  if (O == S) return at + (i - first) + (j - first) * width;
  int64_t r = find_in_list(f, upper, K, l->first[O] + other - trs_origin(l, O));
  return r < 0 ? -2 : at + width * width + r * width + own;
}

/* ---- Into tiles. ---- */

typedef struct packer {
  const trs_filler *f;
  const trs_rank_part *part;
  trs_local_side *side;
  bool upper;
  size_t size;
} packer;

static void *values_at(const packer *w, int64_t at) {
  return (char *)w->side->values + (size_t)at * w->size;
}

/* m rows of a dense panel, starting at `row`, in ascending or descending order. */
static void pack_panel(const packer *w, int64_t K, int64_t row, bool up, int64_t m, int64_t to) {
  int64_t width = trs_width(w->part->layout, K), down = up ? -width : width;
  int64_t first = w->f->at[w->upper][K] + width * (width + row);
  void *out = values_at(w, to);
  if (w->upper)
    w->part->ops->turn_panel(m, width, w->f->dense[1], first, down, 1, out);
  else
    w->part->ops->tile_panel(m, width, w->f->dense[0], first, down, 1, out);
}

static void pack_triangle(const packer *w, int64_t K, int64_t to) {
  int64_t width = trs_width(w->part->layout, K);
  w->part->ops->tile_triangle(width, w->upper, w->f->dense[w->upper], w->f->at[w->upper][K], 1,
                              width, values_at(w, to));
}

static void pack_column(const packer *w, int64_t slot) {
  const trs_grid_layout *l = w->part->layout;
  const trs_grid_blocks *blocks = &l->blocks[w->upper];
  int64_t K = w->part->slot[slot], at = w->side->ptr[slot];
  if (w->side->diagonal[slot] >= 0) pack_triangle(w, K, w->side->diagonal[slot]);
  w->side->solved[slot] = w->f->solved[w->upper][K];
  for (int64_t b = blocks->ptr[K]; b < blocks->ptr[K + 1]; b++) {
    int64_t I = blocks->row[b], S = w->upper ? I : K, other = w->upper ? K : I;
    if (l->home[I] >= 0 || !trs_has_block(w->part, w->upper, I, K)) continue;
    const trs_local_block *block = &w->side->block[at++];
    pack_panel(w, S, blocks->list[b] - l->lists[w->upper].ptr[S], false, block->m, block->values);
    for (int32_t r = 0; r < block->m; r++)
      w->side->list[block->list + r] =
          (int32_t)(l->lists[w->upper].idx[blocks->list[b] + r] - l->first[other]);
  }
}

/* Columns of U are stored from the farthest to the nearest: the sweep reads the most recent x last.
 */
static void pack_node(const packer *w, int64_t i, const int32_t *row_of) {
  const trs_grid_layout *l = w->part->layout;
  trs_local_node *node = &w->side->node[i];
  const trs_grid_lists *lists = &l->lists[w->upper];
  int64_t K = w->part->local[i], last = node->length - 1, other = K;
  int64_t triangle = trs_triangle_values(node->width, trs_tile_rows(w->part->scalar));
  pack_triangle(w, K, node->values);
  node->solved = w->f->solved[w->upper][K];
  pack_panel(w, K, w->upper ? last : 0, w->upper, node->length, node->values + triangle);
  for (int64_t r = 0; r < node->length; r++) {
    int64_t j = lists->idx[lists->ptr[K] + (w->upper ? last - r : r)];
    while (other + 1 < l->count && l->first[other + 1] <= j) other++;
    while (l->first[other] > j) other--;
    w->side->list[node->list + r] = (int32_t)(row_of[other] + (j - l->first[other]));
  }
}

static trs_status pack_side(trs_filler *f, bool upper, const int32_t *row_of) {
  trs_rank_part *p = f->part;
  packer w = {.f = f, .part = p, .side = &p->side[upper], .upper = upper};
  w.size = trs_scalar_size(p->scalar);
  TRS_TRY(TRS_ALLOC(&w.side->list, w.side->nlist));
  /* a product takes up to eight vectors of a row at once, of which it needs more than half */
  int64_t slack = 4 * TRS_SLACK / (int64_t)w.size;
  TRS_TRY(trs_alloc_zero(&w.side->values, w.side->nvalues + slack, w.size));
  for (int64_t s = 0; s < p->nslots; s++) pack_column(&w, s);
  for (int64_t i = 0; i < p->nlocal; i++) pack_node(&w, i, row_of);
  return TRS_SUCCESS;
}

/* ---- Diagonal blocks. ---- */

trs_status trs_fill_check(const trs_filler *f, bool upper, int64_t first, int64_t width,
                          const void *D, const int32_t *row_perm) {
  trs_pivot pivot;
  int64_t j = f->part->ops->bad_diagonal(width, D, &pivot);
  if (j < 0) return TRS_SUCCESS;
  int64_t row = row_perm ? row_perm[first + j] : first + j;
  return trs_fail(pivot == TRS_PIVOT_ZERO ? TRS_ERROR_ZERO_PIVOT : TRS_ERROR_NOT_FINITE, row,
                  "row %lld (0-based): the diagonal entry of %c is %s", (long long)row,
                  upper ? 'U' : 'L',
                  pivot == TRS_PIVOT_ZERO      ? "zero"
                  : pivot == TRS_PIVOT_EXTREME ? "too small, or too large, for its reciprocal"
                                               : "NaN or infinite");
}

/* N: space for a triangle; room: for twice its width. */
static trs_status invert(const trs_filler *f, bool upper, bool unit, const int32_t *row_perm,
                         void *N, double *room) {
  const trs_rank_part *p = f->part;
  const size_t size = trs_scalar_size(p->scalar);
  for (int64_t K = 0; K < p->layout->count; K++) {
    if (f->at[upper][K] < 0 || !trs_has_diagonal(p, K) || trs_half(p->layout, K)) continue;
    int64_t width = trs_width(p->layout, K);
    void *D = (char *)f->dense[upper] + (size_t)f->at[upper][K] * size;
    if (unit) p->ops->set_unit(width, D);
    TRS_TRY(trs_fill_check(f, upper, trs_origin(p->layout, K), width, D, row_perm));
    p->ops->invert_rows(width, upper, D, 0, width, N);
    f->solved[upper][K] =
        trs_growth(p->scalar, width, D, 0, width, N, room) > TRS_MOST_GROWTH_SUPERNODE;
    if (!f->solved[upper][K]) memcpy(D, N, (size_t)(width * width) * size);
  }
  return TRS_SUCCESS;
}

/* For the supernodes whose diagonal blocks are on this rank. */
static trs_status invert_all(const trs_filler *f, const bool unit[2], const int32_t *row_perm) {
  const int64_t widest = f->part->layout->widest;
  void *N = NULL;
  double *room = NULL;
  trs_status status = trs_alloc(&N, widest * widest, trs_scalar_size(f->part->scalar));
  if (!status) status = TRS_ALLOC(&room, 2 * widest);
  for (int upper = 0; upper < 2 && !status; upper++)
    status = invert(f, upper, unit[upper], row_perm, N, room);
  TRS_FREE_ALL(N, room);
  return status;
}

/* ---- All. ---- */

/* Row numbers in the array of rows; those of other supernodes are not used. */
static void list_rows(const trs_rank_part *p, int32_t *row_of) {
  for (int64_t i = 0; i < p->nlocal; i++) row_of[p->local[i]] = p->local_row[i];
  for (int64_t i = 0; i < p->ntouched; i++) row_of[p->slot[p->touched[i]]] = p->touched_row[i];
}

trs_status trs_fill_end(trs_filler *f, const bool unit[2], const int32_t *row_perm) {
  int32_t *row_of = NULL;
  trs_status status = invert_all(f, unit, row_perm);
  if (!status) status = TRS_ALLOC_ZERO(&row_of, f->part->layout->count);
  if (!status) list_rows(f->part, row_of);
  for (int upper = 0; upper < 2 && !status; upper++) {
    status = pack_side(f, upper, row_of);
    trs_free(f->dense[upper]);
    f->dense[upper] = NULL;
  }
  trs_free(row_of);
  trs_fill_abandon(f);
  return status;
}
