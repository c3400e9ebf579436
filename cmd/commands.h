/* commands.h: the table of commands, how one is found in it, and their help. */
#ifndef RLOCK_CMD_COMMANDS_H
#define RLOCK_CMD_COMMANDS_H

#include "options/command.h"

/* All of them: rlock itself, as a group. */
extern const struct cmd cmd_rlock;

/* The word that it is called by in its group: "set". */
const char *cmd_word(const struct cmd *cmd);

/* What stands between its name and the words around it: a space; of rlock itself, nothing. */
const char *cmd_gap(const struct cmd *cmd);

/* The command of a group that has that word; NULL: none. */
const struct cmd *cmd_find(const struct cmd *group, const char *word);

/* Says that there is none, and which is the nearest. Returns the exit status. */
int cmd_say_unknown(const struct cmd *group, const char *word);

/* help.c: prints the help of a command on standard output. Returns the exit status, as those below
 * do. */
int help_print(const struct cmd *cmd);

/* rlock help [COMMAND]: a struct cmd's raw. */
int help_raw(int argc, char **argv);

/* Hidden, for completions and the tests that compare them.
 *
 * Prints one command of a group a line: word, summary, separated by a tab. */
int help_list_commands(const struct cmd *group);

/* Prints one option a line: short, long, argument, help, separated by tabs; without a name the one
 * that stands for operands: NAME, HANDLE, or COMMAND if it runs one. */
int help_list_options(const struct cmd *cmd);

/* forms.c: check of the commands that have several forms. */
bool sem_check(const struct settings *settings, struct complaint *why);
bool latch_set_check(const struct settings *settings, struct complaint *why);
bool status_check(const struct settings *settings, struct complaint *why);

#endif
