/* team.c - every member of a run does its part once, whatever the sizes of the runs before and
 * however long ago they were; others stay asleep. */
#define _GNU_SOURCE
#include "base/team.h"

#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/counter.h"
#include "test.h"

enum { MOST = 7 };

typedef struct record {
  atomic_int runs[MOST]; /* of each rank */
  atomic_int size;
  pid_t thread[MOST];
} record;

static void be_recorded(void *argument, int rank, int size) {
  record *r = argument;
  atomic_fetch_add(&r->runs[rank], 1);
  atomic_store(&r->size, size);
  r->thread[rank] = (pid_t)syscall(SYS_gettid); /* gettid is of glibc 2.30 */
}

/* Long enough for members to fall asleep. */
static void pause_for(long milliseconds) {
  nanosleep(&(struct timespec){.tv_nsec = milliseconds * 1000000}, NULL);
}

/* Runs of all sizes in an order that repeats after 31 runs; a pause now and then. */
static void run_all_sizes(trs_team *team, int runs) {
  record r = {0};
  int expected[MOST] = {0};
  for (int k = 1, at = 1; k <= runs; k++, at = at * 3 % 31) {
    const int size = 1 + at % MOST;
    trs_team_run(team, size, be_recorded, &r);
    assert_int_equal(atomic_load(&r.size), size);
    for (int rank = 0; rank < size; rank++) expected[rank]++;
    for (int rank = 0; rank < MOST; rank++)
      assert_int_equal(atomic_load(&r.runs[rank]), expected[rank]);
    if (k % 50 == 0) pause_for(5);
  }
}

TEST(members_do_their_parts_in_runs_of_any_size) {
  trs_team *team;
  assert_success(trs_team_create(&team, MOST));
  run_all_sizes(team, 1000);
  trs_team_destroy(team);
}

TEST(the_number_of_a_run_wraps) {
  const uint64_t before = trs_counters_begin;
  trs_team *team;
  trs_counters_begin = ((uint64_t)1 << 48) - 40;
  assert_success(trs_team_create(&team, MOST));
  run_all_sizes(team, 100);
  trs_team_destroy(team);
  trs_counters_begin = before;
}

/* A share that waits for all others takes those that nobody has begun. */
typedef struct taking {
  trs_team *team;
  atomic_int begun[MOST], ended;
} taking;

static void be_taken(taking *t, int share) {
  atomic_fetch_add(&t->begun[share], 1);
  atomic_fetch_add(&t->ended, 1);
}

static void take_others(void *argument, int rank, int size) {
  taking *t = argument;
  be_taken(t, rank);
  while (atomic_load(&t->ended) < size) {
    const int other = trs_team_take(t->team);
    if (other < 0) continue;
    be_taken(t, other);
    trs_team_end(t->team, other);
  }
}

TEST(every_share_is_done_once_by_whoever_is_there) {
  trs_team *team;
  assert_success(trs_team_create(&team, MOST));
  for (int k = 0; k < 3000; k++) {
    const int size = 2 + k % (MOST - 1);
    taking t = {.team = team};
    trs_team_run(team, size, take_others, &t);
    for (int share = 0; share < MOST; share++)
      assert_int_equal(atomic_load(&t.begun[share]), share < size);
  }
  trs_team_destroy(team);
}

/* How often the thread began to sleep, by the kernel's count; -1: it does not say. */
static long sleeps_of(pid_t thread) {
  char path[64], line[256];
  long count = -1;
  snprintf(path, sizeof path, "/proc/self/task/%d/status", (int)thread);
  FILE *file = fopen(path, "r");
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "voluntary_ctxt_switches: %ld", &count) == 1) break;
  if (file) fclose(file);
  return count;
}

TEST(members_without_a_part_stay_asleep) {
  trs_team *team;
  record r = {0};
  assert_success(trs_team_create(&team, 3));
  do trs_team_run(team, 3, be_recorded, &r); /* until the member itself has its share */
  while (r.thread[2] == r.thread[0] || r.thread[2] == r.thread[1]);
  const int runs = atomic_load(&r.runs[2]);
  long before = -2;
  for (int turn = 0; turn < 200 && before != sleeps_of(r.thread[2]); turn++) {
    before = sleeps_of(r.thread[2]);
    pause_for(10);
  }
  if (before >= 0) {
    for (int k = 0; k < 20; k++) {
      trs_team_run(team, 2, be_recorded, &r);
      pause_for(3); /* the other one sleeps, too */
    }
    assert_int_equal(sleeps_of(r.thread[2]), before);
  }
  assert_int_equal(atomic_load(&r.runs[2]), runs);
  trs_team_run(team, 3, be_recorded, &r);
  assert_int_equal(atomic_load(&r.runs[2]), runs + 1);
  trs_team_destroy(team);
}

const test_program program = {0};
