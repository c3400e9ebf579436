/* detached.h: a lock that is left held, until it is released by its handle or its lease ends. */
#ifndef RLOCK_CMD_DETACHED_H
#define RLOCK_CMD_DETACHED_H

#include "hold/acquire.h"
#include "options/settings.h"
#include "process/signals.h"

/* Takes the lock and prints its handle. Returns the exit status. */
int detached_acquire(const struct settings *settings, const struct signals *signals);

/* Its steps. Takes the lock: returns ACQUIRED, or the exit status after a message, and then nothing
 * is held. Free acquired in any case. */
int detached_begin(struct acquired *acquired, const struct settings *settings,
                   const struct signals *signals);

/* Prints the handle, with --export its token too, however long its reader takes, or until a signal
 * comes. Returns 0, or the exit status after a message, EXIT_BY_SIGNAL + the signal: then give the
 * lock back. */
int detached_print(const struct acquired *acquired, const struct settings *settings,
                   const struct signals *signals);

/* Gives the lock back, whose handle was not printed. Returns status. */
int detached_undo(const struct acquired *acquired, const struct settings *settings, int status);

#endif
