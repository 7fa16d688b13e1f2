/* leave.h - how a program leaves: its exit codes, and failures as messages and as JSON. */
#ifndef TRIREME_CLI_LEAVE_H
#define TRIREME_CLI_LEAVE_H

#include <stdbool.h>
#include <stdint.h>

enum {
  LEAVE_SOLVED = 0,
  LEAVE_NUMERICAL = 1,
  LEAVE_USAGE = 2,
  LEAVE_INPUT = 3,
  LEAVE_UNAVAILABLE = 4,
  LEAVE_BUG = 5,
  LEAVE_INTERRUPTED = 130 /* as shells count a program that SIGINT ends */
};

/* What each code means; the last has no text. */
typedef struct exit_code {
  int code;
  const char *text;
} exit_code;

extern const exit_code exit_codes[];

/* Reports a failure as "trireme: ..." and, with --json, as JSON.  Returns code. */
int leave(int code, const char *status, int64_t row, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The library's last failure, its code chosen by the status.  about, or NULL, is what it concerns
 * where the message cannot know: the matrix's name. */
int leave_library(const char *about);
/* A mistake in the command line; points to the command's --help.  name may be NULL. */
int leave_usage(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Out of memory, in the command's own arrays. */
int leave_memory(double bytes, const char *what);

/* A line on standard error about what is no failure: "trireme: ...". */
void notify(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* True if earlier output was lost: going on is of no use. */
bool output_lost(void);
/* Ends the program by SIGPIPE if the file is a pipe that nobody reads any more. */
void end_if_reader_left(int file);
/* Flushes standard output.  Lost output is a failure, or SIGPIPE if the reader has left. */
int output_finish(int code);

#endif
