/* subtrees.c - the elimination tree of supernodes, its top, and the distribution of the rest.
 *
 * The top begins empty.  The heaviest subtree loses its root to the top, again and again; of all
 * these states the one with the lowest estimate is kept.  Then each subtree goes to the thread with
 * the least work, heavy subtrees first. */
#include "analysis/subtrees.h"

#include <string.h>

#include "base/deal.h"
#include "base/heap.h"
#include "base/machine_model.h"
#include "base/transpose.h"
#include "order/etree.h"

typedef struct tree {
  const trs_panels *P;
  int32_t *parent; /* count; -1: a root */
  double *load;    /* count: seconds of the subtree on one thread */
} tree;

static double node_seconds(const trs_panel *K) {
  const trs_cpu_costs *cpu = &trs_cpu_generic;
  return cpu->panel + cpu->panel_line * (double)(K->length + K->width) +
         cpu->panel_value * (double)K->width * (double)(K->width + K->length);
}

double trs_panels_seconds(const trs_panels *P) {
  double seconds = 0;
  for (int64_t k = 0; k < P->count; k++) seconds += node_seconds(&P->panel[k]);
  return seconds;
}

double trs_subtrees_waits = 1;

/* A step of the top: all threads solve with the diagonal block, then share the panel. */
static double step_seconds(const trs_panel *K, int threads) {
  const trs_cpu_costs *cpu = &trs_cpu_generic;
  const double alone =
      cpu->barrier + cpu->barrier_member * threads + cpu->panel_column * (double)K->width;
  return trs_subtrees_waits * alone + node_seconds(K) / (double)threads;
}

/* ---- The tree. ---- */

/* Supernode number e in the order of the elimination, in which descendants precede ancestors. */
static int32_t eliminated(const trs_panels *P, int64_t e) {
  return (int32_t)(P->by_rows ? P->count - 1 - e : e);
}

/* Calls f(argument, early, late) for each two supernodes of which one adds to the other: in the
 * order of the elimination. */
static void for_neighbours(const trs_panels *P, void (*f)(void *, int32_t, int32_t),
                           void *argument) {
  if (P->by_rows) {
    for (int64_t b = 0; b < P->nblocks; b++) {
      const trs_panel_block *B = &P->block[b];
      f(argument, B->target, P->owner[P->list[B->list]]);
    }
    return;
  }
  for (int64_t k = 0; k < P->count; k++)
    for (int64_t r = P->panel[k].lines, end = r + P->panel[k].height; r < end; r++)
      if (P->line[r] >= 0) f(argument, (int32_t)k, P->line[r]);
}

typedef struct neighbours {
  int64_t *ptr;   /* count + 2, shifted by one while they are filled */
  int32_t *early; /* of each supernode: its neighbours that are eliminated before it */
} neighbours;

static void count_neighbour(void *argument, int32_t early, int32_t late) {
  (void)early;
  ((neighbours *)argument)->ptr[late + 2]++;
}

static void put_neighbour(void *argument, int32_t early, int32_t late) {
  neighbours *g = argument;
  g->early[g->ptr[late + 1]++] = early;
}

static trs_status find_neighbours(neighbours *g, const trs_panels *P) {
  TRS_TRY(TRS_ALLOC_ZERO(&g->ptr, P->count + 2));
  for_neighbours(P, count_neighbour, g);
  for (int64_t k = 0; k < P->count; k++) g->ptr[k + 2] += g->ptr[k + 1];
  TRS_TRY(TRS_ALLOC(&g->early, g->ptr[P->count + 1]));
  for_neighbours(P, put_neighbour, g);
  return TRS_SUCCESS;
}

/* Liu's algorithm: a supernode becomes the parent of the roots above its neighbours. */
static trs_status find_parents(tree *t, const neighbours *g) {
  int32_t *above; /* some ancestor; paths are compressed */
  const trs_panels *P = t->P;
  TRS_TRY(TRS_ALLOC(&above, P->count));
  for (int64_t k = 0; k < P->count; k++) above[k] = t->parent[k] = -1;
  for (int64_t e = 0; e < P->count; e++) {
    const int32_t late = eliminated(P, e);
    for (int64_t q = g->ptr[late]; q < g->ptr[late + 1]; q++)
      trs_etree_link(t->parent, above, g->early[q], late);
  }
  trs_free(above);
  return TRS_SUCCESS;
}

static trs_status make_tree(tree *t) {
  neighbours g = {0};
  const trs_panels *P = t->P;
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&t->parent, P->count), TRS_ZEROS(&t->load, P->count)));
  trs_status status = find_neighbours(&g, P);
  if (!status) status = find_parents(t, &g);
  TRS_FREE_ALL(g.ptr, g.early);
  if (status) return status;
  for (int64_t e = 0; e < P->count; e++) {
    const int32_t k = eliminated(P, e);
    t->load[k] += node_seconds(&P->panel[k]);
    if (t->parent[k] >= 0) t->load[t->parent[k]] += t->load[k];
  }
  return TRS_SUCCESS;
}

/* ---- The top. ---- */

typedef struct children {
  int32_t *first, *next; /* -1: none */
} children;

static void list_children(const tree *t, children *c, trs_heap *roots) {
  for (int64_t k = 0; k < t->P->count; k++) c->first[k] = -1;
  for (int64_t k = 0; k < t->P->count; k++) {
    const int32_t parent = t->parent[k];
    if (parent < 0) {
      trs_heap_push(roots, (int32_t)k);
    } else {
      c->next[k] = c->first[parent];
      c->first[parent] = (int32_t)k;
    }
  }
}

/* Takes roots into the top, in the order of `taken`; returns how many give the least time. */
static int64_t grow_top(const tree *t, const children *c, trs_heap *roots, int threads,
                        int32_t *taken, double *least) {
  double rest = 0, top = 0;
  int64_t best = 0, steps = 0;
  for (int64_t k = 0; k < roots->count; k++) rest += t->load[roots->item[k]];
  *least = rest;
  while (roots->count > 0 && top < *least) {
    const double heaviest = t->load[roots->item[0]], even = rest / threads;
    const double time = top + (heaviest > even ? heaviest : even);
    if (time < *least) *least = time, best = steps;
    const int32_t k = trs_heap_pop(roots);
    taken[steps++] = k;
    top += step_seconds(&t->P->panel[k], threads);
    rest -= node_seconds(&t->P->panel[k]);
    for (int32_t child = c->first[k]; child >= 0; child = c->next[child])
      trs_heap_push(roots, child);
  }
  return best;
}

/* ---- The distribution. ---- */

/* of[k]: -1 for the top, else the thread.  Ancestors are visited first. */
static trs_status deal(const tree *t, trs_subtrees *s, int32_t *of) {
  enum { ROOT = -2, TOP = -1 };
  trs_portion *root;
  double *work;
  TRS_TRY(TRS_ALLOC(&root, t->P->count));
  trs_status status = TRS_ALLOC_ZERO(&work, s->threads);
  for (int64_t k = 0; !status && k < t->P->count; k++)
    if (of[k] != TOP && (t->parent[k] < 0 || of[t->parent[k]] == TOP))
      root[s->nroots++] = (trs_portion){t->load[k], (int32_t)k};
  if (!status) trs_deal_longest_first(of, work, s->threads, root, s->nroots);
  for (int64_t e = t->P->count - 1; !status && e >= 0; e--) {
    const int32_t k = eliminated(t->P, e);
    if (of[k] == ROOT) of[k] = of[t->parent[k]];
  }
  TRS_FREE_ALL(root, work);
  return status;
}

/* The top, whose number is -1, comes first in node. */
static trs_status list_nodes(trs_subtrees *s, int32_t *of, int64_t count) {
  for (int64_t k = 0; k < count; k++) of[k]++;
  TRS_TRY(trs_transpose_pattern(&s->first, &s->node, NULL, s->threads + 1, count, NULL, of));
  memmove(s->first, s->first + 1, (size_t)(s->threads + 1) * sizeof *s->first);
  return TRS_SUCCESS;
}

/* The arrays of a search, count each. */
typedef struct search {
  children c;
  trs_heap roots; /* of the subtrees */
  int32_t *taken, *of;
} search;

static trs_status allocate_search(search *a, const tree *t) {
  a->roots.weight = t->load;
  return TRS_ALLOC_ALL(TRS_ROOM(&a->c.first, t->P->count), TRS_ROOM(&a->c.next, t->P->count),
                       TRS_ROOM(&a->roots.item, t->P->count), TRS_ROOM(&a->taken, t->P->count),
                       TRS_ROOM(&a->of, t->P->count));
}

/* As many threads as asked for, or half of them, and so on: the number with the lowest estimate. */
static void find_top(trs_subtrees *s, const tree *t, search *a, int threads) {
  for (; threads > 0; threads /= 2) {
    double seconds;
    a->roots.count = 0;
    list_children(t, &a->c, &a->roots);
    const int64_t top = grow_top(t, &a->c, &a->roots, threads, a->taken, &seconds);
    if (s->threads && seconds >= s->seconds) continue;
    s->threads = threads;
    s->seconds = seconds;
    s->ntop = top;
    for (int64_t k = 0; k < t->P->count; k++) a->of[k] = -2;
    for (int64_t k = 0; k < top; k++) a->of[a->taken[k]] = -1;
  }
}

trs_status trs_subtrees_create(trs_subtrees *s, const trs_panels *P, int threads) {
  tree t = {.P = P};
  search a = {0};
  *s = (trs_subtrees){0};
  trs_status status = make_tree(&t);
  if (!status) status = allocate_search(&a, &t);
  if (!status) {
    find_top(s, &t, &a, threads);
    status = deal(&t, s, a.of);
  }
  if (!status) status = list_nodes(s, a.of, P->count);
  TRS_FREE_ALL(t.parent, t.load, a.c.first, a.c.next, a.roots.item, a.taken, a.of);
  if (status) trs_subtrees_destroy(s);
  return status;
}

void trs_subtrees_destroy(trs_subtrees *s) {
  TRS_FREE_ALL(s->node, s->first);
  *s = (trs_subtrees){0};
}
