/* deliver.h - entries of L and U from the ranks that have them to the ranks whose blocks they
 * belong to, replicas included. */
#ifndef TRS_SOLVE_GRID3D_DELIVER_H
#define TRS_SOLVE_GRID3D_DELIVER_H

#include "solve/grid3d/input.h"

typedef struct trs_delivery trs_delivery;

/* Hands out every entry that this rank has by trs_deliver; called twice, with the same outcome. */
typedef void (*trs_producer)(const void *state, trs_delivery *d);

/* Entry (i, j) of L (which 0) or U. */
void trs_deliver(trs_delivery *d, int which, int64_t i, int64_t j, const void *value);

/* Collective.  Entries are counted, packed and sent, from each rank to each other in turn; 8 bytes
 * and a number for each. */
trs_status trs_deliver_all(const trs_grid_input *in, trs_filler *f, trs_ranks *ranks,
                           trs_producer produce, const void *state);

#endif
