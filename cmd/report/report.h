/* report.h: the commands that look, wait, examine and break. Each returns the exit status. */
#ifndef RLOCK_CMD_REPORT_H
#define RLOCK_CMD_REPORT_H

#include "options/settings.h"

/* Surveys the servers and prints what they say, once, or with --watch again and again. If none
 * answered, only forms that report that are printed. With -q it prints nothing: EXIT_CONFLICT if
 * one of the names is held on a majority of the servers, 0 if not, or why that is unknown. For
 * completions it prints the names of locks alone, and nothing when the server does not answer at
 * once, or is a local: one that does not run. */
int status_exec(struct settings *settings);

/* True: -q was given on the command line, where it asks for the exit status alone. In a config file
 * it silences messages. */
bool status_is_silent(const struct settings *settings);

/* Waits until nobody holds any of the locks: 0 then. */
int wait_exec(struct settings *settings);

/* Breaks settings->names[0], after asking. */
int break_exec(struct settings *settings);

/* Examines each server in turn, and compares them: prints what makes locks unsafe or slow, a line
 * each. */
int doctor_exec(struct settings *settings);

#endif
