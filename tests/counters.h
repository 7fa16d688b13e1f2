/* counters.h - start values of 64-bit counters, which do not wrap by themselves: below the wraps of
 * 32 bits, in which no part of them may be kept, and below the change of sign. */
#ifndef TRS_TEST_COUNTERS_H
#define TRS_TEST_COUNTERS_H

#include "base/counter.h"

static const uint64_t counter_begins[] = {INT32_MAX - 3, UINT32_MAX - 3, INT64_MAX - 3};
enum { COUNTER_BEGINS = sizeof counter_begins / sizeof *counter_begins };

#endif
