/* places.c - members of a team leave a CPU on which another one is seen. */
#define _GNU_SOURCE
#include "base/places.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>

#include "test.h"

typedef struct meeting {
  trs_places *places;
  cpu_set_t mask; /* the member's after it was woken on the caller's CPU */
  int cpu;        /* on which both meet, then that of the member */
  bool kept;      /* the member's mask is what it was */
} meeting;

static void bind_to(int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
}

/* A thread that was just let free is still on its CPU. */
static void *be_member(void *argument) {
  meeting *m = argument;
  cpu_set_t now;
  bind_to(m->cpu);
  sched_setaffinity(0, sizeof m->mask, &m->mask);
  for (int turn = 0; sched_getcpu() != m->cpu && turn < 100; turn++) {
    bind_to(m->cpu);
    sched_setaffinity(0, sizeof m->mask, &m->mask);
  }
  trs_places_take(m->places, 1);
  m->cpu = sched_getcpu();
  sched_getaffinity(0, sizeof now, &now);
  m->kept = CPU_EQUAL(&now, &m->mask);
  return NULL;
}

static void meet(meeting *m) {
  pthread_t member;
  assert_success(trs_places_create(&m->places, 2));
  trs_places_take(m->places, 0);
  assert_int_equal(pthread_create(&member, NULL, be_member, m), 0);
  pthread_join(member, NULL);
  trs_places_destroy(m->places);
}

/* A meeting with this mask whose caller is bound to one CPU meanwhile. */
static meeting meet_bound(const cpu_set_t *mask, int here) {
  cpu_set_t before;
  meeting m = {.mask = *mask, .cpu = here};
  assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
  bind_to(here);
  meet(&m);
  sched_setaffinity(0, sizeof before, &before);
  return m;
}

TEST(a_member_leaves_the_cpu_of_the_caller) {
  cpu_set_t mask;
  assert_int_equal(sched_getaffinity(0, sizeof mask, &mask), 0);
  if (CPU_COUNT(&mask) < 2) skip_test("one CPU: a member has no other one to move to");
  const int here = sched_getcpu();
  const meeting m = meet_bound(&mask, here);
  assert_int_not_equal(m.cpu, here);
  assert_true(m.kept);
}

TEST(a_mask_of_one_cpu_is_shared) {
  cpu_set_t one;
  const int here = sched_getcpu();
  CPU_ZERO(&one);
  CPU_SET(here, &one);
  const meeting m = meet_bound(&one, here);
  assert_int_equal(m.cpu, here);
  assert_true(m.kept);
}

TEST(a_variable_turns_it_off) {
  trs_places *places;
  setenv("TRIREME_SPREAD", "0", 1);
  assert_success(trs_places_create(&places, 2));
  assert_null(places);
  trs_places_take(places, 1);
  static const char *const wrong[] = {"x", "off", "00", "2"}, *const right[] = {"", "1"};
  for (size_t k = 0; k < COUNT(wrong); k++) {
    setenv("TRIREME_SPREAD", wrong[k], 1);
    assert_failure(TRS_ERROR_ARGUMENT, "TRIREME_SPREAD is \"", trs_places_create(&places, 2));
    assert_null(places);
  }
  for (size_t k = 0; k < COUNT(right); k++) {
    setenv("TRIREME_SPREAD", right[k], 1);
    assert_success(trs_places_create(&places, 2));
    assert_non_null(places);
    trs_places_destroy(places);
  }
  unsetenv("TRIREME_SPREAD");
}
