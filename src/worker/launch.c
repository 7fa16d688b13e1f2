/* launch.c - starts a worker process so that the program around the library does not notice.
 *
 * clone rather than posix_spawn: the process has no signal for its parent, so that no SIGCHLD
 * arrives, a program that ignores SIGCHLD does not lose the exit status, and a program that waits
 * for any child does not take it.  As with vfork, the calling thread stands still until the new
 * program runs, and no memory is copied.
 *
 * The process is a session of its own, so that signals to the program's group do not reach it, and
 * is killed when the thread that started it ends. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "worker/worker.h"

enum { STACK = 32768 };

typedef struct launch {
  const char *path;
  const int *files;
  int count;
  char **environment;
  pid_t parent;
  int error; /* errno of what failed */
} launch;

extern char **environ;

/* Runs in the new process on the caller's memory: system calls only.  Signals stay blocked until
 * the new program has its own handlers. */
__attribute__((no_sanitize("address", "thread"))) static int become(void *argument) {
  launch *l = argument;
  char *arguments[] = {(char *)l->path, NULL};
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != l->parent) _exit(127);
  setsid();
  for (int k = 0; k < l->count; k++)
    if (l->files[k] >= 0 && dup2(l->files[k], k) < 0) {
      l->error = errno;
      _exit(127);
    }
  execve(l->path, arguments, l->environment);
  l->error = errno;
  _exit(127);
}

/* ---- Environment: one BLAS thread unless told otherwise. ---- */

static const char *const thread_counts[] = {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS",
                                            "MKL_NUM_THREADS", "BLIS_NUM_THREADS"};
enum { COUNTS = sizeof thread_counts / sizeof *thread_counts, SETTING = 64 };

static bool is_thread_count(const char *entry) {
  for (int k = 0; k < COUNTS; k++) {
    size_t length = strlen(thread_counts[k]);
    if (!strncmp(entry, thread_counts[k], length) && entry[length] == '=') return true;
  }
  return false;
}

/* The program's, but for the numbers of threads; settings is room for those. */
static trs_status make_environment(char ***result, char settings[COUNTS][SETTING]) {
  const char *threads = getenv("TRIREME_BLAS_THREADS");
  int64_t count = 0, kept = 0;
  while (environ && environ[count]) count++;
  TRS_TRY(TRS_ALLOC(result, count + COUNTS + 1));
  for (int64_t k = 0; k < count; k++)
    if (environ[k] && !is_thread_count(environ[k])) (*result)[kept++] = environ[k];
  for (int k = 0; k < COUNTS; k++) {
    snprintf(settings[k], SETTING, "%s=%.20s", thread_counts[k],
             threads && *threads ? threads : "1");
    (*result)[kept++] = settings[k];
  }
  (*result)[kept] = NULL;
  return TRS_SUCCESS;
}

trs_status trs_worker_launch(int *pid, const char *path, const int *files, int count) {
  _Alignas(64) char stack[STACK];
  char settings[COUNTS][SETTING];
  launch l = {.path = path, .files = files, .count = count, .parent = getpid()};
  sigset_t all, before;
  TRS_TRY(make_environment(&l.environment, settings));
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  *pid = clone(become, stack + STACK, CLONE_VM | CLONE_VFORK, &l);
  if (*pid < 0) l.error = errno;
  if (*pid >= 0 && l.error) waitpid(*pid, NULL, __WALL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  trs_free(l.environment);
  if (!l.error) return TRS_SUCCESS;
  return trs_fail(l.error == ENOMEM ? TRS_ERROR_MEMORY : TRS_ERROR_FILE, -1, "cannot start %s: %s",
                  path, strerror(l.error));
}
