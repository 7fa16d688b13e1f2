/* cmd_methods.c - trireme methods: what --method can name. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "output.h"

static int run(int argc, char **argv);

static const option options[] = {{0}};

static const paragraph paragraphs[] = {
    {NULL,
     "Lists the methods that 'trireme solve --method NAME' can force, each with the backend that "
     "offers it; those of cuda, and of cuda-group (--backend cuda:0-3 or nvshmem: several GPUs), "
     "are there in builds with CUDA. Left alone, the solve chooses by the matrix and the machine, "
     "and says why."},
    {0}};

const command cmd_methods = {.name = "methods",
                             .synopsis = "",
                             .summary = "list the solve methods",
                             .options = options,
                             .paragraphs = paragraphs,
                             .run = run};

static int run(int argc, char **argv) {
  int code = options_parse(&cmd_methods, NULL, &argc, argv);
  if (code >= 0) return code;
  print_list(trs_method_list());
  return LEAVE_SOLVED;
}
