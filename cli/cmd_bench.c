/* cmd_bench.c - trireme bench: the program trireme-bench, which is not linked into trireme. */

#include "commands.h"
#include "leave.h"
#include "program.h"

static int run(int argc, char **argv) {
  enum { MOST_WORDS = 1024 };
  const char *words[MOST_WORDS] = {"trireme-bench"};
  if (argc > MOST_WORDS - 2) return leave_usage("bench", "more than %d words", MOST_WORDS - 2);
  for (int i = 0; i < argc; i++) words[i + 1] = argv[i];
  return program_become(words);
}

const command cmd_bench = {.name = "bench",
                           .synopsis = "",
                           .summary = "time every method, and compare results",
                           .program = "trireme-bench",
                           .run = run};
