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
                      first: a supernode waits only for those that more others wait for in turn.
                      Algorithm 5 takes them by number */
} trs_spread_numbers;

trs_status trs_spread_number(trs_spread_numbers *numbers, const trs_rank_part *part);
void trs_spread_numbers_free(trs_spread_numbers *numbers);

/* The tasks of one sweep, on the host: by rows for spread.cu, by columns for Algorithm 5, which
 * needs Py = 1 and no homes. */
typedef struct trs_spread_tasks {
  trs_spread_task *task;
  trs_spread_unit *unit;
  int32_t *receiver; /* members of the grid */
  int64_t ntasks, nunits, nreceivers;
} trs_spread_tasks;

trs_status trs_spread_tasks_make(trs_spread_tasks *tasks, const trs_rank_part *part,
                                 const trs_sweep *sweep, const trs_spread_numbers *numbers,
                                 trs_tree_shape trees, bool by_columns);
void trs_spread_tasks_free(trs_spread_tasks *tasks);

/* Largest number of sums that arrive at one rank for one supernode. */
static inline int trs_spread_children(trs_tree_shape trees, int places) {
  return trees == TRS_TREE_BINARY && places > 2 ? 2 : places - 1;
}

#endif
