/* wrap.h: the one way through of every command that wraps another. */
#ifndef RLOCK_CMD_WRAP_H
#define RLOCK_CMD_WRAP_H

#include "options/settings.h"

/* Takes a lock of the kind of settings->cmd, runs the command while it is held, gives it back;
 * without a command it only takes it. Returns the exit status: rlock(1). A struct cmd's exec. */
int wrap(struct settings *settings);

#endif
