/* replace.h - files that appear under their name only when complete.  Functions return 0, or
 * errno's value for what failed; they need the C library alone, because the command links them too.
 */
#ifndef TRS_IO_REPLACE_H
#define TRS_IO_REPLACE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct trs_replace {
  const char *path;      /* as the caller gave it */
  char target[PATH_MAX]; /* the file to replace, after following symbolic links */
  const char *name;      /* the end of target, behind its folder */
  int folder;            /* descriptor of the target's folder, or -1 */
  char temporary[48];    /* in that folder */
  unsigned mode;         /* with which the temporary file is created */
  bool replaces; /* there is a temporary file; false for targets that cannot be replaced, such as a
                    device or a pipe */
  bool nameless; /* it has no name yet */
  int number;    /* the descriptor of this process that the path leads to, such as /dev/stdout: what
                    it has open is written itself, at its current position; or -1 */
  int fd;
} trs_replace;

/* Fails if path cannot be written: creates the temporary file as trs_replace_open does, and removes
 * it. */
int trs_replace_check(const char *path);

/* Creates the temporary file, or opens a device or pipe directly. */
int trs_replace_open(trs_replace *output, const char *path);

/* Writes at the current position. */
int trs_replace_write(trs_replace *output, const void *bytes, int64_t count);

/* With keep flushes the file to the disk under its name; without, and after a failure, removes
 * it. */
int trs_replace_close(trs_replace *output, bool keep);

#endif
