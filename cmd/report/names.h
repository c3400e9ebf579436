/* names.h: the names of locks that are on a server, for completions. */
#ifndef RLOCK_CMD_NAMES_H
#define RLOCK_CMD_NAMES_H

#include "options/settings.h"

/* Prints them, a line each; nothing when the server does not tell them at once, or is a local: one
 * that does not run. Returns the exit status. */
int names_list(struct settings *settings);
#endif
