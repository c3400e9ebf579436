/* wrap.h: the one way through of every command that wraps another. */
#ifndef RLOCK_CMD_WRAP_H
#define RLOCK_CMD_WRAP_H

#include "settings.h"

/* Takes a lock of that kind, runs the command while it is held, gives it back. Returns the exit
 * status (CLI.md, section 3). */
int wrap(const char *kind, const struct settings *settings);

#endif
