/* cut.c - supernodes whose triangles have no good inverse: found, and cut into narrower ones.  A
 * single column always has one. */
#include <string.h>

#include "solve/grid3d/fill.h"

/* ---- Where to cut. ---- */

/* |N| |T| up to which a product with the inverse N stands for a solve with T, as in runs.c; more is
 * let in, for cutting costs time. */
static const double most_growth = 1e6;

typedef struct finder {
  const trs_part *part;
  int which;
  int64_t width; /* of the triangle */
  const char *T;
  char *sub, *N;
  double *sum;
  size_t size;
  int8_t *cut; /* of the triangle's columns: a supernode begins here */
} finder;

static bool is_good(const finder *w, int64_t from, int64_t to) {
  int64_t width = to - from;
  for (int64_t j = 0; j < width; j++)
    memcpy(w->sub + (size_t)(j * width) * w->size,
           w->T + (size_t)(from + (from + j) * w->width) * w->size, (size_t)width * w->size);
  w->part->ops->invert_rows(width, w->which, w->sub, 0, width, w->N);
  return w->part->ops->growth(width, w->sub, width, w->N, w->sum) <= most_growth;
}

static bool halve(const finder *w, int64_t from, int64_t to) {
  if (to - from == 1 || is_good(w, from, to)) return false;
  int64_t middle = (from + to) / 2;
  w->cut[middle] = 1;
  halve(w, from, middle);
  halve(w, middle, to);
  return true;
}

static bool find_cuts(finder *w, const trs_filler *f, const bool unit[2], int8_t *cut) {
  const trs_grid_layout *l = w->part->layout;
  bool found = false;
  for (w->which = 0; w->which < 2; w->which++)
    for (int64_t K = 0; K < l->count; K++) {
      int64_t at = f->at[w->which][K];
      if (at < 0 || !trs_has_diagonal(w->part, K) || trs_half(l, K)) continue;
      w->width = trs_width(l, K);
      w->T = (char *)f->dense[w->which] + (size_t)at * w->size;
      w->cut = cut + trs_origin(l, K);
      if (unit[w->which]) w->part->ops->set_unit(w->width, (void *)w->T);
      found |= halve(w, 0, w->width);
    }
  return found;
}

trs_status trs_fill_find_cuts(const trs_filler *f, const bool unit[2], int8_t *cut, bool *found) {
  finder w = {.part = f->part, .size = trs_scalar_size(f->part->scalar)};
  int64_t widest = f->part->layout->widest;
  trs_status status = trs_alloc((void **)&w.sub, widest * widest, w.size);
  if (!status) status = trs_alloc((void **)&w.N, widest * widest, w.size);
  if (!status) status = TRS_ALLOC(&w.sum, widest);
  if (!status) *found = find_cuts(&w, f, unit, cut);
  trs_free(w.sub);
  trs_free(w.N);
  trs_free(w.sum);
  return status;
}

/* ---- Cutting. ---- */

typedef struct cutter {
  trs_grid_layout *to;
  const trs_grid_layout *from;
  const int8_t *cut;
  int32_t *number; /* of each old supernode: its first piece; count + 1 */
} cutter;

static trs_status cut_supernodes(cutter *c) {
  trs_grid_layout *to = c->to;
  const trs_grid_layout *from = c->from;
  for (int64_t j = 0; j < from->n; j++) to->count += c->cut[j];
  to->count += from->count;
  TRS_TRY(TRS_ALLOC(&to->first, to->count + 1));
  TRS_TRY(TRS_ALLOC(&to->height, to->count));
  TRS_TRY(TRS_ALLOC(&to->lo, to->count));
  TRS_TRY(TRS_ALLOC(&to->home, to->count));
  TRS_TRY(TRS_ALLOC(&to->leaf, to->pz));
  memcpy(to->leaf, from->leaf, (size_t)to->pz * sizeof *to->leaf);
  int32_t at = 0;
  for (int64_t K = 0; K < from->count; K++) {
    c->number[K] = at;
    for (int64_t j = from->first[K]; j < from->first[K + 1]; j++) {
      if (j > from->first[K] && !c->cut[j]) continue;
      to->first[at] = j;
      to->height[at] = from->height[K];
      to->lo[at] = from->lo[K];
      to->home[at++] = from->home[K];
    }
  }
  c->number[from->count] = at;
  to->first[at] = from->n;
  return TRS_SUCCESS;
}

/* What follows of the old supernode, then its list. */
static trs_status cut_lists(cutter *c, int which) {
  const trs_grid_lists *old = &c->from->lists[which];
  trs_grid_lists *lists = &c->to->lists[which];
  int64_t total = 0;
  TRS_TRY(TRS_ALLOC(&lists->ptr, c->to->count + 1));
  for (int64_t K = 0; K < c->from->count; K++)
    for (int32_t k = c->number[K]; k < c->number[K + 1]; k++) {
      lists->ptr[k] = total;
      total += c->from->first[K + 1] - c->to->first[k + 1] + old->ptr[K + 1] - old->ptr[K];
    }
  lists->ptr[c->to->count] = total;
  TRS_TRY(TRS_ALLOC(&lists->idx, total));
  for (int64_t K = 0; K < c->from->count; K++)
    for (int32_t k = c->number[K]; k < c->number[K + 1]; k++) {
      int32_t *idx = lists->idx + lists->ptr[k];
      for (int64_t j = c->to->first[k + 1]; j < c->from->first[K + 1]; j++) *idx++ = (int32_t)j;
      memcpy(idx, old->idx + old->ptr[K], (size_t)(old->ptr[K + 1] - old->ptr[K]) * sizeof *idx);
    }
  return TRS_SUCCESS;
}

static trs_status cut_all(cutter *c, trs_grid_run *runs, int64_t nruns) {
  TRS_TRY(TRS_ALLOC(&c->number, c->from->count + 1));
  TRS_TRY(cut_supernodes(c));
  TRS_TRY(cut_lists(c, 0));
  TRS_TRY(cut_lists(c, 1));
  TRS_TRY(trs_grid_layout_blocks(c->to));
  for (int64_t r = 0; r < nruns; r++)
    runs[r] = (trs_grid_run){c->number[runs[r].from], c->number[runs[r].to]};
  return TRS_SUCCESS;
}

trs_status trs_grid_layout_cut(trs_grid_layout *to, const trs_grid_layout *from, const int8_t *cut,
                               trs_grid_run *runs, int64_t nruns) {
  *to = (trs_grid_layout){.pz = from->pz, .levels = from->levels, .n = from->n};
  cutter c = {.to = to, .from = from, .cut = cut};
  trs_status status = cut_all(&c, runs, nruns);
  trs_free(c.number);
  if (status) trs_grid_layout_destroy(to);
  return status;
}
