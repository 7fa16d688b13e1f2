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

/* What main.c does beside running the tests, if a program defines it; every entry may be NULL. */
typedef struct test_program {
  int (*begin)(void **state), (*end)(void **state); /* before the first and after the last test */
  int (*after_each)(void **state);
  void (*add_cases)(void);    /* adds tests that get data, by add_test */
  const char *(*lacks)(void); /* why the program is skipped, or NULL */
} test_program;

extern const test_program program;

/* Adds a test to the program, which runs its tests in the order of their lines. */
void add_test(int line, const char *name, CMUnitTestFunction test, const void *data);

/* TEST(name) {...} is a test, TEST_IF(condition, name) {...} one of builds with this condition. */
#define TEST(name) TEST_IF(1, name)
#define TEST_IF(condition, name)                              \
  static void name(void **state);                             \
  __attribute__((constructor)) static void add_##name(void) { \
    if (condition) add_test(__LINE__, #name, name, NULL);     \
  }                                                           \
  static void name(void **state)

/* A test may leave out like cases in a build with a sanitizer, which is several times slower. */
#if defined TRS_SANITIZE_THREAD || defined TRS_SANITIZE_ADDRESS
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

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
