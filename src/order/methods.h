/* methods.h - fill-reducing permutations of a graph, from the libraries that make them. */
#ifndef TRS_ORDER_METHODS_H
#define TRS_ORDER_METHODS_H

#include "order/graph.h"

/* perm[n]: new vertex k is old vertex perm[k].  TRS_ERROR_UNSUPPORTED names the missing package. */
trs_status trs_order_metis(int32_t *perm, const trs_graph *graph);
trs_status trs_order_amd(int32_t *perm, const trs_graph *graph);

/* part[n]: 0 to parts - 1, of about the same weight each (weight[n], by vertices), few edges
 * between them.  By METIS, which TRS_ERROR_UNSUPPORTED names where it is missing. */
trs_status trs_graph_split(int32_t *part, const trs_graph *graph, const int32_t *weight,
                           int32_t parts);

#endif
