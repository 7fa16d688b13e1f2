/* status.c - the names of the status codes and the calling thread's last failure. */
#include "base/status.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {
    [TRS_SUCCESS] = "success",
    [TRS_ERROR_ARGUMENT] = "invalid argument",
    [TRS_ERROR_MEMORY] = "out of memory",
    [TRS_ERROR_FILE] = "file error",
    [TRS_ERROR_FORMAT] = "invalid file content",
    [TRS_ERROR_STRUCTURE] = "invalid structure",
    [TRS_ERROR_ZERO_PIVOT] = "zero pivot",
    [TRS_ERROR_NOT_FINITE] = "not finite",
    [TRS_ERROR_UNSUPPORTED] = "unsupported",
    [TRS_ERROR_STALLED] = "stalled",
    [TRS_ERROR_INTERNAL] = "internal error",
};

static _Thread_local trs_failure last = {TRS_SUCCESS, -1, ""};
static _Thread_local trs_error shown;

const char *trs_status_name(trs_status status) {
  size_t code = (size_t)status;
  return code < sizeof names / sizeof names[0] ? names[code] : "unknown status";
}

const trs_error *trs_last_error(void) {
  shown.status = last.status;
  shown.row = last.status ? last.row : -1;
  shown.message = last.message;
  return &shown;
}

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

trs_status trs_fail(trs_status status, int64_t row, const char *format, ...) {
  char message[sizeof last.message];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  trs_printable(last.message, sizeof last.message, message);
  last.status = status;
  last.row = row;
  return status;
}

void trs_failure_get(trs_failure *failure) { *failure = last; }

trs_status trs_failure_set(const trs_failure *failure) {
  last = *failure;
  return last.status;
}
