/* structs.c - structures of callers compiled with an older or a newer header. */
#include "base/structs.h"

#include <string.h>

#include "test.h"

typedef struct pair {
  size_t struct_size;
  int32_t first, second;
} pair;

typedef struct longer {
  pair head;
  int64_t third;
} longer;

static trs_status take(pair *own, const void *given) {
  return trs_struct_take(own, sizeof *own, given, "pair");
}

TEST(options_of_any_version_are_taken) {
  pair own, given = {sizeof(pair), 3, 4};
  longer newer = {{sizeof(longer), 5, 6}, 0};
  assert_success(take(&own, NULL));
  assert_true(own.struct_size == sizeof own && own.first == 0 && own.second == 0);
  assert_success(take(&own, &given));
  assert_true(own.first == 3 && own.second == 4);
  given.struct_size = sizeof(size_t) + sizeof(int32_t); /* older: the structure ends after first */
  assert_success(take(&own, &given));
  assert_true(own.first == 3 && own.second == 0);
  assert_success(take(&own, &newer));
  assert_true(own.first == 5 && own.second == 6 && own.struct_size == sizeof own);
  newer.third = 1;
  assert_failure(TRS_ERROR_ARGUMENT, "newer version", take(&own, &newer));
}

TEST(sizes_that_nobody_set_are_refused) {
  pair own = {sizeof own, 8, 9}, given = {0, 1, 2};
  const size_t bad[] = {0, 1, sizeof(size_t) - 1, 5000, SIZE_MAX};
  for (size_t k = 0; k < COUNT(bad); k++) {
    given.struct_size = bad[k];
    assert_failure(TRS_ERROR_ARGUMENT, "struct_size of a pair",
                   trs_struct_give(&given, &own, sizeof own, "pair"));
    assert_int_equal(given.first, 1);
    pair taken;
    assert_failure(TRS_ERROR_ARGUMENT, "set it to sizeof(pair)", take(&taken, &given));
  }
}

/* Bytes after the caller's structure are not written. */
TEST(results_stay_within_the_callers_structure) {
  const pair own = {sizeof own, 7, 8};
  longer room;
  for (size_t size = sizeof(size_t); size <= sizeof room; size++) {
    memset(&room, 0x55, sizeof room);
    room.head.struct_size = size;
    assert_success(trs_struct_give(&room, &own, sizeof own, "pair"));
    assert_true(room.head.struct_size == size);
    const unsigned char *bytes = (const unsigned char *)&room, *from = (const unsigned char *)&own;
    for (size_t at = sizeof(size_t); at < sizeof room; at++)
      assert_int_equal(bytes[at], at >= size ? 0x55 : at < sizeof own ? from[at] : 0);
  }
}
