/* number.h - reads decimal numbers from text without bounds checks.  The text must be followed by
 * TRS_TEXT_SLACK readable bytes, the first of which is not a digit (io/source.h ensures that).
 *
 * Digits are read eight at a time: a carry trick on a word of eight characters gives the number of
 * digits, and three multiplications combine them. */
#ifndef TRS_IO_NUMBER_H
#define TRS_IO_NUMBER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { TRS_TEXT_SLACK = 64 };

/* Eight characters, the first in the lowest byte. */
static inline uint64_t trs_eight_chars(const char *text) {
  uint64_t word;
  memcpy(&word, text, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap64(word);
#endif
  return word;
}

/* The number of leading characters that are digits.  In word ^ "00000000" a digit is a byte 0 .. 9,
 * and adding 0x76 carries into a byte's top bit from 10 on. */
static inline int trs_leading_digits(uint64_t word) {
  uint64_t value = word ^ 0x3030303030303030u;
  uint64_t other = ((value + 0x7676767676767676u) | value) & 0x8080808080808080u;
  return other ? __builtin_ctzll(other) >> 3 : 8;
}

/* The number formed by the first count characters, up to 8 digits; 0 for none. */
static inline uint64_t trs_digits_value(uint64_t word, int count) {
  int half = 32 - 4 * count; /* one shift by 64 would be undefined */
  uint64_t value = (word ^ 0x3030303030303030u) << half << half;
  value = value * 10 + (value >> 8); /* pairs of digits in every other byte */
  const uint64_t pairs = 0x000000FF000000FFu;
  return ((value & pairs) * 0x000F424000000064u + ((value >> 16) & pairs) * 0x0000271000000001u) >>
         32;
}

/* The rest of an index of eight digits or more.  NULL beyond 18 digits. */
const char *trs_parse_long_index(const char *text, int64_t *value);

/* An unsigned integer.  NULL if there is none, or one of more than 18 digits. */
static inline const char *trs_parse_index(const char *text, int64_t *value) {
  uint64_t word = trs_eight_chars(text);
  int count = trs_leading_digits(word);
  if (count == 8) return trs_parse_long_index(text, value);
  if (count == 0) return NULL;
  *value = (int64_t)trs_digits_value(word, count);
  return text + count;
}

/* A decimal number as strtod accepts it, [+-] digits [. digits] [e [+-] digits], or with Fortran's
 * d instead of e; rounded to nearest, ties to even.  NULL if there is none or it overflows. */
const char *trs_parse_real(const char *text, double *value);

/* [+-] nan, inf or infinity in any case.  NULL if there is none. */
const char *trs_parse_nonfinite(const char *text, double *value);

/* True if a well-formed decimal number begins here.  Distinguishes overflow from invalid text. */
bool trs_is_real(const char *text);

/* An integer of any length.  NULL if there is none or it overflows a double. */
const char *trs_parse_integer(const char *text, double *value);

static inline bool trs_is_blank(char c) { return c == ' ' || c == '\t'; }

static inline const char *trs_skip_blanks(const char *text) {
  while (trs_is_blank(*text)) text++;
  return text;
}

#endif
