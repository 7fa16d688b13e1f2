/* output_file.h - files that appear under their name only when complete. */
#ifndef TRS_IO_OUTPUT_FILE_H
#define TRS_IO_OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

typedef struct trs_output {
  const char *path; /* as the caller gave it */
  char *target;     /* the file to replace, symbolic links followed */
  char *temporary;  /* beside it; NULL for what cannot be replaced, such as a device or a pipe */
  size_t room;      /* bytes of temporary */
  bool nameless;    /* it has no name yet */
  bool open_file;   /* the path leads to what a process has open, as /dev/stdout does: it is written
                       itself, from where it stands */
  int number;       /* its descriptor if that process is this one, or -1 */
  int fd;
} trs_output;

/* Whether path could be opened, as far as can be told without doing so. */
trs_status trs_output_check(const char *path);

/* Creates the temporary file, or opens a device or pipe itself. */
trs_status trs_output_open(trs_output *output, const char *path);

/* Writes at the current position. */
trs_status trs_output_write(trs_output *output, const void *bytes, int64_t count);

/* Given what the writing came to: puts the file under its name, flushed to the disk, or removes it.
 */
trs_status trs_output_close(trs_output *output, trs_status status);

#endif
