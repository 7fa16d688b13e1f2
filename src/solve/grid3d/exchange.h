/* exchange.h - what crosses from grid to grid: lists of slots, packed into one message a step. */
#ifndef TRS_SOLVE_GRID3D_EXCHANGE_H
#define TRS_SOLVE_GRID3D_EXCHANGE_H

#include "comm/ranks.h"
#include "solve/grid3d/part.h"

typedef struct trs_slot_list {
  int32_t *K;
  int64_t count;
  int64_t columns; /* of all of them together */
} trs_slot_list;

/* x of diagonal blocks here that at least 2^height grids share, without the halves of supernodes
 * whose x other grids need not know. */
trs_status trs_list_shared(trs_slot_list *list, const trs_part *part, int height, int without);

/* Sums of this place (x, y) to which columns solved on the 2^step grids from `from` on add, in rows
 * that more grids than those share. */
trs_status trs_list_sums(trs_slot_list *list, const trs_part *part, int from, int step);
void trs_slot_list_free(trs_slot_list *list);

typedef struct trs_exchange_times {
  double seconds;
  int64_t messages, bytes; /* sent */
} trs_exchange_times;

/* The sparse allreduce of x over the line of grids; list k is trs_list_shared(k + 1). */
trs_status trs_sparse_allreduce(const trs_slot_list *lists, trs_part *part, trs_ranks *ranks,
                                void *buffer, trs_exchange_times *times);

/* A list to another grid, or from one; what arrives is added to sums, or becomes x. */
trs_status trs_slots_send(const trs_slot_list *list, const trs_part *part, bool sums,
                          trs_ranks *ranks, int grid, void *buffer, trs_exchange_times *times);
trs_status trs_slots_receive(const trs_slot_list *list, const trs_part *part, bool sums,
                             trs_ranks *ranks, int grid, void *buffer, trs_exchange_times *times);

/* Of a list, packed. */
int64_t trs_slots_bytes(const trs_slot_list *list, const trs_part *part);

#endif
