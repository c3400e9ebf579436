/* keep.h: a lock that is kept by a process in the background while another process lives. */
#ifndef RLOCK_CMD_KEEP_H
#define RLOCK_CMD_KEEP_H

#include "hold/wrap_kind.h"
#include "options/settings.h"
#include "process/signals.h"

/* Leaves a keeper behind that has taken the lock, has printed its handle, and holds nothing of the
 * caller's. Returns the exit status: 0 twice, in the keeper when all is over. */
int keep(const struct wrap_kind *kind, const struct settings *settings,
         const struct signals *signals);

#endif
