/* methods.h - permutations and partitions of a graph; all but RCM are by other libraries. */
#ifndef TRS_ORDER_METHODS_H
#define TRS_ORDER_METHODS_H

#include "order/graph.h"

/* perm[n]: new vertex k is old vertex perm[k].  TRS_ERROR_UNSUPPORTED names the missing package. */
trs_status trs_order_metis(int32_t *perm, const trs_graph *graph);
trs_status trs_order_amd(int32_t *perm, const trs_graph *graph);
trs_status trs_order_rcm(int32_t *perm, const trs_graph *graph);

/* perm[ncols]: an order of A's columns, by its pattern, for elimination with pivots from any row.
 */
trs_status trs_order_colamd(int32_t *perm, const trs_matrix *A);

/* block[n]: of each row of A, whose diagonal has no zeros, the turn of its diagonal block in an
 * elimination that fills nothing but the blocks and what lies beside them.  The largest block has
 * the last turn.  between: entries of A outside the blocks. */
trs_status trs_order_blocks(int32_t *block, int32_t *count, int64_t *between, const trs_matrix *A);

/* part[n]: 0 to parts - 1.  The parts have similar weight (weight[n], per vertex) and few edges
 * between them.  By METIS; TRS_ERROR_UNSUPPORTED if it is missing. */
trs_status trs_graph_split(int32_t *part, const trs_graph *graph, const int32_t *weight,
                           int32_t parts);

#endif
