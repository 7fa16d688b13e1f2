/* grow.h - supersteps that keep the natural order: an alternative to levels for the schedule of the
 * threads method.
 *
 * In a superstep each thread takes rows until its work reaches a goal: first rows whose
 * dependencies are its own rows of this superstep or rows of earlier ones, in natural order.
 * A thread's rows thus depend mostly on its own rows, and lie near each other in memory.  A level
 * schedule has as many steps as the longest chain of rows; supersteps are as long as the goal
 * makes them.
 *
 * Source: the idea of GrowLocal (Boehnlein, Papp, Steiner, Yzelman 2025); here a superstep is grown
 * once, to a goal that follows from the cost of a wait, and threads wait point to point. */
#ifndef TRS_SOLVE_THREADS_GROW_H
#define TRS_SOLVE_THREADS_GROW_H

#include "solve/threads/schedule.h"

/* Spans (trs_parts) beyond which the caller does not want supersteps.  Growing ends as soon as the
 * span certainly exceeds `worth`, or probably `most`; INT64_MAX: never. */
typedef struct trs_grow_limits {
  int64_t worth, most;
} trs_grow_limits;

/* One part per thread and superstep, in the order of the supersteps.  S: by rows.  length:
 * off-diagonal entries per row.  If a limit ends the growth, parts->given_up is true, and parts
 * describes the first supersteps only.  O(n log n + nnz). */
trs_status trs_grow_parts(trs_parts *parts, const trs_system *S, const int32_t *length, int threads,
                          const trs_grow_limits *limits);

#endif
