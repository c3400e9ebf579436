/* completion.h: the names of locks that are on a server, for completions. */
#ifndef RLOCK_CMD_COMPLETION_H
#define RLOCK_CMD_COMPLETION_H

#include "options/settings.h"

/* Prints them, a line each; nothing when the server does not answer at once, or is a local: one
 * that does not run. Returns the exit status. */
int completion_list_names(struct settings *settings);
#endif
