/* number.c - correctly rounded conversion of decimal to binary.
 *
 * The digits w (at most 19) and the exponent q of w 10^q are combined by
 *   - one exact operation if w and 10^|q| are exact doubles (Clinger 1990), else
 *   - a 64 x 128 bit product of w with the leading bits of 5^q, whose rounding is undecided in one
 *     recognisable case only (Lemire 2021, "Number parsing at a gigabyte per second"; Mushtak and
 *     Lemire 2023, "Fast number parsing without fallback").
 * With more than 19 digits w and w + 1 usually round to the same double.  Otherwise the C
 * library decides. */
#include "io/number.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "io/power_table.h"

__extension__ typedef unsigned __int128 u128;

enum { MOST_DIGITS = 19, DECISIVE_DIGITS = 800 };

static const uint64_t powers_of_ten[] = {1,      10,      100,      1000,     10000,
                                         100000, 1000000, 10000000, 100000000};

static bool is_digit(char c) { return (unsigned char)(c - '0') < 10; }

static bool is_sign(char c) { return c == '-' || c == '+'; }

/* e, or d as Fortran writes doubles.  Fortran leaves the letter out before three digits: 0.5-100.
 */
static bool begins_exponent(char c) { return (unsigned)((c | 0x20) - 'd') < 2; }

/* Appends digits to *w, which wraps after 19 of them; returns the end of the digits. */
static inline const char *append_digits(const char *text, uint64_t *w) {
  uint64_t word = trs_eight_chars(text);
  int count = trs_leading_digits(word);
  while (count == 8) {
    *w = *w * 100000000 + trs_digits_value(word, 8);
    text += 8;
    word = trs_eight_chars(text);
    count = trs_leading_digits(word);
  }
  *w = *w * powers_of_ten[count] + trs_digits_value(word, count);
  return text + count;
}

const char *trs_parse_long_index(const char *text, int64_t *value) {
  uint64_t w = 0;
  const char *end = append_digits(text, &w);
  if (end - text > 18) return NULL;
  *value = (int64_t)w;
  return end;
}

/* The bits of the double nearest to w 10^q, w > 0, without sign; those of infinity on overflow. */
static uint64_t nearest_bits(uint64_t w, int64_t q) {
  const uint64_t infinity = (uint64_t)0x7FF << 52;
  if (q < TRS_POWER_FIRST) return 0;
  if (q > DBL_MAX_10_EXP) return infinity;
  const uint64_t *power = trs_power_table[q - TRS_POWER_FIRST];
  int zeros = __builtin_clzll(w);
  w <<= zeros;
  u128 product = (u128)w * power[0];
  uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
  if ((high & 0x1FF) == 0x1FF) { /* the lower half of the power may carry into the rounding */
    uint64_t more = (uint64_t)(((u128)w * power[1]) >> 64);
    low += more;
    high += low < more;
  }
  int upper = (int)(high >> 63), shift = upper + 9;
  uint64_t mantissa = high >> shift; /* 54 bits, the last one for rounding */
  int exponent = (int)((217706 * q) >> 16) + 63 + upper - zeros + 1023;
  if (exponent <= 0) { /* subnormal, or the smallest normal number after rounding */
    if (exponent <= -63) return 0;
    mantissa >>= 1 - exponent;
    return (mantissa + (mantissa & 1)) >> 1;
  }
  /* Exactly half way between two doubles: only if 5^q is a factor of 64 bits or fits into 64
   * bits. */
  if (low <= 1 && q >= -4 && q <= 23 && (mantissa & 3) == 1 && mantissa << shift == high)
    mantissa--;
  mantissa = (mantissa + (mantissa & 1)) >> 1;
  uint64_t bits = mantissa + ((uint64_t)(exponent - 1) << 52); /* the hidden bit adds one */
  return bits < infinity ? bits : infinity;
}

static double from_bits(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static uint64_t to_bits(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static inline double nearest(uint64_t w, int64_t q) {
#if FLT_EVAL_METHOD == 0
  static const double exact[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                 1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  if (w <= (uint64_t)1 << 53 && q >= -22 && q <= 22)
    return q < 0 ? (double)w / exact[-q] : (double)w * exact[q];
#endif
  return w ? from_bits(nearest_bits(w, q)) : 0;
}

/* The value of the significand [begin, end), digits with at most one point, times 10^q, by the
 * C library  * on the first 800 digits, more than any half-way point between doubles has, and a 1
 * for nonzero digits after them. */
static double decide(const char *begin, const char *end, int64_t q) {
  char digits[DECISIVE_DIGITS + 32];
  int count = 0;
  bool rest = false, fraction = false;
  for (const char *at = begin; at < end; at++) {
    if (*at == '.') {
      fraction = true;
      continue;
    }
    q -= fraction;
    if (count == 0 && *at == '0') continue;
    if (count < DECISIVE_DIGITS) {
      digits[count++] = *at;
    } else {
      q++;
      rest |= *at != '0';
    }
  }
  if (count == 0) return 0;
  if (rest) {
    digits[count++] = '1';
    q--;
  }
  snprintf(digits + count, sizeof digits - (size_t)count, "e%lld", (long long)q);
  return trs_number(digits, NULL);
}

/* The number of significant digits in [begin, end), which contains digits and at most one point. */
static int64_t significant_digits(const char *begin, const char *end) {
  int64_t count = 0;
  for (const char *at = begin; at < end; at++) count += (count || *at != '0') && *at != '.';
  return count;
}

/* w 10^q, where w is the wrapped significand [begin, end) of more than 19 digits; exponent is the
 * written one. */
static __attribute__((noinline)) double long_significand(const char *begin, const char *end,
                                                         uint64_t w, int64_t q, int64_t exponent) {
  int64_t dropped = significant_digits(begin, end) - MOST_DIGITS;
  if (dropped <= 0) return nearest(w, q);
  uint64_t first = 0;
  int count = 0;
  for (const char *at = begin; count < MOST_DIGITS; at++) {
    if (*at == '.') continue;
    first = first * 10 + (uint64_t)(*at - '0');
    count += first > 0;
  }
  q += dropped;
  uint64_t below = nearest_bits(first, q), above = nearest_bits(first + 1, q);
  return below == above ? from_bits(below) : decide(begin, end, exponent);
}

/* Reads [+-] digits after an e or d, or in its place; saturates. */
static __attribute__((noinline)) const char *read_exponent(const char *text, int64_t *exponent) {
  bool negative = *text == '-';
  text += *text == '-' || *text == '+';
  if (!is_digit(*text)) return NULL;
  int64_t value = 0;
  for (; is_digit(*text); text++)
    if (value < (int64_t)1 << 50) value = value * 10 + (*text - '0');
  *exponent = negative ? -value : value;
  return text;
}

const char *trs_parse_real(const char *text, double *value) {
  bool negative = *text == '-';
  text += negative | (*text == '+'); /* signs are unpredictable: no branches on them */
  const char *begin = text;
  uint64_t w = 0;
  int64_t q = 0, exponent = 0;
  text = append_digits(text, &w);
  int64_t count = text - begin;
  const bool point = *text == '.';
  if (point) {
    const char *fraction = ++text;
    text = append_digits(text, &w);
    q = fraction - text;
    count -= q;
  }
  if (count == 0) return NULL;
  const char *end = text;
  if (begins_exponent(*text) || (point && is_sign(*text))) {
    text = read_exponent(text + !is_sign(*text), &exponent);
    if (!text) return NULL;
    q += exponent;
  }
  double magnitude =
      count <= MOST_DIGITS ? nearest(w, q) : long_significand(begin, end, w, q, exponent);
  *value = from_bits(to_bits(magnitude) | (uint64_t)negative << 63);
  return magnitude <= DBL_MAX ? text : NULL;
}

bool trs_is_real(const char *text) {
  text += *text == '-' || *text == '+';
  const char *begin = text;
  int64_t points = 0, exponent;
  for (; is_digit(*text) || (*text == '.' && points == 0); text++) points += *text == '.';
  if (text - begin - points == 0) return false;
  if (begins_exponent(*text) || (points && is_sign(*text)))
    text = read_exponent(text + !is_sign(*text), &exponent);
  return text && (*text == '\0' || strchr(" \t\r\n", *text));
}

const char *trs_parse_nonfinite(const char *text, double *value) {
  static const char *const names[] = {"infinity", "inf", "nan"};
  bool negative = *text == '-';
  text += negative || *text == '+';
  for (int n = 0; n < 3; n++) {
    size_t length = strlen(names[n]);
    if (!trs_same_letters(text, names[n], length)) continue;
    double magnitude = n == 2 ? NAN : INFINITY;
    *value = negative ? -magnitude : magnitude;
    return text + length;
  }
  return NULL;
}

const char *trs_parse_integer(const char *text, double *value) {
  const char *digits = text + (*text == '-' || *text == '+'), *end = digits;
  while (is_digit(*end)) end++;
  if (end == digits || *end == '.' || begins_exponent(*end)) return NULL;
  return trs_parse_real(text, value);
}
