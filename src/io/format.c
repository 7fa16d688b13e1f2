/* format.c - doubles to 17 significant digits, floats to 9: always enough to read back the same
 * bits.
 *
 * With |x| = m 2^e, the digits are the integer nearest to m 2^e 10^k for the k that gives the
 * wanted length.  m times the 128 leading bits of 5^k has an error below 2^-64 of the last digit.
 * Numbers of 17 digits are at most 0.9 of the distance between doubles apart.  That is enough to
 * read back the same double, but not to resolve every tie. */
#include "io/format.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "io/power_table.h"

__extension__ typedef unsigned __int128 u128;

static const char pairs[201] =
    "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546"
    "4"
    "7484950515253545556575859606162636465666768697071727374757677787980818283848586878889909192939"
    "4"
    "9596979899";

static char *put_pair(char *text, unsigned value) {
  memcpy(text, pairs + 2 * value, 2);
  return text + 2;
}

char *trs_format_index(char *text, int64_t value) {
  char digits[24], *at = digits + sizeof digits;
  uint64_t left = (uint64_t)value;
  for (; left >= 100; left /= 100) put_pair(at -= 2, (unsigned)(left % 100));
  if (left >= 10)
    put_pair(at -= 2, (unsigned)left);
  else
    *--at = (char)('0' + left);
  size_t length = (size_t)(digits + sizeof digits - at);
  memcpy(text, at, length);
  return text + length;
}

/* The integer nearest to m 2^e 10^k.  m has its top bit set and the result fits 64 bits. */
static uint64_t scaled(uint64_t m, int e, int k) {
  const uint64_t *power = trs_power_table[k - TRS_POWER_FIRST];
  u128 product = (u128)m * power[0];
  product += (uint64_t)(((u128)m * power[1]) >> 64);
  /* 5^k = power 2^(floor(k log2 5) - 127), product is m power 2^-64 */
  int drop = -(e + k + (int)((152170 * (int64_t)k) >> 16) - 63);
  return (uint64_t)((product + ((u128)1 << (drop - 1))) >> drop);
}

/* The digits of m 2^e, m with its top bit set: an integer of exactly `digits` digits, times
 * 10^*exponent. */
static uint64_t significant(uint64_t m, int e, int digits, uint64_t least, int *exponent) {
  /* log10 2 = 78913 / 2^18, truncated: k is correct or one too large. */
  int k = digits - 1 - (int)(((int64_t)(e + 63) * 78913) >> 18);
  uint64_t value = scaled(m, e, k);
  if (value >= 10 * least) value = scaled(m, e, --k);
  if (value >= 10 * least) { /* 99..9.6 rounded up to one more digit */
    value = least;
    k--;
  }
  *exponent = -k;
  return value;
}

static char *put_exponent(char *text, int exponent) {
  *text++ = 'e';
  *text++ = exponent < 0 ? '-' : '+';
  if (exponent < 0) exponent = -exponent;
  if (exponent < 10) *text++ = '0';
  return trs_format_index(text, exponent);
}

/* Writes count digits, with the point after the first before_point of them (possibly none, or more
 * than count). */
static char *put_positional(char *text, const char *digits, int count, int before_point) {
  if (before_point <= 0) {
    memcpy(text, "0.0000", 6);
    text += 2 - before_point;
    memcpy(text, digits, (size_t)count);
    return text + count;
  }
  int whole = count < before_point ? count : before_point;
  memcpy(text, digits, (size_t)whole);
  memset(text + whole, '0', (size_t)(before_point - whole));
  text += before_point;
  if (count == whole) return text;
  *text++ = '.';
  memcpy(text, digits + whole, (size_t)(count - whole));
  return text + count - whole;
}

static char *put_decimal(char *text, uint64_t value, int precision, int exponent) {
  char digits[24];
  int count = (int)(trs_format_index(digits, (int64_t)value) - digits);
  int point = count + exponent; /* value = 0.ddd 10^point */
  while (count > 1 && digits[count - 1] == '0') count--;
  if (point > -4 && point <= precision) return put_positional(text, digits, count, point);
  *text++ = digits[0];
  if (count > 1) {
    *text++ = '.';
    memcpy(text, digits + 1, (size_t)count - 1);
    text += count - 1;
  }
  return put_exponent(text, point - 1);
}

static char *format(char *text, double value, int digits, uint64_t least) {
  if (signbit(value)) *text++ = '-';
  if (value == 0) {
    *text = '0';
    return text + 1;
  }
  if (!isfinite(value)) {
    memcpy(text, isnan(value) ? "nan" : "inf", 3);
    return text + 3;
  }
  uint64_t m;
  memcpy(&m, &value, sizeof m);
  int e = (int)(m >> 52 & 0x7FF);
  m &= ((uint64_t)1 << 52) - 1;
  if (e)
    m |= (uint64_t)1 << 52;
  else
    e = 1;
  int zeros = __builtin_clzll(m), exponent;
  uint64_t decimal = significant(m << zeros, e - 1075 - zeros, digits, least, &exponent);
  return put_decimal(text, decimal, digits, exponent);
}

char *trs_format_double(char *text, double value) {
  return format(text, value, 17, 10000000000000000);
}

char *trs_format_float(char *text, float value) { return format(text, value, 9, 100000000); }
