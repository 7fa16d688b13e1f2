/* graph.h - the undirected graph of a square matrix, input of the orderings. */
#ifndef TRS_ORDER_GRAPH_H
#define TRS_ORDER_GRAPH_H

#include "matrix/matrix.h"

/* The neighbours of vertex v are adjacent[ptr[v] .. ptr[v + 1]), ascending, without v.  METIS and
 * AMD need 32-bit pointers. */
typedef struct trs_graph {
  int64_t n;
  int32_t *ptr;      /* n + 1 */
  int32_t *adjacent; /* ptr[n] */
} trs_graph;

/* The pattern of A + A^T without its diagonal.  TRS_ERROR_UNSUPPORTED from 2^31 entries on. */
trs_status trs_graph_build(trs_graph *graph, const trs_matrix *A);
void trs_graph_free(trs_graph *graph);

#endif
