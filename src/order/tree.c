/* tree.c - cuts an elimination tree into 2^k independent leaves and the separators above them.
 *
 * Subtrees of the elimination tree are independent.  Each node of the separator tree begins with a
 * forest; the top node begins with all of it.  Roots move from the forest into the separator, the
 * heaviest subtree first, and leave their children behind (as Geist and Ng 1989 map subtrees to
 * processors).  The remaining roots are dealt into two groups, the heaviest first, always to the
 * lighter group.  Of all such separators the one with the shortest path is kept:
 *     cost of the separator + cost of the heavier group.
 * For an order from nested dissection these are its separators; any other order gets the best
 * available ones.  O(n log n) per level. */
#include "order/tree.h"

#include "order/etree.h"

enum { MAX_DEALS = 32 }; /* trials per separator, once no subtree dominates */

typedef struct cutter {
  const int32_t *etree, *first;
  int64_t *weight;              /* of the whole subtree */
  int32_t *child, *sibling;     /* lists of children */
  int32_t *roots, *work, *hand; /* n each: the roots of the forest, and two work arrays */
  int32_t *node;                /* of each column */
} cutter;

/* A binary heap of roots, with the heaviest subtree on top.  Ties go to the smaller index. */
static bool heavier(const cutter *c, int32_t a, int32_t b) {
  return c->weight[a] != c->weight[b] ? c->weight[a] > c->weight[b] : a < b;
}

static void heap_push(const cutter *c, int32_t *heap, int64_t *count, int32_t root) {
  int64_t at = (*count)++;
  while (at > 0 && heavier(c, root, heap[(at - 1) / 2])) {
    heap[at] = heap[(at - 1) / 2];
    at = (at - 1) / 2;
  }
  heap[at] = root;
}

static int32_t heap_pop(const cutter *c, int32_t *heap, int64_t *count) {
  int32_t top = heap[0], last = heap[--*count];
  int64_t at = 0;
  for (;;) {
    int64_t below = 2 * at + 1;
    if (below >= *count) break;
    if (below + 1 < *count && heavier(c, heap[below + 1], heap[below])) below++;
    if (!heavier(c, heap[below], last)) break;
    heap[at] = heap[below];
    at = below;
  }
  if (*count > 0) heap[at] = last;
  return top;
}

static int64_t heap_copy(const cutter *c, int32_t *heap, const int32_t *from, int64_t count) {
  int64_t size = 0;
  for (int64_t q = 0; q < count; q++) heap_push(c, heap, &size, from[q]);
  return size;
}

/* Moves the heaviest root off the heap and adds its children; returns the root. */
static int32_t open_root(const cutter *c, int32_t *heap, int64_t *count) {
  int32_t root = heap_pop(c, heap, count);
  for (int32_t j = c->child[root]; j != -1; j = c->sibling[j]) heap_push(c, heap, count, j);
  return root;
}

static int64_t own_weight(const cutter *c, int32_t j) {
  int64_t own = c->weight[j];
  for (int32_t k = c->child[j]; k != -1; k = c->sibling[k]) own -= c->weight[k];
  return own;
}

/* The weight of the heavier group after the heap's roots are dealt. */
static int64_t deal(const cutter *c, const int32_t *heap, int64_t count, int32_t *hand) {
  int64_t left = heap_copy(c, hand, heap, count), group[2] = {0, 0};
  while (left > 0) group[group[1] < group[0]] += c->weight[heap_pop(c, hand, &left)];
  return group[0] > group[1] ? group[0] : group[1];
}

/* The number of roots to open for the shortest path. */
static int64_t choose(const cutter *c, int64_t at, int64_t count) {
  int32_t *heap = c->work + at, *hand = c->hand + at;
  int64_t size = heap_copy(c, heap, c->roots + at, count);
  int64_t rest = 0, separator = 0, best = INT64_MAX, best_opened = 0, opened = 0;
  for (int64_t q = 0; q < size; q++) rest += c->weight[heap[q]];
  for (int deals = 0; size > 0 && separator + rest / 2 < best;) {
    int64_t heaviest = c->weight[heap[0]];
    if (2 * heaviest < rest && deals++ == MAX_DEALS) break;
    int64_t path = separator + (2 * heaviest < rest ? deal(c, heap, size, hand) : heaviest);
    if (path < best) {
      best = path;
      best_opened = opened;
    }
    int64_t own = own_weight(c, open_root(c, heap, &size));
    separator += own;
    rest -= own;
    opened++;
  }
  return best_opened;
}

/* Deals the heap's roots to the two ends of the range that starts at `at`: the first group's roots
 * to its beginning, the second group's after as many places as the first group has columns. */
static void split(const cutter *c, int64_t at, int64_t size, int64_t begin[2], int64_t count[2]) {
  int32_t *heap = c->work + at, *hand = c->hand + at;
  int64_t group[2] = {0, 0}, columns = 0, taken = 0;
  count[0] = count[1] = 0;
  while (size > 0) {
    int32_t root = heap_pop(c, heap, &size);
    int to = group[1] < group[0];
    group[to] += c->weight[root];
    if (to == 0) columns += root - c->first[root] + 1;
    hand[taken++] = to == 0 ? root : -root - 1;
  }
  begin[0] = at;
  begin[1] = at + columns;
  for (int64_t q = 0; q < taken; q++) {
    int to = hand[q] < 0;
    c->roots[begin[to] + count[to]++] = to ? -(hand[q] + 1) : hand[q];
  }
}

static void assign_leaf(const cutter *c, int64_t at, int64_t count, int32_t node) {
  for (int64_t q = 0; q < count; q++) {
    int32_t root = c->roots[at + q];
    for (int32_t j = c->first[root]; j <= root; j++) c->node[j] = node;
  }
}

/* Distributes the forest of roots[at .. at + count) over the complete tree of 2^levels leaves,
 * whose nodes are numbered from `node` on; returns the number of its root. */
static int32_t cut(const cutter *c, trs_tree *tree, int64_t at, int64_t count, int levels,
                   int32_t node) {
  int32_t below = (int32_t)(((int64_t)1 << levels) - 1), self = node + 2 * below;
  if (levels == 0) {
    assign_leaf(c, at, count, self);
    return self;
  }
  int64_t opened = choose(c, at, count), begin[2], counts[2];
  int64_t size = heap_copy(c, c->work + at, c->roots + at, count);
  while (opened-- > 0) c->node[open_root(c, c->work + at, &size)] = self;
  split(c, at, size, begin, counts);
  for (int k = 0; k < 2; k++) {
    int32_t child = cut(c, tree, begin[k], counts[k], levels - 1, node + k * below);
    tree->parent[child] = self;
  }
  return self;
}

/* Sorts columns by node, stably. */
static void gather(trs_tree *tree, int32_t *order, const int32_t *node, int64_t n) {
  for (int64_t t = 0; t <= tree->nodes; t++) tree->ptr[t] = 0;
  for (int64_t j = 0; j < n; j++) tree->ptr[node[j] + 1]++;
  for (int64_t t = 0; t < tree->nodes; t++) tree->ptr[t + 1] += tree->ptr[t];
  for (int64_t j = 0; j < n; j++) order[tree->ptr[node[j]]++] = (int32_t)j;
  for (int64_t t = tree->nodes; t > 0; t--) tree->ptr[t] = tree->ptr[t - 1];
  tree->ptr[0] = 0;
}

/* Computes subtree weights, lists of children and the roots of the forest; returns the number of
 * roots. */
static int64_t prepare(cutter *c, const int32_t *cost, int64_t n) {
  int64_t roots = 0;
  for (int64_t j = 0; j < n; j++) {
    c->weight[j] = cost[j];
    c->child[j] = -1;
  }
  for (int64_t j = 0; j < n; j++) {
    int32_t above = c->etree[j];
    if (above == -1) {
      c->roots[roots++] = (int32_t)j;
    } else {
      c->weight[above] += c->weight[j];
      c->sibling[j] = c->child[above];
      c->child[above] = (int32_t)j;
    }
  }
  return roots;
}

static trs_status allocate(cutter *c, int32_t **first, trs_tree *tree, int64_t n) {
  return TRS_ALLOC_ALL(TRS_ROOM(first, n), TRS_ROOM(&c->weight, n), TRS_ROOM(&c->child, n),
                       TRS_ROOM(&c->sibling, n), TRS_ROOM(&c->roots, n), TRS_ROOM(&c->work, n),
                       TRS_ROOM(&c->hand, n), TRS_ROOM(&c->node, n),
                       TRS_ROOM(&tree->ptr, tree->nodes + 1), TRS_ROOM(&tree->parent, tree->nodes));
}

static void release(cutter *c) {
  TRS_FREE_ALL(c->weight, c->child, c->sibling, c->roots, c->work, c->hand, c->node);
}

trs_status trs_tree_cut(trs_tree *tree, int32_t *order, const int32_t *etree, const int32_t *cost,
                        int64_t n, int64_t leaves) {
  int32_t *first = NULL;
  cutter c = {.etree = etree};
  *tree = (trs_tree){.nodes = 2 * leaves - 1};
  trs_status status = allocate(&c, &first, tree, n);
  if (!status) {
    int levels = 0;
    while ((int64_t)1 << levels < leaves) levels++;
    trs_first_descendants(first, etree, n);
    c.first = first;
    int32_t root = cut(&c, tree, 0, prepare(&c, cost, n), levels, 0);
    tree->parent[root] = -1;
    gather(tree, order, c.node, n);
  }
  trs_free(first);
  release(&c);
  if (status) trs_tree_free(tree);
  return status;
}

void trs_tree_free(trs_tree *tree) {
  TRS_FREE_ALL(tree->ptr, tree->parent);
  *tree = (trs_tree){0};
}
