/* graph.h - the undirected graph of a square matrix: what orderings look at. */
#ifndef TRS_ORDER_GRAPH_H
#define TRS_ORDER_GRAPH_H

#include "matrix/matrix.h"

/* Vertex v's neighbours are adjacent[ptr[v] .. ptr[v + 1]), ascending, without v itself.  32-bit
 * pointers, as METIS and AMD want them. */
typedef struct trs_graph {
  int64_t n;
  int32_t *ptr;      /* n + 1 */
  int32_t *adjacent; /* ptr[n] */
} trs_graph;

/* The pattern of A + A^T without its diagonal.  TRS_ERROR_UNSUPPORTED from 2^31 entries on. */
trs_status trs_graph_build(trs_graph *graph, const trs_matrix *A);
void trs_graph_free(trs_graph *graph);

#endif
