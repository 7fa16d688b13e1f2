/* main.c - main of the test programs: skips a program that lacks something, or runs its tests. */
#include "test.h"

int main(int argc, char **argv) {
  const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
  const char *name = slash ? slash + 1 : "tests";
  const char *lacking = program.lacks ? program.lacks() : NULL;
  if (lacking) return printf("skip %s: %s\n", name, lacking) < 0;
  return _cmocka_run_group_tests(name, program.tests, program.count, program.begin, program.end);
}
