/* colour.h - a distance-one colouring of the block graph: no block row reads another of its colour,
 * so that all rows of a colour can be relaxed at once. */
#ifndef TRS_ORDER_COLOUR_H
#define TRS_ORDER_COLOUR_H

#include "matrix/blocks.h"

/* Neighbours of a row are the rows it reads and the rows that read it. */
typedef struct trs_block_graph {
  const trs_block_pattern *reads, *read_by;
} trs_block_graph;

/* colour[n] in 0 .. *count - 1; independent of the number of threads. */
trs_status trs_colour_find(int32_t *colour, int32_t *count, const trs_block_graph *graph,
                           bool balanced, trs_team *team);

/* Checks the caller's colouring and counts its colours; TRS_ERROR_ARGUMENT names the row. */
trs_status trs_colour_check(const int32_t *colour, int32_t *count, const trs_block_graph *graph);

#endif
