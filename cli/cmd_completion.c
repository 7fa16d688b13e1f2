/* cmd_completion.c - trireme completion: scripts for the shells. */

#include "command.h"
#include "commands.h"

static const option options[] = {{0}};

static const paragraph paragraphs[] = {
    {NULL,
     "Prints a script that completes commands, options and values. An installed Trireme "
     "brings these scripts along; otherwise:"},
    {"Examples",
     "  source <(trireme completion bash)\n"
     "  trireme completion zsh > ~/.zfunc/_trireme\n"
     "  trireme completion fish > ~/.config/fish/completions/trireme.fish"},
    {0}};

static int run(int argc, char **argv) {
  int code = options_parse(&cmd_completion, NULL, &argc, argv);
  return code >= 0 ? code : completion_print(&root_command, argv[0]);
}

const command cmd_completion = COMMAND_OF(
    "completion", "bash|zsh|fish", "print a completion script for a shell", "bash|zsh|fish", 1, 1);
