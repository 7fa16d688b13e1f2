/* etree.c - elimination tree (Liu 1990, path compression), its postorder, and the column counts of
 * the factor (Gilbert, Ng, Peyton 1994).  O(nnz alpha(n)), without forming the factor. */
#include "order/etree.h"

trs_status trs_etree(int32_t *parent, const trs_graph *graph, const int32_t *perm,
                     const int32_t *inverse) {
  int32_t *ancestor; /* a shortcut towards the root of the tree built so far */
  TRS_TRY(TRS_ALLOC(&ancestor, graph->n));
  for (int32_t j = 0; j < graph->n; j++) {
    int32_t v = perm[j];
    parent[j] = ancestor[j] = -1;
    for (int32_t p = graph->ptr[v]; p < graph->ptr[v + 1]; p++) {
      const int32_t i = inverse[graph->adjacent[p]];
      if (i < j) trs_etree_link(parent, ancestor, i, j);
    }
  }
  trs_free(ancestor);
  return TRS_SUCCESS;
}

/* Children as ascending lists: head[j] is the first child of j, head[n] the first root. */
static void list_children(int32_t *head, int32_t *next, const int32_t *parent, int64_t n) {
  for (int64_t j = 0; j <= n; j++) head[j] = -1;
  for (int64_t j = n - 1; j >= 0; j--) {
    int64_t above = parent[j] < 0 ? n : parent[j];
    next[j] = head[above];
    head[above] = (int32_t)j;
  }
}

trs_status trs_postorder(int32_t *post, const int32_t *parent, int64_t n) {
  int32_t *head = NULL, *next = NULL;
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&head, n + 1), TRS_ROOM(&next, n)));
  list_children(head, next, parent, n);
  int64_t k = 0, at = head[n];
  while (at != -1) {
    while (head[at] != -1) { /* descends to a leaf and removes each child from its list */
      int32_t child = head[at];
      head[at] = next[child];
      at = child;
    }
    post[k++] = (int32_t)at;
    if (parent[at] == -1) {
      head[n] = next[at];
      at = head[n];
    } else {
      at = parent[at];
    }
  }
  TRS_FREE_ALL(head, next);
  return TRS_SUCCESS;
}

void trs_first_descendants(int32_t *first, const int32_t *parent, int64_t n) {
  for (int64_t j = 0; j < n; j++) first[j] = (int32_t)j;
  for (int64_t j = 0; j < n; j++)
    if (parent[j] != -1 && first[j] < first[parent[j]]) first[parent[j]] = first[j];
}

typedef struct counter {
  int32_t *first;    /* smallest vertex of the subtree */
  int32_t *neighbor; /* the last neighbour of row i visited, or -1 */
  int32_t *leaf;     /* the last leaf of row i's subtree, or -1 */
  int32_t *set;      /* disjoint sets, to find the least common ancestor */
} counter;

static int32_t find(int32_t *set, int32_t j) {
  int32_t root = j;
  while (set[root] != root) root = set[root];
  while (set[j] != root) {
    int32_t next = set[j];
    set[j] = root;
    j = next;
  }
  return root;
}

/* Row i of the factor is the subtree of the elimination tree that its entries in A span.  If j is a
 * new leaf of that subtree, the path from j upwards counts; the part above the meeting with the
 * last leaf's path has been counted already. */
static void add_leaf(counter *c, int32_t *weight, int32_t i, int32_t j) {
  if (c->first[j] > c->neighbor[i]) {
    weight[j]++;
    if (c->leaf[i] != -1) weight[find(c->set, c->leaf[i])]--;
    c->leaf[i] = j;
  }
  c->neighbor[i] = j;
}

static void weigh_columns(counter *c, int32_t *weight, const trs_graph *graph, const int32_t *perm,
                          const int32_t *inverse, const int32_t *parent) {
  for (int32_t j = 0; j < graph->n; j++) {
    weight[j] = c->first[j] == j; /* a leaf counts its diagonal; the counts above are passed on from
                                     the children */
    c->neighbor[j] = c->leaf[j] = -1;
    c->set[j] = j;
  }
  for (int32_t j = 0; j < graph->n; j++) {
    int32_t v = perm[j];
    if (parent[j] != -1) weight[parent[j]]--;
    for (int32_t p = graph->ptr[v]; p < graph->ptr[v + 1]; p++) {
      int32_t i = inverse[graph->adjacent[p]];
      if (i > j) add_leaf(c, weight, i, j);
    }
    if (parent[j] != -1) c->set[j] = parent[j];
  }
}

trs_status trs_column_counts(int32_t *count, const trs_graph *graph, const int32_t *perm,
                             const int32_t *inverse, const int32_t *parent) {
  counter c = {0};
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&c.first, graph->n), TRS_ROOM(&c.neighbor, graph->n),
                        TRS_ROOM(&c.leaf, graph->n), TRS_ROOM(&c.set, graph->n)));
  trs_first_descendants(c.first, parent, graph->n);
  weigh_columns(&c, count, graph, perm, inverse, parent);
  for (int64_t j = 0; j < graph->n; j++)
    if (parent[j] != -1) count[parent[j]] += count[j];
  TRS_FREE_ALL(c.first, c.neighbor, c.leaf, c.set);
  return TRS_SUCCESS;
}
