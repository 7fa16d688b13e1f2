/* pace.c - which way a pace takes where other programs take processors, by imitated times. */
#include "base/pace.h"

#include <math.h>

#include "test.h"

/* An imitated machine: the time of a run by all members and by one, that by others between them.
 * Every `period` seconds it takes a processor for `stolen` seconds from runs of more than `spared`
 * members. */
typedef struct machine {
  int all, spared;
  double now, team, alone, period, stolen;
} machine;

enum { ALL, OTHER, HALF = 4, ALONE }; /* ways; OTHER takes 0.9 of the time of ALL */

static trs_pace begin(const machine *m) {
  trs_pace pace;
  const int members[TRS_PACE_WAYS] = {
      [ALL] = m->all, [OTHER] = m->all, [HALF] = m->all > 3 ? m->all / 2 : 0, [ALONE] = 1};
  trs_pace_begin(&pace, members, m->alone * 0.6); /* an estimate is not right */
  return pace;
}

/* A run by m members takes team (all / m)^power, so that one takes `alone`. */
static double seconds_of(const machine *m, int members) {
  const double power = log(m->alone / m->team) / log((double)m->all);
  return m->team * pow((double)m->all / members, power);
}

typedef struct shares {
  double alone, fewer; /* of the runs */
  double seconds;      /* mean of a run */
  double worst;
} shares;

static double run_once(const machine *m, int members, double usual) {
  if (m->period == 0 || members <= m->spared) return usual;
  const double next = ceil(m->now / m->period) * m->period;
  return next < m->now + usual ? usual + m->stolen : usual;
}

/* Runs for so many seconds. */
static shares run(trs_pace *pace, machine *m, double seconds) {
  shares of = {0};
  int64_t runs = 0;
  const double begin = m->now;
  for (; m->now < begin + seconds; runs++) {
    const int way = trs_pace_next(pace), members = pace->way[way].members;
    assert_in_range(members, 1, m->all);
    const double took = run_once(m, members, seconds_of(m, members) * (way == OTHER ? 0.9 : 1));
    of.alone += members == 1;
    of.fewer += members < m->all;
    of.worst = fmax(of.worst, took);
    m->now += took;
    trs_pace_ran(pace, way, took, m->now);
  }
  of.alone /= (double)runs;
  of.fewer /= (double)runs;
  of.seconds = (m->now - begin) / (double)runs;
  return of;
}

static const double seconds_of_runs[] = {20e-6, 1e-3, 0.2};

TEST(an_undisturbed_team_tries_others_seldom) {
  static const int sizes[] = {2, 3, 16, 64};
  for (size_t t = 0; t < COUNT(sizes); t++)
    for (size_t k = 0; k < COUNT(seconds_of_runs); k++) {
      machine m = {.all = sizes[t], .team = seconds_of_runs[k]};
      m.alone = m.team * (1 + 0.5 * m.all);
      trs_pace pace = begin(&m);
      const double first = run(&pace, &m, 400 * m.team).seconds;
      assert_true(first < 1.15 * m.team);
      (void)run(&pace, &m, 4000 * m.team);
      assert_true(pace.best == OTHER);
      assert_true(run(&pace, &m, 20000 * m.team).seconds < 1.03 * 0.9 * m.team);
    }
}

/* What an estimate got wrong is known after a few runs. */
TEST(one_member_alone_is_taken_where_it_is_faster) {
  static const int sizes[] = {2, 3, 16, 64};
  for (size_t t = 0; t < COUNT(sizes); t++)
    for (size_t k = 0; k < COUNT(seconds_of_runs); k++) {
      machine m = {.all = sizes[t], .team = seconds_of_runs[k]};
      m.alone = 0.5 * m.team;
      trs_pace pace = begin(&m);
      (void)run(&pace, &m, 30 * m.team);
      assert_true(pace.best == ALONE);
      assert_true(run(&pace, &m, 20000 * m.team).seconds < 1.03 * m.alone);
    }
}

/* A thread has lost its processor in every run, from the first one on, or from later. */
TEST(a_team_without_a_processor_gives_way_and_returns) {
  static const int sizes[] = {2, 3, 16, 64};
  for (size_t t = 0; t < COUNT(sizes); t++)
    for (int late = 0; late < 2; late++) {
      const double team = 20e-6;
      machine m = {.all = sizes[t], .team = team, .alone = 50e-6};
      trs_pace pace = begin(&m);
      if (late) (void)run(&pace, &m, 0.1);
      m.team = 2e-3; /* alone is as fast as before */
      const shares first = run(&pace, &m, 0.05), then = run(&pace, &m, 2);
      assert_true(first.alone > 0.9);
      assert_true(then.alone > 0.98 && then.seconds < 1.06 * m.alone);
      m.team = team;
      (void)run(&pace, &m, 10);
      assert_true(run(&pace, &m, 10).seconds < 1.03 * m.team);
    }
}

/* Half of the members are spared. */
TEST(fewer_members_are_taken_where_they_are_not_late) {
  machine m = {.all = 16, .spared = 8, .team = 20e-6, .alone = 200e-6, .period = 1e-3};
  m.stolen = 3e-3;
  trs_pace pace = begin(&m);
  (void)run(&pace, &m, 1);
  const shares of = run(&pace, &m, 10);
  assert_true(of.alone < 0.05 && of.seconds < 1.1 * seconds_of(&m, 8));
}

/* A late run in 30 ms takes a tenth of the time: one member alone would take more. */
TEST(a_team_that_is_faster_in_spite_of_late_runs_stays) {
  machine m = {.all = 16, .spared = 1, .team = 20e-6, .alone = 200e-6, .period = 60e-3};
  m.stolen = 3e-3;
  trs_pace pace = begin(&m);
  (void)run(&pace, &m, 1);
  assert_true(run(&pace, &m, 20).seconds < 2 * m.team);
}

/* One that is late in every other run would not. */
TEST(a_team_that_is_late_often_does_not) {
  machine m = {.all = 16, .spared = 1, .team = 20e-6, .alone = 60e-6, .period = 3e-3};
  m.stolen = 3e-3;
  trs_pace pace = begin(&m);
  (void)run(&pace, &m, 1);
  assert_true(run(&pace, &m, 20).seconds < 1.15 * m.alone);
}

TEST(a_short_disturbance_costs_a_short_time) {
  machine m = {.all = 16, .team = 20e-6, .alone = 60e-6};
  trs_pace pace = begin(&m);
  (void)run(&pace, &m, 0.2);
  m.team = 3e-3;
  (void)run(&pace, &m, 3e-3); /* one run */
  m.team = 20e-6;
  (void)run(&pace, &m, 20e-3);
  assert_true(run(&pace, &m, 20e-3).alone < 0.1);
}

/* Its first runs touch memory that nobody had before. */
TEST(a_fresh_way_that_is_late_does_not_stop_the_others) {
  machine m = {.all = 16, .team = 1e-3, .alone = 10e-3};
  trs_pace pace = begin(&m);
  int fewer = 0;
  for (int k = 0, fresh = 2; k < 200; k++) {
    const int way = trs_pace_next(&pace), members = pace.way[way].members;
    const double took = way == OTHER && fresh-- > 0 ? 3 * m.alone : seconds_of(&m, members);
    fewer += members < m.all;
    m.now += took;
    trs_pace_ran(&pace, way, took, m.now);
  }
  assert_in_range(fewer, 1, 10); /* trials */
}

/* The first runs of members that slept. */
TEST(waking_is_not_being_late) {
  machine m = {.all = 16, .team = 20e-6, .alone = 60e-6};
  trs_pace pace = begin(&m);
  (void)run(&pace, &m, 0.1);
  pace.cold = 2;
  trs_pace_ran(&pace, trs_pace_next(&pace), 200e-6, m.now + 1);
  assert_true(pace.way[OTHER].until == 0);
}

TEST(a_way_that_is_dropped_is_not_taken) {
  machine m = {.all = 16, .team = 20e-6, .alone = 60e-6};
  trs_pace pace = begin(&m);
  (void)run(&pace, &m, 0.1);
  assert_true(pace.best == OTHER);
  trs_pace_drop(&pace, OTHER);
  for (int k = 0; k < 1000; k++) {
    const int way = trs_pace_next(&pace);
    assert_true(way != OTHER);
    m.now += seconds_of(&m, pace.way[way].members);
    trs_pace_ran(&pace, way, seconds_of(&m, pace.way[way].members), m.now);
  }
}

const test_program program = {0};
