/* stream.h - streams of C whose writes a function makes. */
#ifndef TRIREME_CLI_STREAM_H
#define TRIREME_CLI_STREAM_H

#include <stdio.h>
#include <sys/types.h>

/* A stream for writing.  write: as of write(2), with the cookie in the place of the file.  NULL: no
 * memory. */
FILE *stream_open(void *cookie, ssize_t (*write)(void *cookie, const char *bytes, size_t count));

#endif
