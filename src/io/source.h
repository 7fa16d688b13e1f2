/* source.h - the bytes of a file as they lie there, in pieces; that the file changes meanwhile is
 * an error. */
#ifndef TRS_IO_SOURCE_H
#define TRS_IO_SOURCE_H

#include <time.h>

#include "io/number.h"
#include "io/reading.h"

enum { TRS_SOURCE_FIRST = 8 };

typedef struct trs_source {
  const trs_reading *reading;
  int fd;                       /* -1: not open */
  int64_t size;                 /* when it was opened; -1: it is read once, as a pipe is */
  struct timespec date;         /* of its last change then */
  char first[TRS_SOURCE_FIRST]; /* its first bytes, zeros behind them */
  int nfirst;
} trs_source;

trs_status trs_source_open(trs_source *source, const trs_reading *reading);

/* Up to count bytes, *got of them, 0 at the end: from offset at, or those that follow if it is read
 * once. */
trs_status trs_source_read(trs_source *source, int64_t at, char *to, int64_t count, int64_t *got);

/* count bytes from offset at, within size, by all members of the reading's team. */
trs_status trs_source_read_all(trs_source *source, int64_t at, char *to, int64_t count);

/* Fails if the file has changed since it was opened. */
trs_status trs_source_check(const trs_source *source);
/* Given what the reading came to; a file that has changed meanwhile is the reason for bad content.
 */
trs_status trs_source_close(trs_source *source, trs_status status);

/* The first size bytes of the file, zeros where it is shorter or no regular file. */
trs_status trs_file_peek(const char *path, void *bytes, size_t size);

#endif
