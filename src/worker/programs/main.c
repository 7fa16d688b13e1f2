/* main.c - the main function of every worker: receives a request, serves it, answers, until the
 * library closes the socket.  All side effects of the foreign library stay in this process. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/config.h"
#include "base/text.h"
#include "worker/programs/serve.h"

#if defined TRS_SANITIZE_ADDRESS || defined TRS_SANITIZE_THREAD
enum { SANITIZED = 1 }; /* shadow memory exceeds every limit */
#else
enum { SANITIZED = 0 };
#endif

enum { MOST_ARRAYS = 16 };

static struct {
  void *array[MOST_ARRAYS];
  size_t bytes[MOST_ARRAYS];
  int count;
  int64_t in, out; /* ends of the arrays received and sent */
} shared;

/* ---- Arrays. ---- */

static trs_status map(void *array, int64_t from, int64_t bytes, int kind) {
  static char nothing[64];
  void *place = nothing;
  if (shared.count == MOST_ARRAYS) return trs_fail(TRS_ERROR_INTERNAL, -1, "too many arrays");
  if (bytes > 0) {
    place = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, kind, TRS_WORKER_MEMORY, from);
    if (place == MAP_FAILED)
      return trs_fail(TRS_ERROR_MEMORY, -1, "out of memory: %.1f MB wanted", (double)bytes / 1e6);
    madvise(place, (size_t)bytes, MADV_HUGEPAGE);
    shared.bytes[shared.count] = (size_t)bytes;
    shared.array[shared.count++] = place;
  }
  memcpy(array, &place, sizeof place);
  return TRS_SUCCESS;
}

trs_status trs_serve_take(void *array, int64_t count, size_t size) {
  int64_t from = trs_worker_align(shared.in), bytes = count * (int64_t)size;
  shared.in = from + bytes;
  return map(array, from, bytes, MAP_PRIVATE);
}

trs_status trs_serve_give(void *array, int64_t count, size_t size) {
  int64_t from = trs_worker_align(shared.out), bytes = count * (int64_t)size;
  TRS_TRY(trs_memory_probe(bytes));
  int error = bytes ? posix_fallocate(TRS_WORKER_MEMORY, from, bytes) : 0;
  if (error)
    return trs_fail(TRS_ERROR_MEMORY, -1, "out of memory: %.1f MB wanted to share: %s",
                    (double)bytes / 1e6, trs_error_text(error));
  shared.out = from + bytes;
  return map(array, from, bytes, MAP_SHARED);
}

static void release(void) {
  for (int k = 0; k < shared.count; k++) munmap(shared.array[k], shared.bytes[k]);
  shared.count = 0;
}

/* ---- Requests. ---- */

static void limit_memory(int64_t bytes) {
  struct rlimit limit;
  if (SANITIZED || bytes <= 0 || getrlimit(RLIMIT_AS, &limit)) return;
  limit.rlim_cur = limit.rlim_max;
  if ((rlim_t)bytes < limit.rlim_cur) limit.rlim_cur = (rlim_t)bytes;
  setrlimit(RLIMIT_AS, &limit);
}

static trs_status serve(trs_worker_message *m) {
  m->version[sizeof m->version - 1] = m->text[sizeof m->text - 1] = 0;
  if (strcmp(m->version, TRS_VERSION_TEXT))
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "the library is version %s, its worker program %s: install Trireme again",
                    m->version, TRS_VERSION_TEXT);
  shared.in = 0;
  shared.out = m->bytes;
  limit_memory(m->most_bytes);
  trs_memory_fail_after(m->fail_after);
  return trs_serve(m);
}

static void answer(trs_worker_message *m, trs_status status) {
  trs_failure failure;
  snprintf(m->version, sizeof m->version, "%s", TRS_VERSION_TEXT);
  m->status = status;
  m->fail_after = trs_memory_failures_left();
  if (!status) return;
  trs_failure_get(&failure);
  m->row = failure.row;
  snprintf(m->text, sizeof m->text, "%s", failure.message);
}

/* ---- The process. ---- */

/* Signals from outside stay blocked: the calling program decides, and this process ends with it.
 * METIS reports an abort by raising SIGABRT. */
static void settle_signals(void) {
  sigset_t blocked;
  for (int signal_number = 1; signal_number < NSIG; signal_number++) signal(signal_number, SIG_DFL);
  sigfillset(&blocked);
  sigdelset(&blocked, SIGABRT);
  sigprocmask(SIG_SETMASK, &blocked, NULL);
}

/* Descriptors inherited from the program that are not marked to be closed. */
static void close_files(void) {
#ifdef SYS_close_range
  if (!syscall(SYS_close_range, TRS_WORKER_FILES, ~0U, 0)) return;
#endif
  for (int file = TRS_WORKER_FILES; file < 1024; file++) close(file);
}

/* If memory runs out, the kernel ends this process before the program. */
static void prefer_oom_victim(void) {
  struct rlimit none = {0, 0};
  int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file >= 0 && write(file, "500", 3) != 3) errno = 0;
  if (file >= 0) close(file);
  setrlimit(RLIMIT_CORE, &none);
}

/* Called when a library calls exit: prints the peak memory of the process. */
static void print_peak_memory(int status, void *unused) {
  static char text[4096];
  int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  ssize_t got = file < 0 ? -1 : read(file, text, sizeof text - 1);
  const char *peak = got < 0 ? NULL : strstr(text, "VmHWM:");
  (void)status, (void)unused;
  fflush(NULL);
  if (!peak) return;
  int length = trs_print(text, sizeof text, " (after %.3g GB)", trs_number(peak + 6, NULL) / 1e6);
  (void)!write(STDERR_FILENO, text, (size_t)length);
}

int main(void) {
  trs_worker_message message;
  on_exit(print_peak_memory, NULL);
  settle_signals();
  close_files();
  prefer_oom_victim();
  for (;;) {
    ssize_t got = recv(TRS_WORKER_SOCKET, &message, sizeof message, 0);
    if (got != sizeof message) {
      if (got) fputs("trireme-worker: started by Trireme's library, not by hand\n", stderr);
      _exit(got != 0);
    }
    answer(&message, serve(&message));
    release();
    if (send(TRS_WORKER_SOCKET, &message, sizeof message, MSG_NOSIGNAL) < 0) _exit(1);
  }
}
