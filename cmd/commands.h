/* commands.h: the table of commands, and how one is found in it. */
#ifndef RLOCK_CMD_COMMANDS_H
#define RLOCK_CMD_COMMANDS_H

#include "options/command.h"

/* All of them: rlock itself, as a group. */
extern const struct cmd cmd_rlock;

extern const struct cmd cmd_acquire;
extern const struct cmd cmd_acquire_kinds[5]; /* run, fair, read, write, sem */
extern const struct cmd cmd_break;
extern const struct cmd cmd_check;
extern const struct cmd cmd_doctor;
extern const struct cmd cmd_fair;
extern const struct cmd cmd_help;
extern const struct cmd cmd_latch;
extern const struct cmd cmd_latch_down;
extern const struct cmd cmd_latch_set;
extern const struct cmd cmd_latch_wait;
extern const struct cmd cmd_read;
extern const struct cmd cmd_release;
extern const struct cmd cmd_renew;
extern const struct cmd cmd_run;
extern const struct cmd cmd_sem;
extern const struct cmd cmd_status;
extern const struct cmd cmd_wait;
extern const struct cmd cmd_write;

/* The word that it is called by in its group: "set". */
const char *cmd_word(const struct cmd *cmd);

/* What stands between its name and the words around it: a space; of rlock itself, nothing. */
const char *cmd_gap(const struct cmd *cmd);

/* The command of a group that has that word; NULL: none. */
const struct cmd *cmd_find(const struct cmd *group, const char *word);

/* Says that there is none, and which is the nearest. Returns the exit status. */
int cmd_say_unknown(const struct cmd *group, const char *word);

/* help.c: prints the help of a command on standard output. Returns the exit status, as those below
 * do, which are hidden: for completions and the tests that compare them. */
int help_print(const struct cmd *cmd);

/* Prints one command of a group a line: word, summary, separated by a tab. */
int help_list_commands(const struct cmd *group);

/* Prints one option a line: short, long, argument, help, separated by tabs. */
int help_list_options(const struct cmd *cmd);

/* Prints what follows the options: NAME, HANDLE, or COMMAND if it runs one. */
int help_list_operand(const struct cmd *cmd);

#endif
