/* wait.c - the part of a wait that is long enough for system calls.
 *
 * sched_yield is the fastest way to continue if only other members of the team want the core.  If
 * another program wants it, Linux runs that program for milliseconds after each sched_yield,
 * whereas a thread that wakes from a sleep continues at once.  A thread that gets its core back
 * late therefore sleeps for a while instead of yielding. */
#define _GNU_SOURCE
#include "base/wait.h"

#include <sched.h>
#include <time.h>

#include "base/cancel.h"
#include "base/thread.h"
#include "base/timer.h"

/* A sleep takes at least 60 us.  It begins when that is short against the wait so far, and lasts a
 * fraction of the wait. */
static const double YIELD_SECONDS = 2e-3, LONGEST_SLEEP = 1e-3, FRACTION = 1.0 / 64;

/* If sched_yield takes longer than LATE, another program had the core and may want it for
 * BUSY_SECONDS. */
static const double LATE = 500e-6, BUSY_SECONDS = 20e-3;

/* Longer than the shortest sleep, so that the sleep of one member does not send the others to sleep
 * in turn. */
static const double SPIN_SECONDS = 80e-6;

static void remember_busy(double until) {
  trs_thread *own = trs_thread_own();
  if (own) own->busy_until = until;
}

bool trs_wait_yield(trs_patience *wait) {
  double now = trs_seconds();
  if (wait->since == 0) wait->since = now;
  wait->waited = now - wait->since;
  const trs_thread *own = trs_thread_look();
  if (own && now < own->busy_until) return wait->waited < SPIN_SECONDS;
  if (wait->waited > YIELD_SECONDS) return false;
  sched_yield();
  double back = trs_seconds();
  if (back - now > LATE) remember_busy(back + BUSY_SECONDS);
  return true;
}

void trs_wait_nap(const trs_patience *wait) {
  double nap = wait->waited * FRACTION;
  if (nap > LONGEST_SLEEP) nap = LONGEST_SLEEP;
  int cancel = trs_cancel_defer(); /* others work with the waiting thread's memory */
  (void)nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * nap)}, NULL);
  trs_cancel_restore(cancel);
}
