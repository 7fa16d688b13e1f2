/* output_file.h - files that appear under their name only when complete. */
#ifndef TRS_IO_OUTPUT_FILE_H
#define TRS_IO_OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

typedef struct trs_output {
  const char *path; /* as the caller gave it */
  char *target;     /* the file to replace, after following symbolic links */
  char *temporary;  /* beside the target; NULL for targets that cannot be replaced, such as a device
                       or a pipe */
  size_t room;      /* size of `temporary` in bytes */
  bool nameless;    /* it has no name yet */
  bool open_file;   /* the path leads to a file that a process has open, such as /dev/stdout: the
                       file itself is written, at its current position */
  int number;       /* its descriptor if this process has it open, or -1 */
  int fd;
} trs_output;

/* Fails if path cannot be opened, as far as possible without opening it. */
trs_status trs_output_check(const char *path);

/* Creates the temporary file, or opens a device or pipe directly. */
trs_status trs_output_open(trs_output *output, const char *path);

/* Writes at the current position. */
trs_status trs_output_write(trs_output *output, const void *bytes, int64_t count);

/* status: that of the writing.  On success flushes the file to the disk under its name; on failure
 * removes it. */
trs_status trs_output_close(trs_output *output, trs_status status);

#endif
