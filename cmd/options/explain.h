/* explain.h: what a mistaken word of the command line was meant to be. */
#ifndef RLOCK_CMD_EXPLAIN_H
#define RLOCK_CMD_EXPLAIN_H

#include <stdbool.h>

#include "options/command.h"
#include "options/settings.h"

/* Our command in place of another program's: "rlock run"; NULL: none in particular. */
const char *explain_command(const char *word);

/* Whether a word such as "-no-wait" is a long option with one dash, as Go's programs have them, and
 * not letters. */
bool explain_is_long(const struct cmd *cmd, const char *argument);

/* Why the command has no such option, and which may be meant. argument: as it was given, with its
 * dashes; the value behind '=' may be a URL with a password, and is not shown. Returns false. */
bool explain_option(const struct cmd *cmd, const char *argument, struct complaint *why);

#endif
