/* status.c - the names of the status codes and the calling thread's last failure. */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/printable.h"

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
