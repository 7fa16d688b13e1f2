/* tree.h - a separator tree cut out of an elimination tree. */
#ifndef TRS_ORDER_TREE_H
#define TRS_ORDER_TREE_H

#include "base/memory.h"

/* A complete binary tree of 2 * leaves - 1 nodes in postorder, the root last.  Node t holds the
 * columns ptr[t] .. ptr[t + 1], perhaps none; no entry of the factor couples two nodes neither of
 * which is above the other. */
typedef struct trs_tree {
  int64_t nodes;
  int64_t *ptr;    /* nodes + 1 */
  int32_t *parent; /* nodes; -1 at the root */
} trs_tree;

/* order[n]: the new column k is column order[k] of the elimination tree given, which must be
 * postordered; columns keep their order within a node, and the factor its fill.  cost[n] is what
 * a column costs; leaves is a power of two. */
trs_status trs_tree_cut(trs_tree *tree, int32_t *order, const int32_t *etree, const int32_t *cost,
                        int64_t n, int64_t leaves);
void trs_tree_free(trs_tree *tree);

#endif
