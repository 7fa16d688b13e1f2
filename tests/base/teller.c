/* teller.c - what work tells arrives in order in the calling thread, elapsed time in between, and a
 * failure with its message. */
#include "base/teller.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/timer.h"
#include "test.h"

typedef struct heard {
  pthread_t thread;
  char text[2000];
  int calls;
} heard;

static void hear(void *user, const char *phase, double done) {
  heard *h = user;
  size_t length = strlen(h->text);
  assert_true(pthread_equal(h->thread, pthread_self()));
  snprintf(h->text + length, sizeof h->text - length, "%s %g; ", phase, done);
  h->calls++;
}

static trs_status tell_two(void *argument, trs_teller *teller) {
  trs_teller_phase(teller, "one", 0);
  trs_teller_phase(teller, "one", 1);
  trs_teller_phase(teller, "two", 0);
  trs_teller_phase(teller, "two", 0.5);
  if (!argument) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_STRUCTURE, 7, "row 7 is %s", (const char *)argument);
}

TEST(phases_arrive_in_order) {
  for (int k = 0; k < 200; k++) {
    heard h = {.thread = pthread_self()};
    assert_success(trs_tell(hear, &h, tell_two, NULL));
    assert_string_equal(h.text, "one 0; one 1; two 0; two 0.5; ");
  }
}

TEST(a_failure_keeps_its_message_and_row) {
  heard h = {.thread = pthread_self()};
  for (int k = 0; k < 2; k++) {
    assert_failure(TRS_ERROR_STRUCTURE, "row 7 is wrong",
                   trs_tell(k ? NULL : hear, &h, tell_two, "wrong"));
    assert_int_equal(trs_last_error()->row, 7);
  }
  assert_int_equal(h.calls, 4);
}

static trs_status take_long(void *argument, trs_teller *teller) {
  const double end = trs_seconds() + 3.2;
  (void)argument;
  trs_teller_phase(teller, "waiting", 0.25);
  while (trs_seconds() < end) usleep(10000);
  trs_teller_phase(teller, "waiting", 1);
  return TRS_SUCCESS;
}

/* No matter how busy the machine is, some of them arrive. */
TEST(time_is_told_while_work_is_silent) {
  heard h = {.thread = pthread_self()};
  const double begin = trs_seconds();
  assert_success(trs_tell(hear, &h, take_long, NULL));
  assert_non_null(strstr(h.text, "waiting 0.25; waiting, 1 s 0.25; "));
  assert_non_null(strstr(h.text, "waiting 1; "));
  if (trs_seconds() - begin < 3.5) assert_true(h.calls >= 2 + 3);
}
