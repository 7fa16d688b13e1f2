/* output_file.c - writes beside the target and renames when all is on the disk, so that a reader
 * sees the old file or the new one, whatever fails in between. */
#include "io/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

enum { MOST_TRIES = 1000 };

static trs_status write_error(const char *path) {
  return trs_fail(TRS_ERROR_FILE, -1, "cannot write %s: %s", path, strerror(errno));
}

static trs_status copy_text(char **copy, const char *text) {
  TRS_TRY(TRS_ALLOC(copy, (int64_t)strlen(text) + 1));
  strcpy(*copy, text);
  return TRS_SUCCESS;
}

/* The file that a chain of symbolic links leads to, or path itself. */
static trs_status find_target(trs_output *output) {
  struct stat about;
  if (lstat(output->path, &about) || !S_ISLNK(about.st_mode))
    return copy_text(&output->target, output->path);
  char *real = realpath(output->path, NULL);
  if (!real) return write_error(output->path);
  trs_status status = copy_text(&output->target, real);
  free(real);
  return status;
}

/* DIRECTORY/.trireme-PROCESS-NUMBER, which no other writer in any process chooses. */
static trs_status create_temporary(trs_output *output, mode_t mode) {
  static atomic_uint number;
  const char *slash = strrchr(output->target, '/');
  int directory = slash ? (int)(slash + 1 - output->target) : 0;
  int64_t room = directory + 48;
  TRS_TRY(TRS_ALLOC(&output->temporary, room));
  for (int tries = 0; tries < MOST_TRIES; tries++) {
    snprintf(output->temporary, (size_t)room, "%.*s.trireme-%ld-%u", directory, output->target,
             (long)getpid(), atomic_fetch_add(&number, 1));
    output->fd = open(output->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (output->fd >= 0) {
      if (mode) (void)!fchmod(output->fd, mode); /* as the file to be replaced */
      return TRS_SUCCESS;
    }
    if (errno != EEXIST) break;
  }
  trs_status status = write_error(output->path);
  trs_free(output->temporary);
  output->temporary = NULL;
  return status;
}

static trs_status open_target(trs_output *output) {
  struct stat about;
  bool exists = !stat(output->target, &about);
  if (exists && S_ISDIR(about.st_mode)) {
    errno = EISDIR;
    return write_error(output->path);
  }
  if (!exists || S_ISREG(about.st_mode))
    return create_temporary(output, exists ? about.st_mode & 0777 : 0);
  output->fd = open(output->target, O_WRONLY | O_CLOEXEC);
  return output->fd < 0 ? write_error(output->path) : TRS_SUCCESS;
}

trs_status trs_output_open(trs_output *output, const char *path) {
  *output = (trs_output){.path = path, .fd = -1};
  trs_status status = find_target(output);
  if (!status) status = open_target(output);
  if (status) trs_free(output->target);
  return status;
}

trs_status trs_output_write(trs_output *output, const void *bytes, int64_t count) {
  for (const char *at = bytes; count > 0;) {
    ssize_t written = write(output->fd, at, (size_t)count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return write_error(output->path);
    at += written;
    count -= written;
  }
  return TRS_SUCCESS;
}

/* The rename itself must reach the disk too; a file system that cannot do that is no error. */
static void sync_directory(char *path) {
  char *slash = strrchr(path, '/');
  if (slash) slash[slash == path] = '\0';
  int fd = open(slash ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  (void)!fsync(fd);
  close(fd);
}

trs_status trs_output_close(trs_output *output, trs_status status) {
  if (!status && output->temporary && fsync(output->fd)) status = write_error(output->path);
  if (close(output->fd) && !status) status = write_error(output->path);
  if (!status && output->temporary && rename(output->temporary, output->target))
    status = write_error(output->path);
  if (status && output->temporary) unlink(output->temporary);
  if (!status && output->temporary) sync_directory(output->temporary);
  trs_free(output->temporary);
  trs_free(output->target);
  return status;
}
