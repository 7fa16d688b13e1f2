/* parse.c - the GPUs named after "cuda:". */
#include "comm/group.h"
#include "test.h"

static void expect(const char *list, int count, const int *wanted) {
  int ordinals[TRS_MOST_MEMBERS], got;
  assert_success(trs_group_parse(list, ordinals, &got));
  assert_int_equal(got, count);
  for (int k = 0; k < count; k++) assert_int_equal(ordinals[k], wanted[k]);
}

TEST(lists) {
  expect("0-3", 4, (int[]){0, 1, 2, 3});
  expect("5-5", 1, (int[]){5});
  expect("0,2", 2, (int[]){0, 2});
  expect("0,0,0", 3, (int[]){0, 0, 0});
  expect("3,0-1,7", 4, (int[]){3, 0, 1, 7});
  int most[TRS_MOST_MEMBERS];
  for (int k = 0; k < TRS_MOST_MEMBERS; k++) most[k] = k;
  expect("0-31", TRS_MOST_MEMBERS, most);
}

TEST(nonsense) {
  static const char *const lists[] = {"",    ",",   "0,",  ",0",   "-1",   "1-",   "3-1",
                                      "0 1", "0-x", "a-b", "0--1", "0,,1", "+1,2", "9999-10000"};
  int ordinals[TRS_MOST_MEMBERS], count;
  for (size_t k = 0; k < COUNT(lists); k++)
    assert_int_equal(trs_group_parse(lists[k], ordinals, &count), TRS_ERROR_ARGUMENT);
  assert_int_equal(trs_group_parse("0-32", ordinals, &count), TRS_ERROR_ARGUMENT);
}

/* The message of a context for groups without GPUs. */
TEST(without_gpus) {
  trs_context *ctx;
  assert_int_equal(trs_context_create(&ctx, "cuda:0,"), TRS_ERROR_ARGUMENT);
  assert_int_equal(trs_context_create(&ctx, "nvshmem:3"), TRS_ERROR_ARGUMENT);
  assert_int_equal(trs_context_create(&ctx, "cuda:0,900"), TRS_ERROR_UNSUPPORTED);
  assert_null(ctx);
}
