/* rcm.c - reverse Cuthill-McKee order (A. George, J. W. H. Liu 1981, section 4.3): breadth first
 * from a vertex at the rim of each component, neighbours by degree, in reverse.
 * O(edges log(degree)). */
#include "order/methods.h"

#include <stdlib.h>

typedef struct search {
  const trs_graph *graph;
  int32_t *queue; /* n: vertices in the order of the search */
  int32_t *level; /* n: -1: not reached */
} search;

static int32_t degree(const trs_graph *G, int32_t v) { return G->ptr[v + 1] - G->ptr[v]; }

/* Degree above, vertex below, so that plain integers sort. */
static int compare_keys(const void *left, const void *right) {
  const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
  return (a > b) - (a < b);
}

/* Appends v's neighbours that are not reached, by degree; returns the queue's end. */
static int64_t visit(const search *s, int64_t *keys, int32_t v, int64_t end) {
  const trs_graph *G = s->graph;
  int64_t count = 0;
  for (int32_t p = G->ptr[v]; p < G->ptr[v + 1]; p++) {
    const int32_t u = G->adjacent[p];
    if (s->level[u] >= 0) continue;
    s->level[u] = s->level[v] + 1;
    keys[count++] = (int64_t)degree(G, u) << 32 | u;
  }
  qsort(keys, (size_t)count, sizeof *keys, compare_keys);
  for (int64_t k = 0; k < count; k++) s->queue[end + k] = (int32_t)(keys[k] & INT32_MAX);
  return end + count;
}

/* Searches from root; the component fills queue[begin .. result). */
static int64_t spread(const search *s, int64_t *keys, int32_t root, int64_t begin) {
  int64_t end = begin + 1;
  s->queue[begin] = root;
  s->level[root] = 0;
  for (int64_t k = begin; k < end; k++) end = visit(s, keys, s->queue[k], end);
  return end;
}

/* The component's vertices are not reached again; returns the least degree among those of the last
 * level. */
static int32_t rewind_to_rim(const search *s, int64_t begin, int64_t end) {
  int32_t rim = s->queue[end - 1];
  const int32_t last = s->level[rim];
  for (int64_t k = end - 1; k >= begin && s->level[s->queue[k]] == last; k--)
    if (degree(s->graph, s->queue[k]) <= degree(s->graph, rim)) rim = s->queue[k];
  for (int64_t k = begin; k < end; k++) s->level[s->queue[k]] = -1;
  return rim;
}

/* A root whose search is as deep as that from the far end: a few searches. */
static int64_t order_component(const search *s, int64_t *keys, int32_t root, int64_t begin) {
  enum { SEARCHES = 8 };
  int32_t depth = -1;
  for (int k = 0; k < SEARCHES; k++) {
    const int64_t end = spread(s, keys, root, begin);
    const int32_t now = s->level[s->queue[end - 1]];
    if (now <= depth || k + 1 == SEARCHES) return end;
    depth = now;
    root = rewind_to_rim(s, begin, end);
  }
  return begin; /* not reached */
}

static void order_all(const search *s, int64_t *keys) {
  const int64_t n = s->graph->n;
  int64_t done = 0;
  for (int64_t v = 0; v < n; v++) s->level[v] = -1;
  for (int32_t v = 0; v < n; v++)
    if (s->level[v] < 0) done = order_component(s, keys, v, done);
  for (int64_t k = 0; k < n / 2; k++) {
    const int32_t kept = s->queue[k];
    s->queue[k] = s->queue[n - 1 - k];
    s->queue[n - 1 - k] = kept;
  }
}

trs_status trs_order_rcm(int32_t *perm, const trs_graph *graph) {
  search s = {.graph = graph, .queue = perm};
  int64_t *keys = NULL, most = 0;
  for (int32_t v = 0; v < graph->n; v++) most = degree(graph, v) > most ? degree(graph, v) : most;
  trs_status status = TRS_ALLOC_ALL(TRS_ROOM(&s.level, graph->n), TRS_ROOM(&keys, most));
  if (!status) order_all(&s, keys);
  TRS_FREE_ALL(s.level, keys);
  return status;
}
