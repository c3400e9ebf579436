/* detached.h: a lock that is left held until it is released or its lease ends, for those who have
 * its handle. */
#ifndef RLOCK_CMD_DETACHED_H
#define RLOCK_CMD_DETACHED_H

#include "hold/take.h"
#include "options/settings.h"
#include "process/signals.h"

/* Takes the lock and prints its handle. Returns the exit status. */
int detached_acquire(const struct settings *settings, const struct signals *signals);

/* Its steps. Takes the lock: returns 0, or the exit status after a message, and then nothing is
 * held. Free taken in any case. */
int detached_take(struct taken *taken, const struct settings *settings,
                  const struct signals *signals);

/* Prints the handle. Returns 0, or the exit status after a message: then give the lock back. */
int detached_print(const struct taken *taken);

/* Gives back what nobody has a handle of. Returns status. */
int detached_undo(const struct taken *taken, const struct settings *settings, int status);

#endif
