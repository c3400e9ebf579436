/* help.h: the help of a command. */
#ifndef RLOCK_CMD_HELP_H
#define RLOCK_CMD_HELP_H

#include "options/command.h"

/* Prints it on standard output. Returns the exit status. */
int help_print(const struct cmd *cmd);

/* Prints one option a line: short, long, argument, help, separated by tabs. For completions and
 * tests. Returns the exit status. */
int help_list_options(const struct cmd *cmd);

#endif
