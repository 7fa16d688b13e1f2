/* pace.c - the trials of a pace, and the kernel's count of the cores that a thread lost. */
#define _GNU_SOURCE
#include "base/pace.h"

#include <math.h>
#include <sys/resource.h>

#include "base/thread.h"
#include "base/timer.h"

/* A thread that loses its core gets it back after some 3 ms: a tenth of the time is lost if there
 * is a loss in 30 ms. */
enum { MANY_LOSSES = 3, LEAST_RUNS = 3 };
static const double OFTEN = 30e-3, LATE = 3;

/* The first runs of a plan, and the first one after a change of members, wait for threads that
 * sleep and for caches. */
enum { WARM = 2 };

/* A window and a trial are long enough for losses to happen in them.  A trial is over after
 * LEAST_RUNS if it is hopeless, or after one long run. */
static const double WINDOW = 20e-3, LONGEST_WINDOW = 90e-3, TRIAL = 20e-3, LONG_TRIAL = 0.1,
                    HOPELESS = 2;

/* A trial that changes nothing doubles the time to the next one of its kind.  One for which runs
 * give no reason waits UNASKED times as long, and LONG runs at least. */
static const double FIRST_HOLD = 0.1, LONGEST_HOLD = 5, UNASKED = 4, LONG = 100;

/* The least time between two trials, as a multiple of the last one's. */
static const double TRIALS_APART = 10;

/* More members have to be faster by this much, since they keep more cores busy.  Fewer have to be
 * as much faster if nothing was wrong with the members in use. */
static const double BETTER = 0.95;

static int in_use(const trs_pace *pace, int all) {
  return pace->members > 0 && pace->members < all ? pace->members : all;
}

int trs_pace_members(const trs_pace *pace, int all) {
  return pace->trying > 0 && pace->trying <= all ? pace->trying : in_use(pace, all);
}

static void begin_window(trs_pace *pace, int64_t losses) {
  pace->spent = 0;
  pace->runs = 0;
  pace->seen = losses;
}

static void hold(trs_pace_way *way, double now, double spent, bool longer) {
  way->hold = fmin(fmax((longer ? 2 : 1) * way->hold, FIRST_HOLD), LONGEST_HOLD);
  way->until = now + fmax(way->hold, TRIALS_APART * spent);
}

static void begin_trial(trs_pace *pace, int members, bool asked, int64_t losses) {
  pace->usual = pace->spent / (double)pace->runs;
  pace->trying = members;
  pace->asked = asked;
  pace->warm = WARM - 1;
  begin_window(pace, losses);
}

static void watch(trs_pace *pace, int all, double now, int64_t losses) {
  const int members = in_use(pace, all), half = members / 2, twice = 2 * members;
  const int64_t lost = losses - pace->seen;
  if (pace->spent < WINDOW || pace->runs < LEAST_RUNS) return;
  const bool often = lost >= MANY_LOSSES && OFTEN * (double)lost >= pace->spent;
  const bool late = pace->spent > LATE * pace->least * (double)pace->runs;
  const double since = now - pace->fewer.until;
  const bool unasked =
      since >= UNASKED * pace->fewer.hold && since * (double)pace->runs >= LONG * pace->spent;
  if (members < all && now >= pace->more.until)
    begin_trial(pace, pace->more.far || twice > all ? all : twice, false, losses);
  else if (members > 1 && (often || late) && since >= 0)
    begin_trial(pace, pace->fewer.far ? 1 : half, true, losses);
  else if (members > 1 && unasked)
    begin_trial(pace, half, false, losses);
  else if (pace->spent > LONGEST_WINDOW)
    begin_window(pace, losses);
}

static bool is_over(const trs_pace *pace) {
  if (pace->spent > HOPELESS * pace->usual * LEAST_RUNS) return true;
  return pace->spent > (pace->runs < LEAST_RUNS ? LONG_TRIAL : TRIAL);
}

/* After a change the next trial on the same way may follow at once, and one on the way back waits
 * for longer if the change before was on that way. */
static void end_trial(trs_pace *pace, int all, double now, int64_t losses) {
  const bool fewer = pace->trying < in_use(pace, all);
  const double mean = pace->spent / (double)pace->runs;
  const double bar = fewer && pace->asked ? 1 : BETTER;
  const bool taken = mean < bar * pace->usual;
  trs_pace_way *way = fewer ? &pace->fewer : &pace->more,
               *back = fewer ? &pace->more : &pace->fewer;
  way->far = !taken && !way->far;
  hold(way, now, pace->spent, !taken);
  if (taken) {
    pace->members = pace->trying;
    way->until = now;
    hold(back, now, pace->spent, back->last);
    way->last = true;
    back->last = false;
  }
  pace->trying = 0;
  pace->warm = taken ? WARM : WARM - 1;
  begin_window(pace, losses);
}

void trs_pace_ran(trs_pace *pace, int all, double now, double seconds, int64_t losses) {
  pace->fewer_runs += trs_pace_members(pace, all) < all;
  if (pace->least == 0) {
    pace->least = seconds;
    hold(&pace->fewer, now, 0, false);
    pace->fewer.until = now;
  }
  pace->least = fmin(pace->least, seconds);
  const bool cold = pace->warm < WARM;
  pace->warm += cold;
  if (cold && !(pace->trying && seconds > LONG_TRIAL)) {
    begin_window(pace, losses);
    return;
  }
  pace->spent += seconds;
  pace->runs++;
  if (!pace->trying)
    watch(pace, all, now, losses);
  else if (is_over(pace))
    end_trial(pace, all, now, losses);
}

/* Longer than between two questions in solves one behind the other. */
static const double STALE = 5e-3;

void trs_losses_begin(double now) {
  trs_thread *own = trs_thread_look();
  struct rusage usage;
  if (!own || now < own->asked + STALE || getrusage(RUSAGE_THREAD, &usage)) return;
  own->asked = now;
  own->lost = usage.ru_nivcsw;
}

void trs_losses_note(trs_losses *losses) {
  static const double SELDOM = 1e-3;
  trs_thread *own = trs_thread_look();
  struct rusage usage;
  const double now = trs_seconds();
  if (!own || now < own->asked + SELDOM) return;
  if (getrusage(RUSAGE_THREAD, &usage)) return;
  const int64_t lost = usage.ru_nivcsw - own->lost;
  if (own->asked > 0 && lost > 0) atomic_fetch_add_explicit(losses, lost, memory_order_relaxed);
  own->asked = now;
  own->lost = usage.ru_nivcsw;
}
