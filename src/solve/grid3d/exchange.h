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

/* Sums of this place (x, y) to which columns solved on the 2^step grids from `from` on add, in rows
 * that more than these grids share. */
trs_status trs_list_sums(trs_slot_list *list, const trs_rank_part *part, int from, int step);
void trs_slot_list_free(trs_slot_list *list);

typedef struct trs_exchange_times {
  double seconds;
  int64_t messages, bytes; /* sent */
} trs_exchange_times;

/* The sparse allreduce of x over the grids with the same (x, y); list k is trs_list_shared(k + 1).
 * In every step the two grids of a pair exchange their sums: log Pz steps. */
trs_status trs_sparse_allreduce(const trs_slot_list *lists, trs_rank_part *part, trs_ranks *ranks,
                                void *buffer, trs_exchange_times *times);

/* The same sums by L23's Algorithm 2: from the leaves to the root the upper grid of a pair sends
 * and the lower adds, then x comes back: 2 log Pz steps; 2 (Pz - 1) messages of a place instead of
 * Pz log Pz. */
trs_status trs_reduce_broadcast(const trs_slot_list *lists, trs_rank_part *part, trs_ranks *ranks,
                                void *buffer, trs_exchange_times *times);

/* In step k, the upper grid of a pair (lowest set bit k) sends sums to the lower grid; grids above
 * which a lower bit is set take no part. */
bool trs_crosses(int z, int step);
bool trs_is_upper_grid(int z, int step);

/* Sends a list to another grid, or receives one; received values are added to sums or x, or replace
 * them. */
trs_status trs_slots_send(const trs_slot_list *list, const trs_rank_part *part, bool sums,
                          trs_ranks *ranks, int grid, void *buffer, trs_exchange_times *times);
trs_status trs_slots_receive(const trs_slot_list *list, const trs_rank_part *part, bool sums,
                             bool add, trs_ranks *ranks, int grid, void *buffer,
                             trs_exchange_times *times);

/* Size of a packed list. */
int64_t trs_slots_bytes(const trs_slot_list *list, const trs_rank_part *part);

#endif
