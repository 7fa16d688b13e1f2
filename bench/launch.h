/* launch.h - another program, run with limits. */
#ifndef TRIREME_BENCH_LAUNCH_H
#define TRIREME_BENCH_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

typedef struct bench_launch {
  const char *const *words; /* the program's path, its arguments, NULL */
  const char *said;         /* the file that receives its standard output */
  const char *scratch; /* a folder that goes if a signal ends this process meanwhile; or NULL */
  double seconds;      /* after which it is killed */
  int64_t bytes;       /* of the largest file that it may write */
  /* How it ended, one of: */
  int error; /* errno: it did not start; 0 */
  bool late; /* it was killed */
  int state; /* as of waitpid */
} bench_launch;

/* Runs the program until it ends, and kills what is left of its process group; so do SIGINT,
 * SIGTERM and SIGHUP, which then end this process. */
void bench_launch_run(bench_launch *launch);

/* Removes a folder and what is in it, if it is there. */
void bench_launch_clear(const char *folder);

#endif
