/* number.c - any text as a number: agrees with strtod if both read it; strtod accepts the exponent
 * letter e but not d. */
#include <math.h>
#include <string.h>

#include "fuzz.h"
#include "io/number.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static char text[4096 + TRS_TEXT_SLACK], plain[4096];
  if (size > 4095) return 0;
  memset(text, 0, sizeof text);
  for (size_t k = 0; k < size; k++) text[k] = "0123456789.-+eEdD59"[data[k] % 19];
  for (size_t k = 0; k <= size; k++) plain[k] = (char)((text[k] | 0x20) == 'd' ? 'e' : text[k]);
  double value = 0;
  char *rest;
  const char *end = trs_parse_real(text, &value);
  double expected = strtod(plain, &rest);
  if (end) {
    CLAIM(end - text == rest - plain);
    CLAIM(!memcmp(&value, &expected, sizeof value));
  } else if (rest > plain && (*rest | 0x20) != 'e') {
    CLAIM(isinf(expected));
  }
  CLAIM(!end || trs_is_real(text) == (*end == '\0'));
  return 0;
}
