/* forest.c - partitions the elimination forest of the supernodes: into grids, for factors without a
 * separator tree or with a tree that pivoting has collapsed; and, in each grid, into subtrees that
 * one process owns alone (Geist, Ng 1989), which saves their messages.
 *
 * Liu's algorithm (1986) on the pattern of L + U^T finds the parent of each supernode; the two
 * supernodes of a block are then ancestor and descendant.  To split a set of subtrees over 2^h
 * grids: while one subtree has most of the work, its root is replicated over the grids and its
 * children replace it; then the subtrees are divided into two halves, the heaviest remaining
 * subtree to the lighter half.  O(blocks log count) per halving.  The partition over processes is
 * the same, with one part per process. */
#include "base/deal.h"
#include "base/heap.h"
#include "base/transpose.h"
#include "order/etree.h"
#include "solve/grid3d/layout.h"

typedef struct forest {
  trs_grid_layout *l;
  int32_t *parent, *child, *sibling; /* count; -1: none */
  double *below;                     /* entries of L and U in the subtree */
} forest;

/* ---- The forest. ---- */

/* column: of each row of L, which is stored by columns.  top: count. */
static void find_parents(const forest *f, const int64_t *ptr, const int32_t *column, int32_t *top) {
  const trs_grid_blocks *U = &f->l->blocks[1];
  for (int64_t K = 0; K < f->l->count; K++) f->parent[K] = top[K] = -1;
  for (int32_t I = 0; I < f->l->count; I++) {
    for (int64_t p = ptr[I]; p < ptr[I + 1]; p++) trs_etree_link(f->parent, top, column[p], I);
    for (int64_t p = U->ptr[I]; p < U->ptr[I + 1]; p++)
      trs_etree_link(f->parent, top, U->row[p], I);
  }
}

static void weigh(const forest *f) {
  const trs_grid_layout *l = f->l;
  trs_grid_layout_weigh(l, f->below);
  for (int64_t K = 0; K < l->count; K++) f->child[K] = -1;
  for (int64_t K = 0; K < l->count; K++) {
    int32_t parent = f->parent[K];
    if (parent < 0) continue;
    f->below[parent] += f->below[K];
    f->sibling[K] = f->child[parent];
    f->child[parent] = (int32_t)K;
  }
}

static trs_status grow(forest *f) {
  int64_t *ptr = NULL, count = f->l->count;
  int32_t *column = NULL, *top = NULL;
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&f->parent, count), TRS_ROOM(&f->child, count),
                        TRS_ROOM(&f->sibling, count), TRS_ROOM(&f->below, count)));
  trs_status status = trs_transpose_pattern(&ptr, &column, NULL, count, count, f->l->blocks[0].ptr,
                                            f->l->blocks[0].row);
  if (!status) status = TRS_ALLOC(&top, count);
  if (!status) {
    find_parents(f, ptr, column, top);
    weigh(f);
  }
  TRS_FREE_ALL(ptr, column, top);
  return status;
}

/* ---- Grids. ---- */

static void settle(const forest *f, int32_t K, int32_t lo, int height) {
  f->l->lo[K] = lo;
  f->l->height[K] = (int8_t)height;
}

/* A parent has a larger number than its children: in descending order, each supernode below a
 * root with grids gets the grids of the root.  -1 marks a supernode without grids. */
static void settle_rest(const forest *f) {
  for (int64_t K = f->l->count - 1; K >= 0; K--)
    if (f->l->lo[K] < 0) settle(f, (int32_t)K, f->l->lo[f->parent[K]], 0);
}

static trs_status halve(const forest *f, trs_heap *h, int32_t lo, int height);

/* Splits the roots left in h into two halves, each a heap. */
static trs_status split(const forest *f, trs_heap *h, int32_t lo, int height) {
  trs_heap half[2] = {{.weight = f->below}, {.weight = f->below}};
  double load[2] = {0, 0};
  trs_status status = TRS_ALLOC(&half[0].item, f->l->count);
  if (!status) status = TRS_ALLOC(&half[1].item, f->l->count);
  while (!status && h->count > 0) {
    int32_t root = trs_heap_pop(h);
    int lighter = load[1] < load[0];
    load[lighter] += f->below[root];
    trs_heap_push(&half[lighter], root);
  }
  for (int k = 0; k < 2 && !status; k++)
    status = halve(f, &half[k], lo + (k << (height - 1)), height - 1);
  TRS_FREE_ALL(half[0].item, half[1].item);
  return status;
}

static trs_status halve(const forest *f, trs_heap *h, int32_t lo, int height) {
  static const double MOST = 0.6; /* largest share of the work of one subtree */
  double total = 0;
  for (int64_t i = 0; i < h->count; i++) total += f->below[h->item[i]];
  if (height == 0) {
    for (int64_t i = 0; i < h->count; i++) settle(f, h->item[i], lo, 0);
    return TRS_SUCCESS;
  }
  while (h->count > 0 && f->below[h->item[0]] > MOST * total) {
    int32_t root = trs_heap_pop(h);
    settle(f, root, lo, height);
    total -= f->below[root];
    for (int32_t c = f->child[root]; c >= 0; c = f->sibling[c]) {
      total += f->below[c];
      trs_heap_push(h, c);
    }
  }
  return h->count > 0 ? split(f, h, lo, height) : TRS_SUCCESS;
}

static trs_status assign(const forest *f) {
  trs_heap roots = {.weight = f->below};
  TRS_TRY(TRS_ALLOC(&roots.item, f->l->count));
  for (int64_t K = 0; K < f->l->count; K++) {
    f->l->lo[K] = -1;
    if (f->parent[K] < 0) trs_heap_push(&roots, (int32_t)K);
  }
  trs_status status = halve(f, &roots, 0, f->l->levels);
  if (!status) settle_rest(f);
  trs_free(roots.item);
  return status;
}

static void release(forest *f) { TRS_FREE_ALL(f->parent, f->child, f->sibling, f->below); }

trs_status trs_forest_assign(trs_grid_layout *layout) {
  forest f = {.l = layout};
  trs_status status = grow(&f);
  if (!status) status = assign(&f);
  release(&f);
  return status;
}

/* ---- Homes. ---- */

/* Splits the heaviest subtree while it has more than half of the work of one process. */
static void open_subtrees(const forest *f, trs_heap *h, int places) {
  double total = 0;
  for (int64_t i = 0; i < h->count; i++) total += f->below[h->item[i]];
  while (h->count > 0 && f->below[h->item[0]] * 2 * places > total) {
    int32_t root = trs_heap_pop(h);
    total -= f->below[root];
    for (int32_t c = f->child[root]; c >= 0; c = f->sibling[c]) {
      total += f->below[c];
      trs_heap_push(h, c);
    }
  }
}

static void house(const forest *f, trs_heap *h, double *load, int places) {
  for (int p = 0; p < places; p++) load[p] = 0;
  while (h->count > 0) {
    int32_t root = trs_heap_pop(h);
    const int least = trs_least_loaded(load, places);
    f->l->home[root] = least;
    load[least] += f->below[root];
  }
}

static trs_status house_all(const forest *f, trs_heap *h, double *load, int places) {
  trs_grid_layout *l = f->l;
  for (int z = 0; z < l->pz; z++) {
    for (int64_t K = 0; K < l->count; K++)
      if (l->height[K] == 0 && l->lo[K] == z && (f->parent[K] < 0 || l->height[f->parent[K]] > 0))
        trs_heap_push(h, (int32_t)K);
    open_subtrees(f, h, places);
    house(f, h, load, places);
  }
  for (int64_t K = l->count - 1; K >= 0; K--) /* below a root */
    if (l->home[K] < 0 && f->parent[K] >= 0 && l->height[K] == 0)
      l->home[K] = l->home[f->parent[K]];
  return TRS_SUCCESS;
}

trs_status trs_forest_house(trs_grid_layout *layout, const trs_layout_options *options) {
  forest f = {.l = layout};
  trs_heap h = {0};
  double *load = NULL;
  bool alone = options->places <= 1;
  for (int64_t K = 0; K < layout->count; K++) layout->home[K] = alone ? 0 : -1;
  if (alone || options->scattered) return TRS_SUCCESS;
  trs_status status = grow(&f);
  h.weight = f.below;
  if (!status) status = TRS_ALLOC(&h.item, layout->count);
  if (!status) status = TRS_ALLOC(&load, options->places);
  if (!status) status = house_all(&f, &h, load, options->places);
  TRS_FREE_ALL(h.item, load);
  release(&f);
  return status;
}

/* ---- Runs. ---- */

/* True if supernode K+1 depends on K and on no other distributed supernode. */
static bool goes_on(const forest *f, int64_t K) {
  const trs_grid_layout *l = f->l;
  int distributed = 0;
  if (f->parent[K] != K + 1 || l->home[K] >= 0 || l->home[K + 1] >= 0) return false;
  if (l->lo[K] != l->lo[K + 1] || l->height[K] != l->height[K + 1]) return false;
  for (int32_t c = f->child[K + 1]; c >= 0; c = f->sibling[c]) distributed += l->home[c] < 0;
  return distributed == 1;
}

/* Numbers in the triangles of L and U, with diagonal blocks as squares. */
double trs_run_numbers(const trs_grid_layout *l, const trs_grid_run *run) {
  double entries = 0;
  for (int64_t K = run->from; K < run->to; K++) {
    entries += 2.0 * (double)(trs_width(l, K) * trs_width(l, K));
    for (int upper = 0; upper < 2; upper++)
      for (int64_t b = l->blocks[upper].ptr[K]; b < l->blocks[upper].ptr[K + 1]; b++) {
        int64_t I = l->blocks[upper].row[b];
        if (I >= run->from && I < run->to)
          entries += (double)(trs_width(l, upper ? I : K) * l->blocks[upper].rows[b]);
      }
  }
  return entries;
}

/* With nearly full triangles, products with the inverses cost little more. */
static bool nearly_full(const trs_grid_layout *l, const trs_grid_run *run) {
  double full = 0;
  for (int64_t K = run->from; K < run->to; K++)
    full += 2.0 * (double)(trs_width(l, K) * (l->first[run->to] - l->first[K]));
  return full <= 1.5 * trs_run_numbers(l, run);
}

static void list_runs(const forest *f, trs_invert invert, trs_grid_run *runs, int64_t *count) {
  const trs_grid_layout *l = f->l;
  for (int64_t from = 0, to; from < l->count; from = to) {
    for (to = from + 1;
         to < l->count && goes_on(f, to - 1) && l->first[to + 1] - l->first[from] <= TRS_MOST_RUN;)
      to++;
    trs_grid_run run = {from, to};
    if (to - from > 1 && (invert == TRS_INVERT_RUNS || nearly_full(l, &run)))
      runs[(*count)++] = run;
  }
}

trs_status trs_forest_runs(const trs_grid_layout *layout, trs_invert invert, trs_grid_run **runs,
                           int64_t *count) {
  forest f = {.l = (trs_grid_layout *)layout};
  *count = 0;
  if (invert == TRS_INVERT_BLOCKS) return TRS_SUCCESS;
  trs_status status = TRS_ALLOC(runs, layout->count);
  if (!status) status = grow(&f);
  if (!status) list_runs(&f, invert, *runs, count);
  release(&f);
  return status;
}
