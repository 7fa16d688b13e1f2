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

/* A graph with the elimination tree and the filled graph of A^T A if columns are eliminated in the
 * order inverse[]: each row of A joins its first column to its others, and the first column's
 * elimination joins these to each other.  At most nnz edges, some of them twice, in no order. */
trs_status trs_graph_build_columns(trs_graph *graph, const trs_matrix *A, const int32_t *inverse);
void trs_graph_free(trs_graph *graph);

#endif
