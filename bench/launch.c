/* launch.c - runs another program with limits.  The program has a process group of its own, which
 * is killed when the program has ended or its time is over.  A thread waits for the end, because
 * waiting for a process has no time limit; it leaves the process as a zombie, so that its number
 * belongs to nothing else when its group is killed. */
#define _GNU_SOURCE
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct watch {
  pthread_mutex_t lock;
  pthread_cond_t end;
  pid_t child;
  bool ended;
} watch;

static void limit(int what, rlim_t most) {
  struct rlimit now;
  if (getrlimit(what, &now)) return;
  if (now.rlim_max == RLIM_INFINITY || most < now.rlim_max) now.rlim_cur = now.rlim_max = most;
  (void)setrlimit(what, &now);
}

static bool put(const char *path, int flags, int as) {
  int file = open(path, flags, 0666);
  return file >= 0 && dup2(file, as) >= 0 && (file == as || !close(file));
}

/* Ends with this process, which a key of the terminal may interrupt. */
static void be_program(const bench_launch *l, const sigset_t *mask) {
  setpgid(0, 0);
  sigprocmask(SIG_SETMASK, mask, NULL);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  signal(SIGPIPE, SIG_DFL);
  signal(SIGXFSZ, SIG_DFL);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, (rlim_t)l->bytes);
  if (put("/dev/null", O_RDONLY, STDIN_FILENO) &&
      put(l->said, O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO))
    execv(l->words[0], (char *const *)l->words);
  _exit(127);
}

static void *wait_for_end(void *argument) {
  watch *w = argument;
  siginfo_t about;
  while (waitid(P_PID, (id_t)w->child, &about, WEXITED | WNOWAIT) < 0 && errno == EINTR) continue;
  pthread_mutex_lock(&w->lock);
  w->ended = true;
  pthread_cond_signal(&w->end);
  pthread_mutex_unlock(&w->lock);
  return NULL;
}

static struct timespec after(double seconds) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  double whole = (double)(int64_t)seconds;
  t.tv_sec += (time_t)whole;
  t.tv_nsec += (long)(1e9 * (seconds - whole));
  if (t.tv_nsec >= 1000000000) t.tv_nsec -= 1000000000, t.tv_sec++;
  return t;
}

/* True if the program has ended by itself. */
static bool wait_until(watch *w, const struct timespec *limit) {
  int code = 0;
  pthread_mutex_lock(&w->lock);
  while (!w->ended && !code) code = pthread_cond_timedwait(&w->end, &w->lock, limit);
  bool ended = w->ended;
  pthread_mutex_unlock(&w->lock);
  return ended;
}

/* ---- Signals that end this process: a thread takes them meanwhile, since what they do is more
 * than a handler may. ---- */

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place) {
  (void)about, (void)place;
  if (kind == FTW_DP)
    (void)rmdir(path);
  else
    (void)unlink(path);
  return 0;
}

void bench_launch_clear(const char *folder) {
  (void)nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

typedef struct guard {
  pthread_t thread;
  sigset_t ends, before;
  pid_t child;
  const char *scratch;
  bool runs;
} guard;

static void *wait_for_signal(void *argument) {
  guard *g = argument;
  int number = 0;
  if (sigwait(&g->ends, &number) || number == SIGUSR2) return NULL;
  kill(-g->child, SIGKILL);
  kill(g->child, SIGKILL);
  if (g->scratch) bench_launch_clear(g->scratch);
  signal(number, SIG_DFL);
  sigset_t own;
  sigemptyset(&own);
  sigaddset(&own, number);
  pthread_sigmask(SIG_UNBLOCK, &own, NULL);
  raise(number);
  return NULL;
}

/* Before the fork, so that no signal is lost; be_program takes the mask back. */
static void block_signals(guard *g) {
  static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction now;
  sigemptyset(&g->ends);
  for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
    if (!sigaction(ends[k], NULL, &now) && now.sa_handler != SIG_IGN) sigaddset(&g->ends, ends[k]);
  sigaddset(&g->ends, SIGUSR2); /* ends the thread */
  pthread_sigmask(SIG_BLOCK, &g->ends, &g->before);
}

static void begin_guard(guard *g, pid_t child, const char *scratch) {
  g->child = child;
  g->scratch = scratch;
  g->runs = !pthread_create(&g->thread, NULL, wait_for_signal, g);
}

static void end_guard(guard *g) {
  if (g->runs) {
    pthread_kill(g->thread, SIGUSR2);
    pthread_join(g->thread, NULL);
  }
  pthread_sigmask(SIG_SETMASK, &g->before, NULL);
}

static void watch_over(bench_launch *l, watch *w) {
  const struct timespec end = after(l->seconds);
  pthread_t waiter;
  int error = pthread_create(&waiter, NULL, wait_for_end, w);
  if (error)
    l->error = error;
  else
    l->late = !wait_until(w, &end);
  kill(-w->child, SIGKILL);
  kill(w->child, SIGKILL); /* it may not have its own group yet */
  if (!error) pthread_join(waiter, NULL);
  while (waitpid(w->child, &l->state, 0) < 0 && errno == EINTR) continue;
}

void bench_launch_run(bench_launch *l) {
  watch w = {.lock = PTHREAD_MUTEX_INITIALIZER};
  guard g = {0};
  pthread_condattr_t by_clock;
  l->error = l->state = 0;
  l->late = false;
  pthread_condattr_init(&by_clock);
  pthread_condattr_setclock(&by_clock, CLOCK_MONOTONIC);
  pthread_cond_init(&w.end, &by_clock);
  fflush(NULL);
  block_signals(&g);
  w.child = fork();
  if (w.child == 0) be_program(l, &g.before);
  if (w.child > 0) {
    begin_guard(&g, w.child, l->scratch);
    watch_over(l, &w);
  } else {
    l->error = errno;
  }
  end_guard(&g);
  pthread_cond_destroy(&w.end);
  pthread_condattr_destroy(&by_clock);
}
