/* status.c - the status codes' names and the calling thread's last failure. */
#include "base/status.h"

#include <stdarg.h>
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

trs_status trs_fail(trs_status status, int64_t row, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(last.message, sizeof last.message, format, arguments);
  va_end(arguments);
  last.status = status;
  last.row = row;
  return status;
}

trs_status trs_fail_in(const char *prefix) {
  char message[sizeof last.message];
  memcpy(message, last.message, sizeof message);
  int length = snprintf(last.message, sizeof last.message, "%s: ", prefix);
  if (length > 0 && (size_t)length < sizeof last.message)
    snprintf(last.message + length, sizeof last.message - (size_t)length, "%.*s",
             (int)(sizeof last.message - (size_t)length - 1), message);
  return last.status;
}

void trs_failure_get(trs_failure *failure) { *failure = last; }

trs_status trs_failure_set(const trs_failure *failure) {
  last = *failure;
  return last.status;
}
