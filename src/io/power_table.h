/* power_table.h - leading bits of the powers of five, for reading and writing decimal numbers. */
#ifndef TRS_IO_POWER_TABLE_H
#define TRS_IO_POWER_TABLE_H

#include <stdint.h>

enum { TRS_POWER_FIRST = -342, TRS_POWER_LAST = 340 };

/* trs_power_table[q - TRS_POWER_FIRST]: 5^q times the power of two that scales it into [2^127,
 * 2^128), truncated to an integer; the high half first. */
extern const uint64_t trs_power_table[TRS_POWER_LAST - TRS_POWER_FIRST + 1][2];

#endif
