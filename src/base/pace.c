/* pace.c - the costs of ways, the trials of others than the best, and ways that are late.
 *
 * A cost falls fast and rises slowly: a few long runs among many short ones say little about the
 * way, and are a matter of being late. */
#include "base/pace.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The share of the time that trials may take; in runs by one member alone, what they may take at
 * first: less than an analysis does; and in seconds, what they may at most. */
static const double SHARE = 0.02, FIRST_CREDIT = 3, MOST_CREDIT = 0.1;

/* Runs of a trial that count.  After a change of members some do not, since those that join may
 * sleep; nor do the first ones of each way, which touch memory that nobody had before.  The first
 * trials of several members are made whatever they may cost: what is known of them is little. */
enum { TRIAL = 4, TRIAL_ALONE = 2, COLD = 1, FRESH = 2, FREE_TRIALS = 2 };

/* A way of several members is late if it takes LATE times as long as one member alone, and the time
 * that members need to wake, if they may have slept: after a pause, and before a run that they were
 * not part of. */
static const double LATE = 2, WAKE = 300e-6, PAUSE = 50e-6;

/* Another way has to be faster by this much. */
static const double BETTER = 0.95;

/* A late way comes back soon at first, since its processor may too: after the time of the late run.
 * If it stays away from being late so many times as long, the next time is the first one again. */
static const double RECOVERED = 10, LONGEST = 5, FIRST_REST = 20e-3;

/* In multiples of the best cost: that of a way with a number of members that has not been tried,
 * and a run that ends a trial. */
static const double GUESS = 1.5, HOPELESS = 3;

static int most_members(const trs_pace *pace) {
  int most = 0;
  for (int k = 0; k < TRS_PACE_WAYS; k++)
    if (pace->way[k].members > most) most = pace->way[k].members;
  return most;
}

static int runs_of_trial(const trs_pace_way *way) {
  return way->members == 1 ? TRIAL_ALONE : TRIAL;
}

void trs_pace_begin(trs_pace *pace, const int members[TRS_PACE_WAYS], double alone) {
  memset(pace, 0, sizeof *pace);
  for (int k = 0; k < TRS_PACE_WAYS; k++) {
    pace->way[k].members = members[k];
    pace->way[k].fresh = members[k] > 1 ? FRESH : 0;
  }
  while (pace->best + 1 < TRS_PACE_WAYS && members[pace->best] == 0) pace->best++;
  pace->alone = alone;
  pace->credit = FIRST_CREDIT * alone;
  pace->cold = COLD;
  pace->last = members[pace->best];
}

int trs_pace_next(const trs_pace *pace) { return pace->trying ? pace->trying - 1 : pace->best; }

static bool is_held(const trs_pace_way *way, double now) { return now < way->until; }

/* The cheapest way that is known and not held.  One member alone never is. */
static int cheapest(const trs_pace *pace, double now) {
  int best = -1;
  for (int k = 0; k < TRS_PACE_WAYS; k++) {
    const trs_pace_way *way = &pace->way[k];
    if (way->members == 0 || way->cost == 0 || is_held(way, now)) continue;
    if (best < 0 || way->cost < pace->way[best].cost) best = k;
  }
  return best;
}

static void take_best(trs_pace *pace, double now) {
  const int other = cheapest(pace, now);
  const trs_pace_way *best = &pace->way[pace->best];
  if (other < 0 || other == pace->best) return;
  if (best->members && !is_held(best, now) &&
      (best->cost == 0 || pace->way[other].cost >= BETTER * best->cost))
    return;
  pace->best = other;
}

/* What the way has cost, or one of as many members; or about. */
static double expected(const trs_pace *pace, const trs_pace_way *way) {
  if (way->cost > 0) return way->cost;
  if (way->members == 1) return pace->alone;
  for (int k = 0; k < TRS_PACE_WAYS; k++)
    if (pace->way[k].members == way->members && pace->way[k].cost > 0) return pace->way[k].cost;
  return GUESS * pace->way[pace->best].cost;
}

/* What a trial of the way is expected to cost more than runs in the best one. */
static double price(const trs_pace *pace, const trs_pace_way *way) {
  const trs_pace_way *best = &pace->way[pace->best];
  const double more = fmax(expected(pace, way) - best->cost, 0);
  if (best->members == 1 && way->cost > 0 && way->tries < FREE_TRIALS) return 0;
  const bool hopeless = best->cost > 0 && more > (HOPELESS - 1) * best->cost;
  return (hopeless ? 1 : runs_of_trial(way)) * more + (way->members > best->members ? WAKE : 0);
}

/* Of those that may be tried, the one that rests longest, at first one member alone. */
static void look_for_trial(trs_pace *pace, double now) {
  int next = -1;
  for (int k = TRS_PACE_WAYS - 1; k >= 0; k--) {
    const trs_pace_way *way = &pace->way[k];
    if (k == pace->best || way->members == 0 || is_held(way, now) || now < way->again) continue;
    if (price(pace, way) > pace->credit) continue;
    if (next < 0 || way->again < pace->way[next].again) next = k;
  }
  if (next < 0) return;
  pace->trying = next + 1;
  pace->left = runs_of_trial(&pace->way[next]);
  pace->spent = 0;
  pace->former = pace->way[next].cost;
  pace->way[next].cost = 0; /* what it cost long ago says little */
}

static void end_trial(trs_pace *pace, double now) {
  trs_pace_way *way = &pace->way[pace->trying - 1];
  pace->trying = 0;
  pace->credit -= pace->spent;
  if (way->cost == 0) way->cost = pace->former;
  way->tries += way->tries < FREE_TRIALS;
  way->rest = fmin(fmax(2 * way->rest, FIRST_REST), LONGEST);
  way->again = now + way->rest;
  take_best(pace, now);
  if (pace->best == way - pace->way) way->rest = 0;
}

static void hold(trs_pace_way *way, double seconds, double now) {
  const bool recovered = now > way->until + RECOVERED * fmax(way->hold, seconds);
  way->hold = recovered ? seconds : fmin(fmax(2 * way->hold, seconds), LONGEST);
  way->until = now + way->hold;
}

/* Fewer members, down to one alone, are taken instead of those that were late.  A fresh way may be
 * late by the memory that it touches first, which says nothing about the others. */
static void be_late(trs_pace *pace, int late, bool fresh, double seconds, double now) {
  for (int k = 0; k < TRS_PACE_WAYS; k++)
    if (fresh ? k == late : pace->way[k].members >= pace->way[late].members)
      hold(&pace->way[k], seconds, now);
  if (pace->trying) end_trial(pace, now);
  take_best(pace, now);
}

static void learn(trs_pace_way *way, double seconds) {
  static const double FALL = 0.5, RISE = 0.125;
  const double more = seconds - way->cost;
  if (way->cost == 0)
    way->cost = seconds;
  else
    way->cost += more < 0 ? FALL * more : RISE * fmin(more, way->cost / 2);
}

void trs_pace_ran(trs_pace *pace, int k, double seconds, double now) {
  trs_pace_way *way = &pace->way[k];
  const bool alone = way->members == 1;
  const double best = pace->way[pace->best].cost;
  const bool slept = way->members > pace->last || now - seconds > pace->ended + PAUSE;
  if (way->members > pace->last) pace->cold = COLD;
  pace->last = way->members;
  pace->ended = now;
  const bool fresh = way->fresh > 0, cold = !alone && (pace->cold > 0 || fresh);
  if (!alone && pace->cold > 0) pace->cold--;
  way->fresh -= fresh;
  pace->fewer += way->members < most_members(pace);
  pace->credit = fmin(pace->credit + SHARE * seconds, MOST_CREDIT + FIRST_CREDIT * pace->alone);
  if (pace->trying) pace->spent += fmax(seconds - best, 0);
  if (!cold) learn(way, seconds);
  if (alone) pace->alone = way->cost;
  if (!alone && pace->knows_alone && seconds > LATE * pace->alone + (slept ? WAKE : 0)) {
    be_late(pace, k, fresh, seconds, now);
  } else if (pace->trying) {
    const bool clear = way->cost < BETTER * BETTER * best || seconds > HOPELESS * best;
    if (!cold && (--pace->left == 0 || clear)) end_trial(pace, now);
  } else if (!cold) {
    take_best(pace, now);
    look_for_trial(pace, now);
  }
  pace->knows_alone |= alone;
}

void trs_pace_describe(const trs_pace *pace, char *text, size_t size) {
  const int members = pace->way[pace->best].members;
  size_t used = strlen(text);
  if ((members == 1 || members < most_members(pace)) && used < size)
    used += (size_t)snprintf(text + used, size - used, "; the latest solves ran on %d thread%s",
                             members, members > 1 ? "s" : "");
  if (pace->fewer && used < size)
    snprintf(text + used, size - used,
             "; %lld solve%s ran on fewer threads, as a trial or because that was faster",
             (long long)pace->fewer, pace->fewer > 1 ? "s" : "");
}

void trs_pace_drop(trs_pace *pace, int way) {
  pace->way[way].members = 0;
  if (pace->trying == way + 1) pace->trying = 0;
  if (pace->best != way) return;
  for (int k = TRS_PACE_WAYS - 1; k >= 0; k--)
    if (pace->way[k].members > 0) pace->best = k;
  take_best(pace, 0);
}
