/* replace.c - writes a temporary file beside the target and renames it when all data is on the
 * disk, so that a reader sees the old file or the new one, whatever fails in between.  If the file
 * system supports it, the temporary file has no name until then, and a killed process leaves
 * nothing behind.  The file needs the C library alone, because the command links it too. */
#define _GNU_SOURCE /* O_TMPFILE, O_PATH */
#include "io/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/xattr.h>
#endif

#ifndef O_PATH /* Linux: a folder that may be searched, though not read */
#define O_PATH O_RDONLY
#endif

enum { MOST_TRIES = 1000, MOST_LINKS = 40 };

/* errno, which some failures leave at 0. */
static int failure(void) { return errno ? errno : EIO; }

/* The length of path up to its last slash. */
static size_t directory_length(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? (size_t)(slash + 1 - path) : 0;
}

/* True if the file's folder, however it is spelt, is that of this process's descriptors.  Without
 * /proc only the names themselves are known. */
static bool is_among_descriptors(const char *path) {
  static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/"};
  const size_t length = directory_length(path);
  char folder[PATH_MAX + 1], real[PATH_MAX], own[PATH_MAX];
  snprintf(folder, sizeof folder, "%.*s.", (int)length, path);
  const bool exists = realpath(folder, real) != NULL;
  for (size_t k = 0; k < sizeof folders / sizeof *folders; k++) {
    if (strlen(folders[k]) == length && memcmp(path, folders[k], length) == 0) return true;
    if (exists && realpath(folders[k], own) && strcmp(own, real) == 0) return true;
  }
  return false;
}

/* The descriptor of this process that path names, or -1. */
static int own_descriptor(const char *path) {
  const char *name = path + directory_length(path);
  char *end;
  if (*name < '0' || *name > '9') return -1;
  const long number = strtol(name, &end, 10);
  return !*end && number <= INT_MAX && is_among_descriptors(path) ? (int)number : -1;
}

/* The name at the end of a chain of symbolic links, where no file need exist; or a descriptor of
 * this process: standard output that goes to a file has a second name, /dev/stdout.  That file must
 * not be replaced, since other processes may have written to it before and will again. */
static int find_target(trs_replace *output) {
  char *at = output->target, to[PATH_MAX];
  if (strlen(output->path) >= PATH_MAX) return ENAMETOOLONG;
  strcpy(at, output->path);
  for (int l = 0; l < MOST_LINKS; l++) {
    output->number = own_descriptor(at);
    const ssize_t length = output->number < 0 ? readlink(at, to, sizeof to) : -1;
    if (length < 0) return 0;
    const size_t folder = *to == '/' ? 0 : directory_length(at);
    if (folder + (size_t)length >= PATH_MAX) return ENAMETOOLONG;
    memcpy(at + folder, to, (size_t)length);
    at[folder + (size_t)length] = '\0';
  }
  return ELOOP;
}

/* Opens the target's folder, so that the names in it may have any length that it allows, and so
 * that the folder stays the same if the process changes its own. */
static int open_folder(trs_replace *output) {
  char path[PATH_MAX + 2];
  output->name = output->target + directory_length(output->target);
  snprintf(path, sizeof path, "%.*s.", (int)(output->name - output->target), output->target);
  output->folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  return output->folder < 0 ? failure() : 0;
}

static void close_folder(trs_replace *output) {
  if (output->folder >= 0) close(output->folder);
  output->folder = -1;
}

/* Chooses .trireme-PROCESS-NUMBER, which does not exist yet.  `make` creates the file under that
 * name; it returns less than 0 on failure. */
static bool name_temporary(trs_replace *output, int (*make)(trs_replace *)) {
  static atomic_uint number;
  for (int tries = 0; tries < MOST_TRIES; tries++) {
    snprintf(output->temporary, sizeof output->temporary, ".trireme-%ld-%u", (long)getpid(),
             atomic_fetch_add(&number, 1));
    if (make(output) >= 0) return true;
    if (errno != EEXIST) break;
  }
  return false;
}

static int open_named(trs_replace *output) {
  return output->fd = openat(output->folder, output->temporary,
                             O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, output->mode);
}

#ifdef O_TMPFILE
static const char file_links[] = "/proc/self/fd";

static bool open_nameless(trs_replace *output) {
  if (access(file_links, X_OK)) return false; /* a file without a name could not be linked later */
  output->fd = openat(output->folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, output->mode);
  return output->nameless = output->fd >= 0;
}

static int link_nameless(trs_replace *output) {
  char file[sizeof file_links + 16];
  snprintf(file, sizeof file, "%s/%d", file_links, output->fd);
  return linkat(AT_FDCWD, file, output->folder, output->temporary, AT_SYMLINK_FOLLOW);
}
#else
static bool open_nameless(trs_replace *output) { return output->nameless = false; }
static int link_nameless(trs_replace *output) { return output->fd; }
#endif

/* ---- The file to be replaced. ---- */

#ifdef __linux__
/* Gives the open file the access list of the old one, or none instead of the one that its folder
 * gives to new files.  False if the old one has a list that cannot be given. */
static bool copy_access_list(const char *old, int file) {
  static const char name[] = "system.posix_acl_access";
  char list[4096];
  const ssize_t bytes = getxattr(old, name, list, sizeof list);
  bool good = bytes < 0 && (errno == ENODATA || errno == ENOTSUP);
  if (bytes >= 0) good = !fsetxattr(file, name, list, (size_t)bytes, 0);
  if (bytes < 0 || !good) (void)fremovexattr(file, name);
  return good;
}
#else
static bool copy_access_list(const char *old, int file) {
  (void)old, (void)file;
  return true;
}
#endif

/* The temporary file gets the owner, group, access list and mode of the file to be replaced.  The
 * rights of a group or a list that the writer cannot give are limited to those of all users. */
static void copy_rights(const trs_replace *output, const struct stat *about) {
  struct stat now;
  mode_t mode = about->st_mode & 0777;
  if (fstat(output->fd, &now)) return;
  if (now.st_uid != about->st_uid) (void)!fchown(output->fd, about->st_uid, (gid_t)-1);
  bool same = now.st_gid == about->st_gid || !fchown(output->fd, (uid_t)-1, about->st_gid);
  if (!copy_access_list(output->target, output->fd)) same = false;
  if (!same) mode &= (mode_t)(0707 | (mode & 7) << 3);
  (void)!fchmod(output->fd, mode);
}

/* old: the file to be replaced, or NULL. */
static int create_temporary(trs_replace *output, const struct stat *old) {
  output->mode = old ? 0600 : 0666; /* nobody reads it before it has the rights of the old one */
  if (!open_nameless(output) && !name_temporary(output, open_named)) return failure();
  if (old) copy_rights(output, old);
  output->replaces = true;
  return 0;
}

/* True if the target itself is written, as it has no content that could be replaced. */
static bool is_written_itself(const trs_replace *output) {
  struct stat about;
  return output->number >= 0 ||
         (!stat(output->path, &about) && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode));
}

/* As the rename will: in a folder such as /tmp a file of another user stays. */
static bool may_rename(const trs_replace *output, const struct stat *old) {
  struct stat folder;
  const uid_t me = geteuid();
  return me == 0 || old->st_uid == me || fstat(output->folder, &folder) ||
         !(folder.st_mode & S_ISVTX) || folder.st_uid == me;
}

/* Creates the temporary file of a target that is a regular file or does not exist. */
static int begin_replacing(trs_replace *output) {
  struct stat about;
  int error = open_folder(output);
  if (error) return error;
  bool exists = !fstatat(output->folder, output->name, &about, 0);
  if (!exists && errno != ENOENT) return failure();
  if (exists && S_ISDIR(about.st_mode)) return EISDIR;
  if (!exists && !*output->name) return EISDIR;
  if (exists && !may_rename(output, &about)) return EPERM;
  return create_temporary(output, exists ? &about : NULL);
}

/* A file that this process has open has a position, after the data written so far; a newly opened
 * descriptor would begin at 0. */
static int open_target(trs_replace *output) {
  if (is_written_itself(output)) {
    output->fd = output->number >= 0 ? fcntl(output->number, F_DUPFD_CLOEXEC, 0)
                                     : open(output->path, O_WRONLY | O_CLOEXEC);
    return output->fd < 0 ? failure() : 0;
  }
  int error = begin_replacing(output);
  if (error) close_folder(output);
  return error;
}

/* A device without a driver, such as /dev/tty without a terminal, and a socket show only when they
 * are opened.  A pipe is not opened: its reader would see it close. */
static int check_itself(const trs_replace *output) {
  struct stat about;
  if (output->number < 0) {
    if (access(output->path, W_OK)) return failure();
    if (stat(output->path, &about) || S_ISFIFO(about.st_mode)) return 0;
    int fd = open(output->path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) return failure();
    close(fd);
    return 0;
  }
  int flags = fcntl(output->number, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY ? 0 : EBADF;
}

/* Creates the temporary file as the writing will, and drops it. */
int trs_replace_check(const char *path) {
  trs_replace output = {.path = path, .fd = -1, .folder = -1};
  int error = find_target(&output);
  if (error) return error;
  if (is_written_itself(&output)) return check_itself(&output);
  error = begin_replacing(&output);
  if (output.replaces) (void)trs_replace_close(&output, false);
  close_folder(&output);
  return error;
}

int trs_replace_open(trs_replace *output, const char *path) {
  *output = (trs_replace){.path = path, .fd = -1, .folder = -1};
  int error = find_target(output);
  return error ? error : open_target(output);
}

/* ---- Writing. ---- */

/* Takes those of these blocked signals that are pending. */
static void take_signals(const sigset_t *set) {
#ifdef __APPLE__ /* which has no sigtimedwait */
  sigset_t pending;
  int number;
  while (!sigpending(&pending) && ((sigismember(set, SIGPIPE) && sigismember(&pending, SIGPIPE)) ||
                                   (sigismember(set, SIGXFSZ) && sigismember(&pending, SIGXFSZ))))
    if (sigwait(set, &number)) return;
#else
  while (sigtimedwait(set, NULL, &(struct timespec){0, 0}) > 0 || errno == EINTR) continue;
#endif
}

/* As write, but a reader that has left is EPIPE, and the limit on file sizes EFBIG, without the
 * signals that would end the program: the thread blocks them, and takes those that the write has
 * caused.  A write of a part also causes SIGPIPE, if the reader leaves meanwhile. */
static ssize_t write_quietly(int fd, const void *bytes, size_t count) {
  static const int causes[] = {SIGPIPE, SIGXFSZ};
  sigset_t caused, pending, before;
  sigemptyset(&caused);
  sigpending(&pending);
  for (int k = 0; k < 2; k++)
    if (!sigismember(&pending, causes[k])) sigaddset(&caused, causes[k]);
  pthread_sigmask(SIG_BLOCK, &caused, &before);
  ssize_t written = write(fd, bytes, count);
  const int error = errno;
  if (written < 0 || (size_t)written < count) take_signals(&caused);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = error;
  return written;
}

int trs_replace_write(trs_replace *output, const void *bytes, int64_t count) {
  for (const char *at = bytes; count > 0;) {
    ssize_t written = write_quietly(output->fd, at, (size_t)count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) { /* another program has made the pipe nonblocking */
      (void)poll(&(struct pollfd){.fd = output->fd, .events = POLLOUT}, 1, -1);
      continue;
    }
    if (written < 0) return failure();
    at += written;
    count -= written;
  }
  return 0;
}

/* Flushes the rename to the disk.  A file system that cannot do that is not an error. */
static void sync_folder(const trs_replace *output) {
  int fd = openat(output->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
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
  if (keep && output->replaces &&
      renameat(output->folder, output->temporary, output->folder, output->name)) {
    error = failure();
    keep = false;
  }
  if (!keep && output->replaces && !output->nameless)
    unlinkat(output->folder, output->temporary, 0);
  if (keep && output->replaces) sync_folder(output);
  close_folder(output);
  return error;
}
