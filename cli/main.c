/* main.c - trireme: finds the subcommand and runs it. */
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "command.h"
#include "commands.h"
#include "leave.h"
#include "output.h"
#include "program.h"
#include "report.h"

#define COMMAND(name) &cmd_##name,
static const command *const commands[] = {
#include "commands.def"
    NULL};
#undef COMMAND

typedef struct settings {
  bool version;
} settings;

static const option options[] = {
    FLAG_OPTION("version", offsetof(settings, version),
                "print the version, the features of this build and the GPUs"),
    {0}};

static const paragraph paragraphs[] = {
    {NULL,
     "Solves sparse triangular systems op(L) x = b and op(U) x = b, and A x = b with both factors. "
     "Matrices come from Matrix Market (.mtx, .mtx.gz, .mtx.zst), Rutherford-Boeing (.rb) or HDF5 "
     "files, or are generated "
     "from a name such as gen:poisson2d5:1000. Every solution is checked: its backward error is "
     "measured in the same run, and a large one is a failure."},
    {"Examples",
     "  trireme solve gen:poisson2d5:1000 --uplo lower\n"
     "  trireme solve L.mtx -b b.mtx -o x.mtx\n"
     "  trireme factor A.mtx -o A.h5\n"
     "  trireme solve A.h5 --json\n"
     "  trireme info A.mtx --svg A.svg"},
    {"Environment",
     "NO_COLOR, if set and not empty, turns colours off, as do TERM=dumb and Open MPI's mpirun. "
     "Colours and progress bars are written to terminals only. TRIREME_NUM_THREADS is the number "
     "of threads where --backend names none."},
    {0}};

const command root_command = {.name = "",
                              .synopsis = "COMMAND [ARGUMENTS]",
                              .summary = "sparse triangular solves",
                              .operand = "@commands",
                              .options = options,
                              .paragraphs = paragraphs,
                              .brief =
                                  "  trireme gen poisson3d7:30 -o A.mtx\n"
                                  "  trireme solve A.mtx --uplo lower -b b.mtx -o x.mtx\n"
                                  "  trireme solve A.mtx --factor lu -b b.mtx -o x.mtx\n",
                              .commands = commands};

const command *command_find(const char *name) {
  for (int i = 0; commands[i]; i++)
    if (!strcmp(commands[i]->name, name)) return commands[i];
  return NULL;
}

int leave_no_command(const char *typed) {
  char known[256] = "--version", near[32];
  for (int i = 0; commands[i]; i++) {
    size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "|%s", commands[i]->name);
  }
  if (trs_nearest(near, sizeof near, typed, known))
    return leave_usage("", "there is no command '%s'; did you mean %s?", typed, near);
  return leave_usage("", "there is no command '%s'", typed);
}

static void print_indented(const char *lines) {
  for (size_t length; *lines; lines += length + (lines[length] == '\n')) {
    length = strcspn(lines, "\n");
    printf("  %.*s\n", (int)length, lines);
  }
}

static int print_version(void) {
  printf("%strireme %s%s\n", style_on(STYLE_BOLD), trs_version(), style_off());
  print_indented(trs_features());
  print_indented(trs_device_list());
  return LEAVE_SOLVED;
}

static int run_root(int argc, char **argv) {
  settings s = {0};
  int code = options_parse(&root_command, &s, &argc, argv);
  if (code >= 0) return code;
  return s.version ? print_version() : leave_usage("", "a command is missing");
}

static int run(int argc, char **argv) {
  if (!argc) return leave_usage("", "a command is missing");
  if (argv[0][0] == '-') return run_root(argc, argv);
  const command *c = command_find(argv[0]);
  return c ? c->run(argc - 1, argv + 1) : leave_no_command(argv[0]);
}

int main(int argc, char **argv) {
  program_catch_signals();
  return program_end(program_main(argc, argv, run));
}
