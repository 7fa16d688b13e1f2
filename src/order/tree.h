/* tree.h - a separator tree cut from an elimination tree. */
#ifndef TRS_ORDER_TREE_H
#define TRS_ORDER_TREE_H

#include "base/memory.h"

/* A complete binary tree of 2 * leaves - 1 nodes in postorder, with the root last.  Node t contains
 * the columns ptr[t] .. ptr[t + 1], possibly none.  An entry of the factor couples two nodes only
 * if one is above the other. */
typedef struct trs_tree {
  int64_t nodes;
  int64_t *ptr;    /* nodes + 1 */
  int32_t *parent; /* nodes; -1 at the root */
} trs_tree;

/* order[n]: new column k is column order[k] of the given elimination tree, which must be
 * postordered. Columns keep their order within a node, and the factor keeps its fill.  cost[n]: the
 * cost of each column.  leaves is a power of two. */
trs_status trs_tree_cut(trs_tree *tree, int32_t *order, const int32_t *etree, const int32_t *cost,
                        int64_t n, int64_t leaves);
void trs_tree_free(trs_tree *tree);

#endif
