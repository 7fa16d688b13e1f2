/* etree.h - the elimination tree of a permuted graph: parent[j] is the first row below the diagonal
 * in column j of the Cholesky factor, or -1 at a root.  parent[j] > j. */
#ifndef TRS_ORDER_ETREE_H
#define TRS_ORDER_ETREE_H

#include "order/graph.h"

/* Liu's step: j becomes the parent of the root above i < j.  ancestor: some ancestor of each
 * vertex, whose paths the steps compress.  Both arrays: -1 where nothing is known yet. */
static inline void trs_etree_link(int32_t *parent, int32_t *ancestor, int32_t i, int32_t j) {
  while (i != -1 && i != j) {
    const int32_t next = ancestor[i];
    ancestor[i] = j;
    if (next == -1) parent[i] = j;
    i = next;
  }
}

/* Column k of the permuted matrix is vertex perm[k]; inverse[perm[k]] = k. */
trs_status trs_etree(int32_t *parent, const trs_graph *graph, const int32_t *perm,
                     const int32_t *inverse);

/* post[k] is vertex number k in postorder; siblings are in ascending order. */
trs_status trs_postorder(int32_t *post, const int32_t *parent, int64_t n);

/* first[j]: the smallest vertex of the subtree under j, in a postordered tree. */
void trs_first_descendants(int32_t *first, const int32_t *parent, int64_t n);

/* count[j]: entries of column j of the factor, diagonal included.  The tree is postordered. */
trs_status trs_column_counts(int32_t *count, const trs_graph *graph, const int32_t *perm,
                             const int32_t *inverse, const int32_t *parent);

#endif
