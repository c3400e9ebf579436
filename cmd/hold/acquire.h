/* acquire.h: a lock that is taken and left held, for whoever has its handle. */
#ifndef RLOCK_CMD_ACQUIRE_H
#define RLOCK_CMD_ACQUIRE_H

#include "hold/take.h"
#include "hold/wrap_kind.h"
#include "options/settings.h"
#include "process/signals.h"

/* Takes a lock of that kind and prints its handle; with --while leaves a keeper behind. Returns the
 * exit status. */
int acquire_lock(const struct wrap_kind *kind, const struct settings *settings);

/* Its steps, for the keeper. Takes it: returns 0, or the exit status after a message, and then
 * nothing is held. Free taken in any case. */
int acquire_take(struct taken *taken, const struct wrap_kind *kind, const struct settings *settings,
                 const struct signals *signals);

/* Prints the handle. Returns 0, or the exit status after a message: then give the lock back. */
int acquire_print(const struct taken *taken);

/* Gives back what nobody has a handle of. Returns status. */
int acquire_undo(const struct taken *taken, const struct settings *settings, int status);

#endif
