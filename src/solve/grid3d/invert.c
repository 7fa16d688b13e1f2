/* invert.c - a layout in which each supernode of a run becomes two, so that the inverses of the
 * runs' triangles have a place. */
#include <string.h>

#include "solve/grid3d/layout.h"

typedef struct worker {
  trs_grid_layout *to;
  const trs_grid_layout *from;
  int32_t *number; /* of each old supernode: the new one, or its lower half */
  int32_t *owner;  /* of each column of the factors: the new supernode, or its lower half */
} worker;

static trs_status number_supernodes(worker *w, const trs_grid_run *runs, int64_t nruns) {
  trs_grid_layout *to = w->to;
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&w->number, w->from->count), TRS_ROOM(&to->run, nruns)));
  int64_t r = 0;
  for (int64_t K = 0; K < w->from->count; K++) {
    w->number[K] = (int32_t)to->count++;
    if (r == nruns || K + 1 < runs[r].to) continue;
    int64_t length = runs[r].to - runs[r].from;
    to->run[r++] = (trs_grid_run){to->count - length, to->count};
    to->count += length;
  }
  to->nruns = nruns;
  return TRS_SUCCESS;
}

static trs_status allocate(trs_grid_layout *to) {
  TRS_TRY(trs_grid_layout_allocate(to));
  return TRS_ALLOC_ALL(TRS_ZEROS(&to->first, to->count + 1), TRS_ZEROS(&to->half, to->count),
                       TRS_ROOM(&to->run_of, to->count), TRS_ROOM(&to->origin, to->count));
}

static void copy_supernode(const worker *w, int64_t K, int64_t at) {
  trs_grid_layout *to = w->to;
  const trs_grid_layout *from = w->from;
  to->first[at + 1] = trs_width(from, K);
  to->height[at] = from->height[K];
  to->lo[at] = from->lo[K];
  to->home[at] = from->home[K];
  to->origin[at] = from->first[K];
  to->run_of[at] = -1;
}

static trs_status copy_supernodes(worker *w) {
  trs_grid_layout *to = w->to;
  TRS_TRY(allocate(to));
  memcpy(to->leaf, w->from->leaf, (size_t)to->pz * sizeof *to->leaf);
  for (int64_t K = 0; K < w->from->count; K++) copy_supernode(w, K, w->number[K]);
  for (int64_t r = 0; r < to->nruns; r++)
    for (int64_t a = to->run[r].from; a < to->run[r].to; a++) {
      int64_t b = a + to->run[r].to - to->run[r].from;
      to->run_of[a] = to->run_of[b] = (int32_t)r;
      to->half[a] = TRS_HALF_BELOW;
      to->half[b] = TRS_HALF_ABOVE;
      to->first[b + 1] = to->first[a + 1];
      to->height[b] = to->height[a];
      to->lo[b] = to->lo[a];
      to->home[b] = to->home[a];
      to->origin[b] = to->origin[a];
    }
  for (int64_t K = 0; K < to->count; K++) {
    to->first[K + 1] += to->first[K];
    if (trs_width(to, K) > to->widest) to->widest = trs_width(to, K);
  }
  return TRS_SUCCESS;
}

/* ---- Lists. ---- */

/* Rows outside of the run. */
static int64_t list_outside(const worker *w, bool upper, int64_t K, int32_t *idx) {
  const trs_grid_lists *lists = &w->from->lists[upper];
  const trs_grid_layout *to = w->to;
  int64_t count = 0;
  for (int64_t p = lists->ptr[K]; p < lists->ptr[K + 1]; p++) {
    int64_t j = lists->idx[p], other = w->owner[j];
    if (trs_in_one_run(to, w->number[K], other)) continue;
    if (idx) idx[count] = (int32_t)(to->first[other] + j - to->origin[other]);
    count++;
  }
  return count;
}

/* The inverse: all columns of the other halves, from its own on. */
static int64_t list_inside(const trs_grid_layout *to, int64_t a, int32_t *idx) {
  const trs_grid_run *run = &to->run[to->run_of[a]];
  int64_t length = run->to - run->from, begin = to->first[a + length];
  int64_t count = to->first[run->to + length] - begin;
  for (int64_t i = 0; i < count && idx; i++) idx[i] = (int32_t)(begin + i);
  return count;
}

/* Counts into ptr[K + 1], or fills the lists. */
static void visit(const worker *w, bool upper, int64_t *ptr, int32_t *idx) {
  const trs_grid_layout *to = w->to;
  for (int64_t K = 0; K < w->from->count; K++) {
    int64_t a = w->number[K], panel = trs_panel_of(to, a);
    int64_t count = list_outside(w, upper, K, idx ? idx + ptr[panel] : NULL);
    if (!idx) ptr[panel + 1] = count;
    if (panel == a) continue;
    count = list_inside(to, a, idx ? idx + ptr[a] : NULL);
    if (!idx) ptr[a + 1] = count;
  }
}

static trs_status copy_lists(const worker *w, bool upper) {
  trs_grid_lists *lists = &w->to->lists[upper];
  TRS_TRY(TRS_ALLOC_ZERO(&lists->ptr, w->to->count + 1));
  visit(w, upper, lists->ptr, NULL);
  for (int64_t K = 0; K < w->to->count; K++) lists->ptr[K + 1] += lists->ptr[K];
  TRS_TRY(TRS_ALLOC(&lists->idx, lists->ptr[w->to->count]));
  visit(w, upper, lists->ptr, lists->idx);
  return TRS_SUCCESS;
}

static trs_status make(worker *w, const trs_grid_run *runs, int64_t nruns) {
  TRS_TRY(number_supernodes(w, runs, nruns));
  TRS_TRY(copy_supernodes(w));
  TRS_TRY(TRS_ALLOC(&w->owner, w->from->n));
  for (int64_t K = 0; K < w->from->count; K++)
    for (int64_t j = w->from->first[K]; j < w->from->first[K + 1]; j++) w->owner[j] = w->number[K];
  TRS_TRY(copy_lists(w, TRS_L));
  TRS_TRY(copy_lists(w, TRS_U));
  return trs_grid_layout_blocks(w->to);
}

trs_status trs_grid_layout_invert(trs_grid_layout *to, const trs_grid_layout *from,
                                  const trs_grid_run *runs, int64_t nruns) {
  *to = (trs_grid_layout){.pz = from->pz, .levels = from->levels, .n = from->n};
  worker w = {.to = to, .from = from};
  trs_status status = make(&w, runs, nruns);
  TRS_FREE_ALL(w.number, w.owner);
  if (status) trs_grid_layout_destroy(to);
  return status;
}
