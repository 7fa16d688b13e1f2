/* main.c - main of the test programs: skips a program that lacks something, or runs its tests.
 *
 *   PROGRAM [PATTERN | PART/PARTS]: the tests whose names match, as in 'cuda:0-1 push*', or one of
 *   several parts of all tests */
#include <fnmatch.h>

#include "test.h"

/* Programs without special needs define none: its address is NULL then. */
extern const test_program program __attribute__((weak));

/* A sanitizer that stops where an allocation fails would hide that the library says so. */
#pragma GCC visibility push(default)
const char *__asan_default_options(void);
const char *__tsan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }
const char *__tsan_default_options(void) { return "allocator_may_return_null=1"; }
#pragma GCC visibility pop

static struct CMUnitTest *tests;
static int *lines;
static size_t count;

/* Compilers call the constructors of a file in any order. */
void add_test(int line, const char *name, CMUnitTestFunction test, const void *data) {
  tests = realloc(tests, (count + 1) * sizeof *tests);
  lines = realloc(lines, (count + 1) * sizeof *lines);
  size_t k = count++;
  for (; k > 0 && lines[k - 1] > line; k--) {
    tests[k] = tests[k - 1];
    lines[k] = lines[k - 1];
  }
  tests[k] = (struct CMUnitTest){.name = name, .test_func = test, .initial_state = (void *)data};
  lines[k] = line;
}

/* As cmocka's filter reads patterns. */
static int matches_any(const char *pattern) {
  for (size_t k = 0; k < count; k++)
    if (fnmatch(pattern, tests[k].name, 0) == 0) return 1;
  return 0;
}

/* Keeps each test whose number is PART - 1 modulo PARTS. */
static void keep_part(size_t part, size_t parts) {
  size_t kept = 0;
  for (size_t k = part - 1; k < count; k += parts) tests[kept++] = tests[k];
  count = kept;
}

int main(int argc, char **argv) {
  const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
  const char *name = slash ? slash + 1 : "tests";
  const test_program p = &program ? program : (test_program){0};
  const char *lacking = p.lacks ? p.lacks() : NULL;
  if (lacking) return printf("skip %s: %s\n", name, lacking) < 0;
  size_t part, parts = 0;
  const int in_parts = argc > 1 && sscanf(argv[1], "%zu/%zu", &part, &parts) == 2 && part > 0;
  if (argc > 1 && !in_parts) cmocka_set_test_filter(argv[1]);
  if (p.add_cases) p.add_cases();
  if (in_parts) keep_part(part, parts);
  if (argc > 1 && !in_parts && !matches_any(argv[1])) {
    fprintf(stderr, "no test of %s matches '%s'\n", name, argv[1]);
    return 1;
  }
  for (size_t k = 0; k < count; k++) tests[k].teardown_func = p.after_each;
  int failed = _cmocka_run_group_tests(name, tests, count, p.begin, p.end);
  free(tests);
  free(lines);
  return failed;
}
