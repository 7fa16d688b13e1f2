/* wait.c - the part of a wait that is long enough for system calls.
 *
 * sched_yield is the fastest way to continue if only other members of the team want the processor.
 * If another program wants it, Linux runs that program for milliseconds after each sched_yield,
 * whereas a thread that wakes from a sleep continues at once.  A thread that gets its processor
 * back late therefore does without sched_yield for a while.
 *
 * Where the late thread waits for a processor of the host, only a sleep gives it one: sched_yield
 * finds nobody and returns. */
#define _GNU_SOURCE
#include "base/wait.h"

#include <sched.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <time.h>

#include "base/cancel.h"
#include "base/thread.h"
#include "base/timer.h"

/* A sleep lasts a fraction of the wait so far. */
static const double SHORTEST_SLEEP = 5e-6, LONGEST_SLEEP = 1e-3, FRACTION = 1.0 / 16;

/* A longer call of sched_yield has run another thread.  Threads of a team on one processor yield to
 * each other, but no longer than that. */
static const double SWITCH = 1.5e-6, LONGEST_YIELDS = 2e-3;

/* If sched_yield takes longer than LATE, another program had the processor and may want it for
 * BUSY_SECONDS. */
static const double LATE = 500e-6, BUSY_SECONDS = 20e-3;

static void remember_busy(double until) {
  trs_thread *own = trs_thread_own();
  if (own) own->busy_until = until;
}

bool trs_wait_yield(trs_patience *wait, double seconds) {
  const double before = wait->waited, now = trs_seconds();
  if (wait->since == 0) wait->since = now;
  wait->waited = now - wait->since;
  if (wait->alone > seconds || wait->waited > LONGEST_YIELDS) return false;
  const trs_thread *own = trs_thread_look();
  if (own && now < own->busy_until) {
    wait->alone += wait->waited - before;
    return true;
  }
  sched_yield();
  const double back = trs_seconds();
  if (back - now < SWITCH) wait->alone += back - wait->since - before;
  if (back - now > LATE) remember_busy(back + BUSY_SECONDS);
  return true;
}

#ifdef __linux__
static int timer_slack(void) { return prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0); }
static void set_timer_slack(int slack) { (void)prctl(PR_SET_TIMERSLACK, slack, 0, 0, 0); }
#else
static int timer_slack(void) { return 0; }
static void set_timer_slack(int slack) { (void)slack; }
#endif

/* Without the thread's timer slack, 50 us as a rule, which is the caller's to choose. */
void trs_wait_nap(const trs_patience *wait) {
  double nap = wait->waited * FRACTION;
  if (nap < SHORTEST_SLEEP) nap = SHORTEST_SLEEP;
  if (nap > LONGEST_SLEEP) nap = LONGEST_SLEEP;
  int cancel = trs_cancel_defer(); /* others work with the waiting thread's memory */
  const int slack = timer_slack();
  if (slack > 1) set_timer_slack(1);
  (void)nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * nap)}, NULL);
  if (slack > 1) set_timer_slack(slack);
  trs_cancel_restore(cancel);
}
