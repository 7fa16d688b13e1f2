/* symbolic.c - computes supernodes from the elimination tree and the column counts, and their rows
 * from the matrix and the rows of their children.  O(nnz + rows of all supernodes, sorted). */
#include "simulate/symbolic.h"

#include <stdlib.h>
#include <string.h>

#include "order/etree.h"
#include "order/order.h"

typedef struct worker {
  trs_symbolic *s;
  const trs_symbolic_options *set;
  trs_graph graph;
  trs_ordering ordering;
  int32_t *inverse, *etree, *count, *first, *size, *node;
  int32_t *owner; /* supernode of each column */
  /* Rows below each supernode. */
  int64_t *at, *length;
  int32_t *list;
  int64_t used, room;
  int32_t *child, *sibling, *mark;
} worker;

/* ---- Supernodes. ---- */

static trs_status elimination(worker *w) {
  int64_t n = w->graph.n;
  TRS_TRY(TRS_ALLOC(&w->inverse, n));
  TRS_TRY(TRS_ALLOC(&w->etree, n));
  TRS_TRY(TRS_ALLOC(&w->count, n));
  TRS_TRY(TRS_ALLOC(&w->first, n));
  TRS_TRY(TRS_ALLOC(&w->size, n));
  TRS_TRY(TRS_ALLOC(&w->node, n));
  const int32_t *perm = w->ordering.perm;
  for (int64_t k = 0; k < n; k++) w->inverse[perm[k]] = (int32_t)k;
  TRS_TRY(trs_etree(w->etree, &w->graph, perm, w->inverse));
  trs_first_descendants(w->first, w->etree, n);
  for (int64_t j = 0; j < n; j++) w->size[j] = 1;
  for (int64_t j = 0; j < n; j++)
    if (w->etree[j] >= 0) w->size[w->etree[j]] += w->size[j];
  for (int64_t t = 0; t < w->ordering.tree.nodes; t++)
    for (int64_t j = w->ordering.tree.ptr[t]; j < w->ordering.tree.ptr[t + 1]; j++)
      w->node[j] = (int32_t)t;
  return TRS_SUCCESS;
}

/* Column counts are computed in a postorder, and hold for any order with the same tree. */
static trs_status count_columns(worker *w) {
  int64_t n = w->graph.n;
  int32_t *work; /* five arrays of n */
  TRS_TRY(TRS_ALLOC(&work, 5 * n));
  int32_t *post = work, *perm = work + n, *inverse = work + 2 * n, *etree = work + 3 * n;
  int32_t *count = work + 4 * n;
  trs_status status = trs_postorder(post, w->etree, n);
  for (int64_t k = 0; k < n && !status; k++) {
    perm[k] = w->ordering.perm[post[k]];
    inverse[perm[k]] = (int32_t)k;
  }
  if (!status) status = trs_etree(etree, &w->graph, perm, inverse);
  if (!status) status = trs_column_counts(count, &w->graph, perm, inverse, etree);
  for (int64_t k = 0; k < n && !status; k++) w->count[post[k]] = count[k];
  trs_free(work);
  return status;
}

/* True if the subtree of j is small enough for one supernode, with consecutive columns in one node.
 */
static bool is_small(const worker *w, int32_t j) {
  int32_t first = w->first[j];
  return w->size[j] <= w->set->subtrees && j - first + 1 == w->size[j] &&
         w->node[first] == w->node[j];
}

/* Columns of L nest: j + 1 continues a supernode that ends with j if it is j's parent and has one
 * entry less. */
static bool continues(const worker *w, int32_t j, int64_t begin) {
  return w->etree[j] == j + 1 && w->count[j + 1] == w->count[j] - 1 &&
         w->node[j] == w->node[j + 1] && j + 1 - begin < w->set->width;
}

static trs_status find_supernodes(worker *w) {
  trs_symbolic *s = w->s;
  int32_t *end;
  TRS_TRY(TRS_ALLOC(&s->first, s->n + 1));
  TRS_TRY(TRS_ALLOC(&end, s->n));
  for (int32_t j = 0; j < s->n; j++) end[j] = -1;
  for (int32_t j = 0; j < s->n; j++)
    if (is_small(w, j) && (w->etree[j] < 0 || !is_small(w, w->etree[j]))) end[w->first[j]] = j;
  for (int32_t j = 0; j < s->n;) {
    int32_t begin = j;
    s->first[s->count++] = begin;
    if (end[j] >= 0) {
      j = end[j] + 1;
      continue;
    }
    while (j + 1 < s->n && end[j + 1] < 0 && continues(w, j, begin)) j++;
    j++;
  }
  s->first[s->count] = s->n;
  trs_free(end);
  return TRS_SUCCESS;
}

/* ---- Rows. ---- */

static trs_status grow(worker *w, int64_t more) {
  if (w->used + more <= w->room) return TRS_SUCCESS;
  int64_t room = 2 * w->room + more;
  TRS_TRY(trs_realloc((void **)&w->list, room, sizeof *w->list));
  w->room = room;
  return TRS_SUCCESS;
}

static int ascending(const void *a, const void *b) {
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

static void add(worker *w, int32_t row, int32_t K) {
  if (row < w->s->first[K + 1] || w->mark[row] == K) return;
  w->mark[row] = K;
  w->list[w->used++] = row;
}

static trs_status take_rows(worker *w, int32_t K) {
  const trs_symbolic *s = w->s;
  int64_t most = 0;
  for (int64_t j = s->first[K]; j < s->first[K + 1]; j++) {
    int32_t v = w->ordering.perm[j];
    most += w->graph.ptr[v + 1] - w->graph.ptr[v];
  }
  for (int32_t c = w->child[K]; c >= 0; c = w->sibling[c]) most += w->length[c];
  TRS_TRY(grow(w, most));
  w->at[K] = w->used;
  for (int64_t j = s->first[K]; j < s->first[K + 1]; j++) {
    int32_t v = w->ordering.perm[j];
    for (int32_t p = w->graph.ptr[v]; p < w->graph.ptr[v + 1]; p++)
      add(w, w->inverse[w->graph.adjacent[p]], K);
  }
  for (int32_t c = w->child[K]; c >= 0; c = w->sibling[c])
    for (int64_t r = 0; r < w->length[c]; r++) add(w, w->list[w->at[c] + r], K);
  w->length[K] = w->used - w->at[K];
  qsort(w->list + w->at[K], (size_t)w->length[K], sizeof *w->list, ascending);
  if (w->length[K] == 0) return TRS_SUCCESS;
  int32_t parent = w->owner[w->list[w->at[K]]];
  w->sibling[K] = w->child[parent];
  w->child[parent] = K;
  return TRS_SUCCESS;
}

static trs_status find_rows(worker *w) {
  const trs_symbolic *s = w->s;
  TRS_TRY(TRS_ALLOC(&w->owner, s->n));
  TRS_TRY(TRS_ALLOC(&w->mark, s->n));
  TRS_TRY(TRS_ALLOC(&w->at, s->count));
  TRS_TRY(TRS_ALLOC(&w->length, s->count));
  TRS_TRY(TRS_ALLOC(&w->child, s->count));
  TRS_TRY(TRS_ALLOC(&w->sibling, s->count));
  for (int32_t K = 0; K < s->count; K++) {
    w->child[K] = -1;
    for (int64_t j = s->first[K]; j < s->first[K + 1]; j++) w->owner[j] = K;
  }
  memset(w->mark, -1, (size_t)s->n * sizeof *w->mark);
  for (int32_t K = 0; K < s->count; K++) TRS_TRY(take_rows(w, K));
  return TRS_SUCCESS;
}

/* ---- Joining. ---- */

/* Joins as analysis/panels.c does: each supernode absorbs the previous one as long as that is a
 * child and few zeros result.  A child's rows are the parent's columns and rows, so the parent's
 * rows are those of both. */
typedef struct group {
  int64_t first, width, last; /* the last supernode absorbed into it */
  double entries;
} group;

static bool full_enough(const worker *w, const group *g) {
  double width = (double)g->width;
  double zeros = width * (width + 1) / 2 + width * (double)w->length[g->last] - g->entries;
  return zeros * 100 <= (double)w->set->relax * (zeros + g->entries) ||
         zeros <= (double)w->set->few * width;
}

static bool related(const worker *w, const group *child, const group *g) {
  int64_t end = g->first + g->width;
  return w->length[child->last] > 0 && w->list[w->at[child->last]] < end &&
         end - child->first <= w->set->width && w->node[child->first] == w->node[g->first];
}

static int64_t join_all(worker *w, group *stack) {
  const trs_symbolic *s = w->s;
  int64_t depth = 0;
  for (int64_t K = 0; K < s->count; K++) {
    double width = (double)(s->first[K + 1] - s->first[K]);
    group g = {.first = s->first[K], .width = s->first[K + 1] - s->first[K], .last = K};
    g.entries = width * (width + 1) / 2 + width * (double)w->length[K];
    while (depth > 0 && related(w, &stack[depth - 1], &g)) {
      group both = stack[depth - 1];
      both.width = g.first + g.width - both.first;
      both.entries += g.entries;
      both.last = K;
      if (!full_enough(w, &both)) break;
      g = both;
      depth--;
    }
    stack[depth++] = g;
  }
  return depth;
}

static trs_status join(worker *w) {
  trs_symbolic *s = w->s;
  group *stack;
  TRS_TRY(TRS_ALLOC(&stack, s->count));
  int64_t count = join_all(w, stack);
  for (int64_t K = 0; K < count; K++) {
    s->first[K] = stack[K].first;
    w->at[K] = w->at[stack[K].last];
    w->length[K] = w->length[stack[K].last];
  }
  trs_free(stack);
  s->first[count] = s->n;
  s->count = count;
  for (int32_t K = 0; K < count; K++)
    for (int64_t j = s->first[K]; j < s->first[K + 1]; j++) w->owner[j] = K;
  return TRS_SUCCESS;
}

/* ---- Blocks. ---- */

static trs_status list_blocks(worker *w) {
  trs_symbolic *s = w->s;
  int64_t nblocks = 0;
  for (int64_t K = 0; K < s->count; K++)
    for (int64_t r = 0; r < w->length[K]; r++)
      nblocks += r == 0 || w->owner[w->list[w->at[K] + r]] != w->owner[w->list[w->at[K] + r - 1]];
  TRS_TRY(TRS_ALLOC(&s->ptr, s->count + 1));
  TRS_TRY(TRS_ALLOC(&s->row, nblocks));
  TRS_TRY(TRS_ALLOC(&s->rows, nblocks));
  nblocks = 0;
  for (int64_t K = 0; K < s->count; K++) {
    int64_t wide = s->first[K + 1] - s->first[K];
    s->ptr[K] = nblocks;
    s->stored += wide * (wide + w->length[K]);
    for (int64_t r = 0; r < w->length[K]; r++) {
      int32_t I = w->owner[w->list[w->at[K] + r]];
      if (nblocks == s->ptr[K] || s->row[nblocks - 1] != I) {
        s->row[nblocks] = I;
        s->rows[nblocks++] = 0;
      }
      s->rows[nblocks - 1]++;
    }
  }
  s->ptr[s->count] = nblocks;
  return TRS_SUCCESS;
}

/* The tree is complete and in postorder: the position of each node follows from its parent's,
 * starting at the root. */
static trs_status place(worker *w) {
  trs_symbolic *s = w->s;
  const trs_tree *tree = &w->ordering.tree;
  int32_t *lo;
  int8_t *height;
  TRS_TRY(TRS_ALLOC(&s->lo, s->count));
  TRS_TRY(TRS_ALLOC(&s->height, s->count));
  TRS_TRY(TRS_ALLOC_ZERO(&s->half, s->count));
  TRS_TRY(TRS_ALLOC(&lo, tree->nodes));
  trs_status status = TRS_ALLOC(&height, tree->nodes);
  for (int64_t t = tree->nodes - 1; t >= 0 && !status; t--) {
    int32_t parent = tree->parent[t];
    height[t] = 0;
    if (parent < 0) {
      lo[t] = 0;
      while ((int64_t)1 << height[t] < s->leaves) height[t]++;
      continue;
    }
    height[t] = (int8_t)(height[parent] - 1);
    lo[t] = lo[parent] + (t == parent - 1 ? 1 << height[t] : 0); /* the right child comes last */
  }
  for (int64_t K = 0; K < s->count && !status; K++) {
    s->lo[K] = lo[w->node[s->first[K]]];
    s->height[K] = height[w->node[s->first[K]]];
  }
  trs_free(lo);
  trs_free(height);
  return status;
}

static trs_status create(worker *w, const trs_matrix *A) {
  w->s->n = A->nrows;
  w->s->leaves = w->set->leaves;
  TRS_TRY(trs_graph_build(&w->graph, A));
  TRS_TRY(trs_ordering_compute(&w->ordering, A, TRS_ORDER_ND, w->set->leaves));
  w->s->fill = w->ordering.fill;
  TRS_TRY(elimination(w));
  TRS_TRY(count_columns(w));
  TRS_TRY(find_supernodes(w));
  TRS_TRY(find_rows(w));
  TRS_TRY(join(w));
  TRS_TRY(list_blocks(w));
  return place(w);
}

trs_status trs_symbolic_create(trs_symbolic *s, const trs_matrix *A,
                               const trs_symbolic_options *options) {
  *s = (trs_symbolic){0};
  worker w = {.s = s, .set = options};
  trs_status status = create(&w, A);
  void *arrays[] = {w.inverse, w.etree,  w.count, w.first, w.size,    w.node, w.owner,
                    w.at,      w.length, w.list,  w.child, w.sibling, w.mark};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) trs_free(arrays[k]);
  trs_graph_free(&w.graph);
  trs_ordering_free(&w.ordering);
  if (status) trs_symbolic_free(s);
  return status;
}
