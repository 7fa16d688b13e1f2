/* status.c - the names of the status codes and the calling thread's last failure. */
#include "base/status.h"

#include <stdarg.h>

#include "base/printable.h"
#include "base/text.h"
#include "base/thread.h"

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
    [TRS_ERROR_CANCELLED] = "cancelled",
    [TRS_ERROR_DEVICE] = "device error",
    [TRS_ERROR_BUSY] = "busy",
};

const char *trs_status_name(trs_status status) {
  size_t code = (size_t)status;
  return code < sizeof names / sizeof names[0] ? names[code] : "unknown status";
}

/* Failures of a thread that has no memory for a message. */
static const trs_error *of_note(trs_status status) {
  static const char text[] = "out of memory, also for the message of what failed";
#define TRS_NOTE(status) [status] = { status, -1, text }
  static const trs_error errors[] = {[TRS_SUCCESS] = {TRS_SUCCESS, -1, ""},
                                     TRS_NOTE(TRS_ERROR_ARGUMENT),
                                     TRS_NOTE(TRS_ERROR_MEMORY),
                                     TRS_NOTE(TRS_ERROR_FILE),
                                     TRS_NOTE(TRS_ERROR_FORMAT),
                                     TRS_NOTE(TRS_ERROR_STRUCTURE),
                                     TRS_NOTE(TRS_ERROR_ZERO_PIVOT),
                                     TRS_NOTE(TRS_ERROR_NOT_FINITE),
                                     TRS_NOTE(TRS_ERROR_UNSUPPORTED),
                                     TRS_NOTE(TRS_ERROR_STALLED),
                                     TRS_NOTE(TRS_ERROR_INTERNAL),
                                     TRS_NOTE(TRS_ERROR_CANCELLED),
                                     TRS_NOTE(TRS_ERROR_DEVICE),
                                     TRS_NOTE(TRS_ERROR_BUSY)};
  return &errors[status];
}

const trs_error *trs_last_error(void) {
  trs_thread *own = trs_thread_look();
  if (!own) return of_note(trs_thread_noted());
  own->shown.status = own->last.status;
  own->shown.row = own->last.status ? own->last.row : -1;
  own->shown.message = own->last.message;
  return &own->shown;
}

trs_status trs_fail(trs_status status, int64_t row, const char *format, ...) {
  trs_thread *own = trs_thread_own();
  char message[sizeof own->last.message];
  va_list arguments;
  if (!own) {
    trs_thread_note(status);
    return status;
  }
  va_start(arguments, format);
  trs_print_list(message, sizeof message, format, arguments);
  va_end(arguments);
  trs_printable(own->last.message, sizeof own->last.message, message);
  own->last.status = status;
  own->last.row = row;
  return status;
}

void trs_failure_get(trs_failure *failure) {
  const trs_thread *own = trs_thread_look();
  if (own) {
    *failure = own->last;
    return;
  }
  const trs_error *error = trs_last_error();
  *failure = (trs_failure){.status = error->status, .row = error->row};
  trs_printable(failure->message, sizeof failure->message, error->message);
}

trs_status trs_failure_set(const trs_failure *failure) {
  trs_thread *own = trs_thread_own();
  if (own)
    own->last = *failure;
  else
    trs_thread_note(failure->status);
  return failure->status;
}
