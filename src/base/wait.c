/* wait.c - the part of a wait that is long enough to be worth a system call.
 *
 * Giving the core away is the fastest way on where the other members of the team are all that waits
 * for it.  Where another program does, Linux lets that one run for milliseconds, again at every
 * such call, while a thread that wakes up from a sleep goes on at once: who sees that it got its
 * core back late sleeps instead for a while. */
#define _GNU_SOURCE
#include "base/wait.h"

#include <sched.h>
#include <time.h>

#include "base/timer.h"

/* A sleep takes 60 us at the least, so it begins where that is little against the wait so far, and
 * lasts a fraction of it. */
static const double YIELD_SECONDS = 2e-3, LONGEST_SLEEP = 1e-3, FRACTION = 1.0 / 64;

/* A core that came back later than this was another program's, and may be for this long. */
static const double LATE = 500e-6, BUSY_SECONDS = 20e-3;

/* Longer than the shortest sleep: that of one member does not send the others to sleep in turn. */
static const double SPIN_SECONDS = 80e-6;

static _Thread_local double busy_until;

bool trs_wait_yield(trs_patience *wait) {
  double now = trs_seconds();
  if (wait->since == 0) wait->since = now;
  wait->waited = now - wait->since;
  if (now < busy_until) return wait->waited < SPIN_SECONDS;
  if (wait->waited > YIELD_SECONDS) return false;
  sched_yield();
  double back = trs_seconds();
  if (back - now > LATE) busy_until = back + BUSY_SECONDS;
  return true;
}

void trs_wait_nap(const trs_patience *wait) {
  double nap = wait->waited * FRACTION;
  if (nap > LONGEST_SLEEP) nap = LONGEST_SLEEP;
  (void)nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * nap)}, NULL);
}
