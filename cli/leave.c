/* leave.c - failures, as the user sees them and as a program's exit code. */
#include "leave.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/printable.h"
#include "output.h"
#include "progress.h"
#include "report.h"

enum { TEXT_SIZE = 4096 };

const exit_code exit_codes[] = {
    {LEAVE_SOLVED, "success; every solution was checked and has a small backward error"},
    {LEAVE_NUMERICAL,
     "numerical failure: a zero or non-finite pivot, a stalled solve, a large backward error, or "
     "sweeps that do not reduce the residual"},
    {LEAVE_USAGE, "a mistake in the command line"},
    {LEAVE_INPUT,
     "a file that cannot be read or written, or whose content is invalid or does not fit the task"},
    {LEAVE_UNAVAILABLE,
     "something that this build or machine lacks: a feature, a GPU, or enough memory"},
    {LEAVE_BUG, "an internal error: a bug, please report it"},
    {LEAVE_INTERRUPTED, "interrupted by Ctrl-C; no unfinished file is left"},
    {0}};

static void say(const char *message) {
  progress_end();
  print_error(message);
}

void notify(const char *format, ...) {
  va_list arguments;
  progress_end();
  fflush(stdout);
  fprintf(stderr, "trireme: ");
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
}

static void say_json(int code, const char *status, int64_t row, const char *message) {
  report_text("error.status", status);
  report_text("error.message", message);
  if (row < 0)
    report_null("error.row");
  else
    report_count("error.row", row);
  report_count("error.exit_code", code);
}

int leave(int code, const char *status, int64_t row, const char *format, ...) {
  char text[TEXT_SIZE], message[TEXT_SIZE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  trs_printable(message, sizeof message, text);
  say(message);
  say_json(code, status, row, message);
  return code;
}

/* Whether the library's message begins with the file's name, in one of the ways in which it does;
 * a file may be called t, or the. */
static bool knows_name(const char *message, const char *name) {
  static const char *const then[] = {":", " is ", " holds ", " has ", " ends "};
  size_t length = strlen(name);
  if (!length || strncmp(message, name, length) != 0) return false;
  for (size_t k = 0; k < sizeof then / sizeof *then; k++)
    if (!strncmp(message + length, then[k], strlen(then[k]))) return true;
  return false;
}

int leave_library(const char *about) {
  static const int codes[] = {
      [TRS_SUCCESS] = LEAVE_BUG,
      [TRS_ERROR_ARGUMENT] = LEAVE_USAGE,
      [TRS_ERROR_MEMORY] = LEAVE_UNAVAILABLE,
      [TRS_ERROR_FILE] = LEAVE_INPUT,
      [TRS_ERROR_FORMAT] = LEAVE_INPUT,
      [TRS_ERROR_STRUCTURE] = LEAVE_INPUT,
      [TRS_ERROR_ZERO_PIVOT] = LEAVE_NUMERICAL,
      [TRS_ERROR_NOT_FINITE] = LEAVE_NUMERICAL,
      [TRS_ERROR_UNSUPPORTED] = LEAVE_UNAVAILABLE,
      [TRS_ERROR_STALLED] = LEAVE_NUMERICAL,
      [TRS_ERROR_INTERNAL] = LEAVE_BUG,
      [TRS_ERROR_CANCELLED] = LEAVE_INTERRUPTED,
      [TRS_ERROR_DEVICE] = LEAVE_UNAVAILABLE,
      [TRS_ERROR_BUSY] = LEAVE_BUG,
  };
  const trs_error *error = trs_last_error();
  size_t status = (size_t)error->status;
  int code = status < sizeof codes / sizeof codes[0] ? codes[status] : LEAVE_BUG;
  if (code == LEAVE_INTERRUPTED)
    return leave(code, trs_status_name(error->status), -1, "interrupted");
  if (about && knows_name(error->message, human_name(about).s)) about = NULL;
  return leave(code, trs_status_name(error->status), error->row, "%s%s%s", about ? about : "",
               about ? ": " : "", error->message);
}

int leave_usage(const char *name, const char *format, ...) {
  char message[TEXT_SIZE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  bool inside = name && *name;
  leave(LEAVE_USAGE, "usage", -1, "%s%s%s", inside ? name : "", inside ? ": " : "", message);
  fprintf(stderr, "Try 'trireme%s%s --help'.\n", inside ? " " : "", inside ? name : "");
  return LEAVE_USAGE;
}

int leave_memory(double bytes, const char *what) {
  return leave(LEAVE_UNAVAILABLE, trs_status_name(TRS_ERROR_MEMORY), -1, "out of memory: %s for %s",
               human_bytes(bytes).s, what);
}

bool output_lost(void) { return fflush(stdout) != 0 || ferror(stdout); }

static bool reader_has_left(int file) {
  struct pollfd to = {.fd = file, .events = POLLOUT};
  return poll(&to, 1, 0) == 1 && (to.revents & POLLERR);
}

/* As head ends other programs: silently, by the signal.  It was ignored until now, so that
 * everything else is in order. */
static void end_by_broken_pipe(void) {
  signal(SIGPIPE, SIG_DFL);
  raise(SIGPIPE);
}

void end_if_reader_left(int file) {
  if (reader_has_left(file)) end_by_broken_pipe();
}

int output_finish(int code) {
  bool left = reader_has_left(STDOUT_FILENO);
  errno = 0;
  bool failed = ferror(stdout);
  failed |= fflush(stdout) != 0;
  failed |= close(STDOUT_FILENO) != 0; /* the stream stays: a library may flush it at exit */
  if (failed && left && !code) end_by_broken_pipe();
  if (!failed || left) return code;
  char message[128];
  snprintf(message, sizeof message, "cannot write to standard output: %s",
           errno ? strerror(errno) : "an earlier write failed");
  say(message);
  return code ? code : LEAVE_INPUT;
}
