/* spread_tasks.h - converts a sweep's trees and counts (sweep.h) to tasks for GPUs (spread.h). */
#ifndef TRS_SOLVE_GRID3D_SPREAD_TASKS_H
#define TRS_SOLVE_GRID3D_SPREAD_TASKS_H

#include "solve/grid3d/spread.h"
#include "solve/grid3d/sweep.h"

/* The supernodes of a grid without a home, ascending: numbered identically on all its ranks. */
typedef struct trs_spread_numbers {
  int64_t count, columns;
  int32_t *number; /* per slot of the part */
  int32_t *first;  /* count: number of rows of the preceding supernodes */
  int32_t *row;    /* per slot: its position in the rows of the part's own supernodes, or -1 */
  int32_t *order;  /* the slots in the order of L's sweep; U's is the reverse.  The longest path is
                      first: a supernode waits only for those that more others wait for in turn */
} trs_spread_numbers;

trs_status trs_spread_number(trs_spread_numbers *numbers, const trs_rank_part *part);
void trs_spread_numbers_free(trs_spread_numbers *numbers);

/* The tasks of one sweep, on the host. */
typedef struct trs_spread_tasks {
  trs_spread_task *task;
  trs_spread_unit *unit;
  int32_t *receiver; /* members of the grid */
  int64_t ntasks, nunits, nreceivers;
} trs_spread_tasks;

typedef struct trs_task_maker {
  trs_spread_tasks *to; /* first counted, with NULL arrays, then filled */
  const trs_rank_part *part;
  const trs_sweep *sweep;
  const trs_spread_numbers *numbers;
  trs_tree_shape trees;
} trs_task_maker;

/* Lists a sweep's tasks in order; called twice, to count and to fill. */
typedef trs_status (*trs_spread_list)(trs_task_maker *m);

trs_status trs_spread_list_rows(trs_task_maker *m); /* for spread.cu */
trs_status trs_spread_tasks_make(trs_spread_tasks *tasks, const trs_rank_part *part,
                                 const trs_sweep *sweep, const trs_spread_numbers *numbers,
                                 trs_tree_shape trees, trs_spread_list list);
void trs_spread_tasks_free(trs_spread_tasks *tasks);

/* For lists: a task of a slot with nothing to do, the units of a block whose other supernode has
 * the given slot, and the receivers of the slot's x. */
trs_spread_task trs_spread_task_of(const trs_task_maker *m, int64_t slot);
void trs_spread_cut_block(trs_task_maker *m, const trs_local_block *block, int64_t slot);
void trs_spread_list_receivers(trs_task_maker *m, trs_spread_task *t, int64_t slot);
void trs_spread_add_task(trs_task_maker *m, trs_spread_task task);

/* Largest number of sums that arrive at one rank for one supernode. */
static inline int trs_spread_children(trs_tree_shape trees, int places) {
  return trees == TRS_TREE_BINARY && places > 2 ? 2 : places - 1;
}

#endif
