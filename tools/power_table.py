#!/usr/bin/env python3
"""Writes src/io/power_table.c: the leading 128 bits of the powers of five that decimal numbers are
read and written with.  Usage: tools/power_table.py > src/io/power_table.c"""

FIRST, LAST = -342, 340  # the least decimal exponent of a double's digits, and the greatest


def leading_128(q):
    """5^q scaled by a power of two into [2^127, 2^128): cut off, except that the reciprocals of
    powers below 2^64 are rounded up, as the proof of the reading algorithm wants them."""
    power = 5 ** abs(q)
    bits = power.bit_length()
    if q >= 0:
        return power >> bits - 128 if bits > 128 else power << 128 - bits
    if q >= -27:
        return (1 << bits + 127) // power + 1
    return (1 << bits + 127) // power


print("/* power_table.c - written by tools/power_table.py: the leading 128 bits of 5^q, high half")
print(f" * first, for q = {FIRST} .. {LAST}. */")
print('#include "io/power_table.h"')
print()
print("const uint64_t trs_power_table[TRS_POWER_LAST - TRS_POWER_FIRST + 1][2] = {")
for q in range(FIRST, LAST + 1):
    value = leading_128(q)
    print(f"    {{0x{value >> 64:016x}, 0x{value & (1 << 64) - 1:016x}}}, /* {q} */")
print("};")
