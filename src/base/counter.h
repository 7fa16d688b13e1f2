/* counter.h - the start value of the counters of solves and sweeps.  docs/reliability.md lists the
 * counters and the effect of a wrap. */
#ifndef TRS_BASE_COUNTER_H
#define TRS_BASE_COUNTER_H

#include "trireme.h"

/* 0, except in tests that set it so that a counter wraps within a few solves.  A counter reads its
 * low bits when its owner is created. */
extern uint64_t trs_counters_begin;

/* True if a is equal to b or after it.  Holds across a wrap if the two are less than half the
 * counter's range apart. */
static inline int trs_counter_reached(uint64_t a, uint64_t b) { return (int64_t)(a - b) >= 0; }

#endif
