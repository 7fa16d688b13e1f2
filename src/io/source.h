/* source.h - the bytes of a file as stored, in pieces.  A change of the file during reading is an
 * error. */
#ifndef TRS_IO_SOURCE_H
#define TRS_IO_SOURCE_H

#include <stdbool.h>
#include <sys/stat.h>
#include <time.h>

#include "io/number.h"
#include "io/reading.h"

enum { TRS_SOURCE_FIRST = 64 };

/* The time of a file's last change. */
static inline struct timespec trs_file_date(const struct stat *about) {
#ifdef __APPLE__
  return about->st_mtimespec;
#else
  return about->st_mtim;
#endif
}

static inline bool trs_same_date(struct timespec a, struct timespec b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

typedef struct trs_source {
  const trs_reading *reading;
  int fd;                       /* -1: not open */
  int64_t size;                 /* at opening; -1: the source can be read once only, as a pipe */
  struct timespec date;         /* of its last change, at opening */
  char first[TRS_SOURCE_FIRST]; /* its first bytes, padded with zeros */
  int nfirst;
} trs_source;

trs_status trs_source_open(trs_source *source, const trs_reading *reading);

/* Reads up to count bytes, *got of them, 0 at the end: from offset at, or the next ones of a source
 * that can be read once only. */
trs_status trs_source_read(trs_source *source, int64_t at, char *to, int64_t count, int64_t *got);

/* Reads count bytes from offset at, within size, with all members of the reading's team. */
trs_status trs_source_read_all(trs_source *source, int64_t at, char *to, int64_t count);

/* Fails if the file has changed since it was opened. */
trs_status trs_source_check(const trs_source *source);
/* status: that of the reading.  If bad content was found and the file has changed, reports the
 * change. */
trs_status trs_source_close(trs_source *source, trs_status status);

/* The first size bytes of the file; zeros if it is shorter or not a regular file. */
trs_status trs_file_peek(const char *path, void *bytes, size_t size);

#endif
