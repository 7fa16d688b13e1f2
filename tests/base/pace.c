/* pace.c - who does a solve where other programs take cores, by imitated times; and the kernel's
 * count. */
#include "base/pace.h"

#include "base/thread.h"
#include "base/timer.h"
#include "test.h"

/* An imitated machine: the time of a run by either, and losses per second of the team's. */
typedef struct machine {
  double now, team, alone, losses;
  double lost;
} machine;

/* Runs for so many seconds; returns the share of runs by the caller alone. */
static double run(trs_pace *pace, machine *m, double seconds) {
  int64_t all = 0, alone = 0;
  for (const double end = m->now + seconds; m->now < end; all++) {
    const bool by_one = trs_pace_is_alone(pace);
    const double took = by_one ? m->alone : m->team;
    alone += by_one;
    m->now += took;
    m->lost += by_one ? 0 : took * m->losses;
    trs_pace_ran(pace, m->now, took, (int64_t)m->lost);
  }
  return (double)alone / (double)all;
}

TEST(an_undisturbed_team_never_tries) {
  static const double seconds[] = {20e-6, 1e-3, 0.2};
  for (size_t k = 0; k < COUNT(seconds); k++) {
    trs_pace pace = {0};
    machine m = {.team = seconds[k], .alone = seconds[k] / 2, .losses = 5};
    assert_true(run(&pace, &m, 20) == 0);
    assert_int_equal(pace.alone_runs, 0);
  }
}

TEST(a_team_that_loses_cores_gives_way_and_returns) {
  static const double seconds[] = {20e-6, 1e-3, 0.2};
  for (size_t k = 0; k < COUNT(seconds); k++) {
    trs_pace pace = {0};
    machine m = {.team = 3 * seconds[k], .alone = seconds[k], .losses = 200};
    (void)run(&pace, &m, 10);
    assert_true(run(&pace, &m, 60) > 0.9);
    m.team = seconds[k] / 2; /* the other program has ended */
    m.losses = 0;
    (void)run(&pace, &m, 20);
    assert_int_equal(pace.state, TRS_PACE_TEAM);
    assert_true(run(&pace, &m, 10) == 0);
  }
}

TEST(a_team_that_is_faster_in_spite_of_losses_stays) {
  trs_pace pace = {0};
  machine m = {.team = 1e-3, .alone = 1.2e-3, .losses = 300};
  assert_true(run(&pace, &m, 60) < 0.05);
  m.alone = 20e-3; /* sixteen cores: a trial is over at once */
  trs_pace other = {0};
  const double alone = run(&other, &m, 60);
  assert_true(alone > 0 && alone < 0.01);
}

TEST(a_trial_is_short_if_the_team_is_late_again) {
  trs_pace pace = {0};
  machine m = {.team = 50e-3, .alone = 1e-3, .losses = 100};
  (void)run(&pace, &m, 5);
  double slow = 0, before = m.now;
  while (m.now < before + 60) {
    const bool by_one = trs_pace_is_alone(&pace);
    const double took = by_one ? m.alone : m.team;
    m.now += took;
    slow += by_one ? 0 : took;
    trs_pace_ran(&pace, m.now, took, 0);
  }
  assert_true(slow < 0.05 * 60);
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

const test_program program = {0};
