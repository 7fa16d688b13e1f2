/* source.c - reads files instead of mapping them: if another program shortens a mapped file, the
 * reader gets SIGBUS, and a library should not handle signals. */
#include "io/source.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

static trs_status file_error(const char *what, const char *path) {
  return trs_fail(TRS_ERROR_FILE, -1, "cannot %s %s: %s", what, path, trs_error_text(errno));
}

/* A socket cannot be opened by its second name, nor any open file where /proc is missing. */
static int duplicate_open(const char *path) {
  static const char folder[] = "/dev/fd/";
  const bool in_folder = !strncmp(path, folder, sizeof folder - 1);
  const char *number = in_folder ? path + sizeof folder - 1 : path;
  char *end = NULL;
  const int error = errno; /* of the opening, which remains that of a failure */
  long file = !strcmp(path, "/dev/stdin") ? STDIN_FILENO : strtol(number, &end, 10);
  const bool none = end && (!in_folder || end == number || *end || file < 0 || file > INT_MAX);
  const int fd = none ? -1 : fcntl((int)file, F_DUPFD_CLOEXEC, 0);
  errno = error;
  return fd;
}

static trs_status open_file(int *fd, struct stat *about, const char *path) {
  *fd = open(path, O_RDONLY | O_CLOEXEC);
  if (*fd < 0 && (errno == ENXIO || errno == ENOENT)) *fd = duplicate_open(path);
  if (*fd < 0) return file_error("open", path);
  trs_status status = TRS_SUCCESS;
  if (fstat(*fd, about)) status = file_error("examine", path);
  if (!status && S_ISDIR(about->st_mode))
    status = trs_fail(TRS_ERROR_FILE, -1, "%s is a directory, not a file", path);
  if (status) close(*fd);
  return status;
}

static trs_status changed(const trs_source *source) {
  return trs_fail(TRS_ERROR_FILE, -1, "%s has changed while it was being read: read it again",
                  source->reading->path);
}

/* Reads until count bytes are read or the file ends; -1 with errno on failure. */
static int64_t read_fully(int fd, int64_t at, char *to, int64_t count) {
  int64_t length = 0;
  while (length < count) {
    size_t rest = (size_t)(count - length);
    ssize_t got = at < 0 ? read(fd, to + length, rest) : pread(fd, to + length, rest, at + length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) { /* another program has made the pipe nonblocking */
      (void)poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, -1);
      continue;
    }
    if (got < 0) return -1;
    if (got == 0) break;
    length += got;
  }
  return length;
}

trs_status trs_source_open(trs_source *source, const trs_reading *reading) {
  struct stat about;
  *source = (trs_source){.reading = reading, .fd = -1, .size = -1};
  int fd;
  TRS_TRY(open_file(&fd, &about, reading->path));
  source->fd = fd;
  if (S_ISREG(about.st_mode) && about.st_size > 0) source->size = about.st_size;
  source->date = trs_file_date(&about);
  int64_t got = read_fully(fd, source->size < 0 ? -1 : 0, source->first, TRS_SOURCE_FIRST);
  if (got < 0) return trs_source_close(source, file_error("read", reading->path));
  source->nfirst = (int)got;
  return TRS_SUCCESS;
}

static trs_status read_once(trs_source *source, char *to, int64_t count, int64_t *got) {
  int64_t ahead = source->nfirst < count ? source->nfirst : count;
  memcpy(to, source->first, (size_t)ahead);
  memmove(source->first, source->first + ahead, (size_t)(source->nfirst - ahead));
  source->nfirst -= (int)ahead;
  *got = read_fully(source->fd, -1, to + ahead, count - ahead);
  if (*got < 0) return file_error("read", source->reading->path);
  *got += ahead;
  return TRS_SUCCESS;
}

trs_status trs_source_read(trs_source *source, int64_t at, char *to, int64_t count, int64_t *got) {
  if (source->size < 0) return read_once(source, to, count, got);
  int64_t left = source->size - at;
  if (count > left) count = left;
  *got = read_fully(source->fd, at, to, count);
  if (*got < 0) return file_error("read", source->reading->path);
  return *got < count ? changed(source) : TRS_SUCCESS;
}

typedef struct share {
  const trs_source *source;
  int64_t at, count;
  char *to;
  atomic_int error; /* errno of a failure; -1: the file has become shorter */
} share;

static void read_share(void *argument, int rank, int size) {
  share *s = argument;
  int64_t begin, end;
  trs_share(s->count, rank, size, &begin, &end);
  int64_t got = read_fully(s->source->fd, s->at + begin, s->to + begin, end - begin);
  if (got < 0)
    atomic_store(&s->error, errno);
  else if (got < end - begin)
    atomic_store(&s->error, -1);
}

trs_status trs_source_read_all(trs_source *source, int64_t at, char *to, int64_t count) {
  enum { LEAST = 1 << 16 }; /* bytes that justify another thread */
  share s = {.source = source, .at = at, .count = count, .to = to};
  int64_t size = trs_team_size(source->reading->team);
  if (size > count / LEAST) size = count / LEAST + 1;
  if (size > trs_team_size(source->reading->team)) size = trs_team_size(source->reading->team);
  trs_team_run(source->reading->team, (int)size, read_share, &s);
  int error = atomic_load(&s.error);
  if (error > 0) errno = error;
  return error < 0 ? changed(source)
         : error   ? file_error("read", source->reading->path)
                   : TRS_SUCCESS;
}

trs_status trs_source_check(const trs_source *source) {
  struct stat now;
  if (source->fd < 0 || source->size < 0) return TRS_SUCCESS;
  bool same = !fstat(source->fd, &now) && now.st_size == source->size &&
              trs_same_date(trs_file_date(&now), source->date);
  return same ? TRS_SUCCESS : changed(source);
}

trs_status trs_source_close(trs_source *source, trs_status status) {
  if ((status == TRS_ERROR_FORMAT || status == TRS_ERROR_STRUCTURE) && trs_source_check(source))
    status = TRS_ERROR_FILE;
  if (source->fd >= 0) close(source->fd);
  source->fd = -1;
  return status;
}

trs_status trs_file_peek(const char *path, void *bytes, size_t size) {
  int fd;
  struct stat about;
  memset(bytes, 0, size);
  if (!stat(path, &about) && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode))
    return TRS_SUCCESS; /* the bytes of a pipe can be read only once */
  TRS_TRY(open_file(&fd, &about, path));
  trs_status status = TRS_SUCCESS;
  if (pread(fd, bytes, size, 0) < 0) status = file_error("read", path);
  close(fd);
  return status;
}
