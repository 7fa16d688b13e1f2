/* printable.c - what of a text a terminal may be shown.  The command links it too. */
#include "base/printable.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

size_t trs_printable_length(const char *text) {
  const unsigned char *t = (const unsigned char *)text;
  size_t length = t[0] < 0x80 ? 1 : t[0] < 0xC2 ? 0 : t[0] < 0xE0 ? 2 : t[0] < 0xF0 ? 3 : 4;
  bool control = t[0] < 0x20 || t[0] == 0x7F || (t[0] == 0xC2 && t[1] < 0xA0) || t[0] > 0xF4;
  for (size_t k = 1; k < length; k++)
    if ((t[k] & 0xC0) != 0x80) return 0;
  if ((t[0] == 0xE0 && t[1] < 0xA0) || (t[0] == 0xED && t[1] > 0x9F) ||
      (t[0] == 0xF0 && t[1] < 0x90) || (t[0] == 0xF4 && t[1] > 0x8F))
    return 0; /* an overlong encoding or not a character */
  if (length == 3 && t[0] == 0xE2)
    control = (t[1] == 0x80 && (t[2] == 0x8E || t[2] == 0x8F || (t[2] >= 0xAA && t[2] <= 0xAE))) ||
              (t[1] == 0x81 && t[2] >= 0xA6 && t[2] <= 0xA9);
  return control ? 0 : length;
}

void trs_printable(char *to, size_t size, const char *text) {
  size_t used = 0;
  if (!size) return;
  while (*text && used + 5 < size) {
    size_t length = trs_printable_length(text);
    if (length)
      memcpy(to + used, text, length);
    else
      snprintf(to + used, size - used, "\\x%02x", (unsigned char)*text);
    used += length ? length : 4;
    text += length ? length : 1;
  }
  to[used] = 0;
}
