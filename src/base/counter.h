/* counter.h - where the counters of solves and sweeps begin.  docs/reliability.md lists them, and
 * what happens where one wraps. */
#ifndef TRS_BASE_COUNTER_H
#define TRS_BASE_COUNTER_H

#include "trireme.h"

/* 0 but in tests, which set it so that a counter of their choice wraps within a few solves.  A
 * counter takes its low bits when its owner is made. */
TRS_API extern uint64_t trs_counters_begin;

/* Is a at or behind b?  Also where the counter has wrapped between the two, as long as they are
 * less than half its range apart. */
static inline int trs_counter_reached(uint64_t a, uint64_t b) { return (int64_t)(a - b) >= 0; }

#endif
