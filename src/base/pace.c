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
static const double WINDOW = 50e-3, OFTEN = 30e-3;

/* A trial is long enough for losses to happen in it, and over after LEAST_RUNS if it is hopeless.
 * A trial that changes nothing doubles the time to the next one. */
static const double TRIAL = 20e-3, HOPELESS = 2, FIRST_HOLD = 0.1, LONGEST_HOLD = 5;

/* The least time between two trials, as a multiple of the last one's. */
static const double TRIALS_APART = 10;

/* The team has to be faster by this much to return: it keeps more cores busy. */
static const double BETTER = 0.95;

static void go(trs_pace *pace, trs_pace_state state, int64_t losses) {
  pace->state = state;
  pace->spent = 0;
  pace->runs = 0;
  pace->seen = losses;
}

static void hold(trs_pace *pace, double now, bool longer) {
  const double next = longer ? 2 * pace->hold : FIRST_HOLD;
  pace->hold = fmin(fmax(next, FIRST_HOLD), LONGEST_HOLD);
  pace->until = now + fmax(pace->hold, TRIALS_APART * pace->spent);
}

static void watch(trs_pace *pace, double now, int64_t losses) {
  const int64_t lost = losses - pace->seen;
  if (lost >= MANY_LOSSES && OFTEN * (double)lost >= pace->spent && now >= pace->until) {
    pace->team = pace->spent / (double)pace->runs;
    go(pace, TRS_PACE_TRY_ALONE, losses);
  } else if (pace->spent > WINDOW && pace->runs >= LEAST_RUNS) {
    go(pace, TRS_PACE_TEAM, losses);
  }
}

static bool is_over(const trs_pace *pace, double other) {
  if (pace->spent > HOPELESS * other * LEAST_RUNS) return true;
  return pace->runs >= LEAST_RUNS && pace->spent > TRIAL;
}

static void end_trial(trs_pace *pace, double now, int64_t losses) {
  const double mean = pace->spent / (double)pace->runs;
  const bool tried_alone = pace->state == TRS_PACE_TRY_ALONE;
  *(tried_alone ? &pace->alone : &pace->team) = mean;
  const bool alone = tried_alone ? mean < pace->team : mean >= BETTER * pace->alone;
  hold(pace, now, alone != tried_alone);
  go(pace, alone ? TRS_PACE_ALONE : TRS_PACE_TEAM, losses);
}

void trs_pace_ran(trs_pace *pace, double now, double seconds, int64_t losses) {
  pace->spent += seconds;
  pace->runs++;
  pace->alone_runs += trs_pace_is_alone(pace);
  switch (pace->state) {
    case TRS_PACE_TEAM:
      watch(pace, now, losses);
      break;
    case TRS_PACE_ALONE:
      if (now >= pace->until) go(pace, TRS_PACE_TRY_TEAM, losses);
      break;
    case TRS_PACE_TRY_ALONE:
      if (is_over(pace, pace->team)) end_trial(pace, now, losses);
      break;
    case TRS_PACE_TRY_TEAM:
      if (is_over(pace, pace->alone)) end_trial(pace, now, losses);
      break;
  }
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
