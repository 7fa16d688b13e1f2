/* counter.c */
#include "base/counter.h"

uint64_t trs_counters_begin;
