/* worker.c - starts a worker process, sends it requests and arrays, and reports how it ended.
 *
 * Arrays pass through anonymous memory (memfd_create).  The library uses only pwrite and pread on
 * it, which return an error where a mapping would raise a signal, and checks every number of an
 * answer against the memory's size. */
#define _GNU_SOURCE
#include "worker/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/config.h"
#include "base/options.h"
#include "base/text.h"

enum {
  FIRST_FILE = 10, /* above all descriptors of the worker */
  MOST_FILES = 6,  /* descriptors from there on, while it starts */
  SAID = 200,      /* longest text of its log */
  LIMIT = 120
};

struct trs_worker {
  trs_worker_job job;
  trs_worker_process *process; /* NULL: it has ended */
  int socket, memory, log;
  int64_t at, end; /* offsets in the shared memory: the next array of the answer; the end of the
                      request's arrays */
  double told_seconds, told_megabytes; /* limits of the environment; 0: none */
  double seconds;
  int64_t most_bytes;
  const char *limited_by; /* what sets most_bytes; NULL: the machine has no more */
  int cancel;             /* the calling thread's cancellation state before */
};

static trs_status too_few_files(const trs_worker *w) {
  struct rlimit limit;
  const bool known = !getrlimit(RLIMIT_NOFILE, &limit);
  return trs_fail(
      TRS_ERROR_FILE, -1,
      "%s needs a process of its own, which starts with %d more open files, from number "
      "%d on: the limit of %lld does not leave them, raise it (ulimit -n)",
      w->job.library, MOST_FILES, FIRST_FILE, known ? (long long)limit.rlim_cur : -1);
}

static trs_status cannot(const trs_worker *w, const char *what, int error) {
  if (error == EMFILE) return too_few_files(w);
  trs_status status = error == ENOMEM || error == ENOSPC ? TRS_ERROR_MEMORY : TRS_ERROR_FILE;
  return trs_fail(status, -1, "%s needs a process of its own: cannot %s: %s", w->job.library, what,
                  trs_error_text(error));
}

/* ---- Limits. ---- */

static trs_status take_limits(trs_worker *w) {
  TRS_TRY(trs_setting_limit(&w->told_seconds, "TRIREME_WORKER_SECONDS"));
  return trs_setting_limit(&w->told_megabytes, "TRIREME_WORKER_MB");
}

void trs_worker_limit(trs_worker *w, double seconds, int64_t bytes) {
  const double told_bytes = 1e6 * w->told_megabytes;
  w->limited_by = bytes > 0 ? "max_bytes, --max-memory" : NULL;
  if (bytes <= 0) bytes = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
  if (w->told_seconds > 0 && (seconds <= 0 || w->told_seconds < seconds)) seconds = w->told_seconds;
  if (told_bytes > 0 && told_bytes < (double)bytes) {
    bytes = (int64_t)told_bytes;
    w->limited_by = "TRIREME_WORKER_MB";
  }
  w->seconds = seconds;
  w->most_bytes = bytes;
}

/* ---- Start. ---- */

/* The same open file under a descriptor that no file of the worker has. */
static int move_up(int file) {
  if (file < 0) return file;
  int moved = fcntl(file, F_DUPFD_CLOEXEC, FIRST_FILE), error = errno;
  if (moved < 0 && error == EINVAL) error = EMFILE; /* FIRST_FILE is beyond the limit */
  close(file);
  errno = error;
  return moved;
}

static trs_status open_files(trs_worker *w, int *theirs, int *none) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
    return cannot(w, "make a socket", errno);
  w->socket = move_up(pair[0]);
  *theirs = move_up(pair[1]);
  if (w->socket < 0 || *theirs < 0) return cannot(w, "make a socket", errno);
  *none = move_up(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (*none < 0) return cannot(w, "open /dev/null", errno);
  w->log = move_up(memfd_create("trireme-log", MFD_CLOEXEC));
  w->memory = move_up(memfd_create("trireme-worker", MFD_CLOEXEC));
  if (w->log < 0 || w->memory < 0) return cannot(w, "make shared memory", errno);
  return TRS_SUCCESS;
}

static trs_status start(trs_worker *w) {
  char *path = NULL;
  int theirs = -1, none = -1;
  trs_status status = trs_worker_locate(&path, w->job.program);
  if (!status) status = open_files(w, &theirs, &none);
  if (!status) {
    int file = w->job.file < 0 ? -1 : fcntl(w->job.file, F_DUPFD_CLOEXEC, FIRST_FILE);
    int files[TRS_WORKER_FILES] = {none, w->log, w->log, theirs, w->memory, file};
    if (w->job.file >= 0 && file < 0)
      status = cannot(w, "pass on the file", errno == EINVAL ? EMFILE : errno);
    else
      status = trs_worker_launch(&w->process, path, files, TRS_WORKER_FILES);
    if (file >= 0) close(file);
  }
  if (theirs >= 0) close(theirs);
  if (none >= 0) close(none);
  trs_free(path);
  return status;
}

trs_status trs_worker_start(trs_worker **worker, const trs_worker_job *job) {
  trs_worker *w;
  *worker = NULL;
  TRS_TRY(TRS_ALLOC_ZERO(&w, 1));
  w->job = *job;
  w->socket = w->memory = w->log = -1;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &w->cancel);
  trs_status status = take_limits(w);
  trs_worker_limit(w, 0, 0);
  if (!status) status = start(w);
  if (status)
    trs_worker_end(w);
  else
    *worker = w;
  return status;
}

/* ---- End. ---- */

static int reap(trs_worker *w) {
  int state = trs_worker_finish(w->process);
  w->process = NULL;
  return state;
}

void trs_worker_end(trs_worker *w) {
  if (!w) return;
  if (w->process) reap(w);
  if (w->socket >= 0) close(w->socket);
  if (w->memory >= 0) close(w->memory);
  if (w->log >= 0) close(w->log);
  pthread_setcancelstate(w->cancel, NULL);
  trs_free(w);
}

/* The end of the process's output, in one line; returns its length. */
static int read_log(const trs_worker *w, char said[SAID]) {
  off_t end = lseek(w->log, 0, SEEK_END), from = end > SAID - 1 ? end - (SAID - 1) : 0;
  ssize_t got = pread(w->log, said, SAID - 1, from);
  if (got < 0) got = 0;
  while (got > 0 && (unsigned char)said[got - 1] <= ' ') got--;
  for (ssize_t k = 0; k < got; k++)
    if ((unsigned char)said[k] < ' ' || said[k] == 127) said[k] = ' ';
  said[got] = 0;
  return (int)got;
}

static bool contains(const char *text, const char *word) {
  while (*text && !trs_same_letters(text, word, strlen(word))) text++;
  return *text;
}

static bool speaks_of_memory(const char *said) {
  return contains(said, "memory") || contains(said, "alloc") || contains(said, "map segment");
}

/* What else than the machine limits the memory of the process. */
static void name_limit(const trs_worker *w, char text[LIMIT]) {
  *text = '\0';
  if (w->limited_by)
    trs_print(text, LIMIT, " (%s has %.4g MB at most: %s)", w->job.library,
              (double)w->most_bytes / 1e6, w->limited_by);
}

/* Reports how the process ended by itself. */
static trs_status ended(trs_worker *w) {
  char said[SAID], how[120], limit[LIMIT] = "";
  int state = reap(w), length = read_log(w, said);
  bool memory = speaks_of_memory(said) || (WIFSIGNALED(state) && WTERMSIG(state) == SIGBUS);
  if (memory)
    trs_print(how, sizeof how, "ran out of memory");
  else if (WIFSIGNALED(state))
    snprintf(how, sizeof how, "ended with signal %d (%s)%s", WTERMSIG(state),
             trs_signal_text(WTERMSIG(state)),
             WTERMSIG(state) == SIGKILL ? ": it was killed, perhaps for want of memory" : "");
  else
    snprintf(how, sizeof how, "ended its process with exit status %d", WEXITSTATUS(state));
  if (memory || w->told_megabytes > 0) name_limit(w, limit);
  if (w->job.path && !memory)
    return trs_fail(TRS_ERROR_FORMAT, -1, "%s is damaged%s: %s %s while it read the file%s%s%s",
                    w->job.path, *limit ? ", or memory is short" : "", w->job.library, how,
                    length ? ": " : "", said, limit);
  return trs_fail(memory ? TRS_ERROR_MEMORY : TRS_ERROR_INTERNAL, -1, "%s%s%s %s%s%s%s",
                  w->job.path ? w->job.path : "", w->job.path ? ": " : "", w->job.library, how,
                  length ? ": " : "", said, limit);
}

static trs_status too_slow(trs_worker *w) {
  reap(w);
  return trs_fail(w->job.path ? TRS_ERROR_FORMAT : TRS_ERROR_STALLED, -1,
                  "%s%s%s was stopped after %g seconds, its time limit%s",
                  w->job.path ? w->job.path : "", w->job.path ? ": " : "", w->job.library,
                  w->seconds,
                  w->job.path ? ": the file is damaged, or the machine very busy"
                              : " (TRIREME_WORKER_SECONDS)");
}

/* The process cannot be asked to end its request. */
static trs_status cancelled(trs_worker *w) {
  reap(w);
  return trs_cancelled();
}

/* ---- Arrays. ---- */

/* A write beyond the process's file size limit would raise a signal. */
static trs_status check_file_limit(const trs_worker *w, int64_t end) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY ||
      (rlim_t)end <= limit.rlim_cur)
    return TRS_SUCCESS;
  return trs_fail(
      TRS_ERROR_MEMORY, -1,
      "%s needs %.1f MB of shared memory, more than the limit on file sizes (ulimit -f)",
      w->job.library, (double)end / 1e6);
}

trs_status trs_worker_give(trs_worker *w, const void *array, int64_t count, size_t size) {
  int64_t bytes = count * (int64_t)size, done = 0, from = trs_worker_align(w->end);
  TRS_TRY(check_file_limit(w, from + bytes));
  while (done < bytes) {
    ssize_t wrote =
        pwrite(w->memory, (const char *)array + done, (size_t)(bytes - done), from + done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return cannot(w, "fill shared memory", wrote ? errno : ENOSPC);
    done += wrote;
  }
  w->end = from + bytes;
  return TRS_SUCCESS;
}

trs_status trs_worker_take(trs_worker *w, void *array, int64_t count, size_t size) {
  int64_t bytes = count * (int64_t)size, done = 0, from = trs_worker_align(w->at);
  while (done < bytes) {
    ssize_t got = pread(w->memory, (char *)array + done, (size_t)(bytes - done), from + done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return cannot(w, "read shared memory", errno);
    if (got == 0)
      return trs_fail(TRS_ERROR_INTERNAL, -1, "%s: an array of its answer is missing",
                      w->job.library);
    done += got;
  }
  w->at = from + bytes;
  return TRS_SUCCESS;
}

/* ---- Requests. ---- */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* On a busy machine a file takes long that is not damaged: of reading it, only processor time
 * counts within this many times the limit. */
static const double PATIENCE = 10;

/* True if the time limit has passed, `seconds` after the request. */
static bool is_over(const trs_worker *w, double seconds) {
  if (seconds < w->seconds) return false;
  if (!w->job.path || w->told_seconds > 0 || seconds > PATIENCE * w->seconds) return true;
  return trs_worker_seconds(w->process) >= w->seconds;
}

/* Waits for a message, the end of the process or the caller's flag. */
static trs_status wait_for(trs_worker *w) {
  enum { HOUR = 1000 * 3600, SECOND = 1000, TURN = 20 }; /* milliseconds */
  const double longest = trs_cancel_flag() ? TURN : HOUR, start = now(), end = start + w->seconds;
  struct pollfd socket = {.fd = w->socket, .events = POLLIN};
  for (;;) {
    double left = w->seconds > 0 ? 1e3 * (end - now()) : longest;
    if (left < 0) left = SECOND;
    int found = poll(&socket, 1, left > longest ? (int)longest : (int)left + 1);
    if (found > 0) return TRS_SUCCESS;
    if (found < 0 && errno != EINTR) return TRS_SUCCESS; /* the next call reports the error */
    if (trs_cancelled()) return cancelled(w);
    if (w->seconds > 0 && is_over(w, now() - start)) return too_slow(w);
  }
}

static trs_status send_request(trs_worker *w, trs_worker_message *m) {
  snprintf(m->version, sizeof m->version, "%s", TRS_VERSION_TEXT);
  m->bytes = w->end;
  m->most_bytes = w->most_bytes;
  m->fail_after = trs_memory_failures_left();
  off_t filled = lseek(w->memory, 0, SEEK_END);
  if (!w->end && filled > 0) /* frees the arrays of earlier answers, which have been read */
    fallocate(w->memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, filled);
  w->at = w->end;
  w->end = 0;
  while (send(w->socket, m, sizeof *m, MSG_NOSIGNAL) < 0)
    if (errno != EINTR) return ended(w);
  return TRS_SUCCESS;
}

static trs_status check_answer(const trs_worker *w, trs_worker_message *m, ssize_t bytes) {
  m->text[sizeof m->text - 1] = m->version[sizeof m->version - 1] = 0;
  if (bytes != sizeof *m || strcmp(m->version, TRS_VERSION_TEXT))
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "trireme-worker-%s is not of this build: install Trireme again, or correct "
                    "TRIREME_WORKERS",
                    w->job.program);
  if (m->fail_after >= 0) trs_memory_fail_after(m->fail_after);
  if (!m->status) return TRS_SUCCESS;
  if (m->status < 0 || m->status > TRS_STATUS_LAST) m->status = TRS_ERROR_INTERNAL;
  char limit[LIMIT] = "";
  if (m->status == TRS_ERROR_MEMORY) name_limit(w, limit);
  return trs_fail((trs_status)m->status, m->row, "%s%s%s%s", w->job.path ? w->job.path : "",
                  w->job.path ? ": " : "", m->text, limit);
}

trs_status trs_worker_ask(trs_worker *w, trs_worker_message *m) {
  ssize_t got;
  if (!w->process) return trs_fail(TRS_ERROR_INTERNAL, -1, "%s has ended", w->job.library);
  TRS_TRY(send_request(w, m));
  do {
    TRS_TRY(wait_for(w));
    got = recv(w->socket, m, sizeof *m, 0);
  } while (got < 0 && errno == EINTR);
  return got <= 0 ? ended(w) : check_answer(w, m, got);
}
