/* exchange.h - messages between grids: lists of slots, packed into one message per step. */
#ifndef TRS_SOLVE_GRID3D_EXCHANGE_H
#define TRS_SOLVE_GRID3D_EXCHANGE_H

#include "comm/ranks.h"
#include "solve/grid3d/part.h"

typedef struct trs_slot_list {
  int32_t *K;
  int64_t count;
  int64_t columns; /* of all slots together */
} trs_slot_list;

/* x of this rank's diagonal blocks that at least 2^height grids share, except the halves of
 * supernodes whose x other grids do not need. */
trs_status trs_list_shared(trs_slot_list *list, const trs_rank_part *part, int height, int without);

/* Adds K to a list that has room. */
void trs_slot_list_append(trs_slot_list *list, const trs_rank_part *part, int64_t K);
void trs_slot_list_free(trs_slot_list *list);

typedef struct trs_exchange_times {
  double seconds;
  int64_t messages, bytes; /* sent */
} trs_exchange_times;

/* The sparse allreduce of x over the grids with the same (x, y); list k is trs_list_shared(k + 1).
 * In every step the two grids of a pair exchange their sums: log Pz steps. */
trs_status trs_sparse_allreduce(const trs_slot_list *lists, trs_rank_part *part, trs_ranks *ranks,
                                void *buffer, trs_exchange_times *times);

/* A list's sums or x as one message, and back: added to what is there, or in its place. */
int64_t trs_slots_bytes(const trs_slot_list *list, const trs_rank_part *part);
void trs_slots_pack(const trs_slot_list *list, const trs_rank_part *part, bool sums, void *packed);
void trs_slots_unpack(const trs_slot_list *list, const trs_rank_part *part, bool sums, bool add,
                      const void *packed);

#endif
