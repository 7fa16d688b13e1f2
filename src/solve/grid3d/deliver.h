/* deliver.h - sends entries of L and U from the ranks that hold them to the ranks that own their
 * blocks, replicas included. */
#ifndef TRS_SOLVE_GRID3D_DELIVER_H
#define TRS_SOLVE_GRID3D_DELIVER_H

#include "solve/grid3d/input.h"

/* Entry (i, j) of L, or of U if upper. */
void trs_deliver(trs_delivery *d, bool upper, int64_t i, int64_t j, const void *value);

/* Collective.  Counts, packs and sends entries, in rounds of one message per rank; 8 bytes and a
 * number per entry. */
trs_status trs_deliver_all(const trs_grid_input *in, trs_filler *f, trs_ranks *ranks);

#endif
