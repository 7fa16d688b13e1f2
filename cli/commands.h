/* commands.h - the subcommands of trireme, and trireme itself, which has only options and prose. */
#ifndef TRIREME_CLI_COMMANDS_H
#define TRIREME_CLI_COMMANDS_H

#include "command.h"

#define COMMAND(name) extern const command cmd_##name;
#include "commands.def"
#undef COMMAND

extern const command root_command;

const command *command_find(const char *name);
int leave_no_command(const char *typed);

#endif
