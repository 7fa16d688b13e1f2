/* cmd_help.c - trireme help: the same texts on screen or as manual pages. */

#include "command.h"
#include "commands.h"
#include "leave.h"
#include "program.h"

typedef struct settings {
  bool man;
} settings;

static const option options[] = {
    FLAG_OPTION("man", offsetof(settings, man), "print the manual page's source (roff)"), {0}};

static const paragraph paragraphs[] = {{NULL,
                                        "'trireme help solve' prints the same as 'trireme solve "
                                        "--help'. To read a manual page without installing it:"},
                                       {"Examples", "  trireme help --man solve | man -l -"},
                                       {0}};

static int run(int argc, char **argv) {
  settings s = {0};
  int code = options_parse(&cmd_help, &s, &argc, argv);
  if (code >= 0) return code;
  const command *c = argc ? command_find(argv[0]) : &root_command;
  if (!c) return leave_no_command(argv[0]);
  const char *what = s.man ? "man" : "help";
  if (c->program) return program_become((const char *const[]){c->program, "--print", what, NULL});
  command_print(c, what);
  return LEAVE_SOLVED;
}

const command cmd_help =
    COMMAND_OF("help", "[--man] [COMMAND]", "explain a command", "@commands", 0, 1);
