/* replace.c - writes a temporary file beside the target and renames it when all data is on the
 * disk, so that a reader sees the old file or the new one, whatever fails in between.  If the file
 * system supports it, the temporary file has no name until then, and a killed process leaves
 * nothing behind; otherwise the next writer removes the leftovers.  The file needs the C library
 * alone, because the command links it too. */
#define _GNU_SOURCE /* O_TMPFILE */
#include "io/replace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_TRIES = 1000, MOST_LINKS = 40 };

/* errno, which some failures leave at 0. */
static int failure(void) { return errno ? errno : EIO; }

static int copy_text(char to[PATH_MAX], const char *text) {
  if (strlen(text) >= PATH_MAX) return ENAMETOOLONG;
  strcpy(to, text);
  return 0;
}

/* The length of path up to its last slash. */
static int directory_length(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? (int)(slash + 1 - path) : 0;
}

/* Replaces a link by its target: 1; 0: not a link; -1: the name is too long. */
static int follow_link(char at[PATH_MAX]) {
  char to[PATH_MAX];
  ssize_t length = readlink(at, to, sizeof to);
  if (length < 0) return 0;
  int folder = *to == '/' ? 0 : directory_length(at);
  errno = ENAMETOOLONG;
  if (folder + length >= PATH_MAX) return -1;
  memcpy(at + folder, to, (size_t)length);
  at[folder + length] = '\0';
  return 1;
}

/* The name at the end of a chain of links, where no file exists yet. */
static int follow_links(trs_replace *output) {
  char at[PATH_MAX];
  int more = 1;
  snprintf(at, sizeof at, "%s", output->path);
  for (int l = 0; l < MOST_LINKS && more > 0; l++) more = follow_link(at);
  return more < 0 ? failure() : copy_text(output->target, at);
}

/* True if folder lists the open files of a process; *own: of this process. */
static bool lists_open_files(const char *folder, bool *own) {
  size_t length = strlen(folder);
  char *self = realpath("/proc/self", NULL);
  size_t start = self ? strlen(self) : 0;
  *own = !strcmp(folder, "/dev/fd") ||
         (start && !strncmp(folder, self, start) && folder[start] == '/');
  free(self);
  return !strcmp(folder, "/dev/fd") ||
         (!strncmp(folder, "/proc/", 6) && length > 9 && !strcmp(folder + length - 3, "/fd"));
}

/* Checks whether `at` is a second name of a file that a process has open. */
static void look_for_open_file(trs_replace *output, const char *at) {
  char folder[PATH_MAX], *end;
  int length = directory_length(at);
  bool own;
  snprintf(folder, sizeof folder, "%.*s", length ? length : 1, length ? at : ".");
  char *real = realpath(folder, NULL);
  long number = strtol(at + length, &end, 10);
  output->open_file = real && end > at + length && !*end && lists_open_files(real, &own);
  if (output->open_file && own && number <= INT_MAX) output->number = (int)number;
  free(real);
}

/* Standard output that goes to a file has a second name, /dev/stdout.  That file must not be
 * replaced: other processes may have written to it before and will again. */
static void find_open_file(trs_replace *output) {
  char at[PATH_MAX];
  snprintf(at, sizeof at, "%s", output->path);
  for (int l = 0; l < MOST_LINKS && !output->open_file; l++) {
    look_for_open_file(output, at);
    if (follow_link(at) <= 0) break;
  }
}

/* The file at the end of a chain of symbolic links, or path itself.  /dev/stdout may lead to a
 * pipe, which has no name. */
static int find_target(trs_replace *output) {
  struct stat about;
  output->number = -1;
  if (lstat(output->path, &about) || !S_ISLNK(about.st_mode))
    return copy_text(output->target, output->path);
  find_open_file(output);
  if (output->open_file) return copy_text(output->target, output->path);
  bool exists = !stat(output->path, &about);
  if (exists && !S_ISREG(about.st_mode)) return copy_text(output->target, output->path);
  if (!exists && errno == ENOENT) return follow_links(output);
  return realpath(output->path, output->target) ? 0 : failure();
}

/* .trireme-HOST-, with dots for characters that are special in a path. */
static void temporary_prefix(char prefix[TRS_REPLACE_NAME]) {
  char host[TRS_REPLACE_NAME - 16] = "";
  (void)gethostname(host, sizeof host - 1);
  for (char *c = host; *c; c++)
    if (*c == '/') *c = '.';
  snprintf(prefix, TRS_REPLACE_NAME, ".trireme-%s-", host);
}

/* Chooses DIRECTORY/.trireme-HOST-PROCESS-NUMBER, which no other writer in any process chooses.
 * `make` creates the file under that name; it returns less than 0 on failure. */
static bool name_temporary(trs_replace *output, int (*make)(trs_replace *)) {
  static atomic_uint number;
  char prefix[TRS_REPLACE_NAME];
  temporary_prefix(prefix);
  for (int tries = 0; tries < MOST_TRIES; tries++) {
    snprintf(output->temporary, sizeof output->temporary, "%.*s%s%ld-%u",
             directory_length(output->target), output->target, prefix, (long)getpid(),
             atomic_fetch_add(&number, 1));
    if (make(output) >= 0) return true;
    if (errno != EEXIST) break;
  }
  return false;
}

static int open_named(trs_replace *output) {
  return output->fd = open(output->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

/* True if `name`, of this prefix, was left by a killed process of this user on this machine: the
 * process has ended, and no process holds the file's lock, not even one with the same number in
 * another container. */
static bool is_leftover(int folder, const char *name, const char *prefix) {
  struct stat about;
  char *end;
  if (strncmp(name, prefix, strlen(prefix))) return false;
  long process = strtol(name + strlen(prefix), &end, 10);
  if (process <= 0 || process > INT_MAX || *end != '-') return false;
  if (!kill((pid_t)process, 0) || errno != ESRCH) return false;
  int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return false;
  bool ours = !fstat(fd, &about) && S_ISREG(about.st_mode) && about.st_uid == geteuid() &&
              !flock(fd, LOCK_EX | LOCK_NB);
  close(fd);
  return ours;
}

/* Removes files that killed writers left beside the target. */
static void remove_leftovers(const trs_replace *output) {
  char path[PATH_MAX], prefix[TRS_REPLACE_NAME];
  temporary_prefix(prefix);
  snprintf(path, sizeof path, "%.*s.", directory_length(output->target), output->target);
  DIR *folder = opendir(path);
  if (!folder) return;
  for (struct dirent *entry; (entry = readdir(folder));)
    if (is_leftover(dirfd(folder), entry->d_name, prefix))
      (void)unlinkat(dirfd(folder), entry->d_name, 0);
  closedir(folder);
}

#ifdef O_TMPFILE
static const char file_links[] = "/proc/self/fd";

static bool open_nameless(trs_replace *output) {
  if (access(file_links, X_OK)) return false; /* a file without a name could not be linked later */
  snprintf(output->temporary, sizeof output->temporary, "%.*s.", directory_length(output->target),
           output->target);
  output->fd = open(output->temporary, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  return output->nameless = output->fd >= 0;
}

static int link_nameless(trs_replace *output) {
  char file[sizeof file_links + 16];
  snprintf(file, sizeof file, "%s/%d", file_links, output->fd);
  return linkat(AT_FDCWD, file, AT_FDCWD, output->temporary, AT_SYMLINK_FOLLOW);
}
#else
static bool open_nameless(trs_replace *output) { return output->nameless = false; }
static int link_nameless(trs_replace *output) { return output->fd; }
#endif

static int create_temporary(trs_replace *output, mode_t mode) {
  remove_leftovers(output);
  if (open_nameless(output) || name_temporary(output, open_named)) {
    (void)flock(output->fd, LOCK_EX | LOCK_NB); /* marks the file as being written */
    if (mode) (void)!fchmod(output->fd, mode);  /* the permissions of the file to be replaced */
    output->replaces = true;
    return 0;
  }
  return failure();
}

/* A file that this process has open has a position, after the data written so far; a newly opened
 * descriptor would begin at 0.  A file of another process is appended to. */
static int open_again(trs_replace *output) {
  output->fd = output->number >= 0 ? fcntl(output->number, F_DUPFD_CLOEXEC, 0)
                                   : open(output->target, O_WRONLY | O_APPEND | O_CLOEXEC);
  return output->fd < 0 ? failure() : 0;
}

static int open_target(trs_replace *output) {
  struct stat about;
  if (output->open_file) return open_again(output);
  bool exists = !stat(output->target, &about);
  if (exists && S_ISDIR(about.st_mode)) {
    errno = EISDIR;
    return failure();
  }
  if (!exists || S_ISREG(about.st_mode))
    return create_temporary(output, exists ? about.st_mode & 0777 : 0);
  output->fd = open(output->target, O_WRONLY | O_CLOEXEC);
  return output->fd < 0 ? failure() : 0;
}

/* True if new files can be created in the target's directory. */
static bool is_writable_folder(trs_replace *output) {
  char *slash = strrchr(output->target, '/');
  if (!slash) return !access(".", W_OK | X_OK);
  slash[slash == output->target] = '\0';
  return !access(output->target, W_OK | X_OK);
}

static bool is_writable(trs_replace *output) {
  struct stat about;
  if (output->number >= 0) {
    int flags = fcntl(output->number, F_GETFL);
    errno = EBADF;
    return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
  }
  bool exists = !stat(output->target, &about);
  errno = EISDIR;
  if (exists && S_ISDIR(about.st_mode)) return false;
  bool itself = output->open_file || (exists && !S_ISREG(about.st_mode));
  return itself ? !access(output->path, W_OK) : is_writable_folder(output);
}

int trs_replace_check(const char *path) {
  trs_replace output = {.path = path};
  int error = find_target(&output);
  if (!error && !is_writable(&output)) error = failure();
  return error;
}

int trs_replace_open(trs_replace *output, const char *path) {
  *output = (trs_replace){.path = path, .fd = -1};
  int error = find_target(output);
  return error ? error : open_target(output);
}

int trs_replace_write(trs_replace *output, const void *bytes, int64_t count) {
  for (const char *at = bytes; count > 0;) {
    ssize_t written = write(output->fd, at, (size_t)count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failure();
    at += written;
    count -= written;
  }
  return 0;
}

/* Flushes the rename to the disk.  A file system that cannot do that is not an error. */
static void sync_directory(char *path) {
  char *slash = strrchr(path, '/');
  if (slash) slash[slash == path] = '\0';
  int fd = open(slash ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  (void)!fsync(fd);
  close(fd);
}

/* Flushes the temporary file and gives it its name. */
static int complete(trs_replace *output) {
  if (!output->replaces) return 0;
  if (fsync(output->fd) || (output->nameless && !name_temporary(output, link_nameless)))
    return failure();
  output->nameless = false;
  return 0;
}

int trs_replace_close(trs_replace *output, bool keep) {
  int error = keep ? complete(output) : 0;
  if (close(output->fd) && !error) error = failure();
  keep = keep && !error;
  if (keep && output->replaces && rename(output->temporary, output->target)) {
    error = failure();
    keep = false;
  }
  if (!keep && output->replaces && !output->nameless) unlink(output->temporary);
  if (keep && output->replaces) sync_directory(output->temporary);
  return error;
}
