/* source.c - a file's text: mapped where it can be, read where it cannot (a pipe), and decompressed
 * where its first bytes say that it is gzip or zstd.  As with any mapped file, no other program may
 * shorten it meanwhile. */
#include "io/source.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/decompress.h"

static trs_status file_error(const char *what, const char *path) {
  return trs_fail(TRS_ERROR_FILE, -1, "cannot %s %s: %s", what, path, strerror(errno));
}

static trs_status open_file(int *fd, struct stat *about, const char *path) {
  *fd = open(path, O_RDONLY | O_CLOEXEC);
  if (*fd < 0) return file_error("open", path);
  trs_status status = TRS_SUCCESS;
  if (fstat(*fd, about)) status = file_error("examine", path);
  if (!status && S_ISDIR(about->st_mode))
    status = trs_fail(TRS_ERROR_FILE, -1, "%s is a directory, not a file", path);
  if (status) close(*fd);
  return status;
}

/* Maps the file and, behind it, one page of zeros: where the file ends with a page, that is the
 * slack its readers need. */
static bool map_file(trs_text *text, int fd, size_t size) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t bytes = (size + page - 1) / page * page + page;
  char *map = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED) return false;
  if (mmap(map, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED) {
    munmap(map, bytes);
    return false;
  }
  madvise(map, size, MADV_WILLNEED);
  *text = (trs_text){.begin = map, .end = map + size, .map = map, .map_bytes = bytes};
  return true;
}

static trs_status read_file(trs_text *text, int fd, const char *path) {
  trs_buffer buffer = {0};
  trs_status status = trs_buffer_reserve(&buffer, 1 << 16);
  while (!status) {
    ssize_t got = read(fd, buffer.data + buffer.length, (size_t)(buffer.room - buffer.length));
    if (got == 0) break;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) status = file_error("read", path);
    if (got > 0) buffer.length += got;
    if (!status && buffer.length == buffer.room)
      status = trs_buffer_reserve(&buffer, 2 * buffer.room);
  }
  trs_buffer_to_text(&buffer, text, status);
  return status;
}

trs_status trs_text_open_packed(trs_text *text, const trs_reading *reading) {
  int fd;
  struct stat about;
  *text = (trs_text){0};
  TRS_TRY(open_file(&fd, &about, reading->path));
  trs_status status = TRS_SUCCESS;
  if (!S_ISREG(about.st_mode) || about.st_size == 0 || !map_file(text, fd, (size_t)about.st_size))
    status = read_file(text, fd, reading->path);
  close(fd);
  if (status) trs_text_close(text);
  return status;
}

trs_status trs_text_open(trs_text *text, const trs_reading *reading) {
  TRS_TRY(trs_text_open_packed(text, reading));
  trs_status status = trs_decompress(text, reading);
  if (!status && text->begin == text->end)
    status = trs_fail(TRS_ERROR_FORMAT, -1, "%s:1: the file is empty", reading->path);
  if (status) trs_text_close(text);
  return status;
}

void trs_text_close(trs_text *text) {
  if (text->map) munmap(text->map, text->map_bytes);
  trs_free(text->heap);
  *text = (trs_text){0};
}

trs_status trs_file_peek(const char *path, void *bytes, size_t size) {
  int fd;
  struct stat about;
  memset(bytes, 0, size);
  if (!stat(path, &about) && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode))
    return TRS_SUCCESS; /* a pipe gives its bytes only once */
  TRS_TRY(open_file(&fd, &about, path));
  trs_status status = TRS_SUCCESS;
  if (pread(fd, bytes, size, 0) < 0) status = file_error("read", path);
  close(fd);
  return status;
}
