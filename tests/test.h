/* test.h - included by every test program: cmocka, and short forms of common checks. */
#ifndef TRS_TEST_H
#define TRS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trireme.h"

/* cmocka gives every test a state, which few use. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* A test program as main.c runs it; begin and end may be NULL. */
typedef struct test_program {
  const struct CMUnitTest *tests;
  size_t count;
  int (*begin)(void **state), (*end)(void **state);
  const char *(*lacks)(void); /* why the program is skipped, or NULL; may be NULL itself */
} test_program;

extern const test_program program;

/* The entries tests and count for an array. */
#define TESTS(array) .tests = (array), .count = COUNT(array)

/* Skips a test that this build or this machine cannot run. */
#define skip_test(reason)     \
  do {                        \
    printf("%s\n", (reason)); \
    skip();                   \
  } while (0)

/* A seed that tests/torture varies from run to run; 0 in an ordinary run. */
static inline uint64_t test_seed(void) {
  const char *text = getenv("TRIREME_SEED");
  return text ? strtoull(text, NULL, 10) : 0;
}

/* The call must succeed; otherwise the test fails with the library's message. */
#define assert_success(call)                                           \
  do {                                                                 \
    trs_status status_ = (call);                                       \
    if (status_) fail_msg("%s: %s", #call, trs_last_error()->message); \
  } while (0)

/* The call must fail with this status and with a message that contains the words. */
#define assert_failure(expected, words, call)                                               \
  do {                                                                                      \
    trs_status status_ = (call);                                                            \
    if (status_ != (expected))                                                              \
      fail_msg("%s: status %s, expected %s", #call, trs_status_name(status_),               \
               trs_status_name(expected));                                                  \
    if (!strstr(trs_last_error()->message, words))                                          \
      fail_msg("%s: message \"%s\" lacks \"%s\"", #call, trs_last_error()->message, words); \
  } while (0)

#endif
