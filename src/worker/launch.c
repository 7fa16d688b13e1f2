/* launch.c - starts a worker process without side effects on the program around the library: no
 * SIGCHLD arrives, a program that ignores SIGCHLD does not lose the exit status, and a program that
 * waits for any of its children never gets the worker's status.
 *
 * A process run by execve always signals its parent when it ends.  The parent is therefore a
 * keeper: a process that shares the program's memory, sends the program no signal, and only starts
 * the worker, waits for its end and records its exit status.  Nothing is copied for the keeper and
 * no handler of pthread_atfork runs.  The keeper makes only system calls, because it also shares
 * the calling thread's thread-local variables.
 *
 * The worker has a session of its own, so that signals to the program's process group do not reach
 * it. It is killed with the keeper, and the keeper with the thread that started it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/futex.h>
#include <math.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "worker/worker.h"

enum { STACK = 16384 };

struct trs_worker_process {
  const char *path; /* path, files and count are valid until the start is complete */
  const int *files;
  int count;
  char **environment;
  pid_t program, keeper, worker;
  int error;          /* errno of a failed start */
  atomic_int started; /* futex */
  atomic_flag busy;   /* lock: the program kills the worker, or the keeper clears its number */
  bool ended;
  int state; /* as of waitpid */
  _Alignas(64) char keepers_stack[STACK];
  _Alignas(64) char workers_stack[STACK];
};

extern char **environ;

#ifdef TRS_SANITIZE_THREAD
enum { SHARE_MEMORY = 0 }; /* the sanitizer does not follow a process that shares memory */
#else
enum { SHARE_MEMORY = CLONE_VM };
#endif

#define ONLY_SYSTEM_CALLS __attribute__((no_sanitize("address", "thread", "undefined")))

/* Signals stay blocked until the new program has its own handlers. */
ONLY_SYSTEM_CALLS static int exec_worker(void *argument) {
  trs_worker_process *p = argument;
  char *arguments[] = {(char *)p->path, NULL};
  syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  syscall(SYS_setsid);
  p->error = syscall(SYS_getppid) == p->keeper ? 0 : ECHILD;
  for (int k = 0; k < p->count && !p->error; k++)
    if (p->files[k] >= 0 && syscall(SYS_dup3, p->files[k], k, 0) < 0) p->error = errno;
  for (int k = 0; k < p->count; k++) /* the program's own file would stay open under that number */
    if (p->files[k] < 0) syscall(SYS_close, k);
  if (!p->error) {
    syscall(SYS_execve, p->path, arguments, p->environment);
    p->error = errno;
  }
  syscall(SYS_exit, 127);
  return 0;
}

ONLY_SYSTEM_CALLS static void lock_worker(trs_worker_process *p) {
  while (atomic_flag_test_and_set(&p->busy)) syscall(SYS_sched_yield);
}

ONLY_SYSTEM_CALLS static void announce_start(trs_worker_process *p) {
  atomic_store(&p->started, 1);
  syscall(SYS_futex, &p->started, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* The keeper closes its copies of the program's files; a reader at the other end of a pipe would
 * otherwise never see the end of the file. */
ONLY_SYSTEM_CALLS static void close_files(const trs_worker_process *p) {
#ifdef SYS_close_range
  if (!syscall(SYS_close_range, 0, ~0U, 0)) return;
#endif
  for (int k = 0; k < p->count; k++)
    if (p->files[k] >= 0) syscall(SYS_close, p->files[k]);
}

/* The keeper's main function.  Signals stay blocked, including those of the worker's end. */
ONLY_SYSTEM_CALLS static int keeper_main(void *argument) {
  trs_worker_process *p = argument;
  struct {
    void (*handler)(int);
    unsigned long rest[8];
  } by_default = {SIG_DFL, {0}};
  siginfo_t about;
  syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  p->keeper = (pid_t)syscall(SYS_getpid);
  syscall(SYS_rt_sigaction, SIGCHLD, &by_default, NULL, 8);
  p->error = syscall(SYS_getppid) == p->program ? 0 : ECHILD;
  if (!p->error) {
    p->worker =
        clone(exec_worker, p->workers_stack + STACK, SHARE_MEMORY | CLONE_VFORK | SIGCHLD, p);
    if (p->worker < 0) p->error = errno;
  }
  close_files(p);
  announce_start(p);
  if (p->worker > 0) {
    while (syscall(SYS_waitid, P_PID, p->worker, &about, WEXITED | WNOWAIT, NULL) < 0 &&
           errno == EINTR)
      continue;
    lock_worker(p);
    syscall(SYS_wait4, p->worker, &p->state, 0, NULL);
    p->ended = true;
    atomic_flag_clear(&p->busy);
  }
  syscall(SYS_exit, 0);
  return 0;
}

/* ---- Environment: one BLAS thread, or TRIREME_BLAS_THREADS. ---- */

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

/* The program's environment with other thread counts; settings is the space for these. */
static trs_status make_environment(char ***result, char settings[COUNTS][SETTING]) {
  const char *threads = getenv("TRIREME_BLAS_THREADS");
  int64_t count = 0, kept = 0;
  if (threads && threads[strspn(threads, "0123456789")])
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "the environment variable TRIREME_BLAS_THREADS is \"%s\": it must be a number",
                    threads);
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

/* Starts the keeper in the program's memory, or in a copy where an emulator of the processor
 * supports no shared memory.  valgrind ends the program instead of returning an error, and is
 * recognised by its preloaded library. */
static pid_t start_keeper(trs_worker_process *p) {
  const char *preloaded = getenv("LD_PRELOAD");
  bool emulated = preloaded && strstr(preloaded, "vgpreload_");
  pid_t keeper = emulated ? -1 : clone(keeper_main, p->keepers_stack + STACK, SHARE_MEMORY, p);
  if (emulated || (keeper < 0 && (errno == EINVAL || errno == ENOSYS)))
    keeper = clone(keeper_main, p->keepers_stack + STACK, 0, p);
  return keeper;
}

static void start(trs_worker_process *p) {
  const struct timespec second = {1, 0};
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  p->keeper = start_keeper(p);
  if (p->keeper < 0) p->error = errno;
  while (p->keeper > 0 && !atomic_load(&p->started)) {
    syscall(SYS_futex, &p->started, FUTEX_WAIT, 0, &second, NULL, 0);
    if (waitpid(p->keeper, NULL, __WALL | WNOHANG) != p->keeper) continue;
    p->keeper = 0; /* another program has killed it */
    if (!atomic_load(&p->started)) p->error = ECHILD;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

trs_status trs_worker_launch(trs_worker_process **process, const char *path, const int *files,
                             int count) {
  char settings[COUNTS][SETTING];
  trs_worker_process *p;
  *process = NULL;
  TRS_TRY(trs_memory_probe(sizeof *p));
  p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return trs_fail(TRS_ERROR_MEMORY, -1, "out of memory for a process");
  p->path = path;
  p->files = files;
  p->count = count;
  p->program = getpid();
  trs_status status = make_environment(&p->environment, settings);
  if (!status) start(p);
  trs_free(p->environment);
  int error = p->error;
  if (!status && !error) {
    *process = p;
    return TRS_SUCCESS;
  }
  trs_worker_finish(p);
  if (status) return status;
  return trs_fail(
      error == ENOMEM ? TRS_ERROR_MEMORY : TRS_ERROR_FILE, -1, "cannot start %s: %s%s", path,
      trs_error_text(error),
      error == EAGAIN ? ", two more processes are needed than the limit leaves (ulimit -u)" : "");
}

double trs_worker_seconds(trs_worker_process *p) {
  double seconds = INFINITY;
  struct timespec t;
  clockid_t clock;
  lock_worker(p);
  if (p->worker > 0 && !p->ended && !clock_getcpuclockid(p->worker, &clock) &&
      !clock_gettime(clock, &t))
    seconds = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
  atomic_flag_clear(&p->busy);
  return seconds;
}

int trs_worker_finish(trs_worker_process *p) {
  lock_worker(p);
  if (p->worker > 0 && !p->ended) kill(p->worker, SIGKILL);
  atomic_flag_clear(&p->busy);
  if (p->keeper > 0)
    while (waitpid(p->keeper, NULL, __WALL) < 0 && errno == EINTR) continue;
  int state = p->state;
  munmap(p, sizeof *p);
  return state;
}
