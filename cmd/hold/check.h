/* check.h: whether a lock is still held. */
#ifndef RLOCK_CMD_HOLD_CHECK_H
#define RLOCK_CMD_HOLD_CHECK_H

#include "options/settings.h"

/* Checks the lock of settings->handle, or without one the lock of the enclosing rlock command.
 * Returns the exit status. */
int check_exec(struct settings *settings);

#endif
