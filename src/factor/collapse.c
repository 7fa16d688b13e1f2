/* collapse.c - adapts the separator tree to the factors after pivoting.
 *
 * A pivot off the diagonal moves a row of one part of the tree among the rows of another; entries
 * of U then couple subtrees that were independent.  For every such entry, the subtree under the
 * lowest node above both columns becomes one node.  Its descendants stay as empty nodes, so that
 * the shape of the tree does not change.  O(n + nnz + depth x entries that couple subtrees). */
#include "factor/kinds.h"

typedef struct collapser {
  const trs_factors *parts;
  int32_t *node;  /* of each column */
  int32_t *first; /* the first node of the subtree under each node */
  bool *whole;    /* the subtree becomes one node */
} collapser;

static bool below(const collapser *c, int32_t node, int32_t top) {
  return c->first[top] <= node && node <= top;
}

/* The lowest node above both a and b. */
static int32_t common_ancestor(const collapser *c, int32_t a, int32_t b) {
  while (!below(c, b, a)) a = c->parts->tree_parent[a];
  return a;
}

static void mark(collapser *c, const trs_matrix *T) {
  for (int64_t i = 0; i < T->nvectors; i++)
    for (int64_t p = T->ptr[i]; p < T->ptr[i + 1]; p++) {
      int32_t a = c->node[i], b = c->node[T->idx[p]];
      if (!below(c, a, b) && !below(c, b, a)) c->whole[common_ancestor(c, a, b)] = true;
    }
}

static void locate(collapser *c) {
  const trs_factors *f = c->parts;
  for (int32_t t = 0; t < f->tree_nodes; t++) {
    c->first[t] = t;
    c->whole[t] = false;
    for (int64_t j = f->tree_ptr[t]; j < f->tree_ptr[t + 1]; j++) c->node[j] = t;
  }
  for (int32_t t = 0; t < f->tree_nodes; t++) {
    int32_t above = f->tree_parent[t];
    if (above != -1 && c->first[t] < c->first[above]) c->first[above] = c->first[t];
  }
}

/* Empties the nodes under each marked node.  Larger subtrees come later and overwrite. */
static void merge(const collapser *c, trs_factors *parts) {
  for (int32_t t = 0; t < parts->tree_nodes; t++)
    if (c->whole[t])
      for (int32_t s = c->first[t]; s < t; s++)
        parts->tree_ptr[s + 1] = parts->tree_ptr[c->first[t]];
}

static void drop(trs_factors *parts) {
  TRS_FREE_ALL(parts->tree_ptr, parts->tree_parent);
  parts->tree_ptr = NULL;
  parts->tree_parent = NULL;
  parts->tree_nodes = 0;
}

trs_status trs_collapse_tree(trs_factors *parts) {
  collapser c = {.parts = parts};
  if (!parts->tree_nodes) return TRS_SUCCESS;
  trs_status status = TRS_ALLOC(&c.node, parts->L->nrows);
  if (!status) status = TRS_ALLOC(&c.first, parts->tree_nodes);
  if (!status) status = TRS_ALLOC(&c.whole, parts->tree_nodes);
  if (!status) {
    locate(&c);
    mark(&c, parts->L);
    mark(&c, parts->U);
    if (c.whole[parts->tree_nodes - 1])
      drop(parts);
    else
      merge(&c, parts);
  }
  TRS_FREE_ALL(c.node, c.first, c.whole);
  return status;
}
