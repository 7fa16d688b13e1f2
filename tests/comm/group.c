/* group.c - groups of one process that share GPUs, with a stand-in for the device: a group launches
 * after the launches of other groups on each of its GPUs, and never at the same time. */
#include "comm/group.h"

#include <pthread.h>

#include "comm/transport.h"
#include "device_stand_in.h"
#include "test.h"

trs_status trs_nvshmem_open(trs_group *group) {
  (void)group;
  return TRS_ERROR_UNSUPPORTED;
}

/* ---- Streams followed since the last check ---- */

enum { MOST_FOLLOWED = 64 };

static struct followed { trs_stream stream, other; } followed[MOST_FOLLOWED];
static int nfollowed;

static void note(trs_stream stream, trs_stream other) {
  assert_true(nfollowed < MOST_FOLLOWED);
  followed[nfollowed++] = (struct followed){stream, other};
}

static bool was_followed(const trs_group *group, int member, const trs_group *other, int its) {
  for (int k = 0; k < nfollowed; k++)
    if (followed[k].stream == trs_group_stream(group, member) &&
        followed[k].other == trs_group_stream(other, its))
      return true;
  return false;
}

static trs_group *open_group(const char *where) {
  trs_group *group;
  assert_success(trs_group_open(&group, where));
  return group;
}

static void launch(trs_group *group) {
  nfollowed = 0;
  trs_group_lock(group);
  trs_group_unlock(group);
}

/* ---- Tests ---- */

TEST(alone_nothing_is_followed) {
  trs_group *a = open_group("0-2");
  for (int turn = 0; turn < 3; turn++) {
    launch(a);
    assert_int_equal(nfollowed, 0);
  }
  trs_group_close(a);
}

TEST(turns_are_kept_on_each_gpu) {
  trs_group *a = open_group("0-1");
  launch(a);
  trs_group *b = open_group("1,3"); /* after launches made when it was the only group */
  launch(b);
  assert_int_equal(nfollowed, 1);
  assert_true(was_followed(b, 0, a, 1));
  launch(b);
  assert_int_equal(nfollowed, 0);
  launch(a);
  assert_int_equal(nfollowed, 1);
  assert_true(was_followed(a, 1, b, 0));
  trs_group *c =
      open_group("3,0,3"); /* a GPU named twice: both members follow, in any order of GPUs */
  launch(c);
  assert_int_equal(nfollowed, 3);
  assert_true(was_followed(c, 0, b, 1) && was_followed(c, 2, b, 1) && was_followed(c, 1, a, 0));
  launch(b);
  assert_int_equal(nfollowed, 3);
  assert_true(was_followed(b, 0, a, 1) && was_followed(b, 1, c, 0) && was_followed(b, 1, c, 2));
  trs_group_close(c);
  launch(b); /* nothing follows a destroyed group */
  assert_int_equal(nfollowed, 0);
  trs_group_close(b);
  launch(a);
  assert_int_equal(nfollowed, 0);
  trs_group_close(a);
}

TEST(graphs_are_left_alone) {
  trs_group *a = open_group("0-1"), *b = open_group("0-1");
  launch(a);
  stand_in_captures = trs_group_stream(b, 0);
  launch(b);
  assert_int_equal(nfollowed, 1);
  assert_true(was_followed(b, 1, a, 1));
  launch(a); /* work that b captured on GPU 0 was not launched there */
  assert_int_equal(nfollowed, 1);
  assert_true(was_followed(a, 1, b, 1));
  stand_in_captures = NULL;
  launch(b);
  assert_int_equal(nfollowed, 2);
  assert_true(was_followed(b, 0, a, 0) && was_followed(b, 1, a, 1));
  trs_group_lock(b); /* a graph begins; it nevertheless follows earlier launches */
  trs_group_mark(b);
  stand_in_captures = trs_group_stream(b, 0);
  trs_group_unlock(b);
  launch(a);
  assert_int_equal(nfollowed, 2);
  assert_true(was_followed(a, 0, b, 0) && was_followed(a, 1, b, 1));
  stand_in_captures = NULL;
  trs_group_close(a);
  trs_group_close(b);
}

/* Groups with opposite orders of GPUs, all at once: locks must be taken in one order. */
static _Atomic int inside;

static void *launch_often(void *argument) {
  for (int turn = 0; turn < 2000; turn++) {
    trs_group_lock(argument);
    if (++inside != 1) abort();
    inside--;
    trs_group_unlock(argument);
  }
  return NULL;
}

TEST(threads_take_turns) {
  static const char *const lists[] = {"0-3", "3,2,1,0", "1,0", "0,3"};
  enum { GROUPS = COUNT(lists) };
  trs_group *group[GROUPS];
  pthread_t thread[GROUPS];
  stand_in_followed = NULL;
  for (int g = 0; g < GROUPS; g++) group[g] = open_group(lists[g]);
  for (int g = 0; g < GROUPS; g++)
    assert_int_equal(pthread_create(&thread[g], NULL, launch_often, group[g]), 0);
  for (int g = 0; g < GROUPS; g++) assert_int_equal(pthread_join(thread[g], NULL), 0);
  for (int g = 0; g < GROUPS; g++) trs_group_close(group[g]);
}

static int begin(void **state) {
  stand_in_followed = note;
  return 0;
}

const test_program program = {.begin = begin};
