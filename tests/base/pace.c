/* pace.c - how many members do a solve where other programs take cores, by imitated times; and the
 * kernel's count. */
#include "base/pace.h"

#include <math.h>

#include "base/thread.h"
#include "base/timer.h"
#include "test.h"

/* An imitated machine: the time of a run by all members and by one, that by others between them,
 * and losses per second while more than one run. */
typedef struct machine {
  int all;
  double now, team, alone, losses;
  double lost;
} machine;

/* A run by m members takes team (all / m)^power, so that one takes `alone`. */
static double seconds_of(const machine *m, int members) {
  const double power = log(m->alone / m->team) / log((double)m->all);
  return m->team * pow((double)m->all / members, power);
}

typedef struct shares {
  double alone, fewer; /* of the runs */
  double seconds;      /* mean of a run */
} shares;

/* Runs for so many seconds. */
static shares run(trs_pace *pace, machine *m, double seconds) {
  shares of = {0};
  int64_t runs = 0;
  const double begin = m->now;
  for (; m->now < begin + seconds; runs++) {
    const int members = trs_pace_members(pace, m->all);
    const double took = seconds_of(m, members);
    assert_in_range(members, 1, m->all);
    of.alone += members == 1;
    of.fewer += members < m->all;
    m->now += took;
    m->lost += members == 1 ? 0 : took * m->losses;
    trs_pace_ran(pace, m->all, m->now, took, (int64_t)m->lost);
  }
  of.alone /= (double)runs;
  of.fewer /= (double)runs;
  of.seconds = (m->now - begin) / (double)runs;
  return of;
}

static const double seconds_of_runs[] = {20e-6, 1e-3, 0.2};

TEST(an_undisturbed_team_tries_fewer_seldom) {
  static const int sizes[] = {2, 3, 16, 64};
  for (size_t t = 0; t < COUNT(sizes); t++)
    for (size_t k = 0; k < COUNT(seconds_of_runs); k++) {
      trs_pace pace = {0};
      machine m = {.all = sizes[t], .team = seconds_of_runs[k], .losses = 5};
      m.alone = m.team * (1 + 0.5 * m.all);
      const shares first = run(&pace, &m, 2), later = run(&pace, &m, 60);
      assert_true(first.seconds < 1.1 * m.team);
      assert_true(later.fewer > 0 && later.seconds < 1.02 * m.team);
    }
}

TEST(a_team_that_is_too_large_becomes_smaller) {
  trs_pace pace = {0};
  machine m = {.all = 64, .team = 1e-3, .alone = 0.2e-3};
  (void)run(&pace, &m, 10);
  assert_true(run(&pace, &m, 60).seconds < 1.02 * m.alone);
}

TEST(a_team_that_loses_cores_gives_way_and_returns) {
  static const int sizes[] = {2, 3, 16, 64};
  for (size_t t = 0; t < COUNT(sizes); t++)
    for (size_t k = 0; k < COUNT(seconds_of_runs); k++) {
      trs_pace pace = {0};
      machine m = {.all = sizes[t], .alone = seconds_of_runs[k], .losses = 200};
      m.team = 3 * m.alone;
      (void)run(&pace, &m, 20);
      assert_true(run(&pace, &m, 60).alone > 0.9);
      m.team = m.alone / 3; /* the other program has ended */
      m.losses = 0;
      (void)run(&pace, &m, 30);
      assert_true(run(&pace, &m, 20).seconds < 1.02 * m.team);
    }
}

TEST(a_short_disturbance_costs_a_short_time) {
  static const int sizes[] = {2, 32, 64};
  for (size_t t = 0; t < COUNT(sizes); t++) {
    trs_pace pace = {0};
    machine m = {.all = sizes[t], .team = 20e-3, .alone = 12e-3, .losses = 1000};
    (void)run(&pace, &m, 0.3);
    m.team = 0.7e-3;
    m.losses = 0;
    (void)run(&pace, &m, 1);
    assert_true(run(&pace, &m, 10).seconds < 1.05 * m.team);
  }
}

/* What happens before a plan's first runs have ended, and in them, is no reason for anything. */
TEST(the_first_runs_do_not_count) {
  trs_pace pace = {0};
  trs_pace_ran(&pace, 32, 1.000, 90e-3, 500);
  trs_pace_ran(&pace, 32, 1.001, 90e-3, 1000);
  machine m = {.all = 32, .now = 1.001, .team = 0.7e-3, .alone = 12e-3, .lost = 1000};
  assert_true(run(&pace, &m, 0.3).fewer == 0);
}

TEST(a_team_that_is_faster_in_spite_of_losses_stays) {
  trs_pace pace = {0};
  machine m = {.all = 2, .team = 1e-3, .alone = 1.2e-3, .losses = 300};
  assert_true(run(&pace, &m, 60).fewer < 0.05);
  m.all = 16;
  m.alone = 20e-3; /* a trial is over at once */
  trs_pace other = {0};
  const shares of = run(&other, &m, 60);
  assert_true(of.fewer > 0 && of.seconds < 1.03 * m.team);
}

TEST(runs_that_are_late_are_a_reason_without_losses) {
  trs_pace pace = {0};
  machine m = {.all = 2, .team = 0.1e-3, .alone = 0.2e-3};
  (void)run(&pace, &m, 1);
  m.team = 2e-3; /* the machine's cores serve others, of which its kernel knows nothing */
  (void)run(&pace, &m, 1);
  assert_true(run(&pace, &m, 20).alone > 0.8);
}

TEST(a_trial_is_short_if_the_team_is_late_again) {
  trs_pace pace = {0};
  machine m = {.all = 2, .team = 50e-3, .alone = 1e-3, .losses = 100};
  (void)run(&pace, &m, 5);
  assert_true(run(&pace, &m, 60).seconds < 1.06 * m.alone);
}

TEST(losses_are_counted_seldom_and_never_twice) {
  trs_losses losses = 0;
  trs_thread *own = trs_thread_own();
  assert_non_null(own);
  trs_losses_note(&losses);
  assert_true(atomic_load(&losses) == 0); /* what happened before the first question */
  const double asked = own->asked;
  trs_losses_note(&losses);
  assert_true(own->asked == asked);
  own->asked = asked - 1;
  own->lost -= 7; /* as if the thread had lost its core since */
  trs_losses_note(&losses);
  assert_true(atomic_load(&losses) >= 7);
}

TEST(losses_before_a_run_do_not_count) {
  trs_losses losses = 0;
  trs_thread *own = trs_thread_own();
  assert_non_null(own);
  trs_losses_note(&losses);
  own->asked -= 1;
  own->lost -= 700;
  const double now = trs_seconds();
  trs_losses_begin(now);
  assert_true(own->asked == now);
  own->asked -= 2e-3; /* less than a pause between solves */
  own->lost -= 3;
  trs_losses_begin(trs_seconds());
  trs_losses_note(&losses);
  assert_in_range(atomic_load(&losses), 3, 20);
}

const test_program program = {0};
