/* background.h: a lock that a process in the background keeps while another process lives. */
#ifndef RLOCK_CMD_BACKGROUND_H
#define RLOCK_CMD_BACKGROUND_H

#include "options/settings.h"
#include "process/signals.h"

/* Leaves a process behind that has taken the lock, has printed its handle, and holds nothing of the
 * caller's. Returns the exit status: 0 twice, in that process when all is over. */
int background_acquire(const struct settings *settings, const struct signals *signals);

#endif
