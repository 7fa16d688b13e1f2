/* fork_launch.c - in place of worker/launch.c: a worker is a fork of the test, in which libhdf5 is
 * there already, so that a file takes less than a millisecond.  The worker's code, its limits and
 * what the library says to it are the real ones.  Notes the most memory that a worker took. */
#define _GNU_SOURCE
#include <errno.h>
#include <hdf5.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"
#include "worker/worker.h"

int worker_main(void); /* of worker/programs/main.c */

struct trs_worker_process {
  pid_t worker;
};

static trs_worker_process only;

/* The library's numbers of files lie above those of the worker: none is overwritten too soon. */
static void become(const int *files, int count) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (int k = 0; k < count; k++)
    if (files[k] < 0 ? close(k) && errno != EBADF : dup2(files[k], k) < 0) _exit(127);
  _exit(worker_main());
}

trs_status trs_worker_launch(trs_worker_process **process, const char *path, const int *files,
                             int count) {
  (void)path;
  CLAIM(only.worker == 0 && H5open() >= 0);
  fflush(NULL);
  only.worker = fork();
  if (!only.worker) become(files, count);
  CLAIM(only.worker > 0);
  *process = &only;
  return TRS_SUCCESS;
}

double trs_worker_seconds(trs_worker_process *p) {
  siginfo_t end = {0};
  struct timespec t;
  clockid_t clock;
  CLAIM(waitid(P_PID, (id_t)p->worker, &end, WEXITED | WNOHANG | WNOWAIT) == 0);
  if (end.si_pid || clock_getcpuclockid(p->worker, &clock) || clock_gettime(clock, &t))
    return INFINITY;
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int trs_worker_finish(trs_worker_process *p) {
  int state;
  kill(p->worker, SIGKILL);
  while (waitpid(p->worker, &state, 0) < 0) CLAIM(errno == EINTR);
  p->worker = 0;
  return state;
}
