/* number.c - any text as a number: agrees with strtod if both read it; strtod accepts the exponent
 * letter e, but not d, nor 1.5-3 without a letter, as Fortran writes it. */
#include <math.h>
#include <string.h>

#include "fuzz.h"
#include "io/number.h"

/* Where an exponent without a letter begins, after digits with a point; -1: nowhere. */
static long exponent_of(const char *text) {
  const char *at = text + (*text == '-' || *text == '+');
  int digits = 0, points = 0;
  for (; (*at >= '0' && *at <= '9') || (*at == '.' && !points); at++)
    *at == '.' ? points++ : digits++;
  return digits && points && (*at == '-' || *at == '+') ? at - text : -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static char text[4096 + TRS_TEXT_SLACK], plain[4097];
  if (size > 4095) return 0;
  memset(text, 0, sizeof text);
  for (size_t k = 0; k < size; k++) text[k] = "0123456789.-+eEdD59"[data[k] % 19];
  for (size_t k = 0; k <= size; k++) plain[k] = (char)((text[k] | 0x20) == 'd' ? 'e' : text[k]);
  const long inserted = exponent_of(text);
  if (inserted >= 0) {
    memmove(plain + inserted + 1, plain + inserted, size + 1 - (size_t)inserted);
    plain[inserted] = 'e';
  }
  double value = 0;
  char *rest;
  const char *end = trs_parse_real(text, &value);
  double expected = strtod(plain, &rest);
  if (end) {
    CLAIM(end - text == rest - plain - (inserted >= 0));
    CLAIM(!memcmp(&value, &expected, sizeof value));
  } else if (rest > plain && (*rest | 0x20) != 'e') {
    CLAIM(isinf(expected));
  }
  CLAIM(!end || trs_is_real(text) == (*end == '\0'));
  return 0;
}
